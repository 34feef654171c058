//! Recommends the rank of a sketched layer, or to keep the dense layer.

use super::budget::{Budget, percent};
use super::sizes::{Sizes, rounding};
use super::spectrum::{Spectrum, decompose};
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::progress::Steps;
use crate::tensor::Tensor;
use std::fmt;

/// A recommended rank for a dense layer's weight, from [`recommend_rank`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RankRecommendation {
    /// Shape of the weight: (out, in).
    pub shape: [usize; 2],
    /// The budget.
    pub budget: Budget,
    /// Whether to sketch the layer.
    pub choice: Choice,
    /// Number of terms: 1, or 0 for a dense layer. The error depends only on terms times rank.
    pub terms: usize,
    /// The rank of the term; 0 for a dense layer.
    pub rank: usize,
    /// The rank before rounding up to a multiple of 16: the largest that a budget of parameters or flops allows, or the
    /// smallest that meets a budget of errors. 0 if no rank does.
    pub least_rank: usize,
    /// Parameters of the recommended layer without the bias: $2R(in + out)$, or those of the dense layer.
    pub params: usize,
    /// Parameters of the dense layer without the bias.
    pub dense_params: usize,
    /// Flops per row of x without the bias: $4R(in + out)$, or those of the dense layer.
    pub flops_per_row: usize,
    /// Flops of the dense layer per row of x.
    pub dense_flops_per_row: usize,
    /// $\\|W - W'\\|\_F / \\|W\\|\_F$ of the best layer of this rank, before its parameters are rounded to their type; 0 for
    /// a dense layer.
    pub rel_error: f64,
    /// The smallest relative error of any layer with fewer parameters than the dense one. None if the budget is not an
    /// error, because this takes a decomposition of the largest such rank, or if no layer saves parameters.
    pub least_rel_error: Option<f64>,
}

/// Whether a layer should be sketched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// Use a sketched layer of the recommended rank.
    Sketched,
    /// Keep the dense layer.
    Dense {
        /// The reason, with numbers.
        why: String,
    },
}

/// Recommends terms and rank of a sketched layer for a weight and a budget, or to keep the dense layer.
///
/// The error of a fitted layer depends only on terms times rank, so the recommended layer has one term. For a budget of
/// parameters or flops, the rank is the largest that the budget allows. For a budget of errors, it is the smallest that
/// meets the budget, rounded up to a multiple of 16 (the width of tensor core tiles) if that is at most 1.2 times as
/// much and still saves parameters.
///
/// # Shapes
/// `weight` (out, in).
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) if the weight is not a matrix with rows and columns;
/// [`Error::Input`](crate::Error::Input) if an entry is NaN or infinite, with its index, or if the budget is out of
/// range; [`Error::OutOfMemory`](crate::Error::OutOfMemory) or [`Error::Limit`](crate::Error::Limit) if the
/// decomposition does not fit; [`Error::Cancelled`](crate::Error::Cancelled) in [`with_progress`](crate::with_progress).
/// # Precision
/// Singular values are computed by [`Rsvd`](crate::sketch::Rsvd). In tests on trained weights, errors are within half a
/// per cent of the least error of any layer of the rank.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::sketch::{Budget, Choice, recommend_rank};
/// use tilewise::{Fill, matmul};
///
/// let [b, c] = [[256, 20], [20, 128]].map(|shape| gpu.random::<f32>(shape, Fill::Uniform, 1));
/// let weight = matmul(&b?, &c?)?; // of rank 20: a term of rank R holds 2R
/// let found = recommend_rank(&weight, Budget::Error(1e-3))?;
/// assert_eq!((&found.choice, found.terms, found.rank), (&Choice::Sketched, 1, 10));
/// assert_eq!((found.params, found.dense_params), (7_680, 32_768));
/// println!("{found}");
/// # Ok(())
/// # }
/// ```
pub fn recommend_rank<T: Real>(weight: &Tensor<T>, budget: Budget) -> Result<RankRecommendation> {
    call("recommend_rank", || {
        let budget = budget.checked()?;
        let steps = Steps::of("recommend_rank", 1);
        steps.at(0, "singular values")?;
        let weight = weight.cast::<f32>()?;
        let sizes = match *weight.shape() {
            [rows, cols] => Sizes { rows, cols },
            _ => Sizes { rows: 0, cols: 0 }, // rejected by `decompose`
        };
        let rank = match budget {
            Budget::Params(share) | Budget::Flops(share) => sizes.max_rank_within(share),
            Budget::Error(error) => {
                let found = for_error(&weight, sizes, budget, error)?;
                steps.end()?;
                return Ok(found);
            }
        };
        // NOTE: this runs for rank 0 too, because it checks the weight.
        let svd = decompose(&weight, 2 * rank)?;
        steps.end()?;
        if rank == 0 {
            return Ok(dense(sizes, budget, too_small(sizes), None));
        }
        Ok(sketched(sizes, budget, rank, rank, svd.rel_residual))
    })
}

fn for_error(weight: &Tensor<f32>, sizes: Sizes, budget: Budget, error: f64) -> Result<RankRecommendation> {
    let max_rank = sizes.max_rank();
    let svd = decompose(weight, 2 * max_rank)?;
    if max_rank == 0 {
        return Ok(dense(sizes, budget, too_small(sizes), None));
    }
    let spectrum = Spectrum::new(&svd.s, svd.residual);
    let least_error = spectrum.error(max_rank);
    let Some(least) = sizes.min_rank_reaching(error, |rank| spectrum.error(rank)) else {
        return Ok(dense(sizes, budget, out_of_reach(sizes, error, least_error), Some(least_error)));
    };
    let rank = sizes.rounded(least);
    Ok(RankRecommendation {
        least_rel_error: Some(least_error),
        ..sketched(sizes, budget, rank, least, spectrum.error(rank))
    })
}

/// The reason why no rank saves parameters within the budget.
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

/// The reason why no rank that saves parameters meets the error.
pub(crate) fn out_of_reach(sizes: Sizes, error: f64, least_error: f64) -> String {
    let (max_rank, dense) = (sizes.max_rank(), sizes.dense());
    let params = max_rank * sizes.per_rank();
    format!(
        "no layer that saves params has an error of at most {error}: the smallest is {least_error:.3}, of rank {max_rank} \
         with {params} params against {dense}"
    )
}

fn sketched(
    sizes: Sizes,
    budget: Budget,
    rank: usize,
    least_rank: usize,
    rel_error: f64,
) -> RankRecommendation {
    let (params, dense_params) = (rank * sizes.per_rank(), sizes.dense());
    RankRecommendation {
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

fn dense(sizes: Sizes, budget: Budget, why: String, least_rel_error: Option<f64>) -> RankRecommendation {
    let params = sizes.dense();
    RankRecommendation {
        choice: Choice::Dense { why },
        terms: 0,
        params,
        flops_per_row: 2 * params,
        least_rel_error,
        ..sketched(sizes, budget, 0, 0, 0.0)
    }
}

impl fmt::Display for RankRecommendation {
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
        writeln!(f, "flops      {} per row", of(self.flops_per_row, self.dense_flops_per_row))?;
        write!(f, "error      {:.3} of the norm of the weight", self.rel_error)
    }
}
