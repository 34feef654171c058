//! Sizes as users give them.

use std::str::FromStr;

/// One number, which each operation reads in its own way, or three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// `512`.
    Edge(usize),
    /// `64x4096x1024`.
    Shape([usize; 3]),
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let extents = text.split('x').map(|extent| extent.parse().ok().filter(|&extent: &usize| extent > 0));
        match extents.collect::<Option<Vec<usize>>>().as_deref() {
            Some(&[edge]) => Ok(Self::Edge(edge)),
            Some(&[m, n, k]) => Ok(Self::Shape([m, n, k])),
            _ => Err(format!(
                "`{text}` is not a size such as 512 or 64x4096x1024, of numbers above 0 and up to {}",
                usize::MAX
            )),
        }
    }
}
