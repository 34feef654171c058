//! Operands of two devices, and of one that was adopted twice.

use super::{Found, PLANE, functions, mv, product, random, sketched};
use tilewise::attention::{attention_backward, attention_bias_backward, attention_with_lse};
use tilewise::clifford::Product;
use tilewise::clifford::layer::{
    BiasOn, CliffordLayer, MvLayerNorm, MvLinear, MvNormalization, MvSilu, ProductKind,
};
use tilewise::ops::{
    BatchNorm, GroupNorm, LayerNorm, Reduction, RmsNorm, Rotary, RotaryPairs, RunningStatistics,
};
use tilewise::sketch::{Cqrrpt, ExplicitSketch, lstsq};
use tilewise::{
    Activation, AttentionOptions, Error, Gpu, GpuOptions, Linear, Result, Tensor, attention, linear,
    linear_backward, matmul, matmul_into, ops,
};

#[test]
fn operands_of_different_devices() {
    let (gpu, other) = (support::noop(), support::noop());
    let found = &mut Found::default();
    let t = |shape: &[usize]| random(&gpu, shape);
    let o = |shape: &[usize]| random(&other, shape);
    let square: &[usize] = &[4, 4];
    let (a, b) = (t(square), o(square));
    let mut apart = |call: &str, result: Result<()>| {
        found.of_kind(call, result, |error| matches!(error, Error::Gpu { .. }));
    };
    apart("matmul", matmul(&a, &b).map(drop));
    apart("matmul_into", matmul_into(&a, &a, &mut o(square)));
    apart("linear", linear(&a, &b, None, Activation::None).map(drop));
    apart("linear", linear(&a, &a, Some(&o(&[4])), Activation::None).map(drop));
    apart("Linear::new", Linear::new(a.clone(), Some(o(&[4])), Activation::None).map(drop));
    let layer = Linear::new(b.clone(), None, Activation::None).unwrap();
    apart("Linear::forward", layer.forward(&a).map(drop));
    let calls = functions::of_several(&a, &b);
    assert!(calls.len() >= 15, "{} functions of two values", calls.len());
    for (call, result) in calls {
        apart(call, result);
    }
    apart("clamp", ops::clamp(&a, 0.0, &b).map(drop));
    apart("select", ops::select(&ops::equal(&a, 0.0).unwrap(), &b, 0.0).map(drop));
    apart("map", ops::map::<f32, 2>(&[&a, &b], |[a, b]| a + b).map(drop));
    apart("activate_backward", ops::activate_backward(&a, &b, Activation::Gelu).map(drop));
    let mut c = t(square);
    apart("add_into", ops::add_into(&a, &b, &mut c));
    apart("sub_into", ops::sub_into(&a, &b, &mut c));
    apart("mul_into", ops::mul_into(&a, &b, &mut c));
    apart("activate_into", ops::activate_into(&b, Activation::Gelu, &mut c));
    apart("add_assign", ops::add_assign(&mut c, &b));
    apart("sub_assign", ops::sub_assign(&mut c, &b));
    apart("bias_add_assign", ops::bias_add_assign(&mut c, &o(&[4])));
    let [at, there] = [&gpu, &other].map(|gpu| gpu.zeros::<i32>([1]).unwrap());
    apart("copy_into", ops::copy_into(&b, &mut c));
    apart("copy_into_at", ops::copy_into_at(&b, &mut c, 0, &at));
    apart("copy_into_at", ops::copy_into_at(&a, &mut c, 0, &there));
    apart("slice_at", ops::slice_at(&a, 0, &there, 1).map(drop));
    let [ids, far] = [&gpu, &other].map(|gpu| gpu.zeros::<i32>([4, 4]).unwrap());
    let row = there.broadcast_to([4]).unwrap();
    apart("concat", ops::concat(&[&a, &b], 0).map(drop));
    apart("stack", ops::stack(&[&a, &b], 0).map(drop));
    apart("gather", ops::gather(&a, 1, &far).map(drop));
    apart("index_select", ops::index_select(&a, 1, &row).map(drop));
    apart("embedding", ops::embedding(&a, &far).map(drop));
    apart("scatter_add", ops::scatter_add(&mut c, 1, &far, &a));
    apart("scatter_add", ops::scatter_add(&mut c, 1, &ids, &b));
    apart("index_add", ops::index_add(&mut c, 1, &row, &a));
    apart("index_add", ops::index_add(&mut c, 1, &[0, 1, 2, 3], &b));
    apart("embedding_backward", ops::embedding_backward(&row, &a, 9, None).map(drop));
    apart("softmax", ops::Softmax::new(&a, 1).mask(&b).run().map(drop));
    apart("softmax_backward", ops::softmax_backward(&a, &b, 1).map(drop));
    apart("log_softmax_backward", ops::log_softmax_backward(&a, &b, 1).map(drop));
    let rotary = Rotary::new(&gpu, RotaryPairs::Halves, 4, 1e4, 4).unwrap();
    apart("Rotary::apply", rotary.apply(&b, 0).map(drop));
    apart("Rotary::backward", rotary.backward(&b, 0).map(drop));
    let heads = |of: &Tensor<f32>| of.unsqueeze(0).unwrap().unsqueeze(0).unwrap();
    let (x, far_x, lse) = (heads(&a), heads(&b), t(&[1, 1, 4, 2]));
    let options = AttentionOptions::new();
    apart("attention", attention(&x, &far_x, &x, &options).map(drop));
    apart("attention", attention(&x, &x, &x, &options.bias(&b)).map(drop));
    apart("attention_with_lse", attention_with_lse(&x, &x, &far_x, &options).map(drop));
    let backward = attention_backward(&x, &x, &x, &x, &lse, &far_x, &options);
    apart("attention_backward", backward.map(drop));
    let options = options.bias(&a);
    let backward = attention_bias_backward(&x, &x, &x, &x, &o(&[1, 1, 4, 2]), &x, &options);
    apart("attention_bias_backward", backward.map(drop));
    let gamma = o(&[4]);
    let (layer, rms) = (LayerNorm::default(), RmsNorm { gamma: Some(&gamma), ..RmsNorm::default() });
    apart("layer_norm_residual", ops::layer_norm_residual(&a, &b, layer).map(drop));
    let normed = ops::layer_norm_with_statistics(&a, layer).unwrap();
    apart("layer_norm_backward", ops::layer_norm_backward(&a, &normed, layer, &b).map(drop));
    apart("rms_norm", ops::rms_norm(&a, rms).map(drop));
    apart(
        "group_norm",
        ops::group_norm(&a, GroupNorm { gamma: Some(&gamma), ..GroupNorm::new(2) }).map(drop),
    );
    let running = RunningStatistics { mean: gamma.clone(), variance: gamma.clone() };
    apart("batch_norm", ops::batch_norm(&a, &running, BatchNorm::default()).map(drop));
    apart("mse", ops::mse(&a, &b, Reduction::Sum).map(drop));
    apart("l1_and_gradient", ops::l1_and_gradient(&a, &a, Reduction::None, &b).map(drop));
    apart("bce_with_logits", ops::bce_with_logits(&a, &a, Some(&gamma), Reduction::Sum).map(drop));
    apart("cross_entropy", ops::cross_entropy(&a, &row).map(drop));
    apart("cross_entropy_and_gradient", ops::cross_entropy_and_gradient(&a, &b).map(drop));
    apart("linear_backward", linear_backward(&a, &a, None, Activation::None, &b).map(drop));
    let of = ExplicitSketch::new(t(&[2, 4])).unwrap();
    apart("ExplicitSketch::apply", of.apply(&b, 1).map(drop));
    apart("ExplicitSketch::left", of.left(&b).map(drop));
    apart("lstsq", lstsq(&t(&[8, 4]), &o(&[8])).map(drop));
    apart(
        "cqrrpt",
        Cqrrpt::new(&o(&[8, 4])).explicit(&ExplicitSketch::new(t(&[6, 8])).unwrap()).run().map(drop),
    );
    let layer = sketched(&gpu);
    apart("SkLinear::forward", layer.forward(&o(&[3, 16])).map(drop));
    apart("SkLinear::hidden", layer.hidden(&o(&[3, 16])).map(drop));
    let (x, y) = (mv(t(&[4, 3, 2])), mv(o(&[4, 3, 2])));
    apart("geometric", x.geometric(&y).map(drop));
    apart("product_backward", x.product_backward(Product::Outer, &x, &y).map(drop));
    apart("inverse_backward", x.inverse_backward(&y).map(drop));
    let weight = t(&[2, PLANE.paths().len()]);
    let all = t(&[PLANE.paths().len(), 2, 2]);
    apart("LayerProduct::steerable", product().steerable(&x, &y, &weight).map(drop));
    apart("LayerProduct::connected", product().connected(&x, &y, &all).map(drop));
    apart("LayerProduct::connected_backward", product().connected_backward(&x, &x, &all, &y).map(drop));
    apart("LayerProduct::normalized_backward", product().normalized_backward(&x, &y).map(drop));
    let of = MvLinear::new(PLANE, t(&[3, 2, 2])).unwrap();
    apart("MvLinear::forward", of.forward(&y).map(drop));
    let of = MvLinear::builder(PLANE, t(&[3, 2, 2])).bias(o(&[2]), BiasOn::Scalar);
    apart("MvLinear::build", of.build().map(drop));
    let parameter = t(&[2, 3]);
    apart(
        "MvNormalization::forward",
        MvNormalization::new(PLANE, parameter.clone()).unwrap().forward(&y).map(drop),
    );
    apart("MvLayerNorm::forward", MvLayerNorm::new(PLANE, t(&[2])).unwrap().forward(&y).map(drop));
    apart("MvSilu::forward", MvSilu::new(PLANE, parameter.clone(), parameter).unwrap().forward(&y).map(drop));
    let clifford =
        CliffordLayer::<f32>::builder(product(), ProductKind::Connected).random(&gpu, [2, 2]).unwrap();
    apart("CliffordLayer::forward", clifford.forward(&y).map(drop));
    std::mem::take(found).none();
}

