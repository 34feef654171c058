//! The network: a picture in, ten numbers out, of which the largest belongs to its digit.

use tilewise::conv::{ConvGeometry, ConvOptions, Convolution, Padding, batch_norm_terms};
use tilewise::io::Safetensors;
use tilewise::ops::{AdaptiveAvgPool2d, RunningStatistics};
use tilewise::{Activation, Error, Gpu, Real, Result, Tensor};

/// PyTorch's epsilon of batch norms.
const EPSILON: f32 = 1e-5;

/// A convolution with padding on all sides, a batch norm and `SiLU`.
pub(crate) struct Block {
    /// Output channels.
    outputs: usize,
    /// Height and width of the kernel.
    kernel: usize,
    stride: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    /// A group for each channel.
    Depthwise,
    /// The input of the block before this one is added to the result.
    Residual,
}

use Kind::{Depthwise, Plain, Residual};

const fn block(outputs: usize, kernel: usize, stride: usize, kind: Kind) -> Block {
    Block { outputs, kernel, stride, kind }
}

/// The blocks. `LAYERS` of `examples/data/train_classifier.py` are the same.
const BLOCKS: [Block; 14] = [
    block(16, 3, 2, Plain),
    block(16, 3, 1, Depthwise),
    block(32, 1, 1, Plain),
    block(67, 3, 2, Plain),
    block(16, 1, 1, Plain),
    block(67, 3, 1, Residual),
    block(67, 3, 2, Depthwise),
    block(128, 1, 1, Plain),
    block(32, 1, 1, Plain),
    block(128, 3, 1, Residual),
    block(128, 3, 2, Depthwise),
    block(129, 1, 1, Plain),
    block(32, 1, 1, Plain),
    block(129, 3, 1, Residual),
];
/// The number of convolutions.
pub(crate) const CONVOLUTIONS: usize = BLOCKS.len() + 1;

/// The network in one type, on a device.
pub(crate) struct Network<T: Real> {
    layers: Vec<Layer<T>>,
    /// A convolution of one pixel.
    classifier: Layer<T>,
}

/// A convolution and its epilogue.
pub(crate) struct Layer<T: Real> {
    /// (outputs, height, width, channels / groups)
    pub(crate) weight: Tensor<T>,
    pub(crate) epilogue: Epilogue,
    options: ConvOptions,
    is_residual: bool,
}

/// What follows the sums.
pub(crate) enum Epilogue {
    /// Scale and shift of a batch norm, then `SiLU`.
    BatchNorm([Tensor<f32>; 2]),
    Bias(Tensor<f32>),
}

/// A step of the network, with its operands and its result.
pub(crate) enum Step<'a, T: Real> {
    Convolution {
        layer: &'a Layer<T>,
        x: &'a Tensor<T>,
        residual: Option<&'a Tensor<T>>,
        y: &'a Tensor<T>,
    },
    /// The mean over height and width.
    Mean {
        x: &'a Tensor<T>,
        y: &'a Tensor<T>,
    },
}

