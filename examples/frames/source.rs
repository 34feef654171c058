//! Where the frames come from.

use crate::pattern::Pattern;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use tilewise::{Error, Result};

/// Bytes of a pixel: red, green and blue.
pub(crate) const COLOURS: usize = 3;

/// A stream of frames of one size.
pub(crate) struct Source {
    pub(crate) size: [u32; 2],
    pub(crate) frames: u32,
    /// In words, for the report.
    pub(crate) name: String,
    kind: Kind,
}

enum Kind {
    File(File),
    Pattern(Pattern),
}

impl Source {
    /// A pattern that moves and returns to its first frame after the last one.
    pub(crate) fn pattern(seed: u64, size: [u32; 2], frames: u32) -> Self {
        let name = format!("a moving pattern of seed {seed}");
        Self { size, frames, name, kind: Kind::Pattern(Pattern::new(seed)) }
    }

    /// The first `asked` frames of a file, or all of them.
    pub(crate) fn file(path: &Path, size: [u32; 2], asked: Option<u32>) -> Result<Self> {
        let refuse = |why: String| Error::Input { what: path.display().to_string(), why };
        let cannot = |error: std::io::Error| refuse(format!("cannot be read: {error}"));
        let file = File::open(path).map_err(cannot)?;
        let metadata = file.metadata().map_err(cannot)?;
        if !metadata.is_file() {
            return Err(refuse("is not a regular file".into()));
        }
        let ([width, height], bytes) = (size, metadata.len());
        let frame = bytes_of(size) as u64;
        if bytes == 0 || bytes % frame != 0 {
            return Err(refuse(format!(
                "its {bytes} bytes are not a whole number of frames: a frame of {width}x{height} pixels has {frame}"
            )));
        }
        let there = bytes / frame;
        let frames = match (asked, u32::try_from(there)) {
            (Some(asked), _) if u64::from(asked) > there => {
                return Err(refuse(format!("it contains {there} frames, fewer than --frames {asked}")));
            }
            (Some(asked), _) => asked,
            (None, Ok(all)) => all,
            (None, Err(_)) => return Err(refuse(format!("it contains {there} frames: pass --frames"))),
        };
        Ok(Self { size, frames, name: path.display().to_string(), kind: Kind::File(file) })
    }

    /// The bytes of a frame. Files are read in order.
    pub(crate) fn frame(&mut self, index: u32) -> Result<Vec<u8>> {
        match &mut self.kind {
            Kind::Pattern(pattern) => Ok(pattern.frame(self.size, f64::from(index) / f64::from(self.frames))),
            Kind::File(file) => {
                let mut frame = vec![0; bytes_of(self.size)];
                file.read_exact(&mut frame).map_err(|error| Error::Input {
                    what: self.name.clone(),
                    why: format!("frame {index} cannot be read: {error}"),
                })?;
                Ok(frame)
            }
        }
    }
}

/// Bytes of a frame.
pub(crate) fn bytes_of([width, height]: [u32; 2]) -> usize {
    width as usize * height as usize * COLOURS
}
