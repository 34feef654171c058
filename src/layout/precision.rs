//! How precise products of f32 operands have to be.

use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// How precise a product of f32 operands has to be: what may be lost to run it on tensor cores, which take f16.
///
/// The bounds are entrywise, of $|c_{ij} - (AB)_{ij}|$, with $\alpha_{i} = \max_{p} |a_{ip}|$ and
/// $\beta_{j} = \max_{p} |b_{pj}|$ over finite entries; [`reference::precision_tolerance`] computes and derives them. What
/// is below the least normal f32, $2^{-126}$, may be flushed to zero on top.
///
/// An infinity or a NaN stays what it is: a result is infinite (of that sign) or NaN exactly where f32 arithmetic
/// makes it so, as long as no finite sum is beyond f32.
///
/// Operands of another type than f32 are multiplied as they are, whatever is asked for here.
///
/// [`reference::precision_tolerance`]: crate::reference::precision_tolerance
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// f32 all through: $\gamma_{k} (|A||B|)_{ij}$. Nothing is lost without being asked for.
    #[default]
    Strict,
    /// One f16 per entry, scaled by a power of two per row of A and column of B:
    /// $(2^{-10} + \gamma_{k}) (|A||B|)_{ij} + 2^{-27} k\,\alpha_{i} \beta_{j}$. Three significant digits, as TF32 has,
    /// wherever a row of A and a column of B span fewer than 28 binades; an entry below $2^{-28}$ of its row's
    /// largest is taken for about that much.
    ///
    /// Takes 4 storage bindings, and one more each for a bias and a residual. Where the device has fewer, or its limits on
    /// buffers leave no room for the f16 operands, the product is computed as [`Strict`](Self::Strict), and its plan says so.
    ///
    /// For neural networks and wherever the operands themselves are known to three digits.
    Fast,
    /// Two f16 per entry, three products:
    /// $(2^{-20} + 1.01 \gamma_{k+2}) (|A||B|)_{ij} + (2^{-38} + 2^{-26} \gamma_{k}) k\,\alpha_{i} \beta_{j}$. Six
    /// significant digits in rows of fewer than 28 binades: nearly f32, at three times the products.
    ///
    /// Takes 5 storage bindings, and one more each for a bias and a residual; where they are not there,
    /// [`Strict`](Self::Strict) takes its place, as for [`Fast`](Self::Fast).
    ///
    /// Where f32 is wanted, tensor cores are there, and magnitudes within a row are not all that far apart.
    Split,
}

impl Precision {
    /// Every precision, the most precise first for rows of any magnitudes.
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

    /// The precision of this name.
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|precision| precision.to_string() == name)
            .ok_or_else(|| Error::input("precision", format!("`{name}` is none of strict, fast, split")))
    }
}