impl<T: Real> Network<T> {
    /// Loads the weights. PyTorch stores those of convolutions channels first; they are stored channels last once.
    pub(crate) fn load(gpu: &Gpu, file: &Safetensors) -> Result<Self> {
        let layers = BLOCKS.iter().enumerate().map(|(at, block)| {
            let tensor = |name: &str| file.tensor::<f32>(gpu, &format!("layers.{at}.bn.{name}"));
            let running =
                RunningStatistics { mean: tensor("running_mean")?, variance: tensor("running_var")? };
            let (gamma, beta) = (tensor("weight")?, tensor("bias")?);
            let terms = batch_norm_terms(&running, Some(&gamma), Some(&beta), EPSILON)?;
            let name = format!("layers.{at}.conv.weight");
            let weight = file.tensor_as::<T>(gpu, &name)?.permute(&[0, 2, 3, 1])?.contiguous()?;
            let Block { outputs, kernel, stride, kind } = *block;
            let groups = if kind == Depthwise { outputs } else { 1 };
            let options = ConvOptions::new().stride([stride; 2]).groups(groups);
            let options = options.padding(Padding::Explicit([[kernel / 2; 2]; 2]));
            if weight.shape()[..3] != [outputs, kernel, kernel] {
                let why = format!(
                    "{:?}, channels last, must begin with {outputs}, {kernel}, {kernel}",
                    weight.shape()
                );
                return Err(Error::Input { what: name, why });
            }
            Ok(Layer { weight, epilogue: Epilogue::BatchNorm(terms), options, is_residual: kind == Residual })
        });
        let layers = layers.collect::<Result<_>>()?;
        let weight = file.tensor_as::<T>(gpu, "classifier.weight")?;
        let classifier = Layer {
            weight: weight.reshape([weight.shape()[0], 1, 1, weight.shape()[1]])?,
            epilogue: Epilogue::Bias(file.tensor(gpu, "classifier.bias")?),
            options: ConvOptions::new(),
            is_residual: false,
        };
        Ok(Self { layers, classifier })
    }

    /// The outputs (pictures, 1, 1, classes) of pictures (pictures, height, width, colours). `see` gets each step that was
    /// recorded.
    pub(crate) fn forward(
        &self,
        pictures: &Tensor<T>,
        mut see: impl FnMut(Step<'_, T>) -> Result<()>,
    ) -> Result<Tensor<T>> {
        let (mut x, mut before) = (pictures.clone(), pictures.clone());
        for layer in &self.layers {
            let residual = layer.is_residual.then_some(&before);
            let y = layer.run(&x, residual)?;
            see(Step::Convolution { layer, x: &x, residual, y: &y })?;
            (before, x) = (x, y);
        }
        let y = AdaptiveAvgPool2d::new([1, 1]).run(&x)?;
        see(Step::Mean { x: &x, y: &y })?;
        let outputs = self.classifier.run(&y, None)?;
        see(Step::Convolution { layer: &self.classifier, x: &y, residual: None, y: &outputs })?;
        Ok(outputs)
    }

    fn all(&self) -> impl Iterator<Item = &Layer<T>> {
        self.layers.iter().chain([&self.classifier])
    }

    /// The number of weights, scales, shifts and biases.
    pub(crate) fn parameters(&self) -> usize {
        self.all().map(|layer| layer.weight.len() + layer.epilogue.len()).sum()
    }

    /// Their bytes.
    pub(crate) fn bytes(&self) -> usize {
        let bytes =
            |layer: &Layer<T>| layer.weight.len() * size_of::<T>() + layer.epilogue.len() * size_of::<f32>();
        self.all().map(bytes).sum()
    }
}

impl<T: Real> Layer<T> {
    /// One launch: convolution, batch norm, activation and residual.
    fn run(&self, x: &Tensor<T>, residual: Option<&Tensor<T>>) -> Result<Tensor<T>> {
        let convolution = Convolution::new(x, &self.weight).options(self.options);
        let convolution = match &self.epilogue {
            Epilogue::BatchNorm([scale, shift]) => convolution.scale_shift(scale, shift),
            Epilogue::Bias(bias) => convolution.bias(bias),
        };
        let convolution = convolution.activation(self.epilogue.activation());
        residual.map_or(convolution, |residual| convolution.residual(residual)).run()
    }

    /// The extents for this input.
    pub(crate) fn geometry(&self, x: &Tensor<T>) -> Result<ConvGeometry> {
        ConvGeometry::new("classify", x.layout(), self.weight.layout(), &self.options)
    }
}

impl Epilogue {
    pub(crate) fn activation(&self) -> Activation {
        if matches!(self, Self::BatchNorm(_)) { Activation::Silu } else { Activation::None }
    }

    fn len(&self) -> usize {
        match self {
            Self::BatchNorm([scale, shift]) => scale.len() + shift.len(),
            Self::Bias(bias) => bias.len(),
        }
    }
}
