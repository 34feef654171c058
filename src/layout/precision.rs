//! Precision of products of f32 operands.

use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Precision of a product of f32 operands. Lower precisions run on tensor cores, which take f16.
///
/// The bounds are entrywise, for $|c_{ij} - (AB)\_{ij}|$, with $\alpha_{i} = \max_{p} |a_{ip}|$ and $\beta_{j} =
/// \max_{p} |b_{pj}|$ over finite entries; [`reference::precision_tolerance`] computes and derives them. In addition,
/// values below the least normal f32, $2^{-126}$, may be flushed to zero.
///
/// Infinities and NaNs are preserved: a result is infinite (of that sign) or NaN exactly where f32 arithmetic gives
/// that, unless a finite sum exceeds the range of f32.
///
/// Operands of other types than f32 are multiplied in their own type for every precision.
///
/// [`reference::precision_tolerance`]: crate::reference::precision_tolerance
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// f32 throughout: $\gamma_{k} (|A||B|)\_{ij}$. This is the default.
    #[default]
    Strict,
    /// One f16 per entry, scaled by a power of two per row of A and column of B: $(2^{-10} + \gamma_{k}) (|A||B|)\_{ij} + 2^{-27}
    /// k\\,\alpha_{i} \beta_{j}$. Three significant digits, like TF32, if a row of A and a column of B span fewer than 28 binades.
    /// An entry below $2^{-28}$ of its row's largest is replaced by about $2^{-28}$ of the largest.
    ///
    /// Takes 4 storage bindings, and one more each for a bias and a residual. If the device has fewer, or the f16
    /// operands exceed its limits on buffers, the product is computed as [`Strict`](Self::Strict), and its plan says
    /// so.
    ///
    /// Suited to neural networks, and to operands that are themselves accurate to three digits.
    Fast,
    /// Two f16 per entry, three products:
    /// $(2^{-20} + 1.01 \gamma_{k+2}) (|A||B|)\_{ij} + (2^{-38} + 2^{-26} \gamma_{k}) k\\,\alpha_{i} \beta_{j}$. Six significant digits in rows of fewer than 28 binades: nearly f32, at three times
    /// the products.
    ///
    /// Takes 5 storage bindings, and one more each for a bias and a residual. If the device has fewer, the product is
    /// computed as [`Strict`](Self::Strict), as for [`Fast`](Self::Fast).
    ///
    /// Suited to products that need nearly f32 on devices with tensor cores, if magnitudes within a row do not differ
    /// too much.
    Split,
}

impl Precision {
    /// Every precision, from the most to the least precise for rows of any magnitudes.
    pub const ALL: [Self; 3] = [Self::Strict, Self::Split, Self::Fast];
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Strict => "strict",
            Self::Fast => "fast",
            Self::Split => "split",
        })
    }
}

impl FromStr for Precision {
    type Err = Error;

    /// Parses the name of a precision.
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|precision| precision.to_string() == name).ok_or_else(|| {
            Error::input("precision", format!("`{name}` is not one of strict, split and fast"))
        })
    }
}
