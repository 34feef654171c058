//! Pictures: their size, and their PNG files.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use tilewise::{Error, Result};

/// `640x360` as two numbers of at most `MAX_SIDE`.
pub fn size<const MAX_SIDE: u32>(text: &str) -> Result<[u32; 2], String> {
    let side = |text: &str| text.parse().ok().filter(|side| (1..=MAX_SIDE).contains(side));
    let sides = text.split_once('x').and_then(|(width, height)| Some([side(width)?, side(height)?]));
    sides.ok_or_else(|| format!("must be WIDTHxHEIGHT, such as 640x360, of 1 to {MAX_SIDE} pixels each"))
}

/// The error of a file or folder that cannot be written.
pub fn unwritable(path: &Path, error: &dyn std::error::Error) -> Error {
    Error::Input { what: path.display().to_string(), why: format!("cannot be written: {error}") }
}

/// Writes pixels of three bytes each, red, green and blue, as a PNG file.
pub fn write_png(path: &Path, [width, height]: [u32; 2], rgb: &[u8]) -> Result<()> {
    let file = File::create(path).map_err(|error| unwritable(path, &error))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
    encoder.set_color(png::ColorType::Rgb);
    let written = encoder.write_header().and_then(|mut file| {
        file.write_image_data(rgb)?;
        file.finish()
    });
    written.map_err(|error| unwritable(path, &error))
}