/// The first devices of two instances, which wgpu compares as equal, and two of one adapter.
#[test]
fn devices_that_only_look_alike_are_told_apart() {
    let adapter = support::noop_adapter();
    let of_adapter = || support::noop_on(&adapter, GpuOptions::default(), |_| ());
    for [gpu, other] in [[support::noop(), support::noop()], [of_adapter(), of_adapter()]] {
        let error = matmul(&random(&gpu, &[4, 4]), &random(&other, &[4, 4])).unwrap_err().to_string();
        assert!(error.contains("live on different devices"), "{error}");
    }
}

#[test]
fn a_device_that_was_adopted_twice() {
    let adapter = support::noop_adapter();
    let (device, queue) =
        pollster::block_on(adapter.request_device(&Gpu::device_descriptor(&adapter))).unwrap();
    let adopt = || Gpu::adopt_with(&adapter, device.clone(), queue.clone(), GpuOptions::default()).unwrap();
    let (a, b) = (random(&adopt(), &[4, 4]), random(&adopt(), &[4, 4]));
    for error in [matmul(&a, &b).err(), ops::add(&a, &b).err(), mv(a.clone()).geometric(&mv(b.clone())).err()]
    {
        let error = error.expect("the operands belong to two Gpus").to_string();
        assert!(error.contains("adopted the same device") && error.contains("clone"), "{error}");
    }
}
