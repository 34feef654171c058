//! A function of rows of multivectors: the checked problem, as plain data.

use crate::Result;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::signature::Signature;
use crate::clifford::layer::gate::Gate;
use crate::clifford::layer::grade_norm::GradeNorm;
use crate::clifford::layer::layer_product::LayerProduct;
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, known};

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
    /// X, Y and G (blade, row, feature), relative to their windows.
    pub(super) x: Layout,
    pub(super) y: Option<Layout>,
    pub(super) g: Option<Layout>,
    /// The weights (feature, path).
    pub(super) w: Option<Layout>,
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
        let own = |of: &Layout| {
            let of = of.in_window(dtype);
            of.check_dims(function.name()).map(|()| of)
        };
        let RowOperandLayouts { x, y, g, w } = layouts;
        Ok(Self {
            function,
            step: RowStep::Whole,
            product,
            blades: blades.clone(),
            x: own(x)?,
            y: y.map(own).transpose()?,
            g: g.map(own).transpose()?,
            w: w.map(own).transpose()?,
            dtype,
            out: dtype,
        })
    }

    /// The shader's uniform, without the fields that the tile determines.
    pub(super) fn dims(&self) -> RowDims {
        let places = |of: Option<&Layout>| {
            of.map_or([0; 4], |of| {
                let [blade, row, feature] = [0, 1, 2].map(|axis| known(of.step(axis)));
                [blade, row, feature, of.offset_in_window(self.dtype)]
            })
        };
        let weights = self
            .w
            .map_or([0; 4], |of| [known(of.step(1)), known(of.step(0)), of.offset_in_window(self.dtype), 0]);
        let [_, rows, features] = self.shape().map(known);
        RowDims {
            x: places(Some(&self.x)),
            y: places(self.y.as_ref()),
            g: places(self.g.as_ref()),
            w: weights,
            rows,
            features,
            plane: rows * features,
            ..RowDims::default()
        }
    }

    /// Blades, rows and features.
    pub(super) fn shape(&self) -> [usize; 3] {
        [0, 1, 2].map(|axis| self.x.shape()[axis])
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
        let (function, step, x) = (RowFunction::Normalize, RowStep::Results, self.x.dense());
        Self { function, step, x, y: None, g: None, w: None, dtype: DType::F32, ..self.clone() }
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
