//! Sketched convolutions from trained ones.

use super::builder::{FittedConv, SkConv2dBuilder};
use super::sk_conv2d::{OP, SkConv2d, check_groups};
use crate::conv::{Conv2d, conv2d};
use crate::error::call;
use crate::gemm::Gemm;
use crate::layout::Real;
use crate::ops;
use crate::sketch::layer::fit::{norm, output_factors, relative, svd_factors};
use crate::sketch::rank::{Budget, RankRecommendation, recommend_rank};
use crate::tensor::Tensor;
use crate::{Error, Precision, Result};

impl<T: Real> SkConv2d<T> {
    /// Recommends terms and rank for a convolution and a budget, or to keep it dense: [`recommend_rank`] of its kernel as a matrix
    /// (outputs, height x width x channels). A sketched convolution has the parameters and flops of a sketched layer of that weight.
    ///
    /// # Errors
    /// As [`recommend_rank`]; [`Error::Input`] if the convolution has several groups.
    pub fn recommend_rank(conv: &Conv2d<T>, budget: Budget) -> Result<RankRecommendation> {
        call("SkConv2d::recommend_rank", || recommend_rank(&matrix(conv)?, budget))
    }

    /// The layer into which Panther converts a convolution, with Panther's defaults: [`SkConv2dBuilder::panther`].
    ///
    /// # Errors
    /// As [`SkConv2dBuilder::panther`].
    pub fn from_conv(conv: &Conv2d<T>) -> Result<FittedConv<T>> {
        call("SkConv2d::from_conv", || Self::builder().panther(conv))
    }
}

impl<T: Real> SkConv2dBuilder<T> {
    /// The layer into which Panther converts a convolution: U is signs divided by $\sqrt R$, and S is the kernel mapped by $U$. It has the
    /// options and the bias of the convolution. Averaged over seeds, its results are those of the convolution. For one seed, the error is
    /// larger than the results, unless $2TR$ is more than the outputs. Use it to start training, not to compress a layer.
    ///
    /// # Errors
    /// [`Error::Shape`] if terms or rank are 0, or the rank is more than the outputs or the elements of an output's kernel;
    /// [`Error::Input`] if the weight has a NaN or infinite entry, the convolution has several groups, or the layer would not have fewer
    /// parameters than it; [`Error::OutOfMemory`] or [`Error::Limit`] if a buffer does not fit.
    pub fn panther(&self, conv: &Conv2d<T>) -> Result<FittedConv<T>> {
        call("SkConv2d::panther", || {
            let weight = self.matrix.checked(&matrix(conv)?)?;
            let frozen = self.signs(weight.gpu(), weight.shape()[0])?;
            let signs = frozen.reshape([self.inner(), weight.shape()[0]])?;
            let kernels = Gemm::new(&signs, &weight).precision(Precision::Strict).run()?;
            fitted(self.of(conv, &kernels, &frozen)?, &weight)
        })
    }

    /// The best layer for the kernel: its singular value decomposition truncated at rank 2TR. It has the options and the bias of the
    /// convolution.
    ///
    /// # Errors
    /// As [`panther`](Self::panther); [`Error::Cancelled`] in [`with_progress`](crate::with_progress).
    /// # Precision
    /// As [`SkLinearBuilder::fit`](crate::sketch::SkLinearBuilder::fit).
    pub fn fit(&self, conv: &Conv2d<T>) -> Result<FittedConv<T>> {
        call("SkConv2d::fit", || {
            let weight = self.matrix.checked(&matrix(conv)?)?;
            let factors = svd_factors(&weight, self.inner())?;
            fitted(self.of_factors(conv, &factors)?, &weight)
        })
    }

    /// The best layer for the results on a sample of images: the kernel is projected onto the first 2TR right singular vectors of the
    /// results. If these have fewer pixels, the remaining rank approximates the rest of the kernel. On the sample, the layer is never
    /// worse than that of [`fit`](Self::fit).
    ///
    /// # Shapes
    /// `x` (batch, height, width, channels) with at least one image.
    /// # Errors
    /// As [`panther`](Self::panther), and as [`Conv2d::forward`] for `x`.
    pub fn fit_to(&self, conv: &Conv2d<T>, x: &Tensor<T>) -> Result<FittedConv<T>> {
        call("SkConv2d::fit_to", || {
            let weight = self.matrix.checked(&matrix(conv)?)?;
            let (x, dense) = (x.cast::<f32>()?, conv.weight().cast::<f32>()?);
            let y = conv2d(&x, &dense, None, conv.options())?;
            if y.is_empty() {
                return Err(Error::shape(OP, "there must be images to fit to", x.shape()));
            }
            let y = y.as_matrix()?;
            let candidates =
                [output_factors(&weight, &y, self.inner())?, svd_factors(&weight, self.inner())?];
            let mut best: Option<FittedConv<T>> = None;
            for factors in &candidates {
                let layer = self.of_factors(conv, factors)?;
                let without_bias = SkConv2d { bias: None, ..layer.cast::<f32>()? };
                let off = ops::sub(&without_bias.forward(&x)?.as_matrix()?, &y)?;
                let error = relative(norm("the results", &off)?, norm("the results", &y)?);
                if best.as_ref().and_then(|best| best.output_rel_error).is_none_or(|least| error < least) {
                    best = Some(FittedConv { output_rel_error: Some(error), ..fitted(layer, &weight)? });
                }
            }
            best.ok_or_else(|| Error::input(OP, "no layer was found"))
        })
    }

    /// The layer of factors (window, K) and (K, outputs).
    fn of_factors(&self, conv: &Conv2d<T>, factors: &[Tensor<f32>; 2]) -> Result<SkConv2d<T>> {
        let linear = self.matrix.of_factors(factors)?; // S and U next to each other, with the same scale
        let kernels = linear.first.t().contiguous()?;
        self.of(conv, &kernels.cast()?, &linear.second.cast()?)
    }

    /// The layer of kernels (2TR, window) and factors U of any shape, with the options and the bias of a convolution.
    fn of(&self, conv: &Conv2d<T>, kernels: &Tensor<f32>, frozen: &Tensor<f32>) -> Result<SkConv2d<T>> {
        let [outputs, window @ ..] = conv.weight().shape() else { return Err(no_axes(conv)) };
        let kernels = kernels.reshape([&[self.inner()], window].concat())?.cast()?;
        let frozen = frozen.reshape([2 * self.matrix.terms, self.matrix.rank, *outputs])?.cast()?;
        Ok(SkConv2d { kernels, frozen, bias: conv.bias().cloned(), options: *conv.options() })
    }
}

/// A layer and its error for the weight that it was built from.
fn fitted<T: Real>(layer: SkConv2d<T>, weight: &Tensor<f32>) -> Result<FittedConv<T>> {
    let off = ops::sub(weight, &layer.to_weight()?.reshape(weight.shape())?)?;
    let weight_rel_error = relative(norm("the layer", &off)?, norm("the weight", weight)?);
    Ok(FittedConv { layer, weight_rel_error, output_rel_error: None })
}

/// The kernel of a convolution of one group as a matrix (outputs, window).
fn matrix<T: Real>(conv: &Conv2d<T>) -> Result<Tensor<T>> {
    check_groups(conv.options())?;
    let [outputs, window @ ..] = conv.weight().shape() else { return Err(no_axes(conv)) };
    conv.weight().contiguous()?.reshape([*outputs, window.iter().product()])
}

fn no_axes<T: Real>(conv: &Conv2d<T>) -> Error {
    Error::shape(OP, "the weight must have four axes", conv.weight().shape())
}
