//! A checked gradient of a convolution, as plain data.

use crate::conv::geometry::{ConvGeometry, gcd, volume_layout};
use crate::conv::problem::ConvKernels;
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, dim};
use crate::plan::{Form, Operand};
use crate::{Error, Result};

shader_dims! {
    /// The uniform of `shaders/conv/input_gradient.wgsl` and `weight_gradient.wgsl`, in elements. Pairs are of rows and columns.
    pub struct ConvBackwardDims {
        /// of X: the first element in its binding, then the strides of image, row and column
        x: [u32; 4],
        /// of the weight: the first element, then the strides of output, row and column
        weight: [u32; 4],
        /// of the gradient of Y, as of X
        grad: [u32; 4],
        /// strides along the channels of X, of the weight and of the gradient
        along: [u32; 4],
        /// first element and stride
        bias: [u32; 2],
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
        /// taps from one that reads a pixel to the next that does
        step: [u32; 2],
        batch: u32,
        /// channels of X
        channels: u32,
        /// channels of Y
        outputs: u32,
        /// channels of X that an output channel reads
        group_channels: u32,
        /// output channels that read the same channels
        group_outputs: u32,
        /// of Y, in all images, that a part sums
        rows: u32,
        /// sums of each weight, which are added up
        parts: u32,
        reserved: u32,
    }
}

/// The operand whose gradient is computed, and the other one, which the gradient depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConvGradientOf {
    /// The images: the gradient depends on the weight. It may have a bias, if it is a transposed convolution.
    Input,
    /// The weight: the gradient depends on the images.
    Weight,
}

/// A checked gradient of a convolution, for a gradient of its result. It is contiguous and not empty. Images are volumes of one plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvBackward {
    pub(super) op: &'static str,
    pub(super) geometry: ConvGeometry<3>,
    pub(super) of: ConvGradientOf,
    pub(super) dtype: DType,
    /// The weight for the gradient of the images, and the other way around.
    pub(super) other: Layout,
    pub(super) grad: Layout,
    pub(super) bias: Option<Layout>,
    pub(super) kernels: ConvKernels,
}

impl ConvBackward {
    /// The gradient of a convolution of `dtype` elements that is called `op` in errors. `other` is the layout of the operand that it
    /// depends on, `grad` that of the gradient of the result.
    ///
    /// # Errors
    /// [`Error::Shape`] if an operand has another shape, or the gradient is empty; [`Error::Input`] for a type that operations do
    /// not compute with.
    pub fn new<const D: usize>(
        op: &'static str,
        geometry: &ConvGeometry<D>,
        of: ConvGradientOf,
        [other, grad]: [&Layout; 2],
        dtype: DType,
    ) -> Result<Self> {
        dtype.check_computed(op)?;
        let shape = match of {
            ConvGradientOf::Input => geometry.kernel_shape(),
            ConvGradientOf::Weight => geometry.image_shape(),
        };
        for (operand, shape) in [(other, shape), (grad, geometry.result_shape())] {
            if operand.shape() != shape || operand.is_empty() {
                let rule = "the operands of a gradient must have the shapes of the convolution, and elements";
                return Err(Error::shapes(op, rule, operand.shape(), &shape));
            }
        }
        let in_window = |operand| -> Result<Layout> { Ok(volume_layout(op, operand)?.in_window(dtype)) };
        let (other, grad, geometry) = (in_window(other)?, in_window(grad)?, geometry.volume());
        Ok(Self { op, geometry, of, dtype, other, grad, bias: None, kernels: ConvKernels::Any })
    }

    /// Adds a bias (channels) of the same type to the gradient of the images.
    ///
    /// # Errors
    /// [`Error::Shape`] if it has another length.
    pub fn bias(self, bias: &Layout) -> Result<Self> {
        if bias.shape() != [self.geometry.channels] {
            let rule = "the bias must have an element for each output channel";
            return Err(Error::shapes(self.op, rule, bias.shape(), &[self.geometry.channels]));
        }
        Ok(Self { bias: Some(bias.in_window(self.dtype)), ..self })
    }

    /// Restricts the kernels.
    #[must_use]
    pub fn by(self, kernels: ConvKernels) -> Self {
        Self { kernels, ..self }
    }

