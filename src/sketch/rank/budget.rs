//! A budget: the largest cost of a sketched layer, or its largest error.

use crate::{Error, Result};
use std::fmt;

/// Smallest relative error of a budget. Below it, the residual of an f32 weight is a rounding error.
const MIN_ERROR: f64 = 1.0 / (1 << 20) as f64;

/// The largest cost of a sketched layer compared with the dense layer, or its largest error.
///
/// A layer with one term of rank R has $2R(in + out)$ parameters; the dense layer has $in \cdot out$. For each row of x
/// it takes $4R(in + out)$ flops; the dense layer takes $2\\, in \cdot out$. So a share of the parameters is the same
/// share of the flops. Biases are the same in both layers and are not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Budget {
    /// Largest share of the dense layer's parameters, such as 0.5. A share of 1 or more allows every rank that saves
    /// parameters.
    Params(f64),
    /// Largest share of the dense layer's flops, with the same rule for 1 or more.
    Flops(f64),
    /// Largest relative error of the weight, $\\|W - W'\\|\_F / \\|W\\|\_F$: at least $2^{-20}$ and below 1.
    Error(f64),
}

impl Budget {
    /// Returns the budget if its number is in range.
    pub(crate) fn checked(self) -> Result<Self> {
        let wrong =
            |what: &str, value: f64, why: &str| Err(Error::input(what, format!("{why}; got {value}")));
        match self {
            Self::Params(share) if !(share > 0.0 && share.is_finite()) => {
                wrong("the budget of params", share, "must be a positive share of the dense layer's")
            }
            Self::Flops(share) if !(share > 0.0 && share.is_finite()) => {
                wrong("the budget of flops", share, "must be a positive share of the dense layer's")
            }
            Self::Error(error) if !(MIN_ERROR..1.0).contains(&error) => wrong(
                "the budget of errors",
                error,
                "must be at least 2^-20, the smallest error that f32 resolves, and below 1",
            ),
            budget => Ok(budget),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Params(share) => write!(f, "at most {} of the dense layer's params", percent(*share)),
            Self::Flops(share) => write!(f, "at most {} of the dense layer's flops", percent(*share)),
            Self::Error(error) => write!(f, "a relative error of at most {error}"),
        }
    }
}

/// A share in per cent, with one decimal.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}
