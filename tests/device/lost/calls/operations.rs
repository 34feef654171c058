//! Products, and elementwise operations.

use super::{World, Written};
use tilewise::attention::{attention_backward, attention_bias_backward, attention_with_lse};
use tilewise::ops::{
    BatchNorm, BatchNormed, GroupNorm, InstanceNorm, LayerNorm, Normed, Reduction, RmsNorm, RmsNormed,
    Rotary, RotaryPairs, RunningStatistics, Targets,
};
use tilewise::{
    Activation, AttentionOptions, Gemm, LinearGradients, LinearScales, Tensor, attention, linear,
    linear_backward, linear_quantised, matmul, matmul_into, ops,
};

fn running(it: &World) -> RunningStatistics {
    RunningStatistics { mean: it.row.clone(), variance: it.row.clone() }
}

pub(super) const CALLS: &[Written] = &[
    ("Gemm::run", |it| Gemm::new(&it.a, &it.b).alpha(2.0).run().map(drop)),
    ("Gemm::run_into", |it| Gemm::new(&it.a, &it.b).run_into(&mut it.c)),
    ("Linear::backward", |it| it.linear.backward(&it.a, &it.b).map(drop)),
    ("Linear::backward_from", |it| it.linear.backward_from(&it.a, &it.b, &it.b).map(drop)),
    ("Linear::backward_into", |it| {
        let mut gradients = LinearGradients { weight: it.c.writable_view(), bias: None };
        it.linear.backward_into(&it.a, &it.b, &mut gradients).map(drop)
    }),
    ("Linear::descend", |it| it.linear.descend(&LinearGradients { weight: it.c.clone(), bias: None }, 0.1)),
    ("Linear::forward", |it| it.linear.forward(&it.a).map(drop)),
    ("Linear::forward_with_residual", |it| it.linear.forward_with_residual(&it.a, &it.b).map(drop)),
    ("Linear::sums", |it| it.linear.sums(&it.a).map(drop)),
    ("attention", |it| {
        let x = it.a.unsqueeze(0)?.unsqueeze(0)?;
        attention(&x, &x, &x, &AttentionOptions::new()).map(drop)
    }),
    ("attention::attention_backward", |it| {
        let x = it.a.unsqueeze(0)?.unsqueeze(0)?;
        let lse = it.a.slice(0, ..2)?.reshape([1, 1, 8, 2])?;
        attention_backward(&x, &x, &x, &x, &lse, &x, &AttentionOptions::new()).map(drop)
    }),
    ("attention::attention_bias_backward", |it| {
        let x = it.a.unsqueeze(0)?.unsqueeze(0)?;
        let lse = it.a.slice(0, ..2)?.reshape([1, 1, 8, 2])?;
        let options = AttentionOptions::new().bias(&it.a);
        attention_bias_backward(&x, &x, &x, &x, &lse, &x, &options).map(drop)
    }),
    ("attention::attention_with_lse", |it| {
        let x = it.a.unsqueeze(0)?.unsqueeze(0)?;
        attention_with_lse(&x, &x, &x, &AttentionOptions::new()).map(drop)
    }),
    ("linear", |it| linear(&it.a, &it.b, None, Activation::Relu).map(drop)),
    ("linear_backward", |it| linear_backward(&it.a, &it.b, None, Activation::Relu, &it.a).map(drop)),
    ("linear_quantised", |it| {
        linear_quantised::<i8, f32>(&it.mask, &it.mask, LinearScales::default(), None, Activation::Relu)
            .map(drop)
    }),
    ("matmul", |it| matmul(&it.a, &it.b).map(drop)),
    ("matmul_into", |it| matmul_into(&it.a, &it.b, &mut it.c)),
    ("ops::CrossEntropy::run", |it| {
        ops::CrossEntropy::new().run(&it.a, Targets::Probabilities(&it.b)).map(drop)
    }),
    ("ops::CrossEntropy::run_with_gradient", |it| {
        ops::CrossEntropy::new().run_with_gradient(&it.a, Targets::Probabilities(&it.b), 1.0).map(drop)
    }),
    ("ops::Rotary::apply", |it| it.rotary.apply(&it.a, 1).map(drop)),
    ("ops::Rotary::apply_at", |it| it.rotary.apply_at(&it.a, &it.at).map(drop)),
    ("ops::Rotary::at_positions", |it| {
        Rotary::at_positions(&it.gpu, RotaryPairs::Interleaved, 8, 1e4, &[3, 1]).map(drop)
    }),
    ("ops::Rotary::backward", |it| it.rotary.backward(&it.a, 0).map(drop)),
    ("ops::Rotary::backward_at", |it| it.rotary.backward_at(&it.a, &it.at).map(drop)),
    ("ops::Rotary::new", |it| Rotary::new(&it.gpu, RotaryPairs::Halves, 8, 1e4, 9).map(drop)),
    ("ops::Softmax::run", |it| ops::Softmax::new(&it.a, 1).mask(&it.b).run().map(drop)),
    ("ops::Softmax::run_log", |it| ops::Softmax::new(&it.a, 0).scale(2.0).run_log().map(drop)),
    ("ops::activate", |it| ops::activate(&it.a, Activation::Gelu).map(drop)),
    ("ops::activate_backward", |it| ops::activate_backward(&it.a, &it.b, Activation::Gelu).map(drop)),
    ("ops::activate_into", |it| ops::activate_into(&it.a, Activation::Gelu, &mut it.c)),
    ("ops::add_assign", |it| ops::add_assign(&mut it.c, &it.a)),
    ("ops::add_into", |it| ops::add_into(&it.a, &it.b, &mut it.c)),
    ("ops::argmax", |it| ops::argmax(&it.a, 0).map(drop)),
    ("ops::argmin", |it| ops::argmin(&it.a, 1).map(drop)),
    ("ops::batch_norm", |it| ops::batch_norm(&it.a, &running(it), BatchNorm::default()).map(drop)),
    ("ops::batch_norm_backward", |it| {
        ops::batch_norm_backward(&it.a, &running(it), BatchNorm::default(), &it.b).map(drop)
    }),
    ("ops::batch_norm_training", |it| {
        ops::batch_norm_training(&it.a, Some(&running(it)), BatchNorm::default()).map(drop)
    }),
    ("ops::batch_norm_training_backward", |it| {
        let RunningStatistics { mean, variance } = running(it);
        let [y, rstd] = [it.b.clone(), it.row.clone()];
        let normed = BatchNormed { y, mean, variance, rstd, running: None };
        ops::batch_norm_training_backward(&it.a, &normed, BatchNorm::default(), &it.b).map(drop)
    }),
    ("ops::bce_with_logits", |it| ops::bce_with_logits(&it.a, &it.b, None, Reduction::Mean).map(drop)),
    ("ops::bce_with_logits_and_gradient", |it| {
        ops::bce_with_logits_and_gradient(&it.a, &it.b, Some(&it.row), Reduction::Mean, 1.0).map(drop)
    }),
    ("ops::bias_add_assign", |it| ops::bias_add_assign(&mut it.c, &it.row)),
    ("ops::concat", |it| ops::concat(&[&it.a, &it.b], 0).map(drop)),
    ("ops::copy_into", |it| ops::copy_into(&it.a, &mut it.c)),
    ("ops::copy_into_at", |it| ops::copy_into_at(&it.a, &mut it.c, 0, &it.at)),
    ("ops::cross_entropy", |it| ops::cross_entropy(&it.a, Targets::Probabilities(&it.b)).map(drop)),
    ("ops::cross_entropy_and_gradient", |it| {
        ops::cross_entropy_and_gradient(&it.a, Targets::Probabilities(&it.b)).map(drop)
    }),
    ("ops::cumsum", |it| ops::cumsum(&it.a, 1).map(drop)),
    ("ops::embedding", |it| ops::embedding(&it.a, &it.at).map(drop)),
    ("ops::embedding_backward", |it| {
        ops::embedding_backward(&it.at, &it.a.slice(0, ..1)?, 2, None).map(drop)
    }),
    ("ops::gather", |it| ops::gather(&it.a, 0, &it.at.reshape([1, 1])?).map(drop)),
    ("ops::group_norm", |it| ops::group_norm(&it.a, GroupNorm::new(1)).map(drop)),
    ("ops::group_norm_backward", |it| {
        let column = |of: &Tensor<f32>| of.reshape([8, 1]);
        let (mean, rstd) = (column(&it.normed.mean)?, column(&it.normed.rstd)?);
        let normed = Normed { y: it.b.clone(), mean, rstd };
        ops::group_norm_backward(&it.a, &normed, GroupNorm::new(1), &it.b).map(drop)
    }),
    ("ops::group_norm_with_statistics", |it| {
        ops::group_norm_with_statistics(&it.a, GroupNorm::new(2)).map(drop)
    }),
    ("ops::huber", |it| ops::huber(&it.a, &it.b, 1.0, Reduction::Mean).map(drop)),
    ("ops::huber_and_gradient", |it| {
        ops::huber_and_gradient(&it.a, &it.b, 1.0, Reduction::Mean, 1.0).map(drop)
    }),
    ("ops::index_add", |it| ops::index_add(&mut it.c, 0, &it.at, &it.a.slice(0, ..1)?)),
    ("ops::index_select", |it| ops::index_select(&it.a, 0, &it.at).map(drop)),
    ("ops::instance_norm", |it| ops::instance_norm(&it.a, InstanceNorm::default()).map(drop)),
    ("ops::instance_norm_backward", |it| {
        let normed = Normed { y: it.b.clone(), mean: it.a.clone(), rstd: it.b.clone() };
        ops::instance_norm_backward(&it.a, &normed, InstanceNorm::default(), &it.b).map(drop)
    }),
    ("ops::instance_norm_with_statistics", |it| {
        ops::instance_norm_with_statistics(&it.a, InstanceNorm::default()).map(drop)
    }),
    ("ops::l1", |it| ops::l1(&it.a, &it.b, Reduction::Sum).map(drop)),
    ("ops::l1_and_gradient", |it| ops::l1_and_gradient(&it.a, &it.b, Reduction::Sum, 1.0).map(drop)),
    ("ops::layer_norm", |it| ops::layer_norm(&it.a, LayerNorm::default()).map(drop)),
    ("ops::layer_norm_backward", |it| {
        ops::layer_norm_backward(&it.a, &it.normed, LayerNorm::default(), &it.b).map(drop)
    }),
    ("ops::layer_norm_residual", |it| ops::layer_norm_residual(&it.a, &it.b, LayerNorm::default()).map(drop)),
    ("ops::layer_norm_with_statistics", |it| {
        ops::layer_norm_with_statistics(&it.a, LayerNorm::default()).map(drop)
    }),
    ("ops::log_softmax", |it| ops::log_softmax(&it.a, 1).map(drop)),
    ("ops::log_softmax_backward", |it| ops::log_softmax_backward(&it.a, &it.b, 1).map(drop)),
    ("ops::map", |it| ops::map::<f32, 1>(&[&it.a], |[a]| a.exp()).map(drop)),
    ("ops::max", |it| ops::max(&it.a, ..).map(drop)),
    ("ops::max_abs", |it| ops::max_abs(&it.a, 0).map(drop)),
    ("ops::mean", |it| ops::mean(&it.a, 1).map(drop)),
    ("ops::min", |it| ops::min(&it.a, [0, 1]).map(drop)),
    ("ops::mse", |it| ops::mse(&it.a, &it.b, Reduction::None).map(drop)),
    ("ops::mse_and_gradient", |it| ops::mse_and_gradient(&it.a, &it.b, Reduction::None, &it.b).map(drop)),
    ("ops::mul_assign", |it| ops::mul_assign(&mut it.c, &it.a)),
    ("ops::mul_into", |it| ops::mul_into(&it.a, &it.b, &mut it.c)),
    ("ops::norm", |it| ops::norm(&it.a, ..).map(drop)),
    ("ops::one_hot", |it| ops::one_hot::<f32>(&it.at, 3).map(drop)),
    ("ops::pad", |it| ops::pad(&it.a, &[(1, 0), (0, 1)], 0.0).map(drop)),
    ("ops::prod", |it| ops::prod(&it.a, 0).map(drop)),
    ("ops::repeat", |it| ops::repeat(&it.a, 0, 2).map(drop)),
    ("ops::rms_norm", |it| ops::rms_norm(&it.a, RmsNorm::default()).map(drop)),
    ("ops::rms_norm_backward", |it| {
        let normed = RmsNormed { y: it.b.clone(), rstd: it.normed.rstd.clone() };
        ops::rms_norm_backward(&it.a, &normed, RmsNorm::default(), &it.b).map(drop)
    }),
    ("ops::rms_norm_residual", |it| ops::rms_norm_residual(&it.a, &it.b, RmsNorm::default()).map(drop)),
    ("ops::rms_norm_with_statistics", |it| {
        ops::rms_norm_with_statistics(&it.a, RmsNorm::default()).map(drop)
    }),
    ("ops::scatter_add", |it| {
        ops::scatter_add(&mut it.c, 0, &it.at.reshape([1, 1])?, &it.a.slice(0, ..1)?.slice(1, ..1)?)
    }),
    ("ops::select", |it| ops::select(&it.mask, &it.a, 0.0).map(drop)),
    ("ops::slice_at", |it| ops::slice_at(&it.a, 0, &it.at, 1).map(drop)),
    ("ops::softmax", |it| ops::softmax(&it.a, 1).map(drop)),
    ("ops::softmax_backward", |it| ops::softmax_backward(&it.a, &it.b, 0).map(drop)),
    ("ops::stack", |it| ops::stack(&[&it.a, &it.b], 0).map(drop)),
    ("ops::sub_assign", |it| ops::sub_assign(&mut it.c, &it.a)),
    ("ops::sub_into", |it| ops::sub_into(&it.a, &it.b, &mut it.c)),
    ("ops::sum", |it| ops::sum(&it.a, 0).map(drop)),
    ("ops::sum_squares", |it| ops::sum_squares(&it.a, 1).map(drop)),
    ("ops::var", |it| ops::var(&it.a, 0, 1).map(drop)),
];
