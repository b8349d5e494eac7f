//! A small writer of SVG. Colours are attributes, so that a file shows the same everywhere; a page may override them by class.

use std::fmt::Write;

use crate::colour::INK;

/// A drawing under way.
pub(crate) struct Svg {
    width: f64,
    body: String,
}

/// The size of text.
pub(crate) const TEXT: f64 = 12.0;

/// Where a text is held.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn attribute(self) -> &'static str {
        match self {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        }
    }
}

impl Svg {
    /// An empty drawing with its title on top.
    pub(crate) fn new(width: f64, title: &str) -> Self {
        // Wide enough for its title, within reason.
        let width = width.max((title.chars().count() as f64 * 8.6 + 16.0).min(720.0));
        let mut svg = Svg {
            width,
            body: String::new(),
        };
        svg.raw(&format!(
            "<text class=\"t\" x=\"8\" y=\"20\" font-size=\"14\" fill=\"{INK}\">{}</text>",
            escape(&shortened(title, ((width - 16.0) / 8.6) as usize))
        ));
        svg
    }

    /// Something that is SVG already.
    pub(crate) fn raw(&mut self, text: &str) {
        self.body.push_str(text);
    }

    /// A text, cut to `most` signs; all of it is then in its title.
    pub(crate) fn label(&mut self, x: f64, y: f64, anchor: Anchor, text: &str, most: usize) {
        let short = shortened(text, most);
        let whole = match short == text {
            true => String::new(),
            false => format!("<title>{}</title>", escape(text)),
        };
        let _ = write!(
            self.body,
            "<text x=\"{}\" y=\"{}\"{} fill=\"{INK}\">{whole}{}</text>",
            number(x),
            number(y),
            anchor.attribute(),
            escape(&short)
        );
    }

    /// A short text of our own.
    pub(crate) fn text(&mut self, x: f64, y: f64, anchor: Anchor, text: &str) {
        self.label(x, y, anchor, text, usize::MAX);
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, class: &str) {
        let _ = write!(
            self.body,
            "<path class=\"{class}\" d=\"M{} {}L{} {}\" stroke=\"{colour}\"/>",
            number(from.0),
            number(from.1),
            number(to.0),
            number(to.1)
        );
    }

    /// All of it.
    pub(crate) fn finish(self, height: f64, name: &str) -> String {
        // A phone shrinks drawings, but wide ones less.
        let class = if self.width > 700.0 { "large" } else { "small" };
        let (width, height) = (number(self.width), number(height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"group\" \
             aria-label=\"{}\" font-family=\"DejaVu Sans,Verdana,Arial,sans-serif\" font-size=\"{TEXT}\">\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>{}</svg>",
            escape(name),
            self.body
        )
    }
}

/// A number with at most one decimal. What is not finite has no place in a drawing.
pub(crate) fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    match rounded.is_finite() && rounded != 0.0 {
        true => rounded.to_string(),
        false => "0".to_owned(),
    }
}

/// Text that is safe between tags and in quotes. Signs that XML does not know are left out.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => {}
            sign if sign.is_control() => safe.push(' '),
            sign => safe.push(sign),
        }
    }
    safe
}

/// At most so many signs, the last being an ellipsis where some are missing.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text
            .chars()
            .take(most.saturating_sub(1))
            .chain(Some('…'))
            .collect(),
        false => text.to_owned(),
    }
}

/// How wide a text of so many signs is, by the widest of the fonts.
pub(crate) fn width(signs: usize) -> f64 {
    signs as f64 * TEXT * 0.62
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_finite() {
        let all = [1.0, 1.26, -0.04, f64::NAN, f64::INFINITY, 1e7].map(number);
        assert_eq!(all, ["1", "1.3", "0", "0", "0", "10000000"]);
    }

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(
            escape("<a b='\"&\u{1}\u{ffff}>"),
            "&lt;a b=&#39;&quot;&amp; &gt;"
        );
        assert_eq!(
            (shortened("abcd", 3), shortened("abc", 3)),
            ("ab…".into(), "abc".into())
        );
    }
}
