//! Sketched layers from trained weights.

use super::build::{SkLinearBuilder, Sketched};
use super::{Frozen, OP, SkLinear, joined, signs_of_u1, signs_of_u2};
use crate::error::{Named, call};
use crate::gemm::Gemm;
use crate::layout::{Element, Real};
use crate::ops;
use crate::sketch::Sketch;
use crate::sketch::advise::{Advice, advise};
use crate::sketch::budget::Budget;
use crate::sketch::factor::input::{Input, largest};
use crate::sketch::factor::small;
use crate::sketch::spectrum::decomposed;
use crate::tensor::Tensor;
use crate::{Error, Precision, Result};

impl<T: Real> SkLinear<T> {
    /// Terms and rank for a weight within a budget, or why the dense layer should stay: [`advise`].
    ///
    /// # Shapes
    /// `weight` (out, in).
    /// # Errors
    /// As [`advise`].
    pub fn advise(weight: &Tensor<T>, budget: Budget) -> Result<Advice> {
        advise(weight, budget).named("SkLinear::advise")
    }

    /// The layer nearest to a trained weight, without a bias: [`SkLinearBuilder::fit`].
    ///
    /// # Shapes
    /// `weight` (out, in).
    /// # Errors
    /// As [`SkLinearBuilder::fit`].
    pub fn fit(weight: &Tensor<T>, terms: usize, rank: usize) -> Result<Sketched<T>> {
        Self::builder(terms, rank).fit(weight)
    }
}

impl<T: Real> SkLinearBuilder<T> {
    /// The layer that Panther copies a weight into: signs U, and $S_{1t} = W^T U_{1t}^T$, $S_{2t} = U_{2t}^T W^T$. Its
    /// outputs are right on the average over seeds, and off by more than they are: of a weight without structure
    /// $\sqrt{(in + out) / 4RT}$ times. A start for training, not a compressed layer.
    ///
    /// # Shapes
    /// `weight` (out, in), as PyTorch stores it.
    /// # Errors
    /// [`Error::Shape`] if the weight is no matrix with rows and columns, if there are no terms or rank, if the rank is
    /// more than inputs or outputs, or the bias has another length; [`Error::Input`] if the weight has a NaN or an
    /// infinity, with its place, or the layer would save nothing, with the numbers; [`Error::OutOfMemory`],
    /// [`Error::Limit`] without room.
    pub fn panther(&self, weight: &Tensor<T>) -> Result<Sketched<T>> {
        call("SkLinear::panther", || {
            let weight = self.checked(weight)?;
            let [u1, u2] = self.signs_for(&weight)?;
            let (m, c) = (weight.t(), 1.0 / (self.rank as f64).sqrt());
            let s1 = product(&m, &u1.t(), c)?;
            let s2 = product(&u2.t(), &m, c)?;
            Sketched::of(self.of_signs(s1.cast()?, s2.cast()?)?, &weight)
        })
    }

    /// The best layer with the signs U of the seed: S1 and S2 by least squares, so that
    /// $W^T - W'^T = (I - P_{2})\,W^T (I - P_{1})$ with the projections onto what U1 and U2 span. Random signs know
    /// nothing of the weight: of one without structure this takes 2TR of its dimensions at random away.
    ///
    /// # Shapes
    /// As [`panther`](Self::panther).
    /// # Errors
    /// As [`panther`](Self::panther).
    pub fn least_squares(&self, weight: &Tensor<T>) -> Result<Sketched<T>> {
        call("SkLinear::least_squares", || {
            let weight = self.checked(weight)?;
            let [u1, u2] = self.signs_for(&weight)?;
            let (m, unscaled) = (weight.t(), 2.0 * self.terms as f64 * (self.rank as f64).sqrt());
            // Gram matrices of signs have integer entries, so they are exact.
            let inverse = |u: &Tensor<f32>| {
                let gram = product(u, &u.t(), 1.0)?;
                small::upload(weight.gpu(), small::pseudo_inverse(&small::download(&gram)?)?.as_ref())
            };
            let x1 = product(&product(&m, &u1.t(), 1.0)?, &inverse(&u1)?, 1.0)?;
            let left = ops::sub(&m, &product(&x1, &u1, 1.0)?)?;
            let x2 = product(&inverse(&u2.t())?, &product(&u2.t(), &left, 1.0)?, unscaled)?;
            let scale = weight.gpu().tensor(&[f32::from_f64(unscaled)], [])?;
            let x1 = ops::mul(&x1, &scale)?;
            Sketched::of(self.of_signs(x1.cast()?, x2.cast()?)?, &weight)
        })
    }

