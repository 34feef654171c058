//! Products with a layer's factors on the right, which are in memory or half of them made from their seed.

use super::{Frozen, SkLinear};
use crate::gemm::Gemm;
use crate::ops::Activation;
use crate::tensor::{Real, Tensor};
use crate::{Plan, Precision, Result};

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

    /// How it is computed.
    pub(super) fn plan(&self, a: &Tensor<T>, right: Right, epilogue: Epilogue<'_, T>) -> Result<Plan> {
        self.with_product(a, right, epilogue, |product: Gemm<'_, T, T>| product.plan())
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
        let product = Gemm::new(a, &factor).out::<C>().pinned(self.pin).alpha(alpha).activation(activation);
        // As precise as where the signs are made, so that both have the same bits.
        let product = match self.frozen {
            Frozen::Given => product,
            Frozen::Signs { .. } => product.precision(Precision::Strict),
        };
        match bias {
            Some(bias) => with(product.bias(bias)),
            None => with(product),
        }
    }
}
