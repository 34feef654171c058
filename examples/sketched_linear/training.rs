//! Trains a sketched layer to reproduce a dense one.

use crate::{Args, BATCH, read};
use tilewise::sketch::SkLinear;
use tilewise::{Element, Fill, Parameters, Real, Result, Tensor, matmul, ops};

/// Gradient descent on $\|x (W' - W)^T\|^2$ over random activations. Returns the layer, and the loss before each training
/// step, relative to that of a layer of zeros.
pub(crate) fn train<T: Real>(
    args: &Args,
    layer: SkLinear<T>,
    weight: &Tensor<T>,
) -> Result<(SkLinear<T>, Vec<f64>)> {
    if args.train == 0 {
        return Ok((layer, Vec::new()));
    }
    let gpu = weight.gpu();
    let mut master = layer.cast::<f32>()?;
    let weight = weight.cast::<f32>()?.t();
    let spectral = |u: &Tensor<f32>| -> Result<f64> {
        let s = read(u)?.singular_values();
        Ok(s.ok().and_then(|s| s.first().copied()).unwrap_or(1.0))
    };
    // The largest stable rate: activations have a variance of 1/3, and a step moves both factors S1 and S2.
    let curvature = spectral(&master.u1()?)?.powi(2) + spectral(&master.u2()?)?.powi(2);
    let rate = 6.0 * (master.terms() as f64).powi(2) / curvature;
    let mut losses = Vec::new();
    for step in 0..args.train {
        let seed = args.seed.wrapping_add(1000 + step as u64);
        let x = gpu.random::<f32>([4 * BATCH.max(args.batch), master.inputs()], Fill::Uniform, seed)?;
        let target = matmul(&x, &weight)?;
        let working = master.cast::<T>()?;
        let (x, rows) = (x.cast::<T>()?, x.shape()[0] as f64);
        let hidden = working.hidden(&x)?;
        let off = ops::sub(&working.output::<f32>(&hidden)?, &target)?;
        let square = |x: &Tensor<f32>| -> Result<f64> {
            Ok(ops::sum_squares(x, 0)?.to_vec()?.into_iter().map(f64::from).sum())
        };
        losses.push(square(&off)? / square(&target)?.max(f64::MIN_POSITIVE));
        let (_, gradients) = working.backward(&x, &hidden, &off.cast()?)?;
        master.descend(&gradients, f32::from_f64(rate / rows))?;
    }
    Ok((master.cast()?, losses))
}
