//! The sentences of a file, one a line.

use std::path::Path;
use tilewise::{Error, Result};

/// Reads the lines of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<String>> {
    let refuse = |why: String| Error::Input { what: path.display().to_string(), why };
    let bytes = std::fs::read(path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    if bytes.is_empty() {
        return Err(refuse("holds no line".into()));
    }
    let line = |(at, line): (usize, &[u8])| match std::str::from_utf8(line) {
        Ok(line) => Ok(line.strip_suffix('\r').unwrap_or(line).to_owned()),
        Err(error) => {
            let (line, byte) = (at + 1, error.valid_up_to() + 1);
            Err(refuse(format!("line {line} is not UTF-8 text, from its byte {byte} on")))
        }
    };
    bytes.split(|&byte| byte == b'\n').enumerate().map(line).collect()
}
