//! The perceptron: it takes twelve coordinates, without any geometry built in.

use crate::Learner;
use crate::data::{CORNERS, Data, normals};
use tilewise::{Activation, Element, Gpu, Result, Tensor, linear, matmul, ops};

/// Numbers of inputs and outputs.
const INPUTS: usize = 3 * CORNERS;
const OUTPUTS: usize = 4;
/// Between its layers.
const ACTIVATION: Activation = Activation::Gelu;

/// Three linear layers with activations in between.
pub(crate) struct Perceptron {
    /// Weight (out, in) and bias (out) of each layer.
    layers: Vec<[Tensor<f32>; 2]>,
    /// Rate of descent.
    rate: f64,
}

/// Number of parameters of a perceptron with two hidden layers of this width.
fn parameters(width: usize) -> usize {
    (INPUTS + 1) * width + (width + 1) * width + (width + 1) * OUTPUTS
}

impl Perceptron {
    /// Draws a perceptron with two hidden layers whose number of parameters is nearest to `like`.
    pub(crate) fn random(gpu: &Gpu, like: usize, rate: f64, seed: u64) -> Result<Self> {
        // Parameters grow with the width.
        let width = (1..=like.max(1)).min_by_key(|&width| parameters(width).abs_diff(like)).unwrap_or(1);
        let mut normal = normals(seed ^ 0x7065_7263);
        let mut layer = |inputs: usize, outputs: usize| {
            let deviation = 1.0 / (inputs as f64).sqrt();
            let weight: Vec<f32> =
                (0..inputs * outputs).map(|_| f32::from_f64(deviation * normal())).collect();
            Ok([gpu.tensor(&weight, [outputs, inputs])?, gpu.zeros([outputs])?])
        };
        let layers = [layer(INPUTS, width), layer(width, width), layer(width, OUTPUTS)];
        Ok(Self { layers: layers.into_iter().collect::<Result<_>>()?, rate })
    }

    /// Outputs of each layer, before its activation. The last layer has none.
    fn through(&self, x: &Tensor<f32>) -> Result<Vec<Tensor<f32>>> {
        let mut outputs: Vec<Tensor<f32>> = Vec::new();
        for [weight, bias] in &self.layers {
            let activated = outputs.last().map(|z| ops::activate(z, ACTIVATION)).transpose()?;
            outputs.push(linear(activated.as_ref().unwrap_or(x), weight, Some(bias), Activation::None)?);
        }
        Ok(outputs)
    }
}

impl Learner for Perceptron {
    fn parameters(&self) -> usize {
        self.layers.iter().flatten().map(Tensor::len).sum()
    }

    fn off(&self, data: &Data) -> Result<Tensor<f32>> {
        let outputs = self.through(&data.coordinates)?;
        ops::sub(&outputs[outputs.len() - 1], &data.numbers)
    }

    fn step(&mut self, data: &Data) -> Result<Tensor<f32>> {
        let gpu = data.coordinates.gpu();
        let outputs = self.through(&data.coordinates)?;
        let off = ops::sub(&outputs[outputs.len() - 1], &data.numbers)?;
        let rate = gpu.tensor(&[f32::from_f64(-self.rate / data.count as f64)], [])?;
        let mut g = off.clone();
        for i in (0..self.layers.len()).rev() {
            let x = match i {
                0 => data.coordinates.clone(),
                _ => ops::activate(&outputs[i - 1], ACTIVATION)?,
            };
            let [weight, bias] = &self.layers[i];
            let gradients = [matmul(&g.t(), &x)?, ops::sum(&g, 0)?];
            if i > 0 {
                g = ops::activate_backward(&outputs[i - 1], &matmul(&g, weight)?, ACTIVATION)?;
            }
            let [of_weight, of_bias] = gradients.map(|gradient| ops::mul(&gradient, &rate));
            self.layers[i] = [ops::add(weight, &of_weight?)?, ops::add(bias, &of_bias?)?];
        }
        Ok(off)
    }
}
