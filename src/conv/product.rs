//! A convolution as a matrix product: its windows are the rows of A, which kernels read from the images. Nothing is stored twice.

use super::geometry::ConvGeometry;
use super::problem::{ConvKernels, ConvProblem, OP};
use super::windows;
use crate::Result;
use crate::caps::Caps;
use crate::gemm::{BiasAxis, GemmProblem, GemmTypes, WindowB};
use crate::layout::{DType, Layout};
use crate::plan::{Draft, Plan, Problem};

/// The fewest channels, and the fewest outputs, of a group that is a product of its own: blocks of matrices are at least as wide.
const LEAST_OF_GROUP: usize = 8;

impl ConvProblem {
    /// The product, or one for each group, if groups are large enough, and the residual can be read in place.
    pub(super) fn product(&self) -> Result<Option<GemmProblem>> {
        let geometry = &self.geometry;
        // Checked, so that the number of windows cannot overflow.
        Layout::contiguous(OP, &geometry.output_shape())?;
        if !geometry.has_large_groups() {
            return Ok(None);
        }
        let residual = match &self.residual {
            None => None,
            Some(residual) => match residual.joined(0..4) {
                None => return Ok(None),
                residual => residual,
            },
        };
        // Of a weight that is stored channels first, each tap has its place.
        let (b, reads) = match geometry.weight_matrix(&self.weight)? {
            Some(b) => (b, WindowB::Lines),
            None => (geometry.weight_of_taps(&self.weight), WindowB::Taps),
        };
        let c = geometry.by_groups(&Layout::contiguous(OP, &geometry.result())?);
        let types = GemmTypes::new(self.dtype, self.dtype);
        let is_of_pixels = reads == WindowB::Lines && !self.has_all_vectors();
        let product = match geometry.pixels(&self.x).filter(|_| is_of_pixels) {
            Some(a) => GemmProblem::new(&a, &b, &c, types),
            None => GemmProblem::of_windows([&self.x, &b], windows::of_images(geometry, reads)?, &c, types),
        };
        let mut product = product?.activation(self.activation);
        if let Some((bias, dtype)) = &self.bias {
            product = product.bias(BiasAxis::Columns, bias, *dtype)?;
        }
        if let Some([scale, shift]) = &self.scale_shift {
            product = product.line_scale(BiasAxis::Columns, scale)?;
            product = match self.bias {
                // The shift is the bias of scaled sums.
                None => product.bias(BiasAxis::Columns, shift, DType::F32)?,
                Some(_) => product.shift(shift)?,
            };
        }
        if let Some(residual) = &residual {
            product = product.residual(&geometry.by_groups(residual), &c, self.dtype)?;
        }
        Ok(Some(match self.kernels {
            ConvKernels::Product(pin, split) => product.pinned(pin).split_k(split),
            ConvKernels::Any | ConvKernels::Direct => product,
        }))
    }

    /// The plan of the product, for operands in the order of this problem's.
    pub(super) fn product_plan(&self, product: &GemmProblem, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(self.op, &[], caps);
        let own: Vec<_> = draft.operands(&self.operands()?).into_iter().map(|(region, _)| region).collect();
        let [x, weight, vectors @ .., y] = own.as_slice() else { return Ok(draft.finish()) };
        let (vectors, residual) = vectors.split_at(vectors.len() - usize::from(self.residual.is_some()));
        // The scale is the last, after the shift, which takes the place of a bias unless there is one.
        let (bias, others) = match vectors {
            [bias, scale, shift] => (Some(bias), vec![shift, scale]),
            [scale, shift] => (Some(shift), vec![scale]),
            bias => (bias.first(), Vec::new()),
        };
        let operands = [x, weight, y].into_iter().chain(bias).chain(residual).chain(others);
        let operands: Vec<_> = operands
            .zip(product.operands()?)
            .map(|(region, operand)| region.with_layout(operand.layout))
            .collect();
        draft.call(product.plan(caps)?, &operands, &[])?;
        Ok(draft.finish())
    }

    /// Whether there are a bias, a scale and a shift, which only products of windows have.
    fn has_all_vectors(&self) -> bool {
        self.bias.is_some() && self.scale_shift.is_some()
    }
}

impl ConvGeometry<3> {
    /// Whether there is one group, or each has enough channels and outputs for a product of its own. Volumes have no other kernel.
    pub(super) fn has_large_groups(&self) -> bool {
        let least = self.group_channels().min(self.group_outputs());
        self.groups == 1 || least >= LEAST_OF_GROUP || !self.is_of_images()
    }

    /// The shape of the matrix of all windows and outputs.
    pub(super) fn result(&self) -> [usize; 2] {
        [self.output_shape()[..4].iter().product(), self.outputs]
    }

    /// Such a matrix, or that of all pixels and channels, cut into groups.
    pub(super) fn by_groups(&self, of: &Layout) -> Layout {
        let (columns, [row, column]) = (of.shape()[1] / self.groups, [of.strides()[0], of.strides()[1]]);
        of.with_axes(&[self.groups, of.shape()[0], columns], &[columns * column, row, column])
    }

    /// The weight as matrices (group, window, outputs of a group). A view may have no single stride along the elements of a window.
    pub(super) fn weight_matrix(&self, weight: &Layout) -> Result<Option<Layout>> {
        let (terms, columns) = (self.terms(), self.group_outputs());
        let window = weight.slice(0, ..1)?.reshape(&[terms]);
        Ok(window.ok().map(|window| {
            let [along, apart] = [window.strides()[0], weight.strides()[0]];
            weight.with_axes(&[self.groups, terms, columns], &[columns * apart, along, apart])
        }))
    }

    /// The weight as (tap plane, tap line, tap column, channel, output), of all groups.
    fn weight_of_taps(&self, weight: &Layout) -> Layout {
        let [output, plane, line, column, channel] = [0, 1, 2, 3, 4].map(|axis| weight.strides()[axis]);
        let [deep, down, across] = self.axes.map(|axis| axis.taps);
        let shape = [deep, down, across, self.group_channels(), self.outputs];
        weight.with_axes(&shape, &[plane, line, column, channel, output])
    }

    /// The images as a matrix of pixels and channels, if this is a product of its rows.
    pub(super) fn pixels(&self, x: &Layout) -> Option<Layout> {
        x.joined(0..x.rank() - 1).filter(|_| self.is_pointwise())
    }
}
