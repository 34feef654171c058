//! A convolution as a matrix product: its windows are the rows of A, which kernels read from the images. Nothing is stored twice.

use super::problem::{ConvKernels, ConvProblem, OP};
use crate::Result;
use crate::caps::Caps;
use crate::gemm::{BiasAxis, GemmProblem, GemmTypes, ImageWindows};
use crate::layout::{DType, Layout, dim};
use crate::plan::{Draft, Plan, Problem};

impl ConvProblem {
    /// The product, if there is one group, and the images, the weight and the residual can be read in place. A bias is part of the
    /// shift of a batch norm, so there is no product with both.
    pub(super) fn product(&self) -> Result<Option<GemmProblem>> {
        let geometry = &self.geometry;
        // Checked, so that the number of windows cannot overflow.
        Layout::contiguous(OP, &geometry.output_shape())?;
        if geometry.groups > 1 || (self.bias.is_some() && self.scale_shift.is_some()) {
            return Ok(None);
        }
        let [rows, columns] = [geometry.output_shape()[..3].iter().product(), geometry.outputs];
        // A view may have no single stride along the elements of a window.
        let Ok(window) = self.weight.slice(0, ..1)?.reshape(&[geometry.terms()]) else { return Ok(None) };
        let strides = [window.strides()[0], self.weight.strides()[0]];
        let b = self.weight.with_axes(&[geometry.terms(), columns], &strides);
        let residual = self.residual.as_ref().map(|residual| residual.reshape(&[rows, columns]));
        let Ok(residual) = residual.transpose() else { return Ok(None) };
        let c = Layout::contiguous(OP, &[rows, columns])?;
        let types = GemmTypes::new(self.dtype, self.dtype);
        let product = match self.x.reshape(&[rows, geometry.channels]) {
            Ok(a) if geometry.is_pointwise() => GemmProblem::new(&a, &b, &c, types),
            _ => GemmProblem::of_windows(&self.x, self.windows()?, &b, &c, types),
        };
        let mut product = product?.activation(self.activation);
        if let Some((bias, dtype)) = &self.bias {
            product = product.bias(BiasAxis::Columns, bias, *dtype)?;
        }
        if let Some([scale, shift]) = &self.scale_shift {
            product =
                product.bias(BiasAxis::Columns, shift, DType::F32)?.line_scale(BiasAxis::Columns, scale)?;
        }
        if let Some(residual) = &residual {
            product = product.residual(residual, &c, self.dtype)?;
        }
        Ok(Some(match self.kernels {
            ConvKernels::Product(pin, split) => product.pinned(pin).split_k(split),
            ConvKernels::Any | ConvKernels::Direct => product,
        }))
    }

    /// The plan of the product, for operands in the order of this problem's.
    pub(super) fn product_plan(&self, product: &GemmProblem, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[], caps);
        let own: Vec<_> = draft.operands(&self.operands()?).into_iter().map(|(region, _)| region).collect();
        let [x, weight, vectors @ .., y] = own.as_slice() else { return Ok(draft.finish()) };
        let (vectors, residual) = vectors.split_at(vectors.len() - usize::from(self.residual.is_some()));
        // The shift takes the place of a bias. The scale is the last.
        let vectors = vectors.iter().rev();
        let (shift, scale) = (vectors.clone().take(1), vectors.skip(1));
        let operands = [x, weight, y].into_iter().chain(shift).chain(residual).chain(scale);
        let operands: Vec<_> = operands
            .zip(product.operands()?)
            .map(|(region, operand)| region.with_layout(operand.layout))
            .collect();
        draft.call(product.plan(caps)?, &operands, &[])?;
        Ok(draft.finish())
    }

    fn windows(&self) -> Result<ImageWindows> {
        let axes = self.geometry.axes;
        let of = |pair: [usize; 2]| -> Result<[u32; 2]> { Ok([dim(OP, pair[0])?, dim(OP, pair[1])?]) };
        // Paddings are below 2^30.
        let before = of(axes.map(|axis| axis.before))?.map(u32::cast_signed);
        Ok(ImageWindows {
            windows: of(axes.map(|axis| axis.output))?,
            taps: of(axes.map(|axis| axis.taps))?,
            steps: of(axes.map(|axis| axis.stride))?,
            dilation: of(axes.map(|axis| axis.dilation))?,
            before,
        })
    }
}
