//! A fully connected product and its backward pass: the checked problems, as plain data.

use crate::clifford::algebra::blades::Blades;
use crate::clifford::layer::gate::Gate;
use crate::clifford::layer::grade_norm::GradeNorm;
use crate::clifford::layer::layer_product::LayerProduct;
use crate::clifford::layer::product::gates::GatesProblem;
use crate::clifford::layer::product::operand_gradients::OperandGradientsProblem;
use crate::gemm::Pin;
use crate::layout::{DType, Layout};
use crate::{Error, Result};

pub(super) const OP: &str = "LayerProduct::connected";

/// A fully connected product, checked: blades, shapes and types match.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectedProblem {
    /// The algebra, the gate and the norm.
    pub(crate) product: LayerProduct,
    /// The blades along the operands' first axes.
    pub(crate) blades: Blades,
    /// Both operands, (blade, row, in).
    pub(crate) operands: [Layout; 2],
    /// The weight, (path, in, out).
    pub(crate) weight: Layout,
    /// The element type of operands and weight.
    pub(crate) dtype: DType,
    /// The element type of the result.
    pub(crate) result: DType,
}

impl ConnectedProblem {
    /// A product of two operands (blade, row, in), which have these blades and the same shape, with a weight.
    ///
    /// # Errors
    /// [`Error::Shape`] if the operands are not (blade, row, in) or differ, or the weight is not (path, in, out);
    /// [`Error::Input`] if `blades` are not all blades of the product's algebra.
    pub fn new(
        product: LayerProduct,
        blades: &Blades,
        operands: [&Layout; 2],
        weight: &Layout,
        dtype: DType,
    ) -> Result<Self> {
        let paths = product.signature.paths();
        if blades.signature() != product.signature || blades.len() != product.signature.size() {
            let why =
                format!("the operands must have all blades of {}, they have {blades}", product.signature);
            return Err(Error::input(OP, why));
        }
        let [x, y] = operands.map(Layout::shape);
        if x.len() != 3 || x[0] != blades.len() || x != y {
            let rule = "the operands must be (blades, rows, features), both of the same shape";
            return Err(Error::shapes(OP, rule, x, y));
        }
        let inputs = x[2];
        match weight.shape() {
            &[first, second, outputs] if [first, second] == [paths.len(), inputs] && outputs > 0 => {}
            shape => {
                let rule = "the weight must be (paths, in, out), with at least one output";
                let outputs = shape.last().copied().unwrap_or_default().max(1);
                return Err(Error::shapes(OP, rule, shape, &[paths.len(), inputs, outputs]));
            }
        }
        let operands = operands.map(|operand| operand.in_window(dtype));
        let (weight, result) = (weight.in_window(dtype), dtype);
        Ok(Self { product, blades: blades.clone(), operands, weight, dtype, result })
    }

    /// The same product, for operands and a weight that were rounded to f16 and stored contiguously.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn rounded_to_f16(&self) -> Result<Self> {
        let [x, y] = self.operands.map(|operand| Layout::contiguous(OP, operand.shape()));
        let weight = Layout::contiguous(OP, self.weight.shape())?;
        Ok(Self { operands: [x?, y?], weight, dtype: DType::F16, ..self.clone() })
    }

    /// Sets the norm.
    #[must_use]
    pub fn norm(self, norm: GradeNorm) -> Self {
        Self { product: LayerProduct { norm, ..self.product }, ..self }
    }

    /// The element type of operands and weight.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Blades, rows, inputs and outputs.
    pub(super) fn sizes(&self) -> [usize; 4] {
        let [blades, rows, inputs] = self.operands[0].shape() else { return [0; 4] };
        [*blades, *rows, *inputs, self.weight.shape()[2]]
    }

    /// The problem of the gates, or None for [`Gate::None`].
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

    /// The position of the scalar among the blades.
    pub(super) fn scalar(&self) -> usize {
        self.blades.position(0).unwrap_or_default()
    }

    /// The problem of both operands' gradients for `rows` rows from row `first` on.
    ///
    /// # Errors
    /// [`Error::Shape`] if the product has fewer rows; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn operand_gradients(&self, [first, rows]: [usize; 2]) -> Result<OperandGradientsProblem> {
        OperandGradientsProblem::new(&self.product, &self.blades, &self.operands, self.dtype, [first, rows])
    }
}

/// Whether operands and weight are rounded before they are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperandRounding {
    /// No rounding.
    None,
    /// Rounding to f16.
    F16,
}

/// A fully connected product, and the options of its matrix products.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectedForward {
    /// The product.
    pub(crate) product: ConnectedProblem,
    /// Whether operands and weight are rounded first.
    pub(crate) rounding: OperandRounding,
    /// The kernel or tile that matrix products must use, if any.
    pub(crate) pin: Pin,
}

/// The backward pass of a fully connected product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectedBackward {
    /// The product.
    pub(crate) forward: ConnectedForward,
    /// The layout of the gradient of its result, (blade, row, out).
    pub(crate) g: Layout,
}

impl ConnectedForward {
    /// A product with options. `pin` restricts the kernels and tiles of its matrix products.
    ///
    /// # Errors
    /// [`Error::Input`] if operands should be rounded to f16 and are not f32.
    pub fn new(product: ConnectedProblem, rounding: OperandRounding, pin: Pin) -> Result<Self> {
        if rounding == OperandRounding::F16 && product.dtype != DType::F32 {
            let why = format!("only f32 operands can be rounded to f16, these are {}", product.dtype);
            return Err(Error::input(OP, why));
        }
        Ok(Self { product, rounding, pin })
    }
}

impl ConnectedBackward {
    /// The backward pass of this product, for a gradient of its result (blade, row, out).
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
