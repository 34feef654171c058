//! Which rank a sketched layer should have, or whether the dense one should stay.

use super::budget::{Budget, Sizes, percent, rounding};
use super::spectrum::{Spectrum, decomposed};
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::tensor::Tensor;
use std::fmt;

/// What to make of a dense layer, from [`advise`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Advice {
    /// Rows and columns of the weight: (out, in).
    pub shape: [usize; 2],
    /// What was asked for.
    pub budget: Budget,
    /// A sketched layer, or the dense one.
    pub choice: Choice,
    /// Terms of the layer: 1, or 0 of a dense layer. The error depends on terms times rank alone.
    pub terms: usize,
    /// The rank of the term; 0 of a dense layer.
    pub rank: usize,
    /// The rank before it was rounded up to a multiple of 16: the largest within a budget of parameters or flops, the
    /// least that meets one of errors. 0 where there is none.
    pub least_rank: usize,
    /// Parameters of what is chosen, without the bias: $2R(in + out)$, or those of the dense layer.
    pub params: usize,
    /// Parameters of the dense layer, without the bias.
    pub dense_params: usize,
    /// Flops for each row of x, without the bias: $4R(in + out)$, or those of the dense layer.
    pub flops_per_row: usize,
    /// Flops of the dense layer for each row of x.
    pub dense_flops_per_row: usize,
    /// $\|W - W'\|_F / \|W\|_F$ of the best layer of that rank, before its parameters are rounded to their type; 0 of a
    /// dense layer.
    pub rel_error: f64,
    /// The least relative error of a layer that saves anything. None where no error was asked for, as it takes a
    /// decomposition of that rank, or where none saves.
    pub least_rel_error: Option<f64>,
}

/// A sketched layer, or the dense one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// The sketched layer of the advice's rank.
    Sketched,
    /// The layer as it is.
    Dense {
        /// Why, with the numbers.
        why: String,
    },
}

/// Advises on a sketched layer for a weight: terms and rank within a budget, or why the dense layer should stay.
///
/// The error of a fitted layer depends on terms times rank alone, so there is one term, and the rank is looked for. For
/// parameters and flops it is the largest within the budget; for an error the least that meets it, rounded up to a
/// multiple of 16, as wide as the tiles of tensor cores, if that is at most 1.2 times as much and still saves.
///
/// # Shapes
/// `weight` (out, in), as it is trained and stored elsewhere.
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if the weight is no matrix with rows and columns;
/// [`Error::Input`](crate::Error::Input) if an entry is NaN or infinite, with its place, or the budget makes no sense;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Limit`](crate::Error::Limit) without room.
/// # Precision
/// Singular values are found by [`Rsvd`](crate::sketch::Rsvd) with four power iterations: errors are within half a per
/// cent of the best that any layer of that rank has, in the tests on trained weights.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::sketch::{Budget, Choice, advise};
/// use tilewise::{Fill, matmul};
///
/// let [b, c] = [[256, 20], [20, 128]].map(|shape| gpu.random::<f32>(shape, Fill::Uniform, 1));
/// let weight = matmul(&b?, &c?)?; // of rank 20: ten pairs of each half
/// let advice = advise(&weight, Budget::Error(1e-3))?;
/// assert_eq!((&advice.choice, advice.terms, advice.rank), (&Choice::Sketched, 1, 10));
/// assert_eq!((advice.params, advice.dense_params), (7_680, 32_768));
/// println!("{advice}");
/// # Ok(())
/// # }
/// ```
pub fn advise<T: Real>(weight: &Tensor<T>, budget: Budget) -> Result<Advice> {
    call("advise", || {
        let budget = budget.checked()?;
        let weight = weight.cast::<f32>()?;
        let sizes = match *weight.shape() {
            [rows, cols] => Sizes { rows, cols },
            _ => Sizes { rows: 0, cols: 0 }, // the decomposition refuses it
        };
        let rank = match budget {
            Budget::Params(share) | Budget::Flops(share) => sizes.within(share),
            Budget::Error(error) => return of_error(&weight, sizes, budget, error),
        };
        // NOTE: this runs for rank 0, too, because it checks the weight.
        let svd = decomposed(&weight, 2 * rank)?;
        if rank == 0 {
            return Ok(dense(sizes, budget, too_small(sizes), None));
        }
        Ok(sketched(sizes, budget, rank, rank, svd.rel_residual))
    })
}

