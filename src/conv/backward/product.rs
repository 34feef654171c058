//! Gradients of a convolution as matrix products, whose windows kernels read in place. Nothing is stored twice.

use super::kernel::MOST_SUMS;
use super::problem::{ConvBackward, ConvGradientOf};
use crate::caps::Caps;
use crate::conv::geometry::{ConvAxis, ConvGeometry};
use crate::conv::problem::ConvKernels;
use crate::conv::windows::{self, StridePhase};
use crate::gemm::{BiasAxis, GemmProblem, GemmTypes, SplitK, WindowB};
use crate::layout::{DType, Layout};
use crate::ops::copy::problem::CopyProblem;
use crate::plan::{Draft, MAX_STEPS, Operand, Plan, Problem, Region};
use crate::{Error, Result};
use std::ops::Range;

/// What products take.
pub(super) const NO_PRODUCT: &str = "groups of eight channels and outputs or more, unless there is one; for the gradient of the images, \
                                     strides of at most 4 that, with groups, divide the height; for that of the weight, pixels of the \
                                     result's gradient at equal distances";

/// What products of volumes take.
pub(super) const NO_PRODUCT_OF_VOLUMES: &str =
    "for the gradient of the weight, pixels of the result's gradient at equal distances";

/// The largest stride for which the gradient of images is a product for each phase.
const MOST_PHASES: usize = 4;

/// A product, and where its A, B and C begin in the regions of the gradient, the other operand and the result.
pub(super) struct PhaseProduct {
    pub(super) product: GemmProblem,
    starts: [usize; 3],
}

impl ConvBackward {
    /// The products: one, or for the gradient of the images one for each phase of the strides that taps read. None if the gradient is no
    /// product.
    pub(super) fn products(&self) -> Result<Option<Vec<PhaseProduct>>> {
        if !self.geometry.has_large_groups() {
            return Ok(None);
        }
        let products = match self.of {
            ConvGradientOf::Input => self.of_images_as_products()?,
            ConvGradientOf::Weight => self.of_weight_as_product()?.map(|product| vec![product]),
        };
        let pinned = |of: PhaseProduct| match self.kernels {
            ConvKernels::Product(pin, split) => {
                PhaseProduct { product: of.product.pinned(pin).split_k(split), ..of }
            }
            ConvKernels::Any | ConvKernels::Direct => of,
        };
        Ok(products.map(|products| products.into_iter().map(pinned).collect()))
    }

    /// The gradient of the images: for each phase, the product of the windows of the gradient, whose taps go back, up and to the left,
    /// and the weight as it is stored, whose rows are taps and outputs.
    fn of_images_as_products(&self) -> Result<Option<Vec<PhaseProduct>>> {
        let geometry = &self.geometry;
        // Checked, so that the number of pixels cannot overflow.
        let made = Layout::contiguous(self.op, &geometry.input_shape())?;
        let rows = geometry.input_shape()[..4].iter().product();
        if geometry.is_pointwise()
            && let Some(a) = self.grad.joined(0..4)
        {
            let strides = [0, 4].map(|axis| self.other.strides()[axis]);
            let b = self.other.with_axes(&[geometry.outputs, geometry.channels], &strides);
            let c = made.reshape(&[rows, geometry.channels])?;
            let product = GemmProblem::new(&a, &b, &c, GemmTypes::new(self.dtype, self.dtype))?;
            return Ok(Some(vec![self.with_bias(product, [a, b, c])?]));
        }
        if geometry.is_of_images() && geometry.axes.iter().any(|axis| axis.stride > MOST_PHASES) {
            return Ok(None);
        }
        let [deep, down, across] = geometry.axes.map(|axis| StridePhase::all(&axis));
        let (deep, down, across) = (deep?, down?, across?);
        let phases = [deep.len(), down.len(), across.len()].map(|of_axis| of_axis as u64);
        let launches = phases.into_iter().fold(1, u64::saturating_mul);
        Error::check_limit(self.op, "the number of launches", launches, MAX_STEPS)?;
        let mut products = Vec::new();
        for first in &deep {
            for second in &down {
                for third in &across {
                    match self.of_phase([*first, *second, *third], &made)? {
                        Some(of_phase) => products.extend(of_phase),
                        None => return Ok(None),
                    }
                }
            }
        }
        Ok(Some(products))
    }

    /// Whether some pixels of the images are read by no tap, so that they are in no product.
    fn has_unread(&self) -> Result<bool> {
        let read = |axis: &ConvAxis| Ok(StridePhase::all(axis)?.len() == windows::phases(axis));
        let all: Result<Vec<bool>> = self.geometry.axes.iter().map(read).collect();
        Ok(self.of == ConvGradientOf::Input && all?.contains(&false))
    }

