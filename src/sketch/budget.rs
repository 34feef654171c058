//! What a sketched layer may cost, and the rank that comes of it.

use crate::{Error, Result};
use std::fmt;

/// The least relative error that is asked for: below, what is left of a weight in f32 is rounding.
const LEAST_ERROR: f64 = 1.0 / (1 << 20) as f64;
/// Ranks are rounded up to multiples of this, as wide as the tiles of tensor cores.
const TILE: usize = 16;
/// By what factor at most.
const ROUNDED: f64 = 1.2;

/// What a sketched layer may cost, or how far it may be from the dense one.
///
/// A layer of one term of rank R has $2R(in + out)$ parameters where the dense one has $in \cdot out$, and takes
/// $4R(in + out)$ flops for each row of x where the dense one takes $2\, in \cdot out$: the same share of the
/// parameters is the same share of the flops. Biases are the same in both, and not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Budget {
    /// At most this share of the dense layer's parameters, such as 0.5. With 1 or more, as many as save any.
    Params(f64),
    /// At most this share of the dense layer's flops, likewise.
    Flops(f64),
    /// A relative error of the weight, $\|W - W'\|_F / \|W\|_F$, of at most this: from $2^{-20}$ on, and below 1.
    Error(f64),
}

impl Budget {
    /// Itself, if it makes sense.
    pub(crate) fn checked(self) -> Result<Self> {
        let wrong = |what: &str, value: f64, why: &str| Err(Error::input(what, format!("{value} {why}")));
        match self {
            Self::Params(share) if !(share > 0.0 && share.is_finite()) => {
                wrong("the budget of params", share, "is no positive share of the dense layer's")
            }
            Self::Flops(share) if !(share > 0.0 && share.is_finite()) => {
                wrong("the budget of flops", share, "is no positive share of the dense layer's")
            }
            Self::Error(error) if !(LEAST_ERROR..1.0).contains(&error) => {
                wrong("the budget of errors", error, "is not between 2^-20, which f32 can tell from 0, and 1")
            }
            budget => Ok(budget),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Params(share) => write!(f, "{} of the dense layer's params at most", percent(*share)),
            Self::Flops(share) => write!(f, "{} of the dense layer's flops at most", percent(*share)),
            Self::Error(error) => write!(f, "a relative error of {error} at most"),
        }
    }
}

/// A share as people write it, with three digits or so.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// The sizes of a weight (out, in), and what layers of them cost. What is counted is of one term: of T terms of rank R
/// it is that of one of rank TR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
}

impl Sizes {
    /// Parameters of the dense layer.
    pub(crate) fn dense(self) -> usize {
        self.rows * self.cols
    }

    /// Parameters of the sketched layer, for each unit of its rank.
    pub(crate) fn per_rank(self) -> usize {
        2 * (self.rows + self.cols)
    }

    /// The largest rank with fewer parameters than the dense layer; 0 where none has.
    pub(crate) fn most(self) -> usize {
        self.dense().saturating_sub(1) / self.per_rank().max(1)
    }

    /// The largest rank with this share of the dense layer's parameters at most, and with fewer than all.
    pub(crate) fn within(self, share: f64) -> usize {
        // A share that was made from a number of parameters is that number again, whichever way it was rounded.
        let params = share * self.dense() as f64 * (1.0 + 4.0 * f64::EPSILON);
        (1..=self.most()).take_while(|&rank| (rank * self.per_rank()) as f64 <= params).last().unwrap_or(0)
    }

    /// The least rank whose error is at most this, with fewer parameters than the dense layer.
    pub(crate) fn reaching(self, error: f64, of_rank: impl Fn(usize) -> f64) -> Option<usize> {
        (1..=self.most()).find(|&rank| of_rank(rank) <= error)
    }

    /// The next multiple of a tensor core's tile, if the layer saves all the same and is not much larger.
    pub(crate) fn rounded(self, rank: usize) -> usize {
        let next = rank.next_multiple_of(TILE);
        if next as f64 <= ROUNDED * rank as f64 && next <= self.most() { next } else { rank }
    }
}

/// Why a rank is what it is, given the least (or most) that would do.
pub(crate) fn rounding(rank: usize, least: usize) -> String {
    let next = least.next_multiple_of(TILE);
    if rank > least {
        format!("rounded up from {least} to a multiple of {TILE}")
    } else if next == rank {
        format!("a multiple of {TILE}")
    } else if next as f64 > ROUNDED * rank as f64 {
        format!("no multiple of {TILE}: the next, {next}, is more than {ROUNDED} times that")
    } else {
        format!("no multiple of {TILE}: the next, {next}, is beyond the budget or saves nothing")
    }
}
