//! A case: size, type of the operands, and the peer's strategy.

use crate::strategy::Strategy;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One product and how the peer computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) size: Size,
    pub(crate) dtype: Type,
    /// A strategy of the peer next to its own choice.
    pub(crate) strategy: Option<Strategy>,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dtype, self.size)?;
        self.strategy.map_or(Ok(()), |strategy| write!(f, " with {strategy}"))
    }
}

/// Type of the operands. All products are f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Type {
    F32,
    F16,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
        })
    }
}

/// Sizes of a product: A (m, k), B (k, n), C (m, n).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Size {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
}

/// Elements of a matrix at most: what fits into one binding of the largest devices.
const MAX_ELEMENTS: usize = 1 << 30;

impl Size {
    pub(crate) const fn cube(size: usize) -> Self {
        Self { m: size, n: size, k: size }
    }

    pub(crate) const fn array(self) -> [usize; 3] {
        [self.m, self.n, self.k]
    }

    /// Floating-point operations of a product.
    pub(crate) fn flops(self) -> f64 {
        2.0 * self.array().iter().map(|&extent| extent as f64).product::<f64>()
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.m, self.n, self.k)
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let extents: Option<Vec<usize>> = text.split('x').map(|extent| extent.parse().ok()).collect();
        let size = match extents.as_deref() {
            Some(&[size]) => Self::cube(size),
            Some(&[m, n, k]) => Self { m, n, k },
            _ => return Err(format!("`{text}` is neither N nor MxNxK, such as 512 or 64x4096x1024")),
        };
        if size.array().contains(&0) {
            return Err(format!("`{text}`: every extent must be at least 1"));
        }
        let fits = |x: usize, y: usize| x.checked_mul(y).is_some_and(|elements| elements <= MAX_ELEMENTS);
        if fits(size.m, size.k) && fits(size.k, size.n) && fits(size.m, size.n) {
            Ok(size)
        } else {
            Err(format!("`{text}` is too large: a matrix may have at most {MAX_ELEMENTS} elements"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_cubes_or_m_n_k() {
        assert_eq!("512".parse(), Ok(Size::cube(512)));
        assert_eq!("64x4096x1024".parse(), Ok(Size { m: 64, n: 4096, k: 1024 }));
        for bad in ["", "x", "1x2", "1x2x3x4", "-1", "1.5", "0", "4x0x4"] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
        let error = "65536".parse::<Size>();
        assert_eq!(error, Err("`65536` is too large: a matrix may have at most 1073741824 elements".into()));
    }

    #[test]
    fn a_size_prints_what_it_is_read_from() {
        let size = Size { m: 3, n: 5, k: 7 };
        assert_eq!(size.to_string().parse(), Ok(size));
        assert!((size.flops() - 210.0).abs() < f64::EPSILON);
    }
}
