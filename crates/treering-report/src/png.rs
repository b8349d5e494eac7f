//! Figures as PNG. The font is part of the program, so that a machine without any draws the same.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// Why a drawing could not become pixels.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The drawing is none.
    #[error("{0} is not drawn as PNG: {1}; draw it with --svg")]
    Drawing(String, String),
}

/// Pixels for every unit of a drawing: sharp on paper.
const SHARPNESS: f32 = 2.0;

fn fonts() -> Arc<fontdb::Database> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(dejavu::sans::regular().to_vec());
        fonts.set_sans_serif_family("DejaVu Sans");
        Arc::new(fonts)
    };
    FONTS.get_or_init(load).clone()
}

/// Draws a figure's SVG as PNG.
///
/// # Errors
/// A drawing that cannot be read, or that is too large for memory.
pub fn png(id: &str, svg: &str) -> Result<Vec<u8>, PngError> {
    let wrong = |reason: String| PngError::Drawing(id.to_owned(), reason);
    let options = Options {
        fontdb: fonts(),
        font_family: "DejaVu Sans".to_owned(),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|error| wrong(error.to_string()))?;
    let size = tree.size();
    let pixels = |length: f32| (length * SHARPNESS).ceil() as u32;
    let mut map = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or_else(|| wrong("it is too large".to_owned()))?;
    resvg::render(
        &tree,
        Transform::from_scale(SHARPNESS, SHARPNESS),
        &mut map.as_mut(),
    );
    map.encode_png().map_err(|error| wrong(error.to_string()))
}
