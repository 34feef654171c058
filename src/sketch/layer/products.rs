//! Products with a layer's factors on the right, which are in memory or half of them made from their seed.

use super::{Frozen, SignMemory, SkLinear};
use crate::gemm::{Gemm, HalfAxis, HalfPosition, OuterAxis, Pin, SignHalf};
use crate::layout::{Layout, Real};
use crate::ops::Activation;
use crate::plan::Plan;
use crate::sketch::philox::halves;
use crate::tensor::Tensor;
use crate::{Precision, Result};

/// The operand on the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Right {
    /// (in, 2TR)
    First,
    /// (2TR, out)
    Second,
    /// (2TR, in)
    FirstTransposed,
    /// (out, 2TR)
    SecondTransposed,
}

/// What becomes of the sums of a product.
#[derive(Clone, Copy)]
pub(super) struct Epilogue<'a, T: Real> {
    pub(super) alpha: f32,
    pub(super) bias: Option<&'a Tensor<T>>,
    pub(super) activation: Activation,
}

impl<T: Real> Default for Epilogue<'_, T> {
    fn default() -> Self {
        Self { alpha: 1.0, bias: None, activation: Activation::None }
    }
}

impl Right {
    /// Where the signs are in a factor, U1 being (TR, out) and U2, transposed, (TR, in): TR is along their rows.
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
        right: Right,
        epilogue: Epilogue<'_, T>,
    ) -> Result<Tensor<C>> {
        self.with_product(a, right, epilogue, |product: Gemm<'_, T, C>| product.run())
    }

    /// How the product of a factor and what lies so is computed: nothing is allocated.
    pub(super) fn plan(&self, a: &Layout, right: Right, epilogue: Epilogue<'_, T>) -> Result<Plan> {
        // Any tensor will do in the place of `a`.
        self.with_product(&self.first, right, epilogue, |product: Gemm<'_, T, T>| product.plan_for(a))
    }

    fn with_product<C: Real, R>(
        &self,
        a: &Tensor<T>,
        right: Right,
        Epilogue { alpha, bias, activation }: Epilogue<'_, T>,
        with: impl FnOnce(Gemm<'_, T, C>) -> Result<R>,
    ) -> Result<R> {
        let factor = match right {
            Right::First => self.first.clone(),
            Right::Second => self.second.clone(),
            Right::FirstTransposed => self.first.t(),
            Right::SecondTransposed => self.second.t(),
        };
        let mut product = Gemm::new(a, &factor).out::<C>().alpha(alpha).activation(activation);
        if let Frozen::Signs { seed, memory } = self.frozen {
            // By the same kernels, as precisely, wherever the signs are: both have the same bits.
            product = product.precision(Precision::Strict).pinned(Pin::Staged);
            if memory == SignMemory::Made {
                let signs = match right {
                    Right::First | Right::FirstTransposed => {
                        super::signs_of_u2(seed, self.half(), self.inputs())
                    }
                    Right::Second | Right::SecondTransposed => {
                        super::signs_of_u1(seed, self.half(), self.outputs())
                    }
                }?;
                product = product.sign_half(right.signs(signs.tag()), halves(signs.seed()));
            }
        }
        if self.pin != Pin::Free {
            product = product.pinned(self.pin);
        }
        match bias {
            Some(bias) => with(product.bias(bias)),
            None => with(product),
        }
    }
}
