//! The network: the neighbourhood of a pixel in, its new colour out.

use crate::source::COLOURS;
use std::f64::consts::TAU;
use support::splitmix;
use tilewise::conv::{Convolution, batch_norm_terms};
use tilewise::ops::RunningStatistics;
use tilewise::{Activation, Element, Gemm, Gpu, Result, Tensor, f16};

/// Distance between a pixel and its neighbours, along each axis. A frame has a border of this width, which repeats its
/// outermost pixels.
pub(crate) const REACH: usize = 2;
/// Samples of a pixel, along each axis.
pub(crate) const SIDE: usize = 3;
/// Inputs of a pixel: the colours of its samples.
pub(crate) const INPUTS: usize = SIDE * SIDE * COLOURS;
/// Neurons of a hidden layer. The first half is for colours, the second half for edges in as many directions.
pub(crate) const HIDDEN: usize = 32;
const HALF: usize = HIDDEN / 2;

/// A block and two layers. The seed chooses the colours.
pub(crate) struct Network {
    pub(crate) block: Block,
    pub(crate) layers: [Layer; 2],
    size: [usize; 2],
}

/// Convolution, batch norm and `SiLU`.
pub(crate) struct Block {
    /// (out, row, column, colour)
    pub(crate) weight: Tensor<f16>,
    /// The batch norm: the scale and the shift of each channel.
    pub(crate) terms: [Tensor<f32>; 2],
}

/// A layer: activation(x weight + bias).
pub(crate) struct Layer {
    /// (in, out)
    pub(crate) weight: Tensor<f16>,
    pub(crate) bias: Tensor<f16>,
    pub(crate) activation: Activation,
}

/// What the network computes of a frame, one launch each.
pub(crate) struct Stages {
    /// The frame with its border (row, column, colour)
    pub(crate) image: Tensor<f16>,
    /// (pixel, neuron)
    pub(crate) hidden: [Tensor<f16>; 2],
    /// (pixel, colour), from -128 to 127, and beyond
    pub(crate) colours: Tensor<f32>,
    /// The same, saturated: the bytes of the picture minus 128.
    pub(crate) bytes: Tensor<i8>,
}

impl Network {
    /// A network for frames of this width and height.
    pub(crate) fn new(gpu: &Gpu, seed: u64, [width, height]: [u32; 2]) -> Result<Self> {
        let mut random = splitmix(seed ^ 0x6672_616d_6573);
        let mut uniform = || 2.0 * (random() >> 11) as f64 / (1u64 << 53) as f64 - 1.0;
        let block = Block::new(gpu, &features(&mut uniform))?;
        let layers = [
            Layer::new(gpu, mixed(&mut uniform), Activation::Gelu)?,
            Layer::new(gpu, palette(&mut uniform), Activation::None)?,
        ];
        Ok(Self { block, layers, size: [width, height].map(|pixels| pixels as usize) })
    }

    /// The shape of a frame with its border: (height, width, colour).
    pub(crate) fn shape(&self) -> [usize; 3] {
        let [width, height] = self.size;
        [height + 2 * REACH, width + 2 * REACH, COLOURS]
    }

    /// Computes a frame in five launches.
    pub(crate) fn forward(&self, image: &Tensor<i8>) -> Result<Stages> {
        let (image, [height, width, colours]) = (image.cast::<f16>()?, self.shape());
        let Block { weight, terms: [scale, shift] } = &self.block;
        let features = Convolution::new(&image.reshape([1, height, width, colours])?, weight)
            .dilation([REACH; 2])
            .scale_shift(scale, shift)
            .activation(Activation::Silu)
            .run()?;
        let features = features.reshape([self.size.iter().product(), HIDDEN])?;
        let [second, last] = &self.layers;
        let mixed = second.product(&features).out::<f16>().run()?;
        let colours = last.product(&mixed).run()?;
        let bytes = colours.cast_saturating::<i8>()?;
        Ok(Stages { image, hidden: [features, mixed], colours, bytes })
    }
}

/// The nearest values of f16.
fn rounded(values: &[f64]) -> Vec<f16> {
    values.iter().map(|&x| <f16 as Element>::from_f64(x)).collect()
}

