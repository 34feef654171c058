//! A checked convolution, as plain data.

use super::geometry::{ConvGeometry, volume_layout};
use super::options::ConvOptions;
use crate::gemm::{Pin, SplitK};
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, dim};
use crate::ops::Activation;
use crate::plan::Operand;
use crate::{Error, Result};

/// The name of the function in errors and plans.
pub(crate) const OP: &str = "conv2d";

/// The name of the function of this number of axes.
pub(super) const fn name(axes: usize) -> &'static str {
    if axes == 3 { "conv3d" } else { OP }
}

shader_dims! {
    /// The uniform of `shaders/conv/direct.wgsl` and `shaders/conv/depthwise.wgsl`, in elements. Pairs are of rows and columns.
    pub struct ConvDims {
        /// of X: the first element in its binding, then the strides of image, row and column
        x: [u32; 4],
        /// of the weight: the first element, then the strides of output, row and column
        weight: [u32; 4],
        /// of the residual, as of X
        residual: [u32; 4],
        /// strides along the channels of X, of the weight and of the residual
        along: [u32; 4],
        /// first element and stride
        bias: [u32; 2],
        /// likewise
        scale: [u32; 2],
        shift: [u32; 2],
        /// extents of X
        input: [u32; 2],
        /// of Y
        output: [u32; 2],
        /// of the kernel
        taps: [u32; 2],
        stride: [u32; 2],
        dilation: [u32; 2],
        /// zeros before X
        before: [u32; 2],
        /// from one row of X to the next that an invocation reads
        pace: [u32; 2],
        batch: u32,
        /// channels of Y
        outputs: u32,
        /// channels of X that an output channel reads
        group_channels: u32,
        /// output channels that read the same channels
        group_outputs: u32,
    }
}

/// The layouts of a convolution's operands.
#[derive(Clone, Copy, Debug)]
pub struct ConvLayouts<'a> {
    /// The images (batch, height, width, channels), or volumes (batch, depth, height, width, channels).
    pub x: &'a Layout,
    /// The weight (outputs, height, width, channels / groups), likewise.
    pub weight: &'a Layout,
    /// The bias (outputs), and its type.
    pub bias: Option<(&'a Layout, DType)>,
    /// The scale and the shift of f32 (outputs).
    pub scale_shift: Option<[&'a Layout; 2]>,
    /// The residual, of the shape of the result.
    pub residual: Option<&'a Layout>,
}

/// A checked convolution: activation((x * weight + bias) scale + shift) + residual. The result is contiguous and not empty. Images are
/// volumes of one plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvProblem {
    pub(super) op: &'static str,
    pub(super) geometry: ConvGeometry<3>,
    /// Type of x, the weight, the residual and the result.
    pub(super) dtype: DType,
    pub(super) activation: Activation,
    pub(super) x: Layout,
    pub(super) weight: Layout,
    pub(super) bias: Option<(Layout, DType)>,
    pub(super) scale_shift: Option<[Layout; 2]>,
    pub(super) residual: Option<Layout>,
    pub(super) kernels: ConvKernels,
}

/// The kernels that a plan of a convolution chooses from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ConvKernels {
    /// All.
    #[default]
    Any,
    /// The kernel that reads windows and weights from memory for each element.
    Direct,
    /// Those of matrix products, of which the rows of A are windows, with this number of splits of k.
    Product(Pin, SplitK),
}

impl ConvProblem {
    /// A convolution of `dtype` elements.
    ///
    /// # Errors
    /// As [`ConvGeometry::new`]; [`Error::Shape`] if the result is empty, or an operand of the epilogue has another shape;
    /// [`Error::Input`] for a type that operations do not compute with.
    pub fn new<const D: usize>(
        layouts: ConvLayouts<'_>,
        options: &ConvOptions<D>,
        activation: Activation,
        dtype: DType,
    ) -> Result<Self> {
        let op = name(D);
        let geometry = ConvGeometry::new(op, layouts.x, layouts.weight, options)?;
        dtype.check_computed(op)?;
        if geometry.has_no_result() {
            return Err(Error::shape(op, "the result must have elements", &geometry.result_shape()));
        }
        check_epilogue(op, &geometry, &layouts)?;
        Self::of(op, geometry.volume(), &layouts, activation, dtype)
    }

    /// The same of operands that were checked.
    pub(super) fn of(
        op: &'static str,
        geometry: ConvGeometry<3>,
        layouts: &ConvLayouts<'_>,
        activation: Activation,
        dtype: DType,
    ) -> Result<Self> {
        let ConvLayouts { x, weight, bias, scale_shift, residual } = *layouts;
        let of_volumes = |of: &Layout| -> Result<Layout> { Ok(volume_layout(op, of)?.in_window(dtype)) };
        Ok(Self {
            op,
            geometry,
            dtype,
            activation,
            x: of_volumes(x)?,
            weight: of_volumes(weight)?,
            bias: bias.map(|(layout, of)| (layout.in_window(of), of)),
            scale_shift: scale_shift.map(|both| both.map(|of| of.in_window(DType::F32))),
            residual: residual.map(of_volumes).transpose()?,
            kernels: ConvKernels::Any,
        })
    }

    /// Restricts the kernels.
    #[must_use]
    pub fn by(self, kernels: ConvKernels) -> Self {
        Self { kernels, ..self }
    }

