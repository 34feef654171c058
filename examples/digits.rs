//! The handwritten digits of `digits.csv.gz`.

use flate2::read::GzDecoder;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use tilewise::{Error, Result};

/// Pixels of a digit: 8 x 8.
pub(crate) const PIXELS: usize = 64;
/// Every fourth digit is held out: the scripts of `examples/data` do not train on it.
const HELD_OUT: usize = 4;

/// A digit of the file.
pub(crate) struct Digit {
    /// 0 to 16, row by row.
    pub(crate) pixels: Vec<u8>,
    pub(crate) class: usize,
}

/// The held-out digits of a file.
pub(crate) fn held_out(path: &Path) -> Result<Vec<Digit>> {
    let refuse = |why: String| Error::Input { what: path.display().to_string(), why };
    let mut text = String::new();
    File::open(path)
        .and_then(|file| GzDecoder::new(file).read_to_string(&mut text))
        .map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let digit = |(row, line): (usize, &str)| {
        let fields: Option<Vec<u8>> = line.split(',').map(|field| field.parse().ok()).collect();
        match fields.as_deref().and_then(<[u8]>::split_last) {
            Some((&class, pixels)) if pixels.len() == PIXELS => {
                Ok(Digit { pixels: pixels.to_vec(), class: class.into() })
            }
            _ => Err(refuse(format!("line {} is not {PIXELS} pixels and a class", row + 1))),
        }
    };
    let lines = text.lines().enumerate().skip(HELD_OUT - 1).step_by(HELD_OUT);
    let digits: Vec<Digit> = lines.map(digit).collect::<Result<_>>()?;
    if digits.is_empty() { Err(refuse("holds no digits".into())) } else { Ok(digits) }
}
