//! Gradients of a convolution as matrix products, whose windows kernels read in place. Nothing is stored twice.

use super::kernel::MOST_SUMS;
use super::problem::{ConvBackward, ConvGradientOf};
use crate::Result;
use crate::caps::Caps;
use crate::conv::geometry::ConvGeometry;
use crate::conv::problem::ConvKernels;
use crate::conv::windows::{self, StridePhase};
use crate::gemm::{BiasAxis, GemmProblem, GemmTypes, SplitK, WindowB};
use crate::layout::{DType, Layout};
use crate::plan::{Draft, Operand, Plan, Problem, Region};

/// What products take.
pub(super) const NO_PRODUCT: &str = "groups of eight channels and outputs or more, unless there is one; for the gradient of the images, \
                                     strides of at most 4 that leave no pixel unread and, with groups, divide the height; for that of \
                                     the weight, pixels of the result's gradient at equal distances";

/// What products of volumes take.
pub(super) const NO_PRODUCT_OF_VOLUMES: &str =
    "for the gradient of the weight, pixels of the result's gradient at equal distances";

/// A product, and where its A, B and C begin in the regions of the gradient, the other operand and the result.
pub(super) struct PhaseProduct {
    pub(super) product: GemmProblem,
    starts: [usize; 3],
}

impl ConvBackward {
    /// The products: one, or for the gradient of the images one for each phase of the strides. None if there are no such products.
    pub(super) fn products(&self) -> Result<Vec<PhaseProduct>> {
        if !self.geometry.has_large_groups() {
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

    /// The gradient of the images: for each phase, the product of the windows of the gradient, whose taps go back, up and to the left,
    /// and the weight as it is stored, whose rows are taps and outputs.
    fn of_images_as_products(&self) -> Result<Vec<PhaseProduct>> {
        let geometry = &self.geometry;
        // Checked, so that the number of pixels cannot overflow.
        let made = Layout::contiguous(self.op, &geometry.input_shape())?;
        let rows = geometry.input_shape()[..4].iter().product();
        if let Ok(a) = self.grad.reshape(&[rows, geometry.outputs])
            && geometry.is_pointwise()
        {
            let strides = [0, 4].map(|axis| self.other.strides()[axis]);
            let b = self.other.with_axes(&[geometry.outputs, geometry.channels], &strides);
            let c = made.reshape(&[rows, geometry.channels])?;
            let product = GemmProblem::new(&a, &b, &c, GemmTypes::new(self.dtype, self.dtype))?;
            return Ok(vec![self.with_bias(product, [a, b, c])?]);
        }
        let is_of_volumes = !geometry.is_of_images();
        let [deep, down, across] = geometry.axes.map(|axis| StridePhase::all(&axis, is_of_volumes));
        let (Some(deep), Some(down), Some(across)) = (deep?, down?, across?) else {
            return Ok(Vec::new());
        };
        let mut products = Vec::new();
        for first in &deep {
            for second in &down {
                for third in &across {
                    match self.of_phase([*first, *second, *third], &made)? {
                        Some(of_phase) => products.extend(of_phase),
                        None => return Ok(Vec::new()),
                    }
                }
            }
        }
        Ok(products)
    }

    /// The products of a phase: one, or one for each volume and group if pixels and groups need more axes than a batch has. None for such
    /// images, which have another kernel.
    fn of_phase(&self, phases: [StridePhase; 3], made: &Layout) -> Result<Option<Vec<PhaseProduct>>> {
        let ConvGeometry { batch, outputs, groups, axes, .. } = self.geometry;
        let columns = self.geometry.group_channels();
        let strides = self.other.strides();
        let by_taps = [0, 1, 2].map(|axis| phases[axis].step * strides[axis + 1]);
        let strides = [&by_taps[..], &[strides[0], strides[4]]].concat();
        let first: usize = (0..3).map(|axis| phases[axis].first_tap * self.other.strides()[axis + 1]).sum();
        let [deep, down, across] = phases.map(|phase| phase.taps);
        let b = self
            .other
            .with_axes(&[deep, down, across, outputs, columns], &strides)
            .at(&strides, self.other.offset() + first);
        let pixels = phases.map(|phase| phase.pixels);
        let of_pixels = [0, 1, 2].map(|axis| axes[axis].stride * made.strides()[axis + 1]);
        let first: usize = (0..3).map(|axis| phases[axis].first * made.strides()[axis + 1]).sum();
        // The product of these images and this number of groups, whose pixels begin at `offset`.
        let of_part = |grad: Layout, b: Layout, [images, groups, offset]: [usize; 3]| {
            let lines = [(images, made.strides()[0]), (pixels[0], of_pixels[0]), (pixels[1], of_pixels[1])];
            let pixels = [&lines[..], &[(pixels[2], of_pixels[2])]].concat();
            let Some(c) = matrices(&pixels, [groups, columns]) else { return Ok(None) };
            let c = c.at(c.strides(), offset);
            let types = GemmTypes::new(self.dtype, self.dtype);
            let windows = windows::of_gradient(phases, groups)?;
            let product = GemmProblem::of_windows([&grad, &b], windows, &c, types)?;
            self.with_bias(product, [grad, b, c]).map(Some)
        };
        if let Some(product) = of_part(self.grad, b, [batch, groups, first])? {
            return Ok(Some(vec![product]));
        }
        if self.geometry.is_of_images() {
            return Ok(None);
        }
        let rows = self.geometry.group_outputs();
        let single = |(image, group): (usize, usize)| -> Result<Option<PhaseProduct>> {
            let outputs = group * rows..(group + 1) * rows;
            let grad = self.grad.slice(0, image..=image)?.slice(4, outputs.clone())?;
            let offset = first + image * made.strides()[0] + group * columns;
            of_part(grad, b.slice(3, outputs)?, [1, 1, offset])
        };
        (0..batch).flat_map(|image| (0..groups).map(move |group| (image, group))).map(single).collect()
    }

    fn with_bias(&self, product: GemmProblem, layouts: [Layout; 3]) -> Result<PhaseProduct> {
        let product = match &self.bias {
            Some(bias) => product.bias(BiasAxis::Columns, bias, self.dtype)?,
            None => product,
        };
        Ok(PhaseProduct { product, starts: layouts.map(|layout| layout.offset()) })
    }

    /// The gradient of the weight: the product of the gradient of the result, transposed, and the windows of the images, for each group.
    fn of_weight_as_product(&self) -> Result<Option<PhaseProduct>> {
        let (op, geometry) = (self.op, &self.geometry);
        Layout::contiguous(op, &geometry.output_shape())?;
        let pixels = geometry.output_shape()[..4].iter().product();
        let Ok(grad) = self.grad.reshape(&[pixels, geometry.outputs]) else { return Ok(None) };
        let (a, c) = if geometry.groups == 1 {
            (grad.t(), Layout::contiguous(op, &[geometry.outputs, geometry.terms()])?)
        } else {
            let (groups, rows, [pixel, output]) =
                (geometry.groups, geometry.group_outputs(), [grad.strides()[0], grad.strides()[1]]);
            let a = grad.with_axes(&[groups, rows, pixels], &[rows * output, output, pixel]);
            (a, Layout::contiguous(op, &[groups, rows, geometry.terms()])?)
        };
        let types = GemmTypes::new(self.dtype, DType::F32);
        let product = match self.other.reshape(&[pixels, geometry.channels]) {
            Ok(b) if geometry.is_pointwise() => GemmProblem::new(&a, &b, &c, types)?,
            _ => {
                let windows = windows::of_images(geometry, WindowB::Windows)?;
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

/// The matrices (batch, batch, m, n) of rows of pixels along these axes, of an extent and a stride, and of the columns of a group. Those of
/// several groups are along the second axis of the batch. None if there are too many axes with strides of their own.
fn matrices(axes: &[(usize, usize)], [groups, columns]: [usize; 2]) -> Option<Layout> {
    let mut own: Vec<(usize, usize)> = Vec::new();
    for &(extent, stride) in axes.iter().filter(|(extent, _)| *extent != 1) {
        match own.last_mut() {
            Some(last) if last.1 == extent * stride => *last = (last.0 * extent, stride),
            _ => own.push((extent, stride)),
        }
    }
    if own.is_empty() {
        own.push((1, groups * columns));
    }
    if groups > 1 {
        own.insert(own.len() - 1, (groups, columns));
    }
    let (mut shape, mut strides): (Vec<_>, Vec<_>) = own.into_iter().unzip();
    shape.push(columns);
    strides.push(1);
    (shape.len() <= 4).then(|| Layout::line(0).with_axes(&shape, &strides))
}
