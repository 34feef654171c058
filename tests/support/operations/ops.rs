//! Products, and elementwise operations.

use super::{Row, World, row};
use tilewise::attention::{
    AttentionOptions, attention, attention_backward, attention_bias_backward, attention_with_lse,
};
use tilewise::gemm::{LinearScales, linear_backward, linear_quantised};
use tilewise::ops::{
    self, BatchNorm, BatchNormed, GroupNorm, InstanceNorm, LayerNorm, Normed, Reduction, RmsNorm, RmsNormed,
    Rotary, RotaryPairs, RunningStatistics, Targets,
};
use tilewise::{Activation, Gemm, Gradients, Parameters, Result, Tensor, linear, matmul};

fn running(it: &World) -> RunningStatistics {
    RunningStatistics { mean: it.row.clone(), variance: it.row.clone() }
}

/// A matrix as the only head of a batch of one.
fn heads(x: &Tensor<f32>) -> Result<Tensor<f32>> {
    x.unsqueeze(0)?.unsqueeze(0)
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        row("Gradients::accumulate", |it| {
            let of = |gradient: &Tensor<f32>| {
                let mut gradients = Gradients::new();
                gradients.add("weight", gradient.writable_view())?;
                Ok(gradients)
            };
            of(&it.c)?.accumulate(of(&it.a)?)
        }),
        row("Gradients::add", |it| {
            let mut gradients = Gradients::new();
            gradients.add("weight", it.c.writable_view())?;
            gradients.add("weight", it.a.clone())
        }),
        row("ParameterMut::update", |it| {
            let (_, mut weight) = it.linear.parameters_mut().swap_remove(0);
            weight.update(|weight| {
                *weight = it.a.clone();
                Ok(())
            })
        }),
        row("Parameters::descend", |it| {
            let mut gradients = Gradients::new();
            gradients.add("weight", it.a.clone())?;
            it.linear.descend(&gradients, 0.1)
        }),
        row("Gemm::run", |it| Gemm::new(&it.a, &it.b).alpha(2.0).run()),
        row("Gemm::run_into", |it| Gemm::new(&it.a, &it.b).run_into(&mut it.c)),
        row("gemm::Linear::backward", |it| it.linear.backward(&it.a, &it.b)),
        row("gemm::Linear::backward_from", |it| it.linear.backward_from(&it.a, &it.b, &it.b)),
        row("gemm::Linear::backward_into", |it| {
            let mut gradients = Gradients::new();
            gradients.add("weight", it.c.writable_view())?;
            it.linear.backward_into(&it.a, &it.b, &mut gradients)
        }),
        row("gemm::Linear::forward", |it| it.linear.forward(&it.a)),
        row("gemm::Linear::forward_with_residual", |it| it.linear.forward_with_residual(&it.a, &it.b)),
        row("gemm::Linear::sums", |it| it.linear.sums(&it.a)),
        row("attention", |it| {
            attention(&heads(&it.a)?, &heads(&it.b)?, &heads(&it.b)?, &AttentionOptions::new())
        }),
        row("attention::attention_backward", |it| {
            let (x, y) = (heads(&it.a)?, heads(&it.b)?);
            attention_backward(&x, &y, &y, &y, &it.lse, &x, &AttentionOptions::new())
        }),
        row("attention::attention_bias_backward", |it| {
            let x = heads(&it.a)?;
            attention_bias_backward(&x, &x, &x, &x, &it.lse, &x, &AttentionOptions::new().bias(&it.b))
        }),
        row("attention::attention_with_lse", |it| {
            attention_with_lse(&heads(&it.a)?, &heads(&it.b)?, &heads(&it.b)?, &AttentionOptions::new())
        }),
        row("linear", |it| linear(&it.a, &it.b, None, Activation::Relu)),
        row("gemm::linear_backward", |it| linear_backward(&it.a, &it.b, None, Activation::Relu, &it.a)),
        row("gemm::linear_quantised", |it| {
            linear_quantised::<i8, f32>(&it.mask, &it.mask, LinearScales::default(), None, Activation::Relu)
        }),
        row("matmul", |it| matmul(&it.a, &it.b)),
        row("ops::CrossEntropy::run", |it| {
            ops::CrossEntropy::new().run(&it.a, Targets::Probabilities(&it.b))
        }),
        row("ops::CrossEntropy::run_with_gradient", |it| {
            ops::CrossEntropy::new().run_with_gradient(&it.a, Targets::Probabilities(&it.b), 1.0)
        }),
        row("ops::Rotary::apply", |it| it.rotary.apply(&it.a, 1)),
        row("ops::Rotary::apply_at", |it| it.rotary.apply_at(&it.a, &it.at)),
        row("ops::Rotary::at_positions", |it| {
            Rotary::at_positions(&it.gpu, RotaryPairs::Interleaved, 8, 1e4, &[3, 1])
        }),
        row("ops::Rotary::backward", |it| it.rotary.backward(&it.a, 0)),
        row("ops::Rotary::backward_at", |it| it.rotary.backward_at(&it.a, &it.at)),
        row("ops::Rotary::new", |it| Rotary::new(&it.gpu, RotaryPairs::Halves, 8, 1e4, 9)),
        row("ops::Softmax::run", |it| ops::Softmax::new(&it.a, 1).mask(&it.b).run()),
        row("ops::Softmax::run_log", |it| ops::Softmax::new(&it.a, 0).scale(2.0).run_log()),
        row("ops::activate", |it| ops::activate(&it.a, Activation::Gelu)),
        row("ops::activate_backward", |it| ops::activate_backward(&it.a, &it.b, Activation::Gelu)),
        row("ops::add_assign", |it| ops::add_assign(&mut it.c, &it.a)),
        row("ops::BatchNorm::run", |it| BatchNorm::new().run(&it.a, &running(it))),
        row("ops::BatchNorm::backward", |it| BatchNorm::new().backward(&it.a, &running(it), &it.b)),
        row("ops::BatchNorm::training", |it| BatchNorm::new().training(&it.a, Some(&running(it)))),
        row("ops::BatchNorm::training_backward", |it| {
            let RunningStatistics { mean, variance } = running(it);
            let [y, rstd] = [it.b.clone(), it.row.clone()];
            let normed = BatchNormed { y, mean, variance, rstd, running: None };
            BatchNorm::new().training_backward(&it.a, &normed, &it.b)
        }),
        row("ops::bce_with_logits", |it| ops::bce_with_logits(&it.a, &it.b, None, Reduction::Mean)),
        row("ops::bce_with_logits_and_gradient", |it| {
            ops::bce_with_logits_and_gradient(&it.a, &it.b, Some(&it.row), Reduction::Mean, 1.0)
        }),
        row("ops::bias_add_assign", |it| ops::bias_add_assign(&mut it.c, &it.row)),
        row("ops::concat", |it| ops::concat(&[&it.a, &it.b], 0)),
        row("ops::copy_into", |it| ops::copy_into(&it.a, &mut it.c)),
        row("ops::copy_into_at", |it| ops::copy_into_at(&it.a, &mut it.c, 0, &it.at)),
        row("ops::cross_entropy", |it| ops::cross_entropy(&it.a, Targets::Probabilities(&it.b))),
        row("ops::cross_entropy_and_gradient", |it| {
            ops::cross_entropy_and_gradient(&it.a, Targets::Probabilities(&it.b))
        }),
        row("ops::cumsum", |it| ops::cumsum(&it.a, 1)),
        row("ops::embedding", |it| ops::embedding(&it.a, &it.at)),
        row("ops::embedding_backward", |it| ops::embedding_backward(&it.at, &it.a.slice(0, ..1)?, 2, None)),
        row("ops::gather", |it| ops::gather(&it.a, 0, &it.at.unsqueeze(1)?)),
        row("ops::GroupNorm::run", |it| GroupNorm::new(1).run(&it.a)),
        row("ops::GroupNorm::backward", |it| {
            let column = |of: &Tensor<f32>| of.reshape([8, 1]);
            let (mean, rstd) = (column(&it.normed.mean)?, column(&it.normed.rstd)?);
            let normed = Normed { y: it.b.clone(), mean, rstd };
            GroupNorm::new(1).backward(&it.a, &normed, &it.b)
        }),
        row("ops::GroupNorm::with_statistics", |it| GroupNorm::new(2).with_statistics(&it.a)),
        row("ops::huber", |it| ops::huber(&it.a, &it.b, 1.0, Reduction::Mean)),
        row("ops::huber_and_gradient", |it| ops::huber_and_gradient(&it.a, &it.b, 1.0, Reduction::Mean, 1.0)),
        row("ops::index_add", |it| ops::index_add(&mut it.c, 0, &it.at, &it.a.slice(0, ..1)?)),
        row("ops::index_select", |it| ops::index_select(&it.a, 0, &it.at)),
        row("ops::InstanceNorm::run", |it| InstanceNorm::new().run(&it.a)),
        row("ops::InstanceNorm::backward", |it| {
            let normed = Normed { y: it.b.clone(), mean: it.a.clone(), rstd: it.b.clone() };
            InstanceNorm::new().backward(&it.a, &normed, &it.b)
        }),
        row("ops::InstanceNorm::with_statistics", |it| InstanceNorm::new().with_statistics(&it.a)),
        row("ops::l1", |it| ops::l1(&it.a, &it.b, Reduction::Sum)),
        row("ops::l1_and_gradient", |it| ops::l1_and_gradient(&it.a, &it.b, Reduction::Sum, 1.0)),
        row("ops::LayerNorm::run", |it| LayerNorm::new().run(&it.a)),
        row("ops::LayerNorm::backward", |it| LayerNorm::new().backward(&it.a, &it.normed, &it.b)),
        row("ops::LayerNorm::residual", |it| LayerNorm::new().residual(&it.a, &it.b)),
        row("ops::LayerNorm::with_statistics", |it| LayerNorm::new().with_statistics(&it.a)),
        row("ops::log_softmax", |it| ops::log_softmax(&it.a, 1)),
        row("ops::log_softmax_backward", |it| ops::log_softmax_backward(&it.a, &it.b, 1)),
        row("ops::map", |it| ops::map::<f32, 2>(&[&it.a, &it.b], |[a, b]| a.exp() * b)),
        row("ops::mse", |it| ops::mse(&it.a, &it.b, Reduction::None)),
        row("ops::mse_and_gradient", |it| ops::mse_and_gradient(&it.a, &it.b, Reduction::None, &it.b)),
        row("ops::mul_assign", |it| ops::mul_assign(&mut it.c, &it.a)),
        row("ops::RmsNorm::run", |it| RmsNorm::new().run(&it.a)),
        row("ops::RmsNorm::backward", |it| {
            let normed = RmsNormed { y: it.b.clone(), rstd: it.normed.rstd.clone() };
            RmsNorm::new().backward(&it.a, &normed, &it.b)
        }),
        row("ops::RmsNorm::residual", |it| RmsNorm::new().residual(&it.a, &it.b)),
        row("ops::RmsNorm::with_statistics", |it| RmsNorm::new().with_statistics(&it.a)),
        row("ops::scatter_add", |it| {
            ops::scatter_add(&mut it.c, 0, &it.at.unsqueeze(1)?, &it.a.slice(0, ..1)?.slice(1, ..1)?)
        }),
        row("ops::select", |it| ops::select(&it.mask, &it.a, 0.0)),
        row("ops::slice_at", |it| ops::slice_at(&it.a, 0, &it.at, 1)),
        row("ops::softmax", |it| ops::softmax(&it.a, 1)),
        row("ops::softmax_backward", |it| ops::softmax_backward(&it.a, &it.b, 0)),
        row("ops::stack", |it| ops::stack(&[&it.a, &it.b], 0)),
        row("ops::sub_assign", |it| ops::sub_assign(&mut it.c, &it.a)),
    ]
}
