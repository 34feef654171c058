//! The network: coordinates and time in, colours out.

use tilewise::gemm::{Linear, Operand};
use tilewise::{Activation, Fill, Gemm, Gpu, Real, Result, Tensor};

/// Inputs of a pixel: four for its place, four for the time.
pub(crate) const INPUTS: usize = 8;
/// Colours of a pixel.
pub(crate) const COLOURS: usize = 3;
/// Neurons of a hidden layer.
const HIDDEN: usize = 32;
/// Number of hidden layers.
const HIDDEN_LAYERS: usize = 4;

/// Layers with random weights: the seed chooses the picture.
pub(crate) struct Network<T: Real> {
    hidden: Vec<Linear<T>>,
    last: Linear<T>,
}

impl<T: Operand + Real> Network<T> {
    pub(crate) fn new(gpu: &Gpu, seed: u64) -> Result<Self> {
        // Independent numbers of this variance for each parameter of each layer.
        let mut salt = 0;
        let mut random = |count: usize, variance: f64| {
            salt += 1;
            let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(salt);
            let uniform = Fill::Uniform.values::<f32>(count, seed).into_iter();
            uniform.map(|x| (3.0 * variance).sqrt() * f64::from(x)).collect::<Vec<f64>>()
        };
        let mut hidden = Vec::new();
        for layer in 0..HIDDEN_LAYERS {
            let (inputs, gain) = if layer == 0 { (INPUTS, 3.0) } else { (HIDDEN, 2.4) };
            let weight = random(HIDDEN * inputs, gain * gain / inputs as f64);
            hidden.push(linear(gpu, &weight, &random(HIDDEN, 0.25), Activation::Tanh)?);
        }
        // The colours share a part of their weights, so that they are bright or dark together.
        let own = random(COLOURS * HIDDEN, 2.2 * 2.2 / HIDDEN as f64);
        let shared = |i: usize| own.iter().skip(i).step_by(HIDDEN).sum::<f64>() / COLOURS as f64;
        let weight: Vec<f64> = (0..own.len()).map(|i| 0.6 * own[i] + 1.2 * shared(i % HIDDEN)).collect();
        let last = linear(gpu, &weight, &[0.3, 0.0, 0.15], Activation::Sigmoid)?;
        Ok(Self { hidden, last })
    }

    /// Colours (pixel, 3) of inputs (pixel, 8), and what the hidden layers computed on the way. One launch for each
    /// layer: product, bias and activation.
    pub(crate) fn forward_into(
        &self,
        inputs: &Tensor<T>,
        colours: &mut Tensor<f32>,
    ) -> Result<Vec<Tensor<T>>> {
        let mut hidden: Vec<Tensor<T>> = Vec::new();
        for layer in &self.hidden {
            hidden.push(layer.forward(hidden.last().unwrap_or(inputs))?);
        }
        // As `forward`, but into an existing tensor, and in f32.
        let (x, weight) = (hidden.last().unwrap_or(inputs), self.last.weight().t());
        let product = Gemm::new(x, &weight).out::<f32>().activation(self.last.activation());
        match self.last.bias() {
            Some(bias) => product.bias(bias).run_into(colours)?,
            None => product.run_into(colours)?,
        }
        Ok(hidden)
    }

    /// The layers, from the inputs to the colours.
    pub(crate) fn layers(&self) -> impl Iterator<Item = &Linear<T>> {
        self.hidden.iter().chain([&self.last])
    }
}

/// A layer on the device, its parameters rounded to `T`.
fn linear<T: Real>(gpu: &Gpu, weight: &[f64], bias: &[f64], activation: Activation) -> Result<Linear<T>> {
    let rounded = |values: &[f64]| values.iter().map(|&x| T::from_f64(x)).collect::<Vec<T>>();
    let weight = gpu.tensor(&rounded(weight), [bias.len(), weight.len() / bias.len()])?;
    Linear::new(weight, Some(gpu.tensor(&rounded(bias), [bias.len()])?), activation)
}
