//! Every step of the network held against its definition in f64.

use crate::network::{Epilogue, Network, Step};
use tilewise::ops::PoolDivisor;
use tilewise::reference::{ConvEpilogueReference, ConvReference, PoolWindows, avg_pool2d};
use tilewise::{Element, Real, Result, Tensor};

/// The largest error over its bound, of all values of all steps for these pictures.
///
/// A step is held against the definition of the values that the step before it left on the device, so no bound grows from step
/// to step.
pub(crate) fn bound_ratio<T: Real>(network: &Network<T>, pictures: &Tensor<T>) -> Result<f64> {
    let mut worst = 0.0f64;
    network.forward(pictures, |step| {
        worst = worst.max(ratio(&step)?);
        Ok(())
    })?;
    Ok(worst)
}

fn ratio<T: Real>(step: &Step<'_, T>) -> Result<f64> {
    let found = match step {
        Step::Convolution { layer, x, residual, y } => {
            let epilogue = ConvEpilogueReference {
                residual: residual.map(exactly).transpose()?,
                activation: layer.epilogue.activation(),
                ..match &layer.epilogue {
                    Epilogue::BatchNorm([scale, shift]) => ConvEpilogueReference {
                        scale_shift: Some([exactly(scale)?, exactly(shift)?]),
                        ..Default::default()
                    },
                    Epilogue::Bias(bias) => ConvEpilogueReference::of_bias(&bias.to_vec()?),
                }
            };
            let reference = ConvReference { geometry: layer.geometry(x)? };
            reference.forward(&x.to_vec()?, &layer.weight.to_vec()?, &epilogue).compare(&y.to_vec()?)
        }
        Step::Mean { x, y } => {
            let [pictures, height, width, channels] = [0, 1, 2, 3].map(|axis| x.shape()[axis]);
            let whole = |extent: usize| PoolWindows::adaptive(extent, 1);
            let axes = [&whole(height), &whole(width)];
            avg_pool2d(&x.to_vec()?, [pictures, channels], axes, PoolDivisor::WithPadding)
                .compare(&y.to_vec()?)
        }
    };
    Ok(found.bound_ratio)
}

fn exactly<T: Element>(tensor: &Tensor<T>) -> Result<Vec<f64>> {
    Ok(tensor.to_vec()?.into_iter().map(Element::to_f64).collect())
}
