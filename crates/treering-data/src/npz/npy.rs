//! One NumPy array: its header, and its numbers in blocks.
//!
//! A header is three entries in a fixed notation, so it is scanned here rather than by a general parser of
//! Python literals, which can be made to recurse or overflow by a hostile header (docs/adr/0003).

use std::io::{Read, Write};

use crate::Fault;

/// What an array's elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Bool,
    Int(usize),
    Uint(usize),
    Float(usize),
    /// Bytes, padded with zeros.
    Bytes(usize),
    /// Characters of four bytes each, padded with zeros.
    Unicode(usize),
}

impl Element {
    pub(crate) fn size(self) -> usize {
        match self {
            Element::Bool => 1,
            Element::Int(n) | Element::Uint(n) | Element::Float(n) | Element::Bytes(n) => n,
            Element::Unicode(n) => n.saturating_mul(4),
        }
    }
}

/// Type and shape of an array.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) element: Element,
    /// The type as the file spells it, for errors.
    pub(crate) spelling: String,
    pub(crate) shape: Vec<u64>,
    /// The number of elements.
    pub(crate) count: u64,
    /// Bytes from the start of the member to the first element.
    pub(crate) length: u64,
}

/// No real header comes near this.
const LONGEST_HEADER: usize = 1 << 16;

impl Header {
    /// Reads the header and leaves the reader at the first element.
    pub(crate) fn read(reader: &mut impl Read) -> Result<Header, Fault> {
        let mut start = [0u8; 8];
        reader.read_exact(&mut start).map_err(Fault::from_io)?;
        if &start[..6] != b"\x93NUMPY" {
            return Err(damaged("it does not begin like a NumPy array"));
        }
        let mut size = [0u8; 4];
        let bytes = if start[6] == 1 { 2 } else { 4 };
        reader
            .read_exact(&mut size[..bytes])
            .map_err(Fault::from_io)?;
        let text_length = u32::from_le_bytes(size) as usize;
        if text_length > LONGEST_HEADER {
            return Err(damaged("its header claims an absurd length"));
        }
        let mut text = vec![0u8; text_length];
        reader.read_exact(&mut text).map_err(Fault::from_io)?;
        let text = String::from_utf8_lossy(&text);
        Self::parse(&text, (8 + bytes + text_length) as u64)
    }

    fn parse(text: &str, length: u64) -> Result<Header, Fault> {
        let descr = entry(text, "descr")?;
        let Some(spelling) = quoted(descr) else {
            return Err(Fault::WrongType {
                found: descr.chars().take(40).collect(),
                expected: "a plain number or text",
            });
        };
        let (element, big_endian) = parse_type(spelling)?;
        if big_endian {
            return Err(Fault::BigEndian {
                found: spelling.to_owned(),
            });
        }
        let shape = parse_shape(entry(text, "shape")?)?;
        let count = shape
            .iter()
            .try_fold(1u64, |product, &side| product.checked_mul(side))
            .filter(|count| count.checked_mul(element.size() as u64).is_some())
            .ok_or_else(|| damaged("its shape is larger than any file"))?;
        // A vector is the same in both orders.
        if shape.len() > 1 && entry(text, "fortran_order")?.starts_with("True") {
            return Err(Fault::FortranOrder);
        }
        Ok(Header {
            element,
            spelling: spelling.to_owned(),
            shape,
            count,
            length,
        })
    }
}

fn damaged(why: &str) -> Fault {
    Fault::Damaged {
        why: why.to_owned(),
    }
}

/// What follows `'key':` in the header.
fn entry<'a>(text: &'a str, key: &str) -> Result<&'a str, Fault> {
    let missing = || damaged(&format!("its header has no `{key}`"));
    let found = [format!("'{key}'"), format!("\"{key}\"")]
        .iter()
        .find_map(|quoted| text.split_once(quoted.as_str()))
        .ok_or_else(missing)?;
    let value = found.1.trim_start().strip_prefix(':').ok_or_else(missing)?;
    Ok(value.trim_start())
}

fn quoted(value: &str) -> Option<&str> {
    let quote = value.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    value[1..].split(quote).next()
}