    /// The layer nearest to the weight: its singular value decomposition, cut at rank 2TR
    /// ([`Rsvd`](crate::sketch::Rsvd)), the first TR singular values in the first halves of the terms, the others in the
    /// second. U is singular vectors then, and no seed makes it.
    ///
    /// # Shapes
    /// As [`panther`](Self::panther).
    /// # Errors
    /// As [`panther`](Self::panther).
    /// # Precision
    /// `weight_rel_error` is within 1.02 times the least that any matrix of rank 2TR has, and what rounding to `T` adds.
    pub fn fit(&self, weight: &Tensor<T>) -> Result<Sketched<T>> {
        call("SkLinear::fit", || {
            let weight = self.checked(weight)?;
            Sketched::of(self.of_factors(&svd_factors(&weight, 2 * self.terms * self.rank)?)?, &weight)
        })
    }

    /// The layer whose outputs are nearest to those of the weight on a sample of activations, by
    /// $\|X(W - W')^T\|_F$: the weight projected onto the first 2TR right singular vectors of $XW^T$; what a sample of
    /// fewer rows leaves of the rank is the best of the rest. It is no worse on the sample than [`fit`](Self::fit).
    ///
    /// # Shapes
    /// `weight` (out, in), `x` (..., in), some rows of it.
    /// # Errors
    /// As [`panther`](Self::panther); the same of `x`.
    pub fn fit_to(&self, weight: &Tensor<T>, x: &Tensor<T>) -> Result<Sketched<T>> {
        call("SkLinear::fit_to", || {
            let weight = self.checked(weight)?;
            let x = super::forward::as_matrix(&checked_samples(x, weight.shape()[1])?)?;
            let y = product(&x, &weight.t(), 1.0)?;
            let candidates = [
                self.of_factors(&output_factors(&weight, &y, 2 * self.terms * self.rank)?)?,
                self.of_factors(&svd_factors(&weight, 2 * self.terms * self.rank)?)?,
            ];
            let mut best: Option<Sketched<T>> = None;
            for layer in candidates {
                let off = ops::sub(&product(&x, &layer.to_weight()?.t(), 1.0)?, &y)?;
                let error = relative(norm("the outputs", &off)?, norm("the outputs", &y)?);
                if best.as_ref().and_then(|best| best.output_rel_error).is_none_or(|least| error < least) {
                    best = Some(Sketched { output_rel_error: Some(error), ..Sketched::of(layer, &weight)? });
                }
            }
            best.ok_or_else(|| Error::input(OP, "no layer was found"))
        })
    }

    /// The weight in f32, if it may be sketched like this.
    fn checked(&self, weight: &Tensor<T>) -> Result<Tensor<f32>> {
        let &[outputs, inputs] = weight.shape() else {
            return Err(Error::shape(OP, "the weight must be a matrix (out, in)", weight.shape()));
        };
        self.check([inputs, outputs])?;
        let weight = weight.cast::<f32>()?.contiguous()?;
        largest(OP, "the weight", &weight)?;
        Ok(weight)
    }

