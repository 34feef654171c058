//! The operands of a function of rows, in the order of its plan, and their layouts.

use super::problem::{RowFunction, RowProblem};
use crate::Result;
use crate::layout::{DType, Layout};
use crate::plan::{Form, Operand};

impl RowProblem {
    /// The result; in the backward pass of a product, the gradients of y and of the weights; x, y, the gradient of the result and
    /// the weights. (blade, row, feature) are cut along rows.
    pub(super) fn listed(&self) -> Result<[Option<Operand>; 7]> {
        let result = Layout::contiguous(self.function.name(), &self.shape())?;
        let written = |name| Operand::written(name, self.out, result).along([Some(1)]);
        let read = |name, places: &[u32; 4]| {
            self.layout(places).map(|layout| Operand::read(name, self.dtype, layout).along([Some(1)]))
        };
        let (is_product, is_backward) = (self.function.is_product(), self.function.is_backward());
        let weights = if is_product { Some(self.weights()?) } else { None };
        let gradient = |weights: Layout| {
            let sum = Operand::written("the gradient of the weights", DType::F32, weights.dense());
            sum.in_form(Form::Sum).whole()
        };
        let has_gradients = self.function == RowFunction::SteerableBackward;
        Ok([
            Some(written("the result")),
            has_gradients.then(|| written("the gradient of y")),
            weights.filter(|_| has_gradients).map(gradient),
            Some(read("x", &self.dims.x)?),
            if is_product { Some(read("y", &self.dims.y)?) } else { None },
            if is_backward { Some(read("the gradient", &self.dims.g)?) } else { None },
            weights.map(|weights| Operand::read("the weights", self.dtype, weights).whole()),
        ])
    }

    /// Blades, rows and features.
    pub(super) fn shape(&self) -> [usize; 3] {
        [self.blade_count(), self.dims.rows as usize, self.dims.features as usize]
    }

    /// The layout of an operand (blade, row, feature).
    pub(super) fn layout(&self, places: &[u32; 4]) -> Result<Layout> {
        let places = places.map(|place| place as usize);
        Layout::new(self.function.name(), &self.shape(), &places[..3], places[3], usize::MAX)
    }

    /// The layout of the weights (feature, path).
    pub(super) fn weights(&self) -> Result<Layout> {
        let shape = [self.dims.features as usize, self.signature().path_count()];
        let [path, feature, offset, _] = self.dims.w.map(|place| place as usize);
        Layout::new(self.function.name(), &shape, &[feature, path], offset, usize::MAX)
    }
}
