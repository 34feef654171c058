//! From a product and its operands to launches: one where they can be bound, else panel by panel.

use super::epilogue::BiasAxis;
use super::half_signs::HalfSigns;
use super::panels::Panels;
use super::plan::explain;
use super::precision::Precision;
use super::problem::{GemmProblem, GemmTypes, OP, Pin, Split, Sums, product_shape};
use super::reduce;
use crate::gpu::{Caps, Gpu, Prepared};
use crate::kernel::Plan;
use crate::ops::Activation;
use crate::tensor::{DType, Layout, View, check_same_gpu};
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
    pub(super) pin: Pin,
    pub(super) split: Split,
}

/// C = A B with f32 as they are, whatever the device's precision is; `c` is a view of a fresh tensor.
pub(crate) fn product(a: View<'_>, b: View<'_>, c: View<'_>) -> Result<()> {
    let product = Product::new(a, b);
    let gpu = product.gpu()?;
    let problem = product.problem(&c.layout, c.dtype)?;
    product.ready(gpu, &problem, &c.layout)?;
    product.launch(gpu, &problem, c)
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
    pub(super) fn extras(&self) -> impl Iterator<Item = View<'a>> {
        self.bias.map(|(_, bias)| bias).into_iter().chain(self.residual)
    }

    /// The product without its epilogue.
    pub(super) fn plain(&self) -> Self {
        let plain = Self { bias: None, residual: None, alpha: 1.0, beta: 0.0, ..*self };
        Self { activation: Activation::None, ..plain }
    }

    /// How all of B lies, or would if half of it were not made.
    pub(super) fn whole_b(&self) -> Result<Layout> {
        self.signs.map_or(Ok(self.b.layout), |(signs, _)| signs.whole(&self.b.layout))
    }

    /// The checked problem, for a result of this layout and type.
    pub(super) fn problem(&self, c: &Layout, dtype: DType) -> Result<GemmProblem> {
        let problem = self.problem_of([&self.a.layout, &self.whole_b()?], self.a.dtype, c, dtype)?;
        match self.signs {
            Some((signs, seed)) => problem.half_signs(signs, &self.b.layout, seed),
            None => Ok(problem),
        }
    }

    /// The problem of this product with operands of these layouts and this type.
    pub(super) fn problem_of(
        &self,
        [a, b]: [&Layout; 2],
        ab: DType,
        c: &Layout,
        dtype: DType,
    ) -> Result<GemmProblem> {
        let types = GemmTypes { ab, c: dtype, sums: if self.is_in_halves() { Sums::F32 } else { self.sums } };
        let mut problem = GemmProblem::new(a, b, c, types)?
            .pinned(self.pin)
            .split(self.split)
            .alpha(self.alpha)
            .beta(self.beta)
            .activation(self.activation);
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
        Ok(problem)
    }

    /// The number of parts of k whose sums one launch writes for another: the parts that the caller asked for; one if a second
    /// launch applies the epilogue; else 0.
    pub(super) fn parts_of_sums(&self, k: usize, caps: &Caps) -> u32 {
        let (scaled, k) = match self.precision {
            _ if !self.is_in_halves() => (0, k),
            Precision::Split => (3, 2 * k.next_multiple_of(8)),
            Precision::Fast | Precision::Strict => (2, k.next_multiple_of(8)),
        };
        let extras = self.extras().count() + scaled;
        let is_apart = extras > 0 && 3 + extras > caps.limits.storage_bindings as usize;
        match self.split {
            Split::Parts(parts) if parts > 1 && self.is_split() => reduce::parts_at_most(k, parts),
            _ => u32::from(is_apart),
        }
    }

    /// Whether the caller may ask for parts of k.
    fn is_split(&self) -> bool {
        self.a.dtype.is_real() && self.pin.allows_parts()
    }

    /// The product as this device computes it, and its panels, if something cannot be bound as a whole. If the device lacks the
    /// bindings or the room that f16 operands need, the product is computed in f32, which is more precise than was asked for.
    fn here(&self, problem: &GemmProblem, c: &Layout, caps: &Caps) -> Result<(Self, Option<Panels>)> {
        if !self.is_in_halves() {
            return Ok((*self, self.panels(problem, c, caps)?));
        }
        let scaled = if self.precision == Precision::Split { 3 } else { 2 };
        let is_bound = 2 + self.extras().count() + scaled <= caps.limits.storage_bindings as usize;
        match self.panels(problem, c, caps) {
            Ok(panels) if is_bound => Ok((*self, panels)),
            _ => {
                let strict = Self { precision: Precision::Strict, ..*self };
                Ok((strict, strict.panels(problem, c, caps)?))
            }
        }
    }

    /// The panels of the product, if something cannot be bound as a whole. A product with an operand that kernels generate in
    /// part cannot be cut.
    fn panels(&self, problem: &GemmProblem, c: &Layout, caps: &Caps) -> Result<Option<Panels>> {
        match problem.check_bound(OP, caps) {
            Ok(()) if Panels::own_fits(self, c, caps) => Ok(None),
            Err(limit) if self.signs.is_some() => Err(limit),
            _ => Panels::new(self, c, problem.types.c, caps).map(Some),
        }
    }

    /// How the product would be computed, and why not otherwise; of panels, the first.
    pub(super) fn explain(&self, c: &Layout, dtype: DType, caps: &Caps) -> Result<Plan> {
        let problem = self.problem(c, dtype)?;
        let (product, panels) = self.here(&problem, c, caps)?;
        let mut plan = product.explain_here(&problem, panels, c, caps)?;
        if product.precision != self.precision {
            let why = "this device cannot bind what f16 operands are scaled by; they stay f32";
            plan.reasons.insert(0, format!("{}: {why}", self.precision));
        }
        Ok(plan)
    }

    fn explain_here(
        &self,
        problem: &GemmProblem,
        panels: Option<Panels>,
        c: &Layout,
        caps: &Caps,
    ) -> Result<Plan> {
        let Some(panels) = panels else {
            return if self.is_in_halves() {
                self.explain_in_halves(c, problem.types.c, caps)
            } else {
                explain(problem, caps)
            };
        };
        let Some(block) = panels.blocks().next() else { return explain(problem, caps) };
        // Without what only the last launch of a block adds.
        let first = Self { bias: None, residual: None, ..self.block(&panels, &block)?.products[0] };
        let c = Layout::contiguous(OP, &product_shape(&first.a.layout, &first.b.layout)?)?;
        let mut plan = first.explain(&c, problem.types.c, caps)?;
        let why = "an operand is larger than what can be bound; the first";
        plan.reasons.insert(0, format!("{} panels: {why}", panels.count()));
        Ok(plan)
    }

    /// Plans and compiles all launches. Fails if the product cannot be computed, before anything is allocated or recorded
    /// for it.
    pub(super) fn ready(&self, gpu: &Gpu, problem: &GemmProblem, c: &Layout) -> Result<()> {
        let (product, panels) = self.here(problem, c, gpu.caps())?;
        let dtype = problem.types.c;
        match panels {
            None => product.ready_whole(gpu, problem, c),
            Some(panels) => panels.blocks().try_for_each(|block| {
                let c = block.of_layout(c)?;
                let block = product.block(&panels, &block)?;
                if let [whole] = &block.products[..] {
                    return whole.ready_whole(gpu, &whole.problem(&c, dtype)?, &c);
                }
                for (i, product) in block.products.iter().enumerate() {
                    let (sums, dtype) = block.sums(i, &c, self.a.dtype)?;
                    product.ready_whole(gpu, &product.problem(&sums, dtype)?, &sums)?;
                }
                gpu.planned(&block.together(&c, dtype)?).map(|_| ())
            }),
        }
    }

    fn ready_whole(&self, gpu: &Gpu, problem: &GemmProblem, c: &Layout) -> Result<()> {
        if self.is_in_halves() {
            return self.ready_in_halves(gpu, c, problem.types.c);
        }
        gpu.planned(problem).map(|_| ())
    }

    /// Computes the product into `c`, which is not empty. Call [`ready`](Self::ready) first.
    pub(super) fn launch(&self, gpu: &Gpu, problem: &GemmProblem, c: View<'_>) -> Result<()> {
        let (product, panels) = self.here(problem, &c.layout, gpu.caps())?;
        match panels {
            None => product.launch_whole(gpu, problem, c),
            Some(panels) => {
                panels.blocks().try_for_each(|block| product.launch_block(gpu, &panels, &block, c))
            }
        }
    }

    /// The product of operands that can be bound.
    pub(super) fn launch_whole(&self, gpu: &Gpu, problem: &GemmProblem, c: View<'_>) -> Result<()> {
        if self.is_in_halves() {
            return self.launch_in_halves(gpu, c);
        }
        launch_parts(gpu, problem, [self.a, self.b], &[], c, self.extras())
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

pub(super) fn launch<'a>(
    gpu: &Gpu,
    prepared: &Prepared,
    dims: &[u8],
    operands: impl IntoIterator<Item = View<'a>>,
) -> Result<()> {
    let bindings: Vec<_> = operands.into_iter().map(|operand| operand.bind()).collect();
    gpu.launch(prepared, dims, &bindings)
}
