//! Gradients of a convolution as matrix products, whose windows kernels read in place. Nothing is stored twice.

use super::kernel::MOST_SUMS;
use super::problem::{ConvBackward, ConvGradientOf};
use crate::Result;
use crate::caps::Caps;
use crate::conv::geometry::ConvGeometry;
use crate::conv::problem::ConvKernels;
use crate::conv::windows::{self, StridePhase};
use crate::gemm::{BiasAxis, GemmProblem, GemmTypes, Side, SplitK};
use crate::layout::{DType, Layout};
use crate::plan::{Draft, Operand, Plan, Problem, Region};

/// What products take.
pub(super) const NO_PRODUCT: &str = "one group; for the gradient of the images, strides of at most 4 that leave no pixel unread; for \
                                     that of the weight, pixels of the result's gradient at equal distances";

/// A product, and where its A, B and C begin in the regions of the gradient, the other operand and the result.
pub(super) struct PhaseProduct {
    pub(super) product: GemmProblem,
    starts: [usize; 3],
}

impl ConvBackward {
    /// The products: one, or for the gradient of the images one for each phase of the strides. None if there are no such products.
    pub(super) fn products(&self) -> Result<Vec<PhaseProduct>> {
        if self.geometry.groups > 1 {
            return Ok(Vec::new());
        }
        let products = match self.of {
            ConvGradientOf::Input => self.of_images_as_products()?,
            ConvGradientOf::Weight => self.of_weight_as_product()?.into_iter().collect(),
        };
        let pinned = |of: PhaseProduct| match self.kernels {
            ConvKernels::Product(pin, split) => {
                PhaseProduct { product: of.product.pinned(pin).split_k(split), ..of }
            }
            ConvKernels::Any | ConvKernels::Direct => of,
        };
        Ok(products.into_iter().map(pinned).collect())
    }

    /// The gradient of the images: for each phase, the product of the windows of the gradient, whose taps go up and to the left, and
    /// the weight as it is stored, whose rows are taps and outputs.
    fn of_images_as_products(&self) -> Result<Vec<PhaseProduct>> {
        let geometry = &self.geometry;
        let [down, across] = &geometry.axes;
        // Checked, so that the number of pixels cannot overflow.
        let made = Layout::contiguous(self.op, &geometry.input_shape())?;
        let rows = geometry.input_shape()[..3].iter().product();
        if let Ok(a) = self.grad.reshape(&[rows, geometry.outputs])
            && geometry.is_pointwise()
        {
            let strides = [0, 3].map(|axis| self.other.strides()[axis]);
            let b = self.other.with_axes(&[geometry.outputs, geometry.channels], &strides);
            let c = made.reshape(&[rows, geometry.channels])?;
            let product = GemmProblem::new(&a, &b, &c, GemmTypes::new(self.dtype, self.dtype))?;
            return Ok(vec![self.with_bias(product, [a, b, c])?]);
        }
        let (Some(down), Some(across)) = (StridePhase::all(down)?, StridePhase::all(across)?) else {
            return Ok(Vec::new());
        };
        let mut products = Vec::new();
        for first in &down {
            for second in &across {
                products.push(self.of_phase([*first, *second], &made)?);
            }
        }
        Ok(products)
    }

    fn of_phase(&self, phases: [StridePhase; 2], made: &Layout) -> Result<PhaseProduct> {
        let ConvGeometry { batch, channels, outputs, axes, .. } = self.geometry;
        let [down, across] = phases;
        let [of_output, of_line, of_column, of_channel] = [0, 1, 2, 3].map(|axis| self.other.strides()[axis]);
        let strides = [down.step * of_line, across.step * of_column, of_output, of_channel];
        let first = down.first_tap * of_line + across.first_tap * of_column;
        let b = self
            .other
            .with_axes(&[down.taps, across.taps, outputs, channels], &strides)
            .at(&strides, self.other.offset() + first);
        let [of_image, of_line, of_column] = [0, 1, 2].map(|axis| made.strides()[axis]);
        let strides = [of_image, axes[0].stride * of_line, axes[1].stride * of_column, 1];
        let c = made
            .with_axes(&[batch, down.pixels, across.pixels, channels], &strides)
            .at(&strides, down.first * of_line + across.first * of_column);
        // All pixels are the rows of a matrix; with strides, the lines of pixels are matrices.
        let c = c.reshape(&[batch * down.pixels * across.pixels, channels]).unwrap_or(c);
        let types = GemmTypes::new(self.dtype, self.dtype);
        let windows = windows::of_gradient(phases)?;
        let product = GemmProblem::of_windows([&self.grad, &b], windows, &c, types)?;
        self.with_bias(product, [self.grad, b, c])
    }

