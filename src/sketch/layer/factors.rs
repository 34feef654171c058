//! The factors of a sketched layer: building it from them, reading them, and converting them.

use super::frozen::{Frozen, SignStorage, signs_of_u1, signs_of_u2};
use super::sk_linear::{OP, SkLinear, check_sizes};
use crate::error::{Named, call};
use crate::gemm::Gemm;
use crate::layout::{Layout, Real};
use crate::ops::training::{ParameterMut, Parameters};
use crate::ops::{self, Activation};
use crate::sketch::operator::Sketch;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Precision, Result};

impl<T: Real> SkLinear<T> {
    /// A layer from its factors, in Panther's shapes.
    ///
    /// # Shapes
    /// `s1` (T, in, R), `u1` (T, R, out), `s2` (T, R, out), `u2` (T, in, R), `bias` (out).
    /// # Errors
    /// [`Error::Shape`] if the shapes do not match or have no elements; [`Error::Gpu`] if the factors are on different
    /// devices; [`Error::OutOfMemory`] if the layer does not fit.
    pub fn from_factors(
        [s1, u1, s2, u2]: [&Tensor<T>; 4],
        bias: Option<&Tensor<T>>,
        activation: Activation,
    ) -> Result<Self> {
        call("SkLinear::from_factors", || {
            let &[terms, inputs, rank] = s1.shape() else {
                return Err(Error::shape(OP, "S1 must have three axes (T, in, R)", s1.shape()));
            };
            let outputs = s2.shape().last().copied().unwrap_or(0);
            let gpu = s1.gpu();
            for (factor, shape) in [
                (u1, [terms, rank, outputs]),
                (s2, [terms, rank, outputs]),
                (u2, [terms, inputs, rank]),
                (s1, [terms, inputs, rank]),
            ] {
                s1.same_gpu(OP, factor)?;
                if factor.shape() != shape {
                    let rule =
                        "S1, U1, S2 and U2 must be (T, in, R), (T, R, out), (T, R, out) and (T, in, R)";
                    return Err(Error::shapes(OP, rule, factor.shape(), &shape));
                }
            }
            check_sizes([inputs, outputs], terms, rank)?;
            let side_by_side = |factor: &Tensor<T>| {
                factor.permute(&[1, 0, 2])?.contiguous()?.reshape([inputs, terms * rank])
            };
            let stacked = |factor: &Tensor<T>| factor.contiguous()?.reshape([terms * rank, outputs]);
            let first = joined(gpu, 1, [&side_by_side(s1)?, &side_by_side(u2)?])?;
            let second = joined(gpu, 0, [&stacked(u1)?, &stacked(s2)?])?;
            Self::assembled([terms, rank], Frozen::Explicit, [first, second], activation).biased(bias)
        })
    }

    /// S1 of all terms, (in, TR): columns tR to (t + 1)R belong to term t. A view.
    ///
    /// # Errors
    /// None that a user can cause.
    pub fn s1(&self) -> Result<Tensor<T>> {
        self.first.slice(1, ..self.inner()).named("SkLinear::s1")
    }

    /// S2 of all terms, (TR, out): rows tR to (t + 1)R belong to term t. A view.
    ///
    /// # Errors
    /// None that a user can cause.
    pub fn s2(&self) -> Result<Tensor<T>> {
        call("SkLinear::s2", || {
            let rows = self.second.shape()[0];
            self.second.slice(0, rows - self.inner()..)
        })
    }

    /// U1 of all terms, (TR, out), as in the formula: signs are divided by the root of the rank.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if it does not fit.
    pub fn u1(&self) -> Result<Tensor<T>> {
        call("SkLinear::u1", || match self.frozen {
            Frozen::Explicit => self.second.slice(0, ..self.inner()),
            Frozen::Signs { seed, .. } => {
                self.scaled_signs(&signs_of_u1(seed, self.inner(), self.outputs())?)
            }
        })
    }

