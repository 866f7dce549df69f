//! A chart as pixels, with a font of our own: the same on a laptop and on a node without fonts.

use super::{ChartError, Svg};
use resvg::{tiny_skia, usvg};
use std::sync::Arc;

/// `DejaVu` Sans, cut down; see `assets/fonts/README.md`.
const FONT: &[u8] = include_bytes!("../../assets/fonts/DejaVuSans.ttf");
/// Its name.
const FAMILY: &str = "DejaVu Sans";
/// Pixels per unit of the drawing.
const SCALE: f32 = 2.0;

/// The drawing as a PNG file, two pixels per unit.
///
/// # Errors
/// When the drawing is not SVG or too large.
pub fn png(svg: &Svg) -> Result<Vec<u8>, ChartError> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    let options = usvg::Options {
        font_family: FAMILY.into(),
        fontdb: Arc::new(fonts),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(&svg.standalone(), &options).map_err(ChartError::new)?;
    let size = tree.size().to_int_size().scale_by(SCALE);
    let size = size.ok_or_else(|| ChartError::new("it is empty"))?;
    let pixels = tiny_skia::Pixmap::new(size.width(), size.height());
    let mut pixels = pixels.ok_or_else(|| ChartError::new("it is too large"))?;
    let transform = tiny_skia::Transform::from_scale(SCALE, SCALE);
    resvg::render(&tree, transform, &mut pixels.as_mut());
    pixels.encode_png().map_err(ChartError::new)
}
