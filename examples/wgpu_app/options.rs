//! Options that the pictures and the window share.

/// Largest width and height of a picture.
const MAX_SIDE: u32 = 8192;

/// Type of the network's weights and hidden values.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Type {
    F16,
    F32,
}

/// `640x360` as two numbers.
pub(crate) fn size(text: &str) -> Result<[u32; 2], String> {
    let side = |text: &str| text.parse().ok().filter(|side| (1..=MAX_SIDE).contains(side));
    let sides = text.split_once('x').and_then(|(width, height)| Some([side(width)?, side(height)?]));
    sides.ok_or_else(|| format!("must be WIDTHxHEIGHT, such as 640x360, of 1 to {MAX_SIDE} pixels each"))
}
