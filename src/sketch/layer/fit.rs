//! Sketched layers from trained weights.

use super::builder::{FittedLayer, SkLinearBuilder};
use super::factors::joined;
use super::frozen::{Frozen, signs_of_u1, signs_of_u2};
use super::sk_linear::{OP, SkLinear};
use crate::error::{Named, call};
use crate::gemm::Gemm;
use crate::layout::{Element, Real};
use crate::ops;
use crate::progress::Steps;
use crate::sketch::factor::device::largest;
use crate::sketch::factor::host;
use crate::sketch::factor::input::ScaledMatrix;
use crate::sketch::operator::Sketch;
use crate::sketch::rank::budget::Budget;
use crate::sketch::rank::recommend::{RankRecommendation, recommend_rank};
use crate::sketch::rank::spectrum::decompose;
use crate::tensor::Tensor;
use crate::{Error, Precision, Result};

impl<T: Real> SkLinear<T> {
    /// Recommends terms and rank for a weight and a budget, or to keep the dense layer: [`recommend_rank`].
    ///
    /// # Shapes
    /// `weight` (out, in).
    /// # Errors
    /// As for [`recommend_rank`].
    pub fn recommend_rank(weight: &Tensor<T>, budget: Budget) -> Result<RankRecommendation> {
        recommend_rank(weight, budget).named("SkLinear::recommend_rank")
    }

    /// The best layer for a trained weight, without a bias: [`SkLinearBuilder::fit`].
    ///
    /// # Shapes
    /// `weight` (out, in).
    /// # Errors
    /// As for [`SkLinearBuilder::fit`].
    pub fn fit(weight: &Tensor<T>, terms: usize, rank: usize) -> Result<FittedLayer<T>> {
        Self::builder(terms, rank).fit(weight)
    }
}

impl<T: Real> SkLinearBuilder<T> {
    /// The layer into which Panther converts a weight: U is signs, $S_{1t} = W^T U_{1t}^T$ and $S_{2t} = U_{2t}^T W^T$.
    /// Averaged over seeds, its outputs are those of the weight. For one seed, the error is larger than the outputs:
    /// for a weight without structure, by a factor of $\sqrt{(in + out) / 4RT}$. Use it to start training, not to
    /// compress a layer.
    ///
    /// # Shapes
    /// `weight` (out, in), as in PyTorch.
    /// # Errors
    /// [`Error::Shape`] if the weight is not a matrix with rows and columns, if terms or rank are 0, if the rank is
    /// more than inputs or outputs, or if the bias has another length; [`Error::Input`] if the weight has a NaN or
    /// infinite entry, with its index, or if the layer would not have fewer parameters than the weight;
    /// [`Error::OutOfMemory`] or [`Error::Limit`] if a buffer does not fit; [`Error::Cancelled`] in [`with_progress`](crate::with_progress).
    pub fn panther(&self, weight: &Tensor<T>) -> Result<FittedLayer<T>> {
        call("SkLinear::panther", || {
            let steps = Steps::of("SkLinear::panther", 3);
            steps.at(0, "checking the weight")?;
            let weight = self.checked(weight)?;
            steps.at(1, "products with signs")?;
            let [u1, u2] = self.signs_for(&weight)?;
            let (m, c) = (weight.t(), 1.0 / (self.rank as f64).sqrt());
            let s1 = product(&m, &u1.t(), c)?;
            let s2 = product(&u2.t(), &m, c)?;
            steps.at(2, "the error")?;
            let fitted = FittedLayer::of(self.of_signs(s1.cast()?, s2.cast()?)?, &weight)?;
            steps.end()?;
            Ok(fitted)
        })
    }

    /// The best layer with the signs U of the seed: S1 and S2 solve a least-squares problem. The error is
    /// $W^T - W'^T = (I - P_{2})\\,W^T (I - P_{1})$, with projections onto the spans of U1 and U2. Random signs do not
    /// depend on the weight: for a weight without structure, the layer captures 2TR random dimensions.
    ///
    /// # Shapes
    /// As for [`panther`](Self::panther).
    /// # Errors
    /// As for [`panther`](Self::panther).
    pub fn least_squares(&self, weight: &Tensor<T>) -> Result<FittedLayer<T>> {
        call("SkLinear::least_squares", || {
            let steps = Steps::of("SkLinear::least_squares", 4);
            steps.at(0, "checking the weight")?;
            let weight = self.checked(weight)?;
            steps.at(1, "the first factor")?;
            let [u1, u2] = self.signs_for(&weight)?;
            let (m, unscaled) = (weight.t(), 2.0 * self.terms as f64 * (self.rank as f64).sqrt());
            // Gram matrices of signs have integer entries, so they are exact.
            let inverse = |u: &Tensor<f32>| {
                let gram = product(u, &u.t(), 1.0)?;
                host::upload(weight.gpu(), host::pseudo_inverse(&host::download(&gram)?)?.as_ref())
            };
            let x1 = product(&product(&m, &u1.t(), 1.0)?, &inverse(&u1)?, 1.0)?;
            steps.at(2, "the second factor")?;
            let left = ops::sub(&m, &product(&x1, &u1, 1.0)?)?;
            let x2 = product(&inverse(&u2.t())?, &product(&u2.t(), &left, 1.0)?, unscaled)?;
            let scale = weight.gpu().tensor(&[f32::from_f64(unscaled)], [])?;
            let x1 = ops::mul(&x1, &scale)?;
            steps.at(3, "the error")?;
            let fitted = FittedLayer::of(self.of_signs(x1.cast()?, x2.cast()?)?, &weight)?;
            steps.end()?;
            Ok(fitted)
        })
    }