impl Block {
    /// The batch norm divides by the deviation of bytes, and adds the bias.
    fn new(gpu: &Gpu, Parameters { weight, bias }: &Parameters) -> Result<Self> {
        let outputs = bias.len();
        let beta: Vec<f32> = bias.iter().map(|&x| <f32 as Element>::from_f64(x)).collect();
        let running =
            RunningStatistics { mean: gpu.zeros([outputs])?, variance: gpu.full([outputs], 128.0 * 128.0)? };
        let terms = batch_norm_terms(&running, None, Some(&gpu.tensor(&beta, [outputs])?), 1e-5)?;
        let weight = gpu.tensor(&rounded(weight), [INPUTS, outputs])?.t().contiguous()?;
        Ok(Self { weight: weight.reshape([outputs, SIDE, SIDE, COLOURS])?, terms })
    }
}

impl Layer {
    fn new(gpu: &Gpu, Parameters { weight, bias }: Parameters, activation: Activation) -> Result<Self> {
        let shape = [weight.len() / bias.len(), bias.len()];
        let (weight, bias) =
            (gpu.tensor(&rounded(&weight), shape)?, gpu.tensor(&rounded(&bias), [bias.len()])?);
        Ok(Self { weight, bias, activation })
    }

    /// Product, bias and activation, in one launch.
    fn product<'a>(&'a self, x: &'a Tensor<f16>) -> Gemm<'a, f16> {
        Gemm::new(x, &self.weight).bias(&self.bias).activation(self.activation)
    }
}

/// Parameters of a layer on the host.
struct Parameters {
    /// (in, out)
    weight: Vec<f64>,
    bias: Vec<f64>,
}

impl Parameters {
    /// The weight from each input to each output, and the bias of each output.
    fn new(
        [inputs, outputs]: [usize; 2],
        weight: impl Fn(usize, usize) -> f64,
        bias: impl FnMut(usize) -> f64,
    ) -> Self {
        let weight = (0..inputs * outputs).map(|at| weight(at / outputs, at % outputs)).collect();
        Self { weight, bias: (0..outputs).map(bias).collect() }
    }
}

/// Features of the neighbourhood: its mean in a random colour, or the slope of its brightness in one of 16 directions.
fn features(uniform: &mut impl FnMut() -> f64) -> Parameters {
    let axes: Vec<f64> = (0..HALF * COLOURS).map(|_| 3.2 * uniform()).collect();
    let smooth = [1.0, 2.0, 1.0];
    let weight = |input: usize, neuron: usize| {
        let (sample, colour) = (input / COLOURS, input % COLOURS);
        let [row, column] = [sample / SIDE, sample % SIDE];
        let [down, across] = [row as f64 - 1.0, column as f64 - 1.0];
        match neuron.checked_sub(HALF) {
            None => axes[neuron * COLOURS + colour] * smooth[row] * smooth[column] / 16.0,
            Some(direction) => {
                let angle = TAU * direction as f64 / HALF as f64;
                let slope = angle.cos() * across * smooth[row] + angle.sin() * down * smooth[column];
                let brightness = [0.3, 0.5, 0.2][colour];
                4.0 * brightness * slope / 8.0
            }
        }
    };
    Parameters::new([INPUTS, HIDDEN], weight, |neuron| if neuron < HALF { 0.5 * uniform() } else { 0.0 })
}

/// Colours mixed at random, and edges that are steeper than a threshold.
fn mixed(uniform: &mut impl FnMut() -> f64) -> Parameters {
    let mix: Vec<f64> = (0..HALF * HALF).map(|_| 0.8 * uniform()).collect();
    let weight = |input: usize, neuron: usize| match (input < HALF, neuron < HALF) {
        (true, true) => mix[input * HALF + neuron],
        (false, false) if input == neuron => 3.0,
        _ => 0.0,
    };
    Parameters::new([HIDDEN, HIDDEN], weight, |neuron| if neuron < HALF { 0.4 * uniform() } else { -1.1 })
}

/// A dark picture in new colours, with bright edges whose hue is their direction.
fn palette(uniform: &mut impl FnMut() -> f64) -> Parameters {
    let random: Vec<f64> = (0..HALF * COLOURS).map(|_| 36.0 * uniform()).collect();
    // Without their mean, so that no colour prevails in the whole picture.
    let mean = |colour| random.iter().skip(colour).step_by(COLOURS).sum::<f64>() / HALF as f64;
    let means: Vec<f64> = (0..COLOURS).map(mean).collect();
    let first_hue = uniform();
    let weight = |input: usize, colour: usize| match input.checked_sub(HALF) {
        None => random[input * COLOURS + colour] - means[colour],
        Some(direction) => {
            let hue = first_hue + direction as f64 / HALF as f64 + colour as f64 / COLOURS as f64;
            46.0 * (0.5 + 0.5 * (TAU * hue).cos())
        }
    };
    Parameters::new([HIDDEN, COLOURS], weight, |_| -68.0)
}
