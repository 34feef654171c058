//! Products with a layer's factors on the right: stored factors, or factors with signs that are generated from the
//! seed.

use super::frozen::{Frozen, signs_of_u1, signs_of_u2};
use super::sk_linear::SkLinear;
use crate::gemm::{Gemm, HalfAxis, HalfPosition, OuterAxis, Pin, SignHalf};
use crate::layout::{Layout, Real};
use crate::ops::Activation;
use crate::plan::Plan;
use crate::sketch::operator::words;
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
        self.on_product(a, factor, epilogue, |product: Gemm<'_, T, C>| product.run())
    }

    /// The plan of the product of an operand with this layout and a factor. Nothing is allocated.
    pub(super) fn plan(
        &self,
        a: &Layout,
        factor: RightFactor,
        epilogue: ProductEpilogue<'_, T>,
    ) -> Result<Plan> {
        // The plan reads only the layout of `a`, so any tensor can be used in its place.
        self.on_product(&self.first, factor, epilogue, |product: Gemm<'_, T, T>| product.plan_for(a))
    }

    fn on_product<C: Real, R>(
        &self,
        a: &Tensor<T>,
        factor: RightFactor,
        ProductEpilogue { alpha, bias, activation }: ProductEpilogue<'_, T>,
        then: impl FnOnce(Gemm<'_, T, C>) -> Result<R>,
    ) -> Result<R> {
        let b = match factor {
            RightFactor::First => self.first.clone(),
            RightFactor::Second => self.second.clone(),
            RightFactor::FirstTransposed => self.first.t(),
            RightFactor::SecondTransposed => self.second.t(),
        };
        let mut product = Gemm::new(a, &b).out::<C>().alpha(alpha).activation(activation);
        if let Frozen::Signs { seed, .. } = self.frozen {
            // Stored and generated signs run the same kernels at the same precision, so their results are
            // bit-identical.
            product = product.precision(Precision::Strict).pinned(Pin::Staged);
            if self.generates_signs() {
                let signs = match factor {
                    RightFactor::First | RightFactor::FirstTransposed => {
                        signs_of_u2(seed, self.inner(), self.inputs())
                    }
                    RightFactor::Second | RightFactor::SecondTransposed => {
                        signs_of_u1(seed, self.inner(), self.outputs())
                    }
                }?;
                product = product.sign_half(factor.signs(signs.tag()), words(signs.seed()));
            }
        }
        if self.pin != Pin::Free {
            product = product.pinned(self.pin);
        }
        match bias {
            Some(bias) => then(product.bias(bias)),
            None => then(product),
        }
    }
}