    /// U2 of all terms, (in, TR), as in the formula: signs are divided by the root of the rank.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if it does not fit.
    pub fn u2(&self) -> Result<Tensor<T>> {
        call("SkLinear::u2", || match self.frozen {
            Frozen::Explicit => self.first.slice(1, self.inner()..),
            Frozen::Signs { seed, .. } => {
                Ok(self.scaled_signs(&signs_of_u2(seed, self.inner(), self.inputs())?)?.t())
            }
        })
    }

    fn scaled_signs(&self, signs: &Sketch) -> Result<Tensor<T>> {
        let scale = self.gpu().constant_tensor(T::from_f64(1.0 / (self.rank as f64).sqrt()))?;
        ops::mul(&signs.to_tensor(self.gpu())?.cast::<T>()?, &scale)
    }

    /// The dense weight (out, in) that the layer represents, in f32.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] or [`Error::Limit`] if it does not fit.
    pub fn to_weight(&self) -> Result<Tensor<f32>> {
        call("SkLinear::to_weight", || {
            let stored = self.to_sign_storage(SignStorage::Stored)?;
            let [first, second] = [stored.first.t(), stored.second.t()];
            Gemm::new(&second, &first).alpha(self.scale()).precision(Precision::Strict).run()
        })
    }

    /// The layer with its factors and its bias in another type.
    ///
    /// For mixed precision, update a layer of f32 and cast it before each forward pass.
    /// # Precision
    /// As for [`Tensor::cast`]; signs are exact in every type.
    /// # Errors
    /// [`Error::OutOfMemory`] or [`Error::Limit`] if the result does not fit.
    pub fn cast<P: Real>(&self) -> Result<SkLinear<P>> {
        call("SkLinear::cast", || {
            let factors = [self.first.cast()?, self.second.cast()?];
            let mut layer =
                SkLinear::assembled([self.terms, self.rank], self.frozen, factors, self.activation);
            layer.bias = self.bias.as_ref().map(Tensor::cast).transpose()?;
            layer.pin = self.pin;
            Ok(layer)
        })
    }

    /// The same layer with the signs of U stored or generated. Outputs and gradients are bit-identical in both cases.
    ///
    /// To make that possible, layers of signs always run the kernels that stage their operands. A fitted layer has an
    /// explicit U and may run any kernel; a batch of few rows is far faster in the kernel for skinny products.
    /// # Errors
    /// [`Error::Input`] if U is explicit and should be generated; [`Error::OutOfMemory`] if stored signs do not fit.
    pub fn to_sign_storage(&self, storage: SignStorage) -> Result<Self> {
        call("SkLinear::to_sign_storage", || {
            let Frozen::Signs { seed, storage: current } = self.frozen else {
                return match storage {
                    SignStorage::Stored => Ok(self.clone()),
                    SignStorage::Generated => {
                        let why = "is explicit, so no seed generates it: keep it stored";
                        Err(Error::input("SkLinear: U", why))
                    }
                };
            };
            if current == storage {
                return Ok(self.clone());
            }
            let (s1, s2) = (self.s1()?, self.s2()?);
            let frozen = Frozen::Signs { seed, storage };
            if storage == SignStorage::Generated {
                return Ok(self.refactored(frozen, [copied(&s1)?, copied(&s2)?]));
            }
            let gpu = self.gpu();
            let u1 = signs_of_u1(seed, self.inner(), self.outputs())?.to_tensor(gpu)?.cast::<T>()?;
            let u2 = signs_of_u2(seed, self.inner(), self.inputs())?.to_tensor(gpu)?.cast::<T>()?;
            let first = joined(gpu, 1, [&s1, &u2.t()])?;
            let second = joined(gpu, 0, [&u1, &s2])?;
            Ok(self.refactored(frozen, [first, second]))
        })
    }

