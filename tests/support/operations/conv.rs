//! Convolutions.

use super::{Row, World, row};
use tilewise::conv::{
    ConvOptions, ConvScales, Convolution, Padding, SamePadding, batch_norm_terms, conv_transpose2d,
    conv_transpose2d_backward, conv1d, conv2d, conv2d_backward, conv2d_quantised, conv3d, conv3d_backward,
    fold_batch_norm,
};
use tilewise::ops::RunningStatistics;
use tilewise::{Activation, Result, Tensor};

/// An image of one row (1, 1, 8, 8), a weight of one tap (8, 1, 1, 8), a gradient of the result, of the image's shape; and a bias.
fn operands(it: &World) -> Result<([Tensor<f32>; 3], &Tensor<f32>)> {
    let image = |of: &Tensor<f32>| of.unsqueeze(0)?.unsqueeze(0);
    Ok(([image(&it.a)?, weight(it)?, image(&it.c)?], &it.row))
}

fn weight(it: &World) -> Result<Tensor<f32>> {
    it.b.unsqueeze(1)?.unsqueeze(1)
}

/// The result has the shape of the images.
fn same<const D: usize>() -> ConvOptions<D> {
    ConvOptions::new().padding(Padding::Same(SamePadding::ExtraAtEnd))
}

fn running(it: &World) -> RunningStatistics {
    RunningStatistics { mean: it.row.clone(), variance: it.row.clone() }
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        row("conv::Convolution::run", |it| {
            let ([x, weight, residual], bias) = operands(it)?;
            Convolution::new(&x, &weight).options(same()).bias(bias).residual(&residual).run()
        }),
        row("conv::batch_norm_terms", |it| {
            batch_norm_terms(&running(it), Some(&it.row), None, 2.0).map(<(_, _)>::from)
        }),
        row("conv::conv1d", |it| conv1d(&it.a.unsqueeze(0)?, &it.b.unsqueeze(1)?, Some(&it.row), &same())),
        row("conv::conv2d", |it| {
            let ([x, weight, _], bias) = operands(it)?;
            conv2d(&x, &weight, Some(bias), &same())
        }),
        row("conv::conv2d_backward", |it| {
            let ([x, weight, grad], bias) = operands(it)?;
            conv2d_backward(&x, &weight, Some(bias), &same(), &grad)
        }),
        row("conv::conv2d_quantised", |it| {
            let x = it.mask.unsqueeze(0)?.unsqueeze(0)?;
            let weight = it.mask.unsqueeze(1)?.unsqueeze(1)?;
            let scales = ConvScales { weight: Some(&it.row), ..ConvScales::default() };
            conv2d_quantised::<f32>(&x, &weight, scales, Some(&it.row), &same(), Activation::Relu)
        }),
        row("conv::conv3d", |it| {
            let ([x, weight, _], bias) = operands(it)?;
            conv3d(&x.unsqueeze(1)?, &weight.unsqueeze(1)?, Some(bias), &same())
        }),
        row("conv::conv3d_backward", |it| {
            let ([x, weight, grad], bias) = operands(it)?;
            let [x, weight, grad] = [x.unsqueeze(1)?, weight.unsqueeze(1)?, grad.unsqueeze(1)?];
            conv3d_backward(&x, &weight, Some(bias), &same(), &grad)
        }),
        row("conv::conv_transpose2d", |it| {
            let ([x, weight, _], bias) = operands(it)?;
            conv_transpose2d(&x, &weight, Some(bias), &same(), [0, 0])
        }),
        row("conv::conv_transpose2d_backward", |it| {
            let ([x, weight, grad], bias) = operands(it)?;
            conv_transpose2d_backward(&x, &weight, Some(bias), &same(), [0, 0], &grad)
        }),
        row("conv::fold_batch_norm", |it| {
            fold_batch_norm(&weight(it)?, Some(&it.row), &running(it), None, Some(&it.row), 2.0)
        }),
    ]
}