    /// The signs U1 (TR, out) and U2 (in, TR), unscaled.
    fn signs_for(&self, weight: &Tensor<f32>) -> Result<[Tensor<f32>; 2]> {
        let half = self.terms * self.rank;
        let stored = |signs: Sketch| signs.to_tensor(weight.gpu());
        let u1 = stored(signs_of_u1(self.seed, half, weight.shape()[0])?)?;
        let u2 = stored(signs_of_u2(self.seed, half, weight.shape()[1])?)?.t();
        Ok([u1, u2])
    }

    /// The layer of factors (in, K) and (K, out) with K no more than 2TR: padded by zeros, cut in halves, and S scaled by
    /// what the formula divides by.
    fn of_factors(&self, [left, right]: &[Tensor<f32>; 2]) -> Result<SkLinear<T>> {
        let (gpu, half) = (left.gpu(), self.terms * self.rank);
        let missing = 2 * half - left.shape()[1];
        let left = joined(gpu, 1, [left, &gpu.zeros([left.shape()[0], missing])?])?;
        let right = joined(gpu, 0, [right, &gpu.zeros([missing, right.shape()[1]])?])?;
        let scale = gpu.tensor(&[f32::from_f64(2.0 * self.terms as f64)], [])?;
        let s1 = ops::mul(&left.slice(1, ..half)?, &scale)?;
        let s2 = ops::mul(&right.slice(0, half..)?, &scale)?;
        let first = joined(gpu, 1, [&s1, &left.slice(1, half..)?])?;
        let second = joined(gpu, 0, [&right.slice(0, ..half)?, &s2])?;
        self.layer(Frozen::Given, first.cast()?, second.cast()?)
    }
}

impl<T: Real> Sketched<T> {
    /// What was built from a weight, and how near it is.
    fn of(layer: SkLinear<T>, weight: &Tensor<f32>) -> Result<Self> {
        let off = ops::sub(weight, &layer.to_weight()?)?;
        let weight_rel_error = relative(norm("the layer", &off)?, norm("the weight", weight)?);
        Ok(Self { layer, weight_rel_error, output_rel_error: None })
    }
}

/// The activations in f32, if they are rows of so many features.
fn checked_samples<T: Real>(x: &Tensor<T>, features: usize) -> Result<Tensor<f32>> {
    if x.shape().last() != Some(&features) || x.is_empty() {
        let rule = "the activations must be rows of the weight's inputs";
        return Err(Error::shapes(OP, rule, x.shape(), &[features]));
    }
    let x = x.cast::<f32>()?.contiguous()?;
    let rows = x.reshape([x.len() / features, features])?;
    largest(OP, "the activations", &rows)?;
    Ok(rows)
}

/// Factors (in, K) and (K, out) of the best matrix of rank K: singular vectors, and with the first TR of the left and the
/// last of the right their singular values. K is at most what the weight has.
fn svd_factors(weight: &Tensor<f32>, rank: usize) -> Result<[Tensor<f32>; 2]> {
    let full = weight.shape()[0].min(weight.shape()[1]);
    let svd = decomposed(weight, rank.min(full))?;
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

/// Factors (in, K) and (K, out) of the matrix of rank K whose outputs are nearest to `y`, those of the weight on a
/// sample.
fn output_factors(weight: &Tensor<f32>, y: &Tensor<f32>, rank: usize) -> Result<[Tensor<f32>; 2]> {
    let m = weight.t();
    let v = decomposed(y, rank.min(y.shape()[0]).min(y.shape()[1]))?.v;
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

/// alpha A B of f32 as they are.
#[expect(clippy::cast_possible_truncation, reason = "it is rounded once")]
fn product(a: &Tensor<f32>, b: &Tensor<f32>, alpha: f64) -> Result<Tensor<f32>> {
    Gemm::new(a, b).alpha(alpha as f32).precision(Precision::Strict).run()
}

/// The Frobenius norm, of any scale.
fn norm(name: &str, x: &Tensor<f32>) -> Result<f64> {
    let input = Input::named(OP, name, x)?;
    Ok(input.norm()? * input.scale)
}

fn relative(error: f64, norm: f64) -> f64 {
    if norm == 0.0 { error } else { error / norm }
}