    /// The best layer for the weight: its singular value decomposition truncated at rank 2TR
    /// ([`Rsvd`](crate::sketch::Rsvd)). The first TR singular pairs go to S1 and U1, the others to S2 and U2. So U is
    /// explicit, and no seed generates it.
    ///
    /// # Shapes
    /// As for [`panther`](Self::panther).
    /// # Errors
    /// As for [`panther`](Self::panther).
    /// # Precision
    /// `weight_rel_error` is at most 1.02 times the least of any matrix of rank 2TR, plus the error of rounding to `T`.
    pub fn fit(&self, weight: &Tensor<T>) -> Result<FittedLayer<T>> {
        call("SkLinear::fit", || {
            let steps = Steps::of("SkLinear::fit", 3);
            steps.at(0, "checking the weight")?;
            let weight = self.checked(weight)?;
            steps.at(1, "singular vectors")?;
            let layer = self.of_factors(&svd_factors(&weight, 2 * self.terms * self.rank)?)?;
            steps.at(2, "the error")?;
            let fitted = FittedLayer::of(layer, &weight)?;
            steps.end()?;
            Ok(fitted)
        })
    }

    /// The best layer for the outputs on a sample of activations X: it minimises $\\|X(W - W')^T\\|\_F$. The weight is
    /// projected onto the first 2TR right singular vectors of $XW^T$. If the sample has fewer rows, the remaining rank
    /// approximates the rest of the weight. On the sample, the layer is never worse than that of [`fit`](Self::fit).
    ///
    /// # Shapes
    /// `weight` (out, in), `x` (..., in) with at least one row.
    /// # Errors
    /// As for [`panther`](Self::panther), also for `x`.
    pub fn fit_to(&self, weight: &Tensor<T>, x: &Tensor<T>) -> Result<FittedLayer<T>> {
        call("SkLinear::fit_to", || {
            let steps = Steps::of("SkLinear::fit_to", 4);
            steps.at(0, "checking the operands")?;
            let weight = self.checked(weight)?;
            let x = checked_samples(x, weight.shape()[1])?.as_matrix()?;
            let y = product(&x, &weight.t(), 1.0)?;
            steps.at(1, "singular vectors of the outputs")?;
            let of_outputs = self.of_factors(&output_factors(&weight, &y, 2 * self.terms * self.rank)?)?;
            steps.at(2, "singular vectors of the weight")?;
            let of_weight = self.of_factors(&svd_factors(&weight, 2 * self.terms * self.rank)?)?;
            steps.at(3, "errors")?;
            let candidates = [of_outputs, of_weight];
            let mut best: Option<FittedLayer<T>> = None;
            for layer in candidates {
                let off = ops::sub(&product(&x, &layer.to_weight()?.t(), 1.0)?, &y)?;
                let error = relative(norm("the outputs", &off)?, norm("the outputs", &y)?);
                if best.as_ref().and_then(|best| best.output_rel_error).is_none_or(|least| error < least) {
                    best = Some(FittedLayer {
                        output_rel_error: Some(error),
                        ..FittedLayer::of(layer, &weight)?
                    });
                }
            }
            steps.end()?;
            best.ok_or_else(|| Error::input(OP, "no layer was found"))
        })
    }

    /// The weight in f32, after checking that a layer may be built from it.
    pub(super) fn checked(&self, weight: &Tensor<T>) -> Result<Tensor<f32>> {
        let &[outputs, inputs] = weight.shape() else {
            return Err(Error::shape(OP, "the weight must be a matrix (out, in)", weight.shape()));
        };
        self.check([inputs, outputs])?;
        let weight = weight.cast::<f32>()?.contiguous()?;
        largest(OP, "the weight", &weight)?;
        Ok(weight)
    }

    /// The unscaled signs U1 (TR, out) and U2 (in, TR).
    fn signs_for(&self, weight: &Tensor<f32>) -> Result<[Tensor<f32>; 2]> {
        let inner = self.terms * self.rank;
        let stored = |signs: Sketch| signs.to_tensor(weight.gpu());
        let u1 = stored(signs_of_u1(self.seed, inner, weight.shape()[0])?)?;
        let u2 = stored(signs_of_u2(self.seed, inner, weight.shape()[1])?)?.t();
        Ok([u1, u2])
    }

