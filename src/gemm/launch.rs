//! From a product and its operands to launches: one where they can be bound, else panel by panel.

use super::epilogue::BiasAxis;
use super::half_signs::HalfSigns;
use super::in_halves::Scaling;
use super::panels::{Panel, Panels};
use super::plan::explain;
use super::precision::Precision;
use super::problem::{GemmProblem, GemmTypes, OP, Pin, Split, Sums, product_shape};
use super::reduce;
use crate::gpu::{Caps, Gpu, Prepared, Problem};
use crate::kernel::{self, Plan};
use crate::ops::Activation;
use crate::tensor::{DType, Layout, Tensor, View, check_same_gpu};
use crate::{Error, Result};

/// A product with its operands, whatever their types.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product<'a> {
    pub(super) a: View<'a>,
    /// All of B, or its half that is in memory.
    pub(super) b: View<'a>,
    /// The other half, and its seed.
    pub(super) signs: Option<(HalfSigns, [u32; 2])>,
    pub(super) bias: Option<(BiasAxis, View<'a>)>,
    pub(super) residual: Option<View<'a>>,
    pub(super) alpha: f32,
    pub(super) beta: f32,
    pub(super) activation: Activation,
    pub(super) sums: Sums,
    pub(super) precision: Precision,
    pub(super) scaling: Option<Scaling<'a>>,
    pub(super) pin: Pin,
    pub(super) split: Split,
}

/// C = A B with f32 as they are, whatever the device's precision is; `c` is a view of a fresh tensor.
pub(crate) fn product(a: View<'_>, b: View<'_>, c: View<'_>) -> Result<()> {
    let product = Product::new(a, b);
    let gpu = product.gpu()?;
    product.launch(gpu, &product.problem(&c.layout, c.dtype)?, c)
}

impl<'a> Product<'a> {
    /// A B, and nothing else.
    pub(super) fn new(a: View<'a>, b: View<'a>) -> Self {
        Self {
            a,
            b,
            signs: None,
            bias: None,
            residual: None,
            alpha: 1.0,
            beta: 0.0,
            activation: Activation::None,
            sums: Sums::F32,
            precision: Precision::Strict,
            scaling: None,
            pin: Pin::Free,
            split: Split::Free,
        }
    }

