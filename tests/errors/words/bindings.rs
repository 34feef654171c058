//! Operands that are larger than a binding.

use super::{Found, PLANE, mv, product, random, wide};
use tilewise::attention::{
    AttentionOptions, attention, attention_backward, attention_bias_backward, attention_with_lse,
};
use tilewise::clifford::layer::{MvLayerNorm, MvNormalization, MvSilu};
use tilewise::clifford::{BladeAxis, Multivectors, MvProduct, Product};
use tilewise::ops::{self, BatchNorm, GroupNorm, InstanceNorm, LayerNorm, RmsNorm, Rotary, RotaryPairs};
use tilewise::sketch::{
    Budget, SkLinear, Sketch, SketchKind, cqrrpt, lstsq, range, recommend_rank, rsvd, trace,
};
use tilewise::{Activation, Error, Fill, GpuOptions, Result, f16, linear, matmul};

/// A device that binds 4 KiB, and operands of more.
#[test]
fn operands_that_cannot_be_bound_are_computed_in_windows_or_refused() {
    let gpu = support::noop_with(GpuOptions::default(), |desc| {
        desc.required_limits.max_storage_buffer_binding_size = 4096;
    });
    let (found, sliced_found) = (&mut Found::default(), &mut Found::default());
    // In windows, each of which can be bound.
    let fits =
        |call: &str, result: Result<()>| result.unwrap_or_else(|error| panic!("{call}, in windows: {error}"));
    let mut large = |call: &str, result: Result<()>| {
        found.of_kind(call, result, |error| matches!(error, Error::Limit { .. }));
    };
    let mut sliced = |call: &str, result: Result<()>| {
        sliced_found.of_kind(call, result, |error| {
            matches!(error, Error::Limit { .. }) && error.to_string().contains("slice along axis ")
        });
    };
    let t = |shape: &[usize]| random(&gpu, shape);
    let a = t(&[64, 64]);
    fits("contiguous", a.t().contiguous().map(drop));
    fits("cast", a.cast::<f16>().map(drop));
    fits("to_vec", a.t().to_vec().map(drop));
    fits("read", pollster::block_on(a.t().read()).map(drop));
    large("matmul", matmul(&wide(&gpu, &[1, 1 << 31]), &wide(&gpu, &[1 << 31, 1])).map(drop));
    let weight = wide(&gpu, &[1, 1 << 31]);
    large("linear", linear(&weight, &weight, None, Activation::None).map(drop));
    fits("add", ops::add(&a, &a).map(drop));
    fits("less", ops::less(&a, 0.0).map(drop));
    fits("map", ops::map::<f32, 1>(&[&a], |[a]| a.exp()).map(drop));
    let mut c = t(&[64, 64]);
    fits("assign", c.assign(|| ops::add(&a, &a)));
    fits("assign", c.assign(|| ops::activate(&a, Activation::Gelu)));
    fits("add_assign", ops::add_assign(&mut c, &a));
    fits("sub_assign", ops::sub_assign(&mut c, &a));
    fits("bias_add_assign", ops::bias_add_assign(&mut c, &t(&[64])));
    let at = gpu.zeros::<i32>([1]).unwrap();
    sliced("copy_into_at", ops::copy_into_at(&t(&[1, 64]), &mut c, 0, &at));
    sliced("slice_at", ops::slice_at(&a, 0, &at, 1).map(drop));
    fits("softmax", ops::softmax(&a, 1).map(drop));
    fits("LayerNorm::run", LayerNorm::new().run(&a).map(drop));
    fits("BatchNorm::training", BatchNorm::new().training(&a, None).map(drop));
    fits("GroupNorm::run", GroupNorm::new(2).run(&a).map(drop));
    fits("RmsNorm::run", RmsNorm::new().run(&a).map(drop));
    fits("max_abs", ops::max_abs(&a, 1).map(drop));
    fits("cumsum", ops::cumsum(&a, 1).map(drop));
    let rotary = Rotary::new(&gpu, RotaryPairs::Halves, 8, 1e4, 64).unwrap();
    sliced("Rotary::apply", rotary.apply(&a, 0).map(drop));
    let table = Rotary::new(&gpu, RotaryPairs::Halves, 8, 1e4, 512).unwrap();
    sliced("Rotary::backward", table.backward(&t(&[2, 8]), 0).map(drop));
    let heads = a.unsqueeze(0).unwrap().unsqueeze(0).unwrap();
    let options = AttentionOptions::new();
    sliced("attention", attention(&heads, &heads, &heads, &options).map(drop));
    sliced("attention_with_lse", attention_with_lse(&heads, &heads, &heads, &options).map(drop));
    let (x, lse) = (t(&[1, 1, 32, 32]), t(&[1, 1, 32, 2]));
    // The gradients of keys and values are in one buffer.
    sliced("attention_backward", attention_backward(&x, &x, &x, &x, &lse, &x, &options).map(drop));
    let (x, lse, bias) = (t(&[1, 1, 40, 8]), t(&[1, 1, 40, 2]), t(&[40, 40]));
    let options = options.bias(&bias);
    let backward = attention_bias_backward(&x, &x, &x, &x, &lse, &x, &options);
    sliced("attention_bias_backward", backward.map(drop));
    fits("pad", ops::pad(&t(&[30, 32]), &[(1, 1), (1, 1)], 0.0).map(drop));
    fits("repeat", ops::repeat(&t(&[30, 32]), 0, 2).map(drop));
    let ids = gpu.zeros::<i32>([64]).unwrap();
    fits("one_hot", ops::one_hot::<f32>(&ids, 64).map(drop));
    fits("index_select", ops::index_select(&a, 0, &at).map(drop));
    fits("gather", ops::gather(&wide(&gpu, &[64, 64]), 0, &ids.broadcast_to([64, 64]).unwrap()).map(drop));
    fits("embedding", ops::embedding(&t(&[9, 64]), &ids).map(drop));
    fits("scatter_add", ops::scatter_add(&mut c, 1, &ids.unsqueeze(1).unwrap(), &t(&[64, 1])));
    fits("embedding_backward", ops::embedding_backward(&ids, &t(&[64, 8]), 999, None).map(drop));
    fits("mse", ops::mse(&a, &a, ops::Reduction::Mean).map(drop));
    fits("cross_entropy", ops::cross_entropy(&a, &ids).map(drop));
    large("random", gpu.random::<f32>([64, 64], Fill::Normal, 1).map(drop));
    for sketch in [SketchKind::CountSketch, SketchKind::Hadamard] {
        let sketch = Sketch::new(sketch, [8, 64], 1).unwrap();
        fits("Sketch::apply", sketch.apply(&a, 1).map(drop));
        fits("Sketch::left", sketch.left(&a).map(drop));
        fits("Sketch::plan", sketch.plan(tilewise::sketch::Direction::Forward, &a, 1).map(drop));
    }
    fits("rsvd", rsvd(&a, 2).map(drop));
    fits("range", range(&a, 2).map(drop));
    fits("cqrrpt", cqrrpt(&a).map(drop));
    fits("lstsq", lstsq(&a, &t(&[64])).map(drop));
    fits("trace", trace(&a, 4, 1).map(drop));
    fits("recommend_rank", recommend_rank(&a, Budget::Params(0.5)).map(drop));
    fits("SkLinear::fit", SkLinear::fit(&a, 1, 2).map(drop));
    let x = mv(t(&[4, 64, 8]));
    fits("geometric", x.geometric(&x).map(drop));
    fits("product", MvProduct::new(Product::Geometric, &x, &x).plan().map(drop));
    fits("reverse", x.reverse().map(drop));
    fits("project", x.project(&[0]).map(drop));
    fits("inverse", x.inverse().map(drop));
    let rotor = Multivectors::new(t(&[2, 64, 16]), &PLANE.even(), BladeAxis::First).unwrap();
    fits("sandwich", rotor.sandwich(&mv(t(&[4, 64, 16]))).map(drop));
    fits("interpolate", rotor.interpolate(&rotor, &t(&[64, 16])).map(drop));
    let weight = t(&[8, PLANE.paths().len()]);
    fits("LayerProduct::steerable", product().steerable(&x, &x, &weight).map(drop));
    fits("LayerProduct::plan_steerable", product().plan_steerable(&x, &x, &weight).map(drop));
    let plan = product().plan_steerable_backward(&x, &x, &weight, &x);
    fits("LayerProduct::plan_steerable_backward", plan.map(drop));
    fits("LayerProduct::normalized", product().normalized(&x).map(drop));
    let parameter = t(&[8, 3]);
    fits(
        "MvNormalization::forward",
        MvNormalization::new(PLANE, parameter.clone()).unwrap().forward(&x).map(drop),
    );
    let silu = MvSilu::new(PLANE, parameter.clone(), parameter).unwrap();
    fits("MvSilu::forward", silu.forward(&x).map(drop));
    // A row that is larger than a binding alone.
    let row = t(&[1, 2048]);
    sliced("softmax", ops::softmax(&row, 1).map(drop));
    sliced("cumsum", ops::cumsum(&row, 1).map(drop));
    sliced("LayerNorm::run", LayerNorm::new().run(&row).map(drop));
    sliced("RmsNorm::run", RmsNorm::new().run(&row).map(drop));
    sliced("cross_entropy", ops::cross_entropy(&row, &gpu.zeros::<i32>([1]).unwrap()).map(drop));
    sliced("one_hot", ops::one_hot::<f32>(&gpu.zeros::<i32>([1]).unwrap(), 2048).map(drop));
    // What is computed together is larger.
    let batch = t(&[3, 64, 64]);
    sliced("GroupNorm::run", GroupNorm::new(2).run(&batch).map(drop));
    sliced("InstanceNorm::run", InstanceNorm::new().run(&batch).map(drop));
    sliced("BatchNorm::training", BatchNorm::new().training(&t(&[2, 2048]), None).map(drop));
    sliced("softmax_backward", ops::softmax_backward(&row, &row, 1).map(drop));
    let many = gpu.zeros::<i32>([2048]).unwrap();
    sliced("index_add", ops::index_add(&mut c, 0, &many, &t(&[2048, 64])));
    sliced("embedding_backward", ops::embedding_backward(&many, &t(&[2048, 8]), 9, None).map(drop));
    for sketch in [SketchKind::Sign, SketchKind::CountSketch, SketchKind::Hadamard] {
        let sketch = Sketch::new(sketch, [8, 2048], 1).unwrap();
        sliced("Sketch::apply", sketch.apply(&row, 1).map(drop));
    }
    let x = mv(t(&[4, 2, 2048]));
    sliced("LayerProduct::normalized", product().normalized(&x).map(drop));
    let gains = MvLayerNorm::new(PLANE, t(&[2048])).unwrap();
    sliced("MvLayerNorm::forward", gains.forward(&x).map(drop));
    let weight = t(&[PLANE.paths().len(), 64, 64]);
    let x = mv(t(&[4, 9, 64]));
    sliced("LayerProduct::connected", product().connected(&x, &x, &weight).map(drop));
    std::mem::take(found).none();
    std::mem::take(sliced_found).none();
}