fn parse_type(spelling: &str) -> Result<(Element, bool), Fault> {
    let wrong = || Fault::WrongType {
        found: spelling.chars().take(40).collect(),
        expected: "a plain number or text",
    };
    let mut rest = spelling.chars();
    let (order, kind) = match rest.next().ok_or_else(wrong)? {
        order @ ('<' | '>' | '|' | '=') => (order, rest.next().ok_or_else(wrong)?),
        kind => ('=', kind),
    };
    if kind == 'O' {
        return Err(Fault::ObjectArray);
    }
    let size: usize = rest.as_str().parse().map_err(|_| wrong())?;
    let element = match (kind, size) {
        ('b' | '?', 1) => Element::Bool,
        ('i', 1 | 2 | 4 | 8) => Element::Int(size),
        ('u', 1 | 2 | 4 | 8) => Element::Uint(size),
        ('f', 2 | 4 | 8) => Element::Float(size),
        ('S' | 'a', _) => Element::Bytes(size),
        ('U', _) => Element::Unicode(size),
        _ => return Err(wrong()),
    };
    Ok((element, order == '>' && element.size() > 1))
}

fn parse_shape(value: &str) -> Result<Vec<u64>, Fault> {
    let bad = || damaged("its shape cannot be read");
    let inside = value
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .ok_or_else(bad)?
        .0;
    inside
        .split(',')
        .map(|side| side.trim().trim_end_matches('L'))
        .filter(|side| !side.is_empty())
        .map(|side| side.parse().map_err(|_| bad()))
        .collect()
}

/// A number type that arrays are read into. `None` means that the number does not fit.
pub(crate) trait Number: Copy + Send + Sync + 'static {
    /// What has to stand in the file, for errors.
    const EXPECTED: &'static str;
    /// Whether floats can stand there at all.
    const FLOATS: bool;
    fn from_i64(value: i64) -> Option<Self>;
    fn from_u64(value: u64) -> Option<Self>;
    fn from_f64(value: f64) -> Option<Self>;
}

impl Number for f32 {
    const EXPECTED: &'static str = "a number";
    const FLOATS: bool = true;
    fn from_i64(value: i64) -> Option<Self> {
        Some(value as f32)
    }
    fn from_u64(value: u64) -> Option<Self> {
        Some(value as f32)
    }
    fn from_f64(value: f64) -> Option<Self> {
        Some(value as f32)
    }
}

macro_rules! whole_number {
    ($type:ty, $expected:literal) => {
        impl Number for $type {
            const EXPECTED: &'static str = $expected;
            const FLOATS: bool = false;
            fn from_i64(value: i64) -> Option<Self> {
                value.try_into().ok()
            }
            fn from_u64(value: u64) -> Option<Self> {
                value.try_into().ok()
            }
            fn from_f64(_: f64) -> Option<Self> {
                None
            }
        }
    };
}

whole_number!(u8, "a whole number from 0 to 255");
whole_number!(u32, "a whole number from 0 to 4,294,967,295");
whole_number!(u64, "a whole number that is not negative");
whole_number!(i64, "a whole number of at most 63 bits");

/// Labels may come as floats with NaN for "none"; whole floats count as whole numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LooseLabel(pub(crate) Option<i64>);

impl LooseLabel {
    pub(crate) fn from_number(value: f64) -> Option<LooseLabel> {
        if value.is_nan() {
            return Some(LooseLabel(None));
        }
        let whole = value.fract() == 0.0 && value.abs() < 9e15;
        whole.then_some(LooseLabel(Some(value as i64)))
    }
}

impl Number for LooseLabel {
    const EXPECTED: &'static str = "a class number";
    const FLOATS: bool = true;
    fn from_i64(value: i64) -> Option<Self> {
        Some(LooseLabel(Some(value)))
    }
    fn from_u64(value: u64) -> Option<Self> {
        i64::try_from(value).ok().and_then(Self::from_i64)
    }
    fn from_f64(value: f64) -> Option<Self> {
        Self::from_number(value)
    }
}

