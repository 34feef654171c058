//! A fully connected product and its gradients, checked: what to compute, as plain data.

use crate::clifford::Blades;
use crate::clifford::layer::gates::GatesProblem;
use crate::clifford::layer::{Gate, GradeNorm, LayerProduct};
use crate::gemm::Pin;
use crate::layout::{DType, Layout};
use crate::{Error, Result};

pub(super) const OP: &str = "LayerProduct::connected";

/// A fully connected product, checked: blades, shapes and types go together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectedProblem {
    /// What is computed.
    pub(crate) product: LayerProduct,
    /// The blades along the operands' first axes.
    pub(crate) blades: Blades,
    /// Both operands, (blade, row, in).
    pub(crate) operands: [Layout; 2],
    /// The weight, (path, in, out).
    pub(crate) weight: Layout,
    /// The type of operands and weight.
    pub(crate) dtype: DType,
    /// The type of the result.
    pub(crate) result: DType,
}

impl ConnectedProblem {
    /// Of operands (blade, row, in), both of one shape and with these blades, and a weight.
    ///
    /// # Errors
    /// [`Error::Shape`] if the operands are not (blade, row, in) or differ, or the weight is not (path, in, out);
    /// [`Error::Input`] if the blades are not all of the product's algebra.
    pub fn new(
        product: LayerProduct,
        blades: &Blades,
        operands: [&Layout; 2],
        weight: &Layout,
        dtype: DType,
    ) -> Result<Self> {
        let paths = product.signature.paths();
        if blades.signature() != product.signature || blades.len() != product.signature.size() {
            let why = format!("a layer takes all blades of {}, not {blades}", product.signature);
            return Err(Error::input(OP, why));
        }
        let [x, y] = operands.map(Layout::shape);
        if x.len() != 3 || x[0] != blades.len() || x != y {
            let rule = "the operands must be (blades, rows, features), both of one shape";
            return Err(Error::shapes(OP, rule, x, y));
        }
        let inputs = x[2];
        match weight.shape() {
            &[of_paths, of_inputs, outputs]
                if [of_paths, of_inputs] == [paths.len(), inputs] && outputs > 0 => {}
            shape => {
                let rule = "the weight must be (paths, in, out), with an output at least";
                let outputs = shape.last().copied().unwrap_or_default().max(1);
                return Err(Error::shapes(OP, rule, shape, &[paths.len(), inputs, outputs]));
            }
        }
        let operands = operands.map(|operand| operand.in_window(dtype));
        let (weight, result) = (weight.in_window(dtype), dtype);
        Ok(Self { product, blades: blades.clone(), operands, weight, dtype, result })
    }

    /// The same product of operands and a weight that are rounded to f16 first, and lie without gaps then.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn in_halves(&self) -> Result<Self> {
        let [x, y] = self.operands.map(|operand| Layout::contiguous(OP, operand.shape()));
        let weight = Layout::contiguous(OP, self.weight.shape())?;
        Ok(Self { operands: [x?, y?], weight, dtype: DType::F16, ..self.clone() })
    }

    /// The same product with another norm behind it.
    #[must_use]
    pub fn norm(mut self, norm: GradeNorm) -> Self {
        self.product.norm = norm;
        self
    }

    /// The type of operands and weight.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Blades, rows, inputs and outputs.
    pub(super) fn sizes(&self) -> [usize; 4] {
        let [blades, rows, inputs] = self.operands[0].shape() else { return [0; 4] };
        [*blades, *rows, *inputs, self.weight.shape()[2]]
    }

    /// The plane of gates, unless there are none.
    ///
    /// # Errors
    /// [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn gates(&self) -> Result<Option<GatesProblem>> {
        if self.product.gate == Gate::None {
            return Ok(None);
        }
        let at = self.scalar();
        let [x, y] = self.operands.map(|operand| operand.slice(0, at..at + 1));
        GatesProblem::new(self.product.gate, [&x?, &y?], self.dtype).map(Some)
    }

    /// The place of the scalar among the blades.
    pub(super) fn scalar(&self) -> usize {
        self.blades.position(0).unwrap_or_default()
    }
}

/// How operands are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Multiplied {
    /// As they are.
    AsTheyAre,
    /// Rounded to f16 first.
    InHalves,
}

/// A fully connected product with its norm, and how its matrix products are computed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectedForward {
    /// What is computed.
    pub(crate) product: ConnectedProblem,
    /// How operands and weight are multiplied.
    pub(crate) multiplied: Multiplied,
    /// What the plans of matrix products are restricted to.
    pub(crate) pin: Pin,
}

/// The gradients of a fully connected product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectedBackward {
    /// The product.
    pub(crate) forward: ConnectedForward,
    /// The gradient of its result, (blade, row, out).
    pub(crate) g: Layout,
}

impl ConnectedForward {
    /// This product, whose operands are multiplied so, by kernels to which `pin` restricts the plan.
    ///
    /// # Errors
    /// [`Error::Input`] to round operands to f16 that are not f32.
    pub fn new(product: ConnectedProblem, multiplied: Multiplied, pin: Pin) -> Result<Self> {
        if multiplied == Multiplied::InHalves && product.dtype != DType::F32 {
            let why = format!("operands of {} are not rounded to f16: only those of f32 are", product.dtype);
            return Err(Error::input(OP, why));
        }
        Ok(Self { product, multiplied, pin })
    }
}

impl ConnectedBackward {
    /// The gradients of this product, given where the gradient of its result lies, (blade, row, out).
    ///
    /// # Errors
    /// [`Error::Shape`] if it has another shape than the result.
    pub fn new(forward: ConnectedForward, g: &Layout) -> Result<Self> {
        let [blades, rows, _, outputs] = forward.product.sizes();
        if g.shape() != [blades, rows, outputs] {
            let rule = "the gradient must have the shape of the result, (blades, rows, out)";
            return Err(Error::shapes(OP, rule, g.shape(), &[blades, rows, outputs]));
        }
        let g = g.in_window(forward.product.dtype);
        Ok(Self { forward, g })
    }
}
