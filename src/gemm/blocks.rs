//! The launches that compute one block of C, where a product is cut into panels.

use super::launch::{Product, launch};
use super::panels::{Panel, Panels};
use super::problem::{GemmProblem, OP, Split};
use super::reduce;
use crate::gpu::{Caps, Gpu, Problem};
use crate::kernel::Plan;
use crate::tensor::{DType, Layout, Tensor, View};
use crate::{Error, Result};
use std::ops::Range;

impl<'a> Product<'a> {
    /// The products of a block of C, with operands narrowed to windows that can be bound. If k is cut as well, each panel
    /// has sums of its own, which a last launch adds up.
    pub(super) fn block(&self, panels: &Panels, block: &Panel) -> Result<Block<'a>>
    where
        Self: 'a,
    {
        let narrow = Self {
            bias: self.bias.map(|(axis, bias)| Ok((axis, block.of_bias(axis, bias)?))).transpose()?,
            residual: self.residual.map(|residual| block.of_c(residual)).transpose()?,
            ..*self
        };
        let steps = panels.steps();
        let of_step = |step: &Range<usize>| {
            Ok(Self { a: block.of_a(self.a, step)?, b: block.of_b(self.b, step)?, ..narrow })
        };
        let whole = of_step(&steps[0])?;
        let products = match &steps[..] {
            [_] => vec![whole],
            _ => {
                let plain = |step| Ok(Self { split: Split::Parts(1), ..of_step(step)?.plain() });
                steps.iter().map(plain).collect::<Result<_>>()?
            }
        };
        Ok(Block { products, whole })
    }

    pub(super) fn launch_block(&self, gpu: &Gpu, panels: &Panels, block: &Panel, c: View<'_>) -> Result<()> {
        let c = block.of_c(c)?;
        let block = self.block(panels, block)?;
        if let [whole] = &block.products[..] {
            return whole.launch_whole(gpu, &whole.problem(&c.layout, c.dtype)?, c);
        }
        let shape = c.layout.shape();
        let sums = Sum::new(gpu, self.a.dtype, block.products.len(), shape)?;
        for (i, product) in block.products.iter().enumerate() {
            let sums = sums.of_step(i, shape)?;
            let sums = sums.as_view();
            product.launch_whole(gpu, &product.problem(&sums.layout, sums.dtype)?, sums)?;
        }
        let together = block.together(&c.layout, c.dtype)?;
        let dims = together.problem.reduced(together.parts);
        let operands = [sums.as_view(), c].into_iter().chain(block.whole.extras());
        launch(gpu, &*gpu.planned(&together)?, bytemuck::bytes_of(&dims), operands)
    }
}

/// The products that compute a block of C.
pub(super) struct Block<'a> {
    /// A product for each part that k is cut into. If there are several, they are without the epilogue.
    pub(super) products: Vec<Product<'a>>,
    /// The first of them, with the epilogue.
    whole: Product<'a>,
}

impl Block<'_> {
    /// The layout and type of the sums of product `i` among those of all, for a block of C of this layout.
    pub(super) fn sums(&self, i: usize, c: &Layout, operands: DType) -> Result<(Layout, DType)> {
        let all = Layout::contiguous(OP, &[&[self.products.len()], c.shape()].concat())?;
        let dtype = if operands.is_real() { DType::F32 } else { DType::I32 };
        Ok((all.slice(0, i..i + 1)?.reshape(c.shape())?, dtype))
    }

    /// The problem of adding up their sums.
    pub(super) fn together(&self, c: &Layout, dtype: DType) -> Result<Together> {
        let parts = u32::try_from(self.products.len()).map_err(Error::device)?;
        Ok(Together { problem: self.whole.problem(c, dtype)?, parts })
    }
}

/// The sums of a block's panels along k, in the type of sums.
enum Sum {
    Real(Tensor<f32>),
    Integer(Tensor<i32>),
}

impl Sum {
    fn new(gpu: &Gpu, operands: DType, steps: usize, shape: &[usize]) -> Result<Self> {
        let shape = [&[steps], shape].concat();
        Ok(if operands.is_real() { Self::Real(gpu.empty(shape)?) } else { Self::Integer(gpu.empty(shape)?) })
    }

    fn as_view(&self) -> View<'_> {
        match self {
            Self::Real(sums) => sums.as_view(),
            Self::Integer(sums) => sums.as_view(),
        }
    }

    /// The sums of one panel along k.
    fn of_step(&self, step: usize, shape: &[usize]) -> Result<Self> {
        Ok(match self {
            Self::Real(sums) => Self::Real(sums.slice(0, step..step + 1)?.reshape(shape)?),
            Self::Integer(sums) => Self::Integer(sums.slice(0, step..step + 1)?.reshape(shape)?),
        })
    }
}

/// Adding up the sums of panels along k, as a problem of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Together {
    problem: GemmProblem,
    parts: u32,
}

impl Problem for Together {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        reduce::plan(&self.problem, self.parts, caps)
    }
}
