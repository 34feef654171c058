//! A gated feed-forward block, written from the public operations of the library. The chapter "Writing a layer" quotes it.

pub mod reference;

use tilewise::gemm::Linear;
use tilewise::ops::{self, RmsNorm, RmsNormed};
use tilewise::{Activation, Fill, Gpu, Gradients, ParameterMut, Parameters, Result, Tensor};

/// The block `y = x + down(silu(gate(n)) * up(n))` with `n = rms_norm(x)`. Weights are stored (out, in).
pub struct GatedBlock {
    /// The weights of the norm: (width).
    pub gamma: Tensor<f32>,
    /// The product before the activation: (hidden, width).
    pub gate: Linear<f32>,
    /// The product that the gate multiplies: (hidden, width).
    pub up: Linear<f32>,
    /// The product back to the width: (width, hidden).
    pub down: Linear<f32>,
}

/// What the forward pass keeps for the backward pass.
pub struct Kept {
    normed: RmsNormed<f32>,
    a: Tensor<f32>,
    b: Tensor<f32>,
    h: Tensor<f32>,
}

impl GatedBlock {
    /// A block with random weights.
    ///
    /// # Errors
    /// As the operations.
    pub fn random(gpu: &Gpu, [width, hidden]: [usize; 2], seed: u64) -> Result<Self> {
        let layer = |outputs: usize, inputs: usize, seed| {
            let weight = gpu.random::<f32>([outputs, inputs], Fill::Normal, seed)?;
            let weight = ops::mul(&weight, (inputs as f32).sqrt().recip())?;
            Linear::new(weight, None, Activation::None)
        };
        Ok(Self {
            gamma: gpu.tensor(&vec![1.0; width], [width])?,
            gate: layer(hidden, width, seed)?,
            up: layer(hidden, width, seed + 1)?,
            down: layer(width, hidden, seed + 2)?,
        })
    }

    fn norm(&self) -> RmsNorm<'_, f32> {
        RmsNorm::new().gamma(&self.gamma)
    }

    /// The output for `x` (rows, width), and what [`backward`](Self::backward) needs.
    ///
    /// # Errors
    /// As the operations.
    pub fn forward(&self, x: &Tensor<f32>) -> Result<(Tensor<f32>, Kept)> {
        let normed = self.norm().with_statistics(x)?;
        let a = self.gate.forward(&normed.y)?;
        let b = self.up.forward(&normed.y)?;
        let h = ops::map(&[&a, &b], |[a, b]| &a * a.sigmoid() * b)?;
        let y = self.down.forward_with_residual(&h, x)?;
        Ok((y, Kept { normed, a, b, h }))
    }

    /// The gradients of a loss with respect to `x` and the parameters, from `g`, its gradient with respect to the output.
    ///
    /// # Errors
    /// As the operations.
    pub fn backward(
        &self,
        x: &Tensor<f32>,
        kept: &Kept,
        g: &Tensor<f32>,
    ) -> Result<(Tensor<f32>, Gradients)> {
        let Kept { normed, a, b, h } = kept;
        let (of_h, down) = self.down.backward(h, g)?;
        let of_a = ops::map(&[&of_h, a, b], |[g, a, b]| {
            let s = a.sigmoid();
            g * b * (&s * (a * (-&s + 1.0) + 1.0))
        })?;
        let of_b = ops::map(&[&of_h, a], |[g, a]| g * (&a * a.sigmoid()))?;
        let (by_gate, gate) = self.gate.backward(&normed.y, &of_a)?;
        let (by_up, up) = self.up.backward(&normed.y, &of_b)?;
        let (by_norm, of_norm) = self.norm().backward(x, normed, &(&by_gate + &by_up)?)?;
        let of_x = (g + &by_norm)?;
        let mut gradients = of_norm;
        for (name, of) in [("gate.", gate), ("up.", up), ("down.", down)] {
            gradients.accumulate(of.prefixed(name))?;
        }
        Ok((of_x, gradients))
    }
}

impl Parameters<f32> for GatedBlock {
    fn parameters(&self) -> Vec<(String, &Tensor<f32>)> {
        let mut all = vec![("gamma".into(), &self.gamma)];
        for (prefix, layer) in [("gate.", &self.gate), ("up.", &self.up), ("down.", &self.down)] {
            all.extend(layer.parameters_below(prefix));
        }
        all
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, f32>)> {
        let mut all = vec![("gamma".into(), ParameterMut::new(&mut self.gamma))];
        for (prefix, layer) in [("gate.", &mut self.gate), ("up.", &mut self.up), ("down.", &mut self.down)] {
            all.extend(layer.parameters_below_mut(prefix));
        }
        all
    }
}