    fn with_bias(&self, product: GemmProblem, layouts: [Layout; 3]) -> Result<PhaseProduct> {
        let product = match &self.bias {
            Some(bias) => product.bias(BiasAxis::Columns, bias, self.dtype)?,
            None => product,
        };
        Ok(PhaseProduct { product, starts: layouts.map(|layout| layout.offset()) })
    }

    /// The gradient of the weight: the product of the gradient of the result, transposed, and the windows of the images.
    fn of_weight_as_product(&self) -> Result<Option<PhaseProduct>> {
        let (op, geometry) = (self.op, &self.geometry);
        Layout::contiguous(op, &geometry.output_shape())?;
        let pixels = geometry.output_shape()[..3].iter().product();
        let Ok(grad) = self.grad.reshape(&[pixels, geometry.outputs]) else { return Ok(None) };
        let a = grad.t();
        let c = Layout::contiguous(op, &[geometry.outputs, geometry.terms()])?;
        let types = GemmTypes::new(self.dtype, DType::F32);
        let product = match self.other.reshape(&[pixels, geometry.channels]) {
            Ok(b) if geometry.is_pointwise() => GemmProblem::new(&a, &b, &c, types)?,
            _ => {
                let windows = windows::of_images(geometry, Side::B)?;
                GemmProblem::of_windows([&a, &self.other], windows, &c, types)?
            }
        };
        Ok(Some(self.with_bias(product, [a, self.other, c])?))
    }

    /// The plan of the products, for operands in the order of this problem's. Unless splits are pinned, their sums take less than a
    /// mebibyte. None if there are no products.
    pub(super) fn product_plan(&self, caps: &Caps) -> Result<Option<Plan>> {
        let products = self.products()?;
        let mut draft = Draft::new(self.op, &[], caps);
        let own: Vec<_> = draft.operands(&self.operands()?).into_iter().map(|(region, _)| region).collect();
        let [grad, other, bias @ .., made] = own.as_slice() else { return Ok(None) };
        if products.is_empty() {
            return Ok(None);
        }
        let most_sums = MOST_SUMS / products.len();
        for PhaseProduct { product, starts } in products {
            let of_operand = |(region, operand): (&Region, Operand), start: Option<&usize>| {
                let layout = operand.layout;
                region.with_layout(layout.at(layout.strides(), *start.unwrap_or(&layout.offset())))
            };
            let mut starts = starts.iter();
            let operands: Vec<_> = [grad, other, made]
                .into_iter()
                .chain(bias)
                .zip(product.operands()?)
                .map(|pair| of_operand(pair, starts.next()))
                .collect();
            draft.call(self.in_little_memory(&product, most_sums, caps)?, &operands, &[])?;
        }
        Ok(Some(draft.finish()))
    }

    /// The plan of a product with at most this number of sums of splits, unless they are pinned.
    fn in_little_memory(&self, product: &GemmProblem, most_sums: usize, caps: &Caps) -> Result<Plan> {
        let plan = product.plan(caps)?;
        let sums = plan.temporaries().iter().sum::<u64>() / 4;
        if self.kernels != ConvKernels::Any || sums <= most_sums as u64 {
            return Ok(plan);
        }
        let splits = (most_sums / product.output().len()).max(1);
        product.split_k(SplitK::Splits(u32::try_from(splits).unwrap_or(1))).plan(caps)
    }
}