    /// The same for some of the images.
    pub(super) fn of_images(&self, batch: usize, layouts: &[Layout]) -> Self {
        Self {
            geometry: ConvGeometry { batch, ..self.geometry },
            grad: layouts[0].in_window(self.dtype),
            other: layouts[1].in_window(self.dtype),
            bias: self.bias.map(|_| layouts[2].in_window(self.dtype)),
            ..*self
        }
    }

    /// The operands in the order of the plan's parameters: the gradient of the result, the operand that the gradient depends on,
    /// the bias; the gradient.
    pub(super) fn operands(&self) -> Result<Vec<Operand>> {
        let read = |name, layout| Operand::read(name, self.dtype, layout);
        let grad = read("the gradient of the result", self.grad);
        let bias = self.bias.map(|bias| read("the bias", bias).whole());
        let [other, made] = match self.of {
            ConvGradientOf::Input => {
                let of_x = Layout::contiguous(self.op, &self.geometry.input_shape())?;
                let made = Operand::written("the gradient of the images", self.dtype, of_x);
                [read("the weight", self.other).whole(), made]
            }
            ConvGradientOf::Weight => {
                let of_weight = Layout::contiguous(self.op, &self.geometry.weight_shape())?;
                let made = Operand::written("the gradient of the weight", DType::F32, of_weight);
                [read("the images", self.other), made.in_form(Form::Sum).whole()]
            }
        };
        Ok([grad, other].into_iter().chain(bias).chain([made]).collect())
    }

    /// The uniform of a gradient of the weight in this number of parts, and of one of the images.
    ///
    /// # Errors
    /// [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn dims(&self, parts: usize) -> Result<ConvBackwardDims> {
        let (op, geometry) = (self.op, &self.geometry);
        for shape in [geometry.input_shape(), geometry.output_shape()] {
            dim(op, shape.iter().product())?;
        }
        let [_, down, across] = geometry.axes;
        let axes = [down, across];
        let places = |of: &Layout| -> Result<[u32; 4]> {
            let [first, second, third] = [0, 2, 3].map(|axis| dim(op, of.strides()[axis]));
            Ok([dim(op, of.offset())?, first?, second?, third?])
        };
        let pair = |of: [usize; 2]| -> Result<[u32; 2]> { Ok([dim(op, of[0])?, dim(op, of[1])?]) };
        let along = |of: &Layout| dim(op, of.strides()[4]);
        let (other, along_other) = (places(&self.other)?, along(&self.other)?);
        let ((x, along_x), (weight, along_weight)) = match self.of {
            ConvGradientOf::Input => (([0; 4], 0), (other, along_other)),
            ConvGradientOf::Weight => ((other, along_other), ([0; 4], 0)),
        };
        let rows = geometry.batch * axes[0].output;
        Ok(ConvBackwardDims {
            x,
            weight,
            grad: places(&self.grad)?,
            along: [along_x, along_weight, along(&self.grad)?, 0],
            bias: self.bias.map_or(Ok([0; 2]), |bias| pair([bias.offset(), bias.strides()[0]]))?,
            input: pair(axes.map(|axis| axis.input))?,
            output: pair(axes.map(|axis| axis.output))?,
            taps: pair(axes.map(|axis| axis.taps))?,
            stride: pair(axes.map(|axis| axis.stride))?,
            dilation: pair(axes.map(|axis| axis.dilation))?,
            before: pair(axes.map(|axis| axis.before))?,
            step: pair(axes.map(|axis| axis.stride / gcd(axis.stride, axis.dilation)))?,
            batch: dim(op, geometry.batch)?,
            channels: dim(op, geometry.channels)?,
            outputs: dim(op, geometry.outputs)?,
            group_channels: dim(op, geometry.group_channels())?,
            group_outputs: dim(op, geometry.group_outputs())?,
            rows: dim(op, rows.div_ceil(parts))?,
            parts: dim(op, parts)?,
            reserved: 0,
        })
    }

    /// Operations by definition: each product of a sum counts as two.
    #[must_use]
    pub fn flops(&self) -> f64 {
        let elements: f64 = self.geometry.output_shape().iter().map(|&extent| extent as f64).product();
        2.0 * elements * self.geometry.terms() as f64
    }
}
