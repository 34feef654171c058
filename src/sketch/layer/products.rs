//! Products with a layer's factors on the right: stored factors, or factors with signs that are generated from the
//! seed.

use super::frozen::{Frozen, SignStorage, signs_of_u1, signs_of_u2};
use super::sk_linear::{OP, SkLinear};
use crate::gemm::problem::{BiasAxis, Numbers};
use crate::gemm::{GemmProblem, GemmTypes, HalfAxis, HalfPosition, OuterAxis, Pin, SignHalf};
use crate::layout::{DType, Layout, Real};
use crate::ops::Activation;
use crate::sketch::operator::{Sketch, words};
use crate::tensor::Tensor;
use crate::{Precision, Result};

/// The factor that is the right operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RightFactor {
    /// (in, 2TR)
    First,
    /// (2TR, out)
    Second,
    /// (2TR, in)
    FirstTransposed,
    /// (out, 2TR)
    SecondTransposed,
}

/// The epilogue of a product.
#[derive(Clone, Copy)]
pub(super) struct ProductEpilogue<'a, T: Real> {
    pub(super) alpha: f32,
    pub(super) bias: Option<&'a Tensor<T>>,
    pub(super) activation: Activation,
}

impl<T: Real> Default for ProductEpilogue<'_, T> {
    fn default() -> Self {
        Self { alpha: 1.0, bias: None, activation: Activation::None }
    }
}

impl RightFactor {
    /// The position of the signs in the factor. The matrices of signs are U1 (TR, out) and U2 transposed (TR, in).
    fn signs(self, tag: u32) -> SignHalf {
        let (axis, outer) = match self {
            Self::First | Self::SecondTransposed => (HalfAxis::Outer, OuterAxis::Rows),
            Self::Second | Self::FirstTransposed => (HalfAxis::K, OuterAxis::Columns),
        };
        let half = match self {
            Self::First | Self::FirstTransposed => HalfPosition::Second,
            Self::Second | Self::SecondTransposed => HalfPosition::First,
        };
        SignHalf { axis, half, outer, tag }
    }
}

impl<T: Real> SkLinear<T> {
    /// The product of `a` and a factor.
    pub(super) fn multiply<C: Real>(
        &self,
        a: &Tensor<T>,
        factor: RightFactor,
        epilogue: ProductEpilogue<'_, T>,
    ) -> Result<Tensor<C>> {
        let problem = self.product(a.layout(), factor, epilogue, C::DTYPE)?;
        let shape = [&a.shape()[..a.shape().len() - 1], &self.extents(factor)[1..]].concat();
        if shape.contains(&0) {
            return self.gpu().empty(shape);
        }
        let b = self.stored_factor(factor);
        let inputs: Vec<_> =
            [a.view(), b.view()].into_iter().chain(epilogue.bias.map(Tensor::view)).collect();
        let seed = self.generated_signs(factor)?.map_or([0; 2], |signs| words(signs.seed()));
        let numbers = Numbers { alpha: epilogue.alpha, beta: 0.0, out_scale: 1.0 };
        Tensor::computed(self.gpu(), &problem, &inputs, &problem.numbers(numbers, seed), shape)
    }

    /// The product of an operand with this layout and a factor, with a result of this type.
    pub(super) fn product(
        &self,
        a: &Layout,
        factor: RightFactor,
        ProductEpilogue { alpha, bias, activation }: ProductEpilogue<'_, T>,
        result: DType,
    ) -> Result<GemmProblem> {
        let [k, n] = self.extents(factor);
        let signs = self.generated_signs(factor)?;
        let stored = *self.stored_factor(factor).layout();
        let b = if signs.is_some() { Layout::contiguous(OP, &[k, n])? } else { stored };
        let c = Layout::contiguous(OP, &[&a.shape()[..a.rank() - 1], &[n]].concat())?;
        let problem = GemmProblem::new(a, &b, &c, GemmTypes::new(T::DTYPE, result))?;
        let mut problem = problem.alpha(alpha).activation(activation);
        if let Some(bias) = bias {
            problem = problem.bias(BiasAxis::Columns, bias.layout(), T::DTYPE)?;
        }
        if let Some(signs) = signs {
            problem = problem.sign_half(factor.signs(signs.tag()), &stored)?;
        }
        // Stored and generated signs run the same kernels at the same precision, so their results are bit-identical.
        let (pin, precision) = match self.frozen {
            Frozen::Signs { .. } => (Pin::Staged, Precision::Strict),
            Frozen::Explicit => (Pin::Free, self.gpu().precision()),
        };
        let problem = if T::DTYPE == DType::F32 { problem.precision(precision) } else { problem };
        Ok(problem.pinned(if self.pin == Pin::Free { pin } else { self.pin }))
    }

    /// The stored part of a factor.
    fn stored_factor(&self, factor: RightFactor) -> Tensor<T> {
        match factor {
            RightFactor::First => self.first.clone(),
            RightFactor::Second => self.second.clone(),
            RightFactor::FirstTransposed => self.first.t(),
            RightFactor::SecondTransposed => self.second.t(),
        }
    }

    /// The shape (k, n) of a factor.
    fn extents(&self, factor: RightFactor) -> [usize; 2] {
        let (inner, inputs, outputs) = (2 * self.inner(), self.inputs(), self.outputs());
        match factor {
            RightFactor::First => [inputs, inner],
            RightFactor::Second => [inner, outputs],
            RightFactor::FirstTransposed => [inner, inputs],
            RightFactor::SecondTransposed => [outputs, inner],
        }
    }

    /// The signs of a factor that are generated while it is multiplied.
    fn generated_signs(&self, factor: RightFactor) -> Result<Option<Sketch>> {
        let Frozen::Signs { seed, storage: SignStorage::Generated } = self.frozen else { return Ok(None) };
        let signs = match factor {
            RightFactor::First | RightFactor::FirstTransposed => {
                signs_of_u2(seed, self.inner(), self.inputs())
            }
            RightFactor::Second | RightFactor::SecondTransposed => {
                signs_of_u1(seed, self.inner(), self.outputs())
            }
        };
        signs.map(Some)
    }
}