    /// The device of all operands.
    pub(super) fn gpu(&self) -> Result<&'a Gpu> {
        let gpu = self.a.gpu();
        let mut others = [self.b].into_iter().chain(self.extras());
        others.try_for_each(|other| check_same_gpu(OP, gpu, other.gpu()))?;
        Ok(gpu)
    }

    /// The epilogue's operands, in the order in which kernels bind them.
    fn extras(&self) -> impl Iterator<Item = View<'a>> {
        let scaling = self.scaling.into_iter();
        let scaling = scaling.flat_map(|scaling| scaling.exponents.into_iter().chain(scaling.cross));
        self.bias.map(|(_, bias)| bias).into_iter().chain(self.residual).chain(scaling)
    }

    /// How all of B lies, or would if half of it were not made.
    pub(super) fn whole_b(&self) -> Result<Layout> {
        self.signs.map_or(Ok(self.b.layout), |(signs, _)| signs.whole(&self.b.layout))
    }

    /// The checked problem, for a result of this layout and type.
    pub(super) fn problem(&self, c: &Layout, dtype: DType) -> Result<GemmProblem> {
        let types = GemmTypes { ab: self.a.dtype, c: dtype, sums: self.sums };
        let mut problem = GemmProblem::new(&self.a.layout, &self.whole_b()?, c, types)?
            .pinned(self.pin)
            .split(self.split)
            .alpha(self.alpha)
            .beta(self.beta)
            .activation(self.activation);
        if let Some((signs, seed)) = self.signs {
            problem = problem.half_signs(signs, &self.b.layout, seed)?;
        }
        if let Some((axis, bias)) = &self.bias {
            problem = problem.bias(*axis, &bias.layout, bias.dtype)?;
        }
        if let Some(residual) = &self.residual {
            if residual.dtype != dtype {
                let why = format!("it is of {}, the product of {dtype}: `cast` it first", residual.dtype);
                return Err(Error::input("matmul: the residual", why));
            }
            problem = problem.residual(&residual.layout, c, dtype)?;
        }
        if let Some(scaling) = &self.scaling {
            // NOTE: not `stride`, which is 0 for a single row or column: offsets are counted in rows of this length.
            let (a, b) = (&self.a.layout, &self.b.layout);
            let row = a.strides()[a.rank() - 2].max(b.strides()[b.rank() - 1]);
            problem = problem.scaled_back(row, scaling.cross.is_some())?;
        }
        Ok(problem)
    }

    /// The panels of the product, if some operand cannot be bound as a whole. There are none of an operand half of which
    /// is made.
    pub(super) fn panels(&self, problem: &GemmProblem, c: &Layout, caps: &Caps) -> Result<Option<Panels>> {
        // Their offset in the window is at most 64 elements.
        let extras = self.extras().map(|extra| (extra.layout.span().len() as u64 + 64, extra.dtype));
        let operands = problem.binding_elements().into_iter().zip(problem.types.of_operands());
        let mut bound = operands.chain(extras);
        match bound.try_for_each(|(elements, dtype)| kernel::check_binding(OP, caps, elements, dtype)) {
            Ok(()) => Ok(None),
            Err(limit) if self.signs.is_some() => Err(limit),
            Err(_) => Panels::new(self, c, problem.types.c, caps).map(Some),
        }
    }

    /// How the product would be computed, and why not otherwise; of panels, the first.
    pub(super) fn explain(&self, c: &Layout, dtype: DType, caps: &Caps) -> Result<Plan> {
        let problem = self.problem(c, dtype)?;
        let Some(panels) = self.panels(&problem, c, caps)? else {
            return if self.is_in_halves() {
                self.explain_in_halves(&problem, c, caps)
            } else {
                explain(&problem, caps)
            };
        };
        let (Some(block), Some(step)) = (panels.blocks().next(), panels.steps().into_iter().next()) else {
            return explain(&problem, caps);
        };
        // Without what only the last launch of a block adds.
        let (a, b) = (block.of_a(self.a, &step)?, block.of_b(self.b, &step)?);
        let first = Self { a, b, bias: None, residual: None, ..*self };
        let c = Layout::contiguous(OP, &product_shape(&a.layout, &b.layout)?)?;
        let mut plan = first.explain(&c, dtype, caps)?;
        let why = "an operand is larger than what can be bound; the first";
        plan.reasons.insert(0, format!("{} panels: {why}", panels.count()));
        Ok(plan)
    }

    /// Fails where the product cannot be computed, before anything is allocated for it.
    pub(super) fn ready(&self, gpu: &Gpu, problem: &GemmProblem, c: &Layout) -> Result<()> {
        match self.panels(problem, c, gpu.caps())? {
            None if !self.is_in_halves() => gpu.planned(problem).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Computes the product into `c`, which is not empty.
    pub(super) fn launch(&self, gpu: &Gpu, problem: &GemmProblem, c: View<'_>) -> Result<()> {
        match self.panels(problem, &c.layout, gpu.caps())? {
            None => self.launch_whole(gpu, problem, c),
            Some(panels) => panels.blocks().try_for_each(|block| self.launch_block(gpu, &panels, &block, c)),
        }
    }

    /// The product of operands that can be bound.
    pub(super) fn launch_whole(&self, gpu: &Gpu, problem: &GemmProblem, c: View<'_>) -> Result<()> {
        if self.is_in_halves() {
            return self.launch_in_halves(gpu, c);
        }
        launch_parts(gpu, problem, [self.a, self.b], &[], c, self.extras())
    }

    /// A block of C, its operands narrowed to windows that can be bound. Where k is cut as well, each panel has sums of
    /// its own, which are brought together behind the last.
    fn launch_block(&self, gpu: &Gpu, panels: &Panels, block: &Panel, c: View<'_>) -> Result<()> {
        let c = block.of_c(c)?;
        let narrow = Self {
            bias: self.bias.map(|(axis, bias)| Ok((axis, block.of_bias(axis, bias)?))).transpose()?,
            residual: self.residual.map(|residual| block.of_c(residual)).transpose()?,
            ..*self
        };
        let steps = panels.steps();
        if let [step] = &steps[..] {
            let narrow = Self { a: block.of_a(self.a, step)?, b: block.of_b(self.b, step)?, ..narrow };
            return narrow.launch_whole(gpu, &narrow.problem(&c.layout, c.dtype)?, c);
        }
        let shape = c.layout.shape();
        let sums = Sum::new(gpu, self.a.dtype, steps.len(), shape)?;
        for (i, step) in steps.iter().enumerate() {
            let (a, b) = (block.of_a(self.a, step)?, block.of_b(self.b, step)?);
            let plain = Self { a, b, bias: None, residual: None, alpha: 1.0, beta: 0.0, ..*self };
            let plain = Self { activation: Activation::None, split: Split::Parts(1), ..plain };
            let sums = sums.of_step(i, shape)?;
            let sums = sums.as_view();
            plain.launch_whole(gpu, &plain.problem(&sums.layout, sums.dtype)?, sums)?;
        }
        let parts = u32::try_from(steps.len()).map_err(Error::device)?;
        let step = &steps[0];
        let first = Self { a: block.of_a(self.a, step)?, b: block.of_b(self.b, step)?, ..narrow };
        let together = Together { problem: first.problem(&c.layout, c.dtype)?, parts };
        let dims = together.problem.reduced(parts);
        let operands = [sums.as_view(), c].into_iter().chain(first.extras());
        launch(gpu, &*gpu.planned(&together)?, bytemuck::bytes_of(&dims), operands)
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

    /// The sums of one panel.
    fn of_step(&self, step: usize, shape: &[usize]) -> Result<Self> {
        Ok(match self {
            Self::Real(sums) => Self::Real(sums.slice(0, step..step + 1)?.reshape(shape)?),
            Self::Integer(sums) => Self::Integer(sums.slice(0, step..step + 1)?.reshape(shape)?),
        })
    }
}

/// Bringing panels along k together, as a problem of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Together {
    problem: GemmProblem,
    parts: u32,
}

impl Problem for Together {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        reduce::plan(&self.problem, self.parts, caps)
    }
}

