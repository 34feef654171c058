//! A function of rows of multivectors, checked: what to compute, as plain data.

use super::super::form::{Gate, GradeNorm, LayerProduct};
use crate::Result;
use crate::clifford::{Blades, Signature};
use crate::layout::{DType, Layout, dim};

/// The uniform of `shaders/clifford/rows.wgsl`, in elements. Of X, Y and G the strides from blade to blade, from row to row
/// and from feature to feature, and the first element; of the weights from path to path and from feature to feature, and
/// the first element. Results lie without gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct RowDims {
    pub x: [u32; 4],
    pub y: [u32; 4],
    pub g: [u32; 4],
    pub w: [u32; 4],
    pub rows: u32,
    pub features: u32,
    pub plane: u32,
    pub units: u32,
    pub steps: u32,
    pub strips: u32,
    pub blocks: u32,
    pub parts: u32,
}

/// A function of rows of multivectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowFunction {
    /// The steerable product of X and Y with weights W, normalised.
    Steerable,
    /// What it hands back to X, Y and W, of the gradient G.
    SteerableBackward,
    /// X normalised.
    Normalize,
    /// What that hands back, of the gradient G.
    NormalizeBackward,
}

impl RowFunction {
    /// The name that errors and plans have for it.
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

/// Which part of a function a launch computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowStep {
    /// All of it: the sums of a row stay in the workgroup.
    Whole,
    /// The sums of parts of rows; and of a product the product, before it is normalised.
    Sums,
    /// The result, by sums that are there.
    Results,
}

/// A function of rows of multivectors, checked: shapes go together and every size is below $2^{31}$.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RowProblem {
    /// What is computed.
    pub(crate) function: RowFunction,
    /// Which part of it.
    pub(crate) step: RowStep,
    /// The product, with its gate and its norm.
    pub(crate) product: LayerProduct,
    /// The blades, all of the algebra's, in their order.
    pub(crate) blades: Blades,
    /// The sizes, as the shader has them, but for those that the plan decides.
    pub(crate) dims: RowDims,
    /// The type of operands.
    pub(crate) dtype: DType,
    /// The type of the result.
    pub(crate) out: DType,
}

/// Where operands of a function of rows lie: X, Y and G as (blade, row, feature), W as (feature, path).
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names of the operands")]
pub struct RowLayouts<'a> {
    pub x: &'a Layout,
    pub y: Option<&'a Layout>,
    pub g: Option<&'a Layout>,
    pub w: Option<&'a Layout>,
}

impl RowProblem {
    /// The whole function; shapes were compared before.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub fn new(
        function: RowFunction,
        product: LayerProduct,
        blades: &Blades,
        layouts: RowLayouts<'_>,
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

    /// One part of the function.
    #[must_use]
    pub fn step(&self, step: RowStep) -> Self {
        // What lies between two launches is not rounded.
        let is_between = step == RowStep::Sums && self.function == RowFunction::Steerable;
        Self { step, out: if is_between { DType::F32 } else { self.out }, ..self.clone() }
    }

    /// Behind the launch of [`RowStep::Sums`], what makes the result of the product that it left.
    #[must_use]
    pub fn behind(&self) -> Self {
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

    /// Blades of an operand.
    #[must_use]
    pub fn blade_count(&self) -> usize {
        self.blades.len()
    }

    /// The grades that are normalised; none where nothing is.
    pub(super) fn grades(&self) -> Vec<usize> {
        self.product.norm.grades(self.signature())
    }

    /// Sums that the lanes of a row share: the squares of each grade, and of gradients their products with the result.
    #[must_use]
    pub fn sums(&self) -> usize {
        self.grades().len() * if self.function.is_backward() { 2 } else { 1 }
    }

    /// Whether operands are gated.
    pub(super) fn is_gated(&self) -> bool {
        self.function.is_product() && self.product.gate != Gate::None
    }

    /// Whether rows are divided by anything.
    pub(super) fn is_normalised(&self) -> bool {
        self.product.norm != GradeNorm::None
    }

    /// Whether the lanes of a row meet: not where nothing is divided, nor where sums are there.
    pub(super) fn meets(&self) -> bool {
        self.is_normalised() && self.step != RowStep::Results
    }
}