fn of_error(weight: &Tensor<f32>, sizes: Sizes, budget: Budget, error: f64) -> Result<Advice> {
    let most = sizes.most();
    let svd = decomposed(weight, 2 * most)?;
    if most == 0 {
        return Ok(dense(sizes, budget, too_small(sizes), None));
    }
    let spectrum = Spectrum::new(&svd.s, svd.residual);
    let least_error = spectrum.error(most);
    let Some(least) = sizes.reaching(error, |rank| spectrum.error(rank)) else {
        return Ok(dense(sizes, budget, out_of_reach(sizes, error, least_error), Some(least_error)));
    };
    let rank = sizes.rounded(least);
    Ok(Advice {
        least_rel_error: Some(least_error),
        ..sketched(sizes, budget, rank, least, spectrum.error(rank))
    })
}

/// Why no rank saves.
pub(crate) fn too_small(sizes: Sizes) -> String {
    let (one, dense) = (sizes.per_rank(), sizes.dense());
    if one < dense {
        format!(
            "a layer of rank 1 has {one} params, {} of the dense layer's {dense}: more than the budget",
            percent(one as f64 / dense as f64)
        )
    } else {
        format!("a layer of rank 1 has {one} params, no fewer than the dense layer's {dense}")
    }
}

/// Why no rank that saves will do.
pub(crate) fn out_of_reach(sizes: Sizes, error: f64, least_error: f64) -> String {
    let (most, dense) = (sizes.most(), sizes.dense());
    let params = most * sizes.per_rank();
    format!(
        "no layer that saves has an error of {error} or less: the least is {least_error:.3}, of rank {most} with \
         {params} params against {dense}"
    )
}

fn sketched(sizes: Sizes, budget: Budget, rank: usize, least_rank: usize, rel_error: f64) -> Advice {
    let (params, dense_params) = (rank * sizes.per_rank(), sizes.dense());
    Advice {
        shape: [sizes.rows, sizes.cols],
        budget,
        choice: Choice::Sketched,
        terms: 1,
        rank,
        least_rank,
        params,
        dense_params,
        flops_per_row: 2 * params,
        dense_flops_per_row: 2 * dense_params,
        rel_error,
        least_rel_error: None,
    }
}

fn dense(sizes: Sizes, budget: Budget, why: String, least_rel_error: Option<f64>) -> Advice {
    let params = sizes.dense();
    Advice {
        choice: Choice::Dense { why },
        terms: 0,
        params,
        flops_per_row: 2 * params,
        least_rel_error,
        ..sketched(sizes, budget, 0, 0, 0.0)
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |part: usize, all: usize| {
            format!("{part} of {all}, {}", percent(part as f64 / all.max(1) as f64))
        };
        writeln!(f, "weight     {} x {}", self.shape[0], self.shape[1])?;
        writeln!(f, "budget     {}", self.budget)?;
        match &self.choice {
            Choice::Sketched => {
                let why = rounding(self.rank, self.least_rank);
                writeln!(f, "choice     {} term of rank {}, {why}", self.terms, self.rank)?;
            }
            Choice::Dense { why } => writeln!(f, "choice     dense: {why}")?,
        }
        writeln!(f, "params     {}", of(self.params, self.dense_params))?;
        writeln!(f, "flops      {} for each row", of(self.flops_per_row, self.dense_flops_per_row))?;
        write!(f, "error      {:.3} of the norm of the weight", self.rel_error)
    }
}