/// Appends the elements of `bytes` to `into`, up to the first that does not fit; the error is its text.
pub(crate) fn decode<T: Number>(
    element: Element,
    bytes: &[u8],
    into: &mut Vec<T>,
) -> Result<(), String> {
    match element {
        Element::Bool => each(bytes, |b: [u8; 1]| T::from_u64(u64::from(b[0] != 0)), into),
        Element::Int(1) => each(
            bytes,
            |b| T::from_i64(i64::from(i8::from_le_bytes(b))),
            into,
        ),
        Element::Int(2) => each(
            bytes,
            |b| T::from_i64(i64::from(i16::from_le_bytes(b))),
            into,
        ),
        Element::Int(4) => each(
            bytes,
            |b| T::from_i64(i64::from(i32::from_le_bytes(b))),
            into,
        ),
        Element::Int(_) => each(bytes, |b| T::from_i64(i64::from_le_bytes(b)), into),
        Element::Uint(1) => each(
            bytes,
            |b| T::from_u64(u64::from(u8::from_le_bytes(b))),
            into,
        ),
        Element::Uint(2) => each(
            bytes,
            |b| T::from_u64(u64::from(u16::from_le_bytes(b))),
            into,
        ),
        Element::Uint(4) => each(
            bytes,
            |b| T::from_u64(u64::from(u32::from_le_bytes(b))),
            into,
        ),
        Element::Uint(_) => each(bytes, |b| T::from_u64(u64::from_le_bytes(b)), into),
        Element::Float(2) => each(
            bytes,
            |b| T::from_f64(half::f16::from_le_bytes(b).to_f64()),
            into,
        ),
        Element::Float(4) => each(
            bytes,
            |b| T::from_f64(f64::from(f32::from_le_bytes(b))),
            into,
        ),
        Element::Float(_) => each(bytes, |b| T::from_f64(f64::from_le_bytes(b)), into),
        Element::Bytes(_) | Element::Unicode(_) => return Err("a text".into()),
    }
    .map_err(|at| spell(element, bytes, at))
}

fn each<T, const N: usize>(
    bytes: &[u8],
    convert: impl Fn([u8; N]) -> Option<T>,
    into: &mut Vec<T>,
) -> Result<(), usize>
where
    T: Copy,
{
    let (elements, _) = bytes.as_chunks::<N>();
    for (at, &element) in elements.iter().enumerate() {
        into.push(convert(element).ok_or(at)?);
    }
    Ok(())
}

/// The element at `at` as a text, for errors.
fn spell(element: Element, bytes: &[u8], at: usize) -> String {
    let mut value: Vec<LooseText> = Vec::new();
    let size = element.size().max(1);
    let part = bytes.get(at * size..(at + 1) * size).unwrap_or_default();
    match decode(element, part, &mut value) {
        Ok(()) => value
            .pop()
            .map_or_else(String::new, |text| text.0.to_string()),
        Err(text) => text,
    }
}

/// Any number at all, for [`spell`].
#[derive(Clone, Copy)]
struct LooseText(f64);

impl Number for LooseText {
    const EXPECTED: &'static str = "a number";
    const FLOATS: bool = true;
    fn from_i64(value: i64) -> Option<Self> {
        Some(LooseText(value as f64))
    }
    fn from_u64(value: u64) -> Option<Self> {
        Some(LooseText(value as f64))
    }
    fn from_f64(value: f64) -> Option<Self> {
        Some(LooseText(value))
    }
}

/// One text element: zeros at its end are padding.
pub(crate) fn decode_text(element: Element, bytes: &[u8]) -> Option<String> {
    match element {
        Element::Bytes(_) => {
            let end = bytes
                .iter()
                .rposition(|&b| b != 0)
                .map_or(0, |last| last + 1);
            String::from_utf8(bytes[..end].to_vec()).ok()
        }
        Element::Unicode(_) => {
            let mut text = String::new();
            for &character in bytes.as_chunks::<4>().0 {
                text.push(char::from_u32(u32::from_le_bytes(character))?);
            }
            text.truncate(text.trim_end_matches('\0').len());
            Some(text)
        }
        _ => None,
    }
}

/// Writes a header; `spelling` as NumPy spells the type, such as `<f4`.
pub(crate) fn write_header(
    out: &mut impl Write,
    spelling: &str,
    shape: &[usize],
) -> std::io::Result<()> {
    let sides: String = shape.iter().map(|side| format!("{side}, ")).collect();
    let mut text = format!(
        "{{'descr': '{spelling}', 'fortran_order': False, 'shape': ({}), }}",
        sides.trim_end()
    );
    // The elements begin at a multiple of 64, after a line break.
    let padding = 64 - (10 + text.len() + 1) % 64;
    text.push_str(&" ".repeat(padding % 64));
    text.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(text.len() as u16).to_le_bytes())?;
    out.write_all(text.as_bytes())
}
