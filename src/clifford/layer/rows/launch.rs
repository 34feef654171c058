//! Launches of a function of rows, with its operands.

use super::operands::{Operand, operands};
use super::problem::{RowFunction, RowLayouts, RowProblem, RowStep};
use super::tile::RowTile;
use crate::clifford::Blades;
use crate::clifford::layer::form::LayerProduct;
use crate::gpu::Prepared;
use crate::tensor::{Real, Tensor, check_same_gpu};
use crate::{Gpu, Result, ops};

/// The operands of a function of rows: (blade, row, feature), and the weights (feature, path).
#[derive(Clone, Copy)]
pub(in super::super) struct Given<'a, T: Real> {
    pub(in super::super) x: &'a Tensor<T>,
    pub(in super::super) y: Option<&'a Tensor<T>>,
    pub(in super::super) g: Option<&'a Tensor<T>>,
    pub(in super::super) w: Option<&'a Tensor<T>>,
}

/// What a function of rows makes: without gaps, in the shapes of the operands.
pub(in super::super) struct Made<T: Real> {
    /// The result; of gradients, that of X.
    pub(in super::super) c: Tensor<T>,
    /// The gradient of Y.
    pub(in super::super) d: Option<Tensor<T>>,
    /// The gradient of the weights.
    pub(in super::super) w: Option<Tensor<f32>>,
}

impl<T: Real> Given<'_, T> {
    fn gpu(&self, op: &'static str) -> Result<&Gpu> {
        let gpu = self.x.gpu();
        let others = [self.y, self.g, self.w];
        others.into_iter().flatten().try_for_each(|other| check_same_gpu(op, gpu, other.gpu()))?;
        Ok(gpu)
    }

    /// What is to be computed.
    pub(in super::super) fn problem(
        &self,
        function: RowFunction,
        product: LayerProduct,
        blades: &Blades,
    ) -> Result<RowProblem> {
        let [y, g, w] = [self.y, self.g, self.w].map(|tensor| tensor.map(Tensor::layout));
        RowProblem::new(function, product, blades, RowLayouts { x: self.x.layout(), y, g, w }, T::DTYPE)
    }
}

/// A function of rows.
pub(in super::super) fn run<T: Real>(
    function: RowFunction,
    product: LayerProduct,
    blades: &Blades,
    given: Given<'_, T>,
) -> Result<Made<T>> {
    let gpu = given.gpu(function.name())?;
    let problem = given.problem(function, product, blades)?;
    let planned = gpu.planned(&problem)?;
    let shape = given.x.shape();
    let c = gpu.empty(shape)?;
    let is_product = function == RowFunction::SteerableBackward;
    let d = if is_product { Some(gpu.empty(shape)?) } else { None };
    let last = if planned.then().is_some() { problem.behind() } else { problem.clone() };
    let tile = RowTile::of(&last, gpu.caps());
    let paths = product.signature.paths().len();
    let slab = match is_product {
        true => Some(gpu.empty::<f32>([tile.slots() as usize, shape[2], paths])?),
        false => None,
    };
    let mut bound = Bound { given, o: None, c: &c, d: d.as_ref(), slab: slab.as_ref(), sums: None };
    if let Some(then) = planned.then() {
        let first = problem.step(RowStep::Sums);
        let blocks = RowTile::of(&first, gpu.caps()).blocks;
        let sums = gpu.empty::<f32>([problem.sums(), shape[1], blocks as usize])?;
        let o = if function == RowFunction::Steerable { Some(gpu.empty::<f32>(shape)?) } else { None };
        bound.sums = Some(&sums);
        bound.o = o.as_ref();
        bound.launch(gpu, &planned, &first, blocks)?;
        bound.launch(gpu, then, &last, blocks)?;
    } else {
        bound.launch(gpu, &planned, &problem, 1)?;
    }
    let w = slab.map(|slab| match slab.shape()[0] {
        1 => slab.reshape([shape[2], paths]),
        _ => ops::sum(&slab, 0),
    });
    Ok(Made { c, d, w: w.transpose()? })
}

/// Tensors by the names that kernels have for them.
struct Bound<'a, T: Real> {
    given: Given<'a, T>,
    /// A product that is not normalised yet, between two launches.
    o: Option<&'a Tensor<f32>>,
    c: &'a Tensor<T>,
    d: Option<&'a Tensor<T>>,
    slab: Option<&'a Tensor<f32>>,
    sums: Option<&'a Tensor<f32>>,
}

impl<T: Real> Bound<'_, T> {
    fn launch(&self, gpu: &Gpu, prepared: &Prepared, problem: &RowProblem, parts: u32) -> Result<()> {
        let tile = RowTile::of(problem, gpu.caps());
        let mut dims = tile.dims(problem);
        dims.parts = parts;
        let binding = |operand: Operand| match operand {
            Operand::C if problem.step == RowStep::Sums => self.o.map(Tensor::bind),
            Operand::C => Some(self.c.bind()),
            Operand::X if self.o.is_some() && problem.step == RowStep::Results => self.o.map(Tensor::bind),
            Operand::X => Some(self.given.x.bind()),
            Operand::Y => self.given.y.map(Tensor::bind),
            Operand::G => self.given.g.map(Tensor::bind),
            Operand::W => self.given.w.map(Tensor::bind),
            Operand::D => self.d.map(Tensor::bind),
            Operand::Slab => self.slab.map(Tensor::bind),
            Operand::Sums => self.sums.map(Tensor::bind),
        };
        let bindings: Vec<_> = operands(problem).into_iter().filter_map(binding).collect();
        gpu.launch(prepared, bytemuck::bytes_of(&dims), &bindings)
    }
}