    /// The products of a phase: one, or of volumes one for each volume, or one for each of its planes or groups, if pixels and groups
    /// need more axes than a batch has. None for such images, which have another kernel.
    fn of_phase(&self, phases: [StridePhase; 3], made: &Layout) -> Result<Option<Vec<PhaseProduct>>> {
        let ConvGeometry { batch, groups, .. } = self.geometry;
        if let Some(product) = self.of_part(phases, made, (0..batch, 0..groups))? {
            return Ok(Some(vec![product]));
        }
        if self.geometry.is_of_images() {
            return Ok(None);
        }
        let planes = phases[0].pixels;
        for [by_plane, by_group] in [[false, false], [planes <= groups, planes > groups]] {
            let of_volume = |image: usize| -> Result<Option<Vec<PhaseProduct>>> {
                if by_plane {
                    let of_plane = |plane: usize| {
                        let of_plane = phases[0].pixel(&self.geometry.axes[0], plane)?;
                        let phases = [of_plane, phases[1], phases[2]];
                        self.of_part(phases, made, (image..image + 1, 0..groups))
                    };
                    return (0..planes).map(of_plane).collect();
                }
                let parts = if by_group { groups } else { 1 };
                let of_group = |part: usize| {
                    let of_part = part * groups / parts..(part + 1) * groups / parts;
                    self.of_part(phases, made, (image..image + 1, of_part))
                };
                (0..parts).map(of_group).collect()
            };
            let of_volumes: Option<Vec<Vec<PhaseProduct>>> =
                (0..batch).map(of_volume).collect::<Result<_>>()?;
            if let Some(products) = of_volumes {
                return Ok(Some(products.into_iter().flatten().collect()));
            }
        }
        Ok(None)
    }

    /// The product of a phase for some of the images and groups. None if their pixels and groups need more axes than a batch has.
    fn of_part(
        &self,
        phases: [StridePhase; 3],
        made: &Layout,
        (images, groups): (Range<usize>, Range<usize>),
    ) -> Result<Option<PhaseProduct>> {
        let (axes, columns) = (self.geometry.axes, self.geometry.group_channels());
        let strides = self.other.strides();
        let by_taps = [0, 1, 2].map(|axis| phases[axis].step * strides[axis + 1]);
        let strides = [&by_taps[..], &[strides[0], strides[4]]].concat();
        let first: usize = (0..3).map(|axis| phases[axis].first_tap * self.other.strides()[axis + 1]).sum();
        let [deep, down, across] = phases.map(|phase| phase.taps);
        let rows = self.geometry.group_outputs();
        let outputs = groups.start * rows..groups.end * rows;
        let b = self
            .other
            .with_axes(&[deep, down, across, self.geometry.outputs, columns], &strides)
            .at(&strides, self.other.offset() + first)
            .slice(3, outputs.clone())?;
        let grad = self.grad.slice(0, images.clone())?.slice(4, outputs)?;
        let of_pixels = [0, 1, 2].map(|axis| axes[axis].stride * made.strides()[axis + 1]);
        let first: usize = (0..3).map(|axis| phases[axis].first * made.strides()[axis + 1]).sum();
        let lines = [0, 1, 2].map(|axis| (phases[axis].pixels, of_pixels[axis]));
        let pixels = [&[(images.len(), made.strides()[0])][..], &lines].concat();
        let Some(c) = matrices(&pixels, [groups.len(), columns]) else { return Ok(None) };
        let c = c.at(c.strides(), first + images.start * made.strides()[0] + groups.start * columns);
        let types = GemmTypes::new(self.dtype, self.dtype);
        let windows = windows::of_gradient(phases, groups.len())?;
        let product = GemmProblem::of_windows([&grad, &b], windows, &c, types)?;
        self.with_bias(product, [grad, b, c]).map(Some)
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
        let Some(grad) = self.grad.joined(0..4) else { return Ok(None) };
        let (a, c) = if geometry.groups == 1 {
            (grad.t(), Layout::contiguous(op, &[geometry.outputs, geometry.terms()])?)
        } else {
            let (groups, rows, [pixel, output]) =
                (geometry.groups, geometry.group_outputs(), [grad.strides()[0], grad.strides()[1]]);
            let a = grad.with_axes(&[groups, rows, pixels], &[rows * output, output, pixel]);
            (a, Layout::contiguous(op, &[groups, rows, geometry.terms()])?)
        };
        let types = GemmTypes::new(self.dtype, DType::F32);
        let product = match self.other.joined(0..4).filter(|_| geometry.is_pointwise()) {
            Some(b) => GemmProblem::new(&a, &b, &c, types)?,
            None => {
                let windows = windows::of_images(geometry, WindowB::Windows)?;
                GemmProblem::of_windows([&a, &self.other], windows, &c, types)?
            }
        };
        Ok(Some(self.with_bias(product, [a, self.other, c])?))
    }

    /// The plan of the products, for operands in the order of this problem's. Unless splits are pinned, their sums take less than a
    /// mebibyte. None if there are no products.
    pub(super) fn product_plan(&self, caps: &Caps) -> Result<Option<Plan>> {
        let Some(products) = self.products()? else { return Ok(None) };
        let mut draft = Draft::new(self.op, &[], caps);
        let own: Vec<_> = draft.operands(&self.operands()?).into_iter().map(|(region, _)| region).collect();
        let [grad, other, bias @ .., made] = own.as_slice() else { return Ok(None) };
        if self.has_unread()? {
            self.fill(&mut draft, *made, bias.first())?;
        }
        let most_sums = MOST_SUMS / products.len().max(1);
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

    /// Writes the gradient of pixels that no tap reads, to all pixels: zeros, or the bias.
    fn fill(&self, draft: &mut Draft<'_>, made: Region, bias: Option<&Region>) -> Result<()> {
        let caps = draft.caps();
        let mut strides = vec![0; made.layout.rank()];
        let mut of = match bias {
            Some(bias) => {
                strides[4] = bias.layout.strides()[0];
                *bias
            }
            None => draft.constant(&[0])?,
        };
        of.dtype = self.dtype;
        of.layout = of.layout.with_axes(made.layout.shape(), &strides);
        let copy = CopyProblem::new(&of.layout, &made.layout, self.dtype)?;
        draft.call(copy.plan(caps)?, &[made, of], &[])
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