/// One launch; of a product in parts two, the sums of the parts between them. What is `beside` the operands is what they are
/// made of, and extras are the epilogue's.
pub(super) fn launch_parts<'a>(
    gpu: &Gpu,
    problem: &GemmProblem,
    [a, b]: [View<'a>; 2],
    beside: &[View<'a>],
    c: View<'a>,
    extras: impl IntoIterator<Item = View<'a>>,
) -> Result<()> {
    let planned = gpu.planned(problem)?;
    let Some(reduce) = planned.then() else {
        let operands = [a, b, c].into_iter().chain(beside.iter().copied()).chain(extras);
        return launch(gpu, &planned, bytemuck::bytes_of(&problem.dims), operands);
    };
    let parts = planned.plan().parts;
    let part = problem.in_parts(parts);
    let sums = gpu.empty::<f32>([problem.elements() * parts as usize])?;
    let operands = [a, b, sums.as_view()].into_iter().chain(beside.iter().copied());
    launch(gpu, &planned, bytemuck::bytes_of(&part.dims), operands)?;
    let extras: Vec<View<'_>> = extras.into_iter().collect();
    let operands = [sums.as_view(), c].into_iter().chain(extras);
    launch(gpu, reduce, bytemuck::bytes_of(&problem.reduced(parts)), operands)
}

fn launch<'a>(
    gpu: &Gpu,
    prepared: &Prepared,
    dims: &[u8],
    operands: impl IntoIterator<Item = View<'a>>,
) -> Result<()> {
    let bindings: Vec<_> = operands.into_iter().map(|operand| operand.bind()).collect();
    gpu.launch(prepared, dims, &bindings)
}