    /// The layer of factors (in, K) and (K, out), where K is at most 2TR. They are padded with zeros and split into S
    /// and U. S is multiplied by 2T, by which the formula divides.
    pub(super) fn of_factors(&self, [left, right]: &[Tensor<f32>; 2]) -> Result<SkLinear<T>> {
        let (gpu, inner) = (left.gpu(), self.terms * self.rank);
        let missing = 2 * inner - left.shape()[1];
        let left = joined(gpu, 1, [left, &gpu.zeros([left.shape()[0], missing])?])?;
        let right = joined(gpu, 0, [right, &gpu.zeros([missing, right.shape()[1]])?])?;
        let scale = gpu.tensor(&[f32::from_f64(2.0 * self.terms as f64)], [])?;
        let s1 = ops::mul(&left.slice(1, ..inner)?, &scale)?;
        let s2 = ops::mul(&right.slice(0, inner..)?, &scale)?;
        let first = joined(gpu, 1, [&s1, &left.slice(1, inner..)?])?;
        let second = joined(gpu, 0, [&right.slice(0, ..inner)?, &s2])?;
        self.layer(Frozen::Explicit, first.cast()?, second.cast()?)
    }
}

impl<T: Real> FittedLayer<T> {
    /// A layer and its error for the weight that it was built from.
    fn of(layer: SkLinear<T>, weight: &Tensor<f32>) -> Result<Self> {
        let off = ops::sub(weight, &layer.to_weight()?)?;
        let weight_rel_error = relative(norm("the layer", &off)?, norm("the weight", weight)?);
        Ok(Self { layer, weight_rel_error, output_rel_error: None })
    }
}

/// The activations in f32, after checking that their rows have this number of features.
fn checked_samples<T: Real>(x: &Tensor<T>, features: usize) -> Result<Tensor<f32>> {
    if x.shape().last() != Some(&features) || x.is_empty() {
        let rule =
            "the last axis of the activations must be the inputs of the weight, and there must be rows";
        return Err(Error::shapes(OP, rule, x.shape(), &[features]));
    }
    let x = x.cast::<f32>()?.contiguous()?;
    let rows = x.reshape([x.len() / features, features])?;
    largest(OP, "the activations", &rows)?;
    Ok(rows)
}

/// Factors (in, K) and (K, out) of the best matrix of rank K: singular vectors. The first TR singular values are
/// multiplied into the left factor, the others into the right one. K is at most the full rank of the weight.
pub(super) fn svd_factors(weight: &Tensor<f32>, rank: usize) -> Result<[Tensor<f32>; 2]> {
    let full = weight.shape()[0].min(weight.shape()[1]);
    let svd = decompose(weight, rank.min(full))?;
    let (gpu, half) = (weight.gpu(), (rank / 2).min(svd.rank));
    let of = |within: bool| -> Result<Tensor<f32>> {
        let s: Vec<f32> = svd
            .s
            .iter()
            .enumerate()
            .map(|(i, &s)| if (i < half) == within { f32::from_f64(s) } else { 1.0 })
            .collect();
        gpu.tensor(&s, [svd.rank])
    };
    Ok([ops::mul(&svd.v, &of(true)?)?, ops::mul(&svd.u, &of(false)?)?.t()])
}

/// Factors (in, K) and (K, out) of the matrix of rank K whose outputs are closest to `y`, the outputs of the weight on
/// a sample.
pub(super) fn output_factors(weight: &Tensor<f32>, y: &Tensor<f32>, rank: usize) -> Result<[Tensor<f32>; 2]> {
    let m = weight.t();
    let v = decompose(y, rank.min(y.shape()[0]).min(y.shape()[1]))?.v;
    let left = product(&m, &v, 1.0)?;
    let full = weight.shape()[0].min(weight.shape()[1]);
    let more = rank.min(full).saturating_sub(v.shape()[1]);
    if more == 0 {
        return Ok([left, v.t()]);
    }
    let rest = ops::sub(weight, &product(&v, &left.t(), 1.0)?)?;
    let [more_left, more_right] = svd_factors(&rest, more)?;
    let gpu = weight.gpu();
    Ok([joined(gpu, 1, [&left, &more_left])?, joined(gpu, 0, [&v.t(), &more_right])?])
}

/// The product alpha A B, in f32 throughout.
#[expect(clippy::cast_possible_truncation, reason = "alpha is rounded once")]
fn product(a: &Tensor<f32>, b: &Tensor<f32>, alpha: f64) -> Result<Tensor<f32>> {
    Gemm::new(a, b).alpha(alpha as f32).precision(Precision::Strict).run()
}

/// The Frobenius norm of a matrix of any scale.
pub(super) fn norm(name: &str, x: &Tensor<f32>) -> Result<f64> {
    let input = ScaledMatrix::named(OP, name, x)?;
    Ok(input.norm()? * input.scale)
}

pub(super) fn relative(error: f64, norm: f64) -> f64 {
    if norm == 0.0 { error } else { error / norm }
}