    /// The convolution of some of the images, with these operands.
    pub(super) fn of_images(&self, batch: usize, layouts: &[Layout]) -> Result<Self> {
        let mut others = layouts[2..].iter();
        let mut next = |is_there: bool| if is_there { others.next() } else { None };
        let bias = next(self.bias.is_some());
        let [scale, shift] = [next(self.scale_shift.is_some()), next(self.scale_shift.is_some())];
        let layouts = ConvLayouts {
            x: &layouts[0],
            weight: &layouts[1],
            bias: bias.zip(self.bias).map(|(layout, (_, of))| (layout, of)),
            scale_shift: scale.zip(shift).map(<[&Layout; 2]>::from),
            residual: next(self.residual.is_some()),
        };
        let geometry = ConvGeometry { batch, ..self.geometry };
        Ok(Self::of(self.op, geometry, &layouts, self.activation, self.dtype)?.by(self.kernels))
    }

    /// The operands in the order of the plan's parameters: the images, the weight, the bias, the scale, the shift and the
    /// residual, as far as they exist; the result.
    pub(super) fn operands(&self) -> Result<Vec<Operand>> {
        let read = |name, layout| Operand::read(name, self.dtype, layout);
        let of_channels = |name, dtype, layout: Layout| Operand::read(name, dtype, layout).whole();
        let mut operands = vec![read("the images", self.x), read("the weight", self.weight).whole()];
        operands.extend(self.bias.map(|(layout, dtype)| of_channels("the bias", dtype, layout)));
        if let Some([scale, shift]) = self.scale_shift {
            operands.push(of_channels("the scale", DType::F32, scale));
            operands.push(of_channels("the shift", DType::F32, shift));
        }
        operands.extend(self.residual.map(|layout| read("the residual", layout)));
        let y = Layout::contiguous(self.op, &self.geometry.output_shape())?;
        operands.push(Operand::written("the result", self.dtype, y));
        Ok(operands)
    }

    /// The uniform of the direct kernel, without the pace, which depends on the tile.
    ///
    /// # Errors
    /// [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn dims(&self) -> Result<ConvDims> {
        let ConvGeometry { batch, outputs, axes: [_, down, across], .. } = self.geometry;
        let axes = [down, across];
        dim(OP, self.geometry.output_shape().iter().product())?;
        let places = |of: &Layout| -> Result<[u32; 4]> {
            let [first, second, third] = [0, 2, 3].map(|axis| dim(OP, of.strides()[axis]));
            Ok([dim(OP, of.offset())?, first?, second?, third?])
        };
        let line = |of: Option<&Layout>| -> Result<[u32; 2]> {
            of.map_or(Ok([0; 2]), |of| Ok([dim(OP, of.offset())?, dim(OP, of.strides()[0])?]))
        };
        let pair = |of: [usize; 2]| -> Result<[u32; 2]> { Ok([dim(OP, of[0])?, dim(OP, of[1])?]) };
        let along = |of: &Layout| dim(OP, of.strides()[4]);
        let [scale, shift] = [0, 1].map(|which| self.scale_shift.as_ref().map(|both| &both[which]));
        Ok(ConvDims {
            x: places(&self.x)?,
            weight: places(&self.weight)?,
            residual: self.residual.as_ref().map_or(Ok([0; 4]), places)?,
            along: [along(&self.x)?, along(&self.weight)?, self.residual.as_ref().map_or(Ok(0), along)?, 0],
            bias: line(self.bias.as_ref().map(|(layout, _)| layout))?,
            scale: line(scale)?,
            shift: line(shift)?,
            input: pair(axes.map(|axis| axis.input))?,
            output: pair(axes.map(|axis| axis.output))?,
            taps: pair(axes.map(|axis| axis.taps))?,
            stride: pair(axes.map(|axis| axis.stride))?,
            dilation: pair(axes.map(|axis| axis.dilation))?,
            before: pair(axes.map(|axis| axis.before))?,
            pace: [1; 2],
            batch: dim(OP, batch)?,
            outputs: dim(OP, outputs)?,
            group_channels: dim(OP, self.geometry.group_channels())?,
            group_outputs: dim(OP, self.geometry.group_outputs())?,
        })
    }

    /// Operations by definition: each product of a sum counts as two, those with the padding too.
    #[must_use]
    pub fn flops(&self) -> f64 {
        let elements: f64 = self.geometry.output_shape().iter().map(|&extent| extent as f64).product();
        2.0 * elements * self.geometry.terms() as f64
    }
}

/// Checks the shapes of the operands of the epilogue.
pub(super) fn check_epilogue<const D: usize>(
    op: &'static str,
    geometry: &ConvGeometry<D>,
    layouts: &ConvLayouts<'_>,
) -> Result<()> {
    let fits = |of: &Layout, shape: &[usize], rule| {
        if of.shape() == shape { Ok(()) } else { Err(Error::shapes(op, rule, of.shape(), shape)) }
    };
    let outputs = [geometry.outputs];
    if let Some((bias, _)) = layouts.bias {
        fits(bias, &outputs, "the bias must have an element for each output channel")?;
    }
    for of in layouts.scale_shift.into_iter().flatten() {
        fits(of, &outputs, "scale and shift must have an element for each output channel")?;
    }
    layouts.residual.map_or(Ok(()), |residual| {
        fits(residual, &geometry.result_shape(), "the residual must have the shape of the result")
    })
}