    /// Views of the factors that files store, in their shapes.
    fn factor_views(&self) -> Vec<(&'static str, Tensor<T>)> {
        let [s1, s2] = self.trained_layouts(self.row_lengths(), self.second.shape()[0] - self.inner());
        let mut views = vec![("S1s", self.first.with_layout(s1)), ("S2s", self.second.with_layout(s2))];
        if self.frozen == Frozen::Explicit {
            let [u2, u1] = self.factor_layouts(self.row_lengths(), [self.inner(), 0]);
            views.extend([("U1s", self.second.with_layout(u1)), ("U2s", self.first.with_layout(u2))]);
        }
        views
    }

    /// The lengths of the rows of both factors, which are contiguous.
    fn row_lengths(&self) -> [usize; 2] {
        [self.first.shape()[1], self.outputs()]
    }

    /// The trained elements of both factors as (T, in, R) and (T, R, out), in matrices with rows of these lengths. Those of the
    /// second one begin at a row.
    pub(super) fn trained_layouts(&self, row_lengths: [usize; 2], row: usize) -> [Layout; 2] {
        self.factor_layouts(row_lengths, [0, row])
    }

    /// As [`trained_layouts`](Self::trained_layouts), from a column of the first factor and a row of the second one.
    fn factor_layouts(&self, [first, second]: [usize; 2], [column, row]: [usize; 2]) -> [Layout; 2] {
        let [terms, rank, inputs, outputs] = [self.terms, self.rank, self.inputs(), self.outputs()];
        let layout = |shape, strides, offset| Layout::new(OP, shape, strides, offset, usize::MAX);
        // NOTE: the factors have these shapes since the layer was built, so an error here is a bug of this crate.
        let valid = "the factors have the shapes of the layer";
        [
            layout(&[terms, inputs, rank], &[rank, first, 1], column).expect(valid),
            layout(&[terms, rank, outputs], &[rank * second, second, 1], row * second).expect(valid),
        ]
    }
}

/// The names and shapes of Panther's `SKLinear`: `S1s` (T, in, R), `S2s` (T, R, out), and `bias` (out) if there is one.
/// An explicit U is listed too, as `U1s` (T, R, out) and `U2s` (T, in, R), because a file must store it. It is frozen. The
/// tensors are views of the layer's factors.
impl<T: Real> Parameters<T> for SkLinear<T> {
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        let views = self.views.get_or_init(|| self.factor_views());
        let bias = self.bias.iter().map(|bias| ("bias".into(), bias));
        views.iter().map(|(name, view)| ((*name).into(), view)).chain(bias).collect()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        self.views.take(); // so that the factors are uniquely owned
        let [s1, s2] = self.trained_layouts(self.row_lengths(), self.second.shape()[0] - self.inner());
        let factors = [("S1s", &mut self.first, s1), ("S2s", &mut self.second, s2)];
        let factors = factors.map(|(name, whole, part)| (name.into(), ParameterMut::part(whole, part)));
        let bias = self.bias.as_mut().map(|bias| ("bias".into(), ParameterMut::new(bias)));
        factors.into_iter().chain(bias).collect()
    }
}

/// Two matrices side by side (axis 1) or one below the other (axis 0).
pub(super) fn joined<T: Real>(gpu: &Gpu, axis: usize, parts: [&Tensor<T>; 2]) -> Result<Tensor<T>> {
    let mut shape = [parts[0].shape()[0], parts[0].shape()[1]];
    let split = shape[axis];
    shape[axis] += parts[1].shape()[axis];
    let mut whole = gpu.empty(shape)?;
    for (part, range) in parts.into_iter().zip([0..split, split..shape[axis]]) {
        let region = whole.layout().slice(axis, range)?;
        whole.write_part(region, |region| region.assign(|| ops::activate(part, Activation::None)))?;
    }
    Ok(whole)
}

/// A copy in a new buffer.
pub(super) fn copied<T: Real>(x: &Tensor<T>) -> Result<Tensor<T>> {
    ops::activate(x, Activation::None)
}
