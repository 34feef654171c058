//! A function of rows of multivectors: the checked problem, as plain data.

use crate::Result;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::signature::Signature;
use crate::clifford::layer::gate::Gate;
use crate::clifford::layer::grade_norm::GradeNorm;
use crate::clifford::layer::layer_product::LayerProduct;
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, dim};

shader_dims! {
    /// The uniform of `shaders/clifford/rows.wgsl`, in elements. `x`, `y` and `g` are the strides of the blade, row and
    /// feature axes and the offset of the first element. `w` is the strides of the path and feature axes and the offset of
    /// the first element. Results are contiguous.
    pub struct RowDims {
        /// strides of the blade, row and feature axes; first element
        x: [u32; 4],
        y: [u32; 4],
        g: [u32; 4],
        /// strides of the path and feature axes; first element
        w: [u32; 4],
        rows: u32,
        features: u32,
        /// elements per blade of a result
        plane: u32,
        /// units per row, of WIDTH features each
        units: u32,
        /// rows per lane
        iterations: u32,
        strips: u32,
        /// workgroups per row
        blocks: u32,
        /// parts of a row's sums that an earlier launch has stored
        parts: u32,
    }
}

/// A function of rows of multivectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowFunction {
    /// The normalised steerable product of X and Y with weights W.
    Steerable,
    /// Its gradients with respect to X, Y and W, from the gradient G of the result.
    SteerableBackward,
    /// The grade norm of X.
    Normalize,
    /// Its gradient with respect to X, from the gradient G of the result.
    NormalizeBackward,
}

impl RowFunction {
    /// The name in errors and plans.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Steerable => "steerable product",
            Self::SteerableBackward => "steerable product, backward",
            Self::Normalize => "grade norm",
            Self::NormalizeBackward => "grade norm, backward",
        }
    }

    pub(super) fn is_product(self) -> bool {
        matches!(self, Self::Steerable | Self::SteerableBackward)
    }

    pub(super) fn is_backward(self) -> bool {
        matches!(self, Self::SteerableBackward | Self::NormalizeBackward)
    }
}

/// The part of a function that a launch computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowStep {
    /// All of it. The sums of a row stay in the workgroup.
    Whole,
    /// The sums of parts of rows; for a product, also the product before it is normalised.
    Sums,
    /// The result, from the sums of an earlier launch.
    Results,
}

/// A function of rows of multivectors, checked: shapes match and every size is below $2^{31}$.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowProblem {
    /// The function.
    pub(crate) function: RowFunction,
    /// The part of it.
    pub(crate) step: RowStep,
    /// The algebra, the gate and the norm.
    pub(crate) product: LayerProduct,
    /// The blades of X, all of the algebra, in their order.
    pub(crate) blades: Blades,
    /// The shader's uniform, without the fields that the tile determines.
    pub(crate) dims: RowDims,
    /// The element type of the operands.
    pub(crate) dtype: DType,
    /// The element type of the result.
    pub(crate) out: DType,
}

/// The layouts of the operands of a function of rows: X, Y and G are (blade, row, feature), W is (feature, path).
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names of the operands")]
pub struct RowOperandLayouts<'a> {
    pub x: &'a Layout,
    pub y: Option<&'a Layout>,
    pub g: Option<&'a Layout>,
    pub w: Option<&'a Layout>,
}

impl RowProblem {
    /// The whole function. The caller has checked that the shapes match.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub fn new(
        function: RowFunction,
        product: LayerProduct,
        blades: &Blades,
        layouts: RowOperandLayouts<'_>,
        dtype: DType,
    ) -> Result<Self> {
        let op = function.name();
        let places = |layout: Option<&Layout>| -> Result<[u32; 4]> {
            let mut places = [0; 4];
            if let Some(layout) = layout {
                for (to, &stride) in places.iter_mut().zip(layout.strides()) {
                    *to = dim(op, stride)?;
                }
                places[3] = layout.offset_in_window(dtype);
            }
            Ok(places)
        };
        let shape = layouts.x.shape();
        let plane = shape[1] * shape[2];
        dim(op, shape[0] * plane)?;
        let [feature, path, _, offset] = places(layouts.w)?;
        let dims = RowDims {
            x: places(Some(layouts.x))?,
            y: places(layouts.y)?,
            g: places(layouts.g)?,
            w: [path, feature, offset, 0],
            rows: dim(op, shape[1])?,
            features: dim(op, shape[2])?,
            plane: dim(op, plane)?,
            ..RowDims::default()
        };
        Ok(Self { function, step: RowStep::Whole, product, blades: blades.clone(), dims, dtype, out: dtype })
    }

    /// A part of the function.
    #[must_use]
    pub fn step(&self, step: RowStep) -> Self {
        // The product that the first launch passes to the second is not rounded.
        let is_between = step == RowStep::Sums && self.function == RowFunction::Steerable;
        Self { step, out: if is_between { DType::F32 } else { self.out }, ..self.clone() }
    }

    /// The launch that follows [`RowStep::Sums`]. For a product, it normalises the product that the first launch
    /// stored.
    #[must_use]
    pub fn after_sums(&self) -> Self {
        if self.function != RowFunction::Steerable {
            return self.step(RowStep::Results);
        }
        let RowDims { rows, features, plane, .. } = self.dims;
        let dims = RowDims { x: [plane, features, 1, 0], rows, features, plane, ..RowDims::default() };
        let function = RowFunction::Normalize;
        Self { function, step: RowStep::Results, dims, dtype: DType::F32, ..self.clone() }
    }

    pub(super) fn signature(&self) -> Signature {
        self.product.signature
    }

    /// Number of blades of an operand.
    #[must_use]
    pub fn blade_count(&self) -> usize {
        self.blades.len()
    }

    /// The grades that the norm divides.
    pub(super) fn grades(&self) -> Vec<usize> {
        self.product.norm.grades(self.signature())
    }

    /// Number of sums over a row: the squares of each grade, and in a backward pass also the products of gradient and
    /// result.
    #[must_use]
    pub fn sums(&self) -> usize {
        self.grades().len() * if self.function.is_backward() { 2 } else { 1 }
    }

    /// Whether the operands have gates.
    pub(super) fn is_gated(&self) -> bool {
        self.function.is_product() && self.product.gate != Gate::None
    }

    /// Whether rows are divided by a norm.
    pub(super) fn is_normalised(&self) -> bool {
        self.product.norm != GradeNorm::None
    }

    /// Whether the lanes of a row add their sums: only with a norm, and not if an earlier launch has added them.
    pub(super) fn shares_sums(&self) -> bool {
        self.is_normalised() && self.step != RowStep::Results
    }
}
