//! Results that the memory budget has no room for.

use super::{Found, PLANE, functions, mv, product, sketched, wide};
use tilewise::clifford::layer::{CliffordLayer, MvLayerNorm, MvLinear, MvNormalization, MvSilu, ProductKind};
use tilewise::clifford::{BladeAxis, Multivectors, MvProduct, Product, Unary};
use tilewise::ops::{BatchNorm, GroupNorm, LayerNorm, RmsNorm, Rotary, RotaryPairs};
use tilewise::sketch::{
    Budget, ExplicitSketch, RangeFinder, Rsvd, SkLinear, Sketch, SketchKind, Svd, Timings, cqrrpt, lstsq,
    range, recommend_rank, rsvd, trace,
};
use tilewise::{Activation, Error, Fill, Gemm, GpuOptions, Linear, Result, f16, linear, matmul, ops};

/// Operands that take no memory, and results that have no room in a budget of 64 KiB.
#[test]
fn results_without_room() {
    let options = GpuOptions { memory_budget: Some(1 << 16), ..GpuOptions::default() };
    let gpu = support::noop_with(options, |_| ());
    let found = &mut Found::default();
    let mut full = |call: &str, result: Result<()>| {
        found.of_kind(call, result, |error| matches!(error, Error::OutOfMemory { .. }));
    };
    let w = |shape: &[usize]| wide(&gpu, shape);
    let a = w(&[256, 256]);
    full("tensor", gpu.tensor(&[0.0f32; 1 << 15], [1 << 15]).map(drop));
    full("empty", gpu.empty::<f32>([1 << 15]).map(drop));
    full("zeros", gpu.zeros::<f32>([1 << 15]).map(drop));
    full("random", gpu.random::<f32>([1 << 15], Fill::Uniform, 1).map(drop));
    full("contiguous", a.contiguous().map(drop));
    full("cast", a.cast::<f16>().map(drop));
    full("cast_saturating", a.cast_saturating::<f16>().map(drop));
    full("to_vec", a.to_vec().map(drop));
    full("read", pollster::block_on(a.read()).map(drop));
    full("matmul", matmul(&a, &a).map(drop));
    full("matmul", Gemm::new(&a, &a).precision(tilewise::Precision::Split).run().map(drop));
    full("linear", linear(&a, &a, None, Activation::None).map(drop));
    full("Linear::forward", Linear::new(a.clone(), None, Activation::None).unwrap().forward(&a).map(drop));
    let large = w(&[512, 512]);
    let calls = functions::of_one(&large).into_iter().chain(functions::of_several(&large, &large));
    for (call, result) in calls {
        full(call, result);
    }
    full("div", ops::div(&a, 2.0).map(drop));
    full("map", ops::map::<f32, 1>(&[&a], |[a]| a.exp()).map(drop));
    full("activate", ops::activate(&a, Activation::Gelu).map(drop));
    full("activate_backward", ops::activate_backward(&a, &a, Activation::Gelu).map(drop));
    let cube = w(&[256, 256, 2]);
    full("sum", ops::sum(&cube, 2).map(drop));
    full("sum_squares", ops::sum_squares(&cube, 2).map(drop));
    full("max_abs", ops::max_abs(&cube, 2).map(drop));
    full("mean", ops::mean(&cube, 2).map(drop));
    full("prod", ops::prod(&cube, 2).map(drop));
    full("norm", ops::norm(&cube, 2).map(drop));
    full("max", ops::max(&cube, 2).map(drop));
    full("min", ops::min(&cube, 2).map(drop));
    full("argmax", ops::argmax(&cube, 2).map(drop));
    full("argmin", ops::argmin(&cube, 2).map(drop));
    full("var", ops::var(&cube, 2, 1).map(drop));
    full("slice_at", ops::slice_at(&a, 0, &gpu.zeros([1]).unwrap(), 128).map(drop));
    full("pad", ops::pad(&a, &[(1, 0), (0, 1)], 0.0).map(drop));
    full("repeat", ops::repeat(&a, 0, 2).map(drop));
    let ids = gpu.zeros::<i32>([256]).unwrap();
    full("one_hot", ops::one_hot::<f32>(&ids, 256).map(drop));
    full("index_select", ops::index_select(&a, 0, &ids).map(drop));
    full("gather", ops::gather(&a, 0, &ids.broadcast_to([256, 256]).unwrap()).map(drop));
    full("embedding", ops::embedding(&a, &ids).map(drop));
    full("embedding_backward", ops::embedding_backward(&ids, &a, 256, None).map(drop));
    full("concat", ops::concat(&[&a, &a], 0).map(drop));
    full("stack", ops::stack(&[&a, &a], 0).map(drop));
    full("mse", ops::mse(&a, &a, ops::Reduction::None).map(drop));
    full("cross_entropy_and_gradient", ops::cross_entropy_and_gradient(&a, &ids).map(drop));
    drop(ids);
    full("softmax", ops::softmax(&a, 1).map(drop));
    full("cumsum", ops::cumsum(&a, 0).map(drop));
    full("Rotary::new", Rotary::new(&gpu, RotaryPairs::Halves, 64, 1e4, 1024).map(drop));
    full(
        "Rotary::at_positions",
        Rotary::at_positions(&gpu, RotaryPairs::Halves, 64, 1e4, &[0; 1024]).map(drop),
    );
    let rotary = Rotary::new(&gpu, RotaryPairs::Halves, 2, 1e4, 256).unwrap();
    full("Rotary::apply", rotary.apply(&a, 0).map(drop));
    full("Rotary::backward", rotary.backward(&a, 0).map(drop));
    drop(rotary);
    full("log_softmax", ops::log_softmax(&a, 0).map(drop));
    full("softmax_backward", ops::softmax_backward(&a, &a, 0).map(drop));
    full("log_softmax_backward", ops::log_softmax_backward(&a, &a, 1).map(drop));
    full("layer_norm", ops::layer_norm(&a, LayerNorm::default()).map(drop));
    full("batch_norm_training", ops::batch_norm_training(&a, None, BatchNorm::default()).map(drop));
    full("group_norm", ops::group_norm(&a, GroupNorm::new(2)).map(drop));
    full("rms_norm", ops::rms_norm(&a, RmsNorm::default()).map(drop));
    for kind in [SketchKind::Sign, SketchKind::CountSketch, SketchKind::Hadamard] {
        let sketch = Sketch::new(kind, [128, 256], 1).unwrap();
        full("Sketch::apply", sketch.apply(&a, 1).map(drop));
        full("Sketch::left", sketch.left(&a).map(drop));
        full("Sketch::right", sketch.right(&a).map(drop));
        full("Sketch::adjoint", sketch.adjoint(&w(&[256, 128]), 1).map(drop));
        full("Sketch::to_tensor", sketch.to_tensor(&gpu).map(drop));
    }
    let of = ExplicitSketch::new(w(&[128, 256])).unwrap();
    full("ExplicitSketch::apply", of.apply(&a, 1).map(drop));
    full("ExplicitSketch::adjoint", of.adjoint(&w(&[256, 128]), 1).map(drop));
    full("rsvd", rsvd(&a, 2).map(drop));
    let [u, v] = [w(&[256, 1]), w(&[256, 1])];
    let timings = Timings::default();
    let svd =
        Svd { u, s: vec![1.0], s_errors: vec![0.0], v, rank: 1, residual: 0.0, rel_residual: 0.0, timings };
    full("Svd::to_matrix", svd.to_matrix().map(drop));
    full("rsvd", Rsvd::new(&a).tolerance(0.1).run().map(drop));
    full("range", range(&a, 2).map(drop));
    full("range", RangeFinder::new(&a, 2).power(1).run().map(drop));
    full("cqrrpt", cqrrpt(&a).map(drop));
    full("lstsq", lstsq(&a, &w(&[256])).map(drop));
    full("trace", trace(&a, 4, 1).map(drop));
    full("recommend_rank", recommend_rank(&a, Budget::Params(0.5)).map(drop));
    full("SkLinear::recommend_rank", SkLinear::recommend_rank(&a, Budget::Params(0.5)).map(drop));
    full("SkLinear::fit", SkLinear::fit(&a, 1, 2).map(drop));
    full("SkLinear::panther", SkLinear::builder(1, 2).panther(&a).map(drop));
    full("SkLinear::least_squares", SkLinear::builder(1, 2).least_squares(&a).map(drop));
    full("SkLinear::fit_to", SkLinear::builder(1, 2).fit_to(&w(&[16, 16]), &w(&[4096, 16])).map(drop));
    full("SkLinear::random", SkLinear::<f32>::builder(1, 63).random(&gpu, [256, 256]).map(drop));
    let layer = sketched(&gpu);
    let x = w(&[16_384, 16]);
    full("SkLinear::forward", layer.forward(&x).map(drop));
    full("SkLinear::hidden", layer.hidden(&x).map(drop));
    full("SkLinear::output", layer.output::<f32>(&w(&[16_384, 4])).map(drop));
    layer.plans(&x).expect("a plan allocates nothing");
    let mut gradients = layer.backward(&w(&[1, 16]), &w(&[1, 4]), &w(&[1, 12])).unwrap().1;
    full(
        "SkLinear::backward_into",
        layer.backward_into(&x, &w(&[16_384, 4]), &w(&[16_384, 12]), &mut gradients).map(drop),
    );
    drop(gradients);
    full("SkLinear::backward", layer.backward(&x, &w(&[16_384, 4]), &w(&[16_384, 12])).map(drop));
    drop((layer, x));

    let m = |shape: &[usize]| mv(w(shape));
    let x = m(&[4, 2048, 8]);
    full("geometric", x.geometric(&x).map(drop));
    full("product", x.product(Product::Geometric, &x).map(drop));
    full("product", MvProduct::new(Product::Outer, &x, &x).blades(&PLANE.blades()).run().map(drop));
    full("product_backward", x.product_backward(Product::Outer, &x, &x).map(drop));
    full("reverse", x.reverse().map(drop));
    full("unary", x.unary(Unary::Reverse).map(drop));
    full("unary_backward", x.unary_backward(Unary::Reverse, x.blades()).map(drop));
    full("select", x.select(&PLANE.even()).map(drop));
    full("project", x.project(&[0, 2]).map(drop));
    full("norm", m(&[4, 16_384, 8]).norm().map(drop));
    full("inverse", x.inverse().map(drop));
    full("inverse_backward", x.inverse_backward(&x).map(drop));
    let rotor = Multivectors::new(w(&[2, 16_384, 4]), &PLANE.even(), BladeAxis::First).unwrap();
    full("normalized", rotor.normalized().map(drop));
    full("log", rotor.log().map(drop));
    let planes = Multivectors::new(w(&[1, 32_768, 4]), &PLANE.bivectors(), BladeAxis::First).unwrap();
    full("exp", planes.exp().map(drop));
    full("sandwich", rotor.sandwich(&m(&[4, 16_384, 4])).map(drop));
    full("interpolate", rotor.interpolate(&rotor, &w(&[16_384, 4])).map(drop));
    let weight = w(&[8, PLANE.paths().len()]);
    full("LayerProduct::steerable", product().steerable(&x, &x, &weight).map(drop));
    full("LayerProduct::steerable_backward", product().steerable_backward(&x, &x, &weight, &x).map(drop));
    full("LayerProduct::normalized", product().normalized(&x).map(drop));
    full("LayerProduct::normalized_backward", product().normalized_backward(&x, &x).map(drop));
    let all = w(&[PLANE.paths().len(), 8, 8]);
    full("LayerProduct::connected", product().connected(&x, &x, &all).map(drop));
    full("LayerProduct::connected_backward", product().connected_backward(&x, &x, &all, &x).map(drop));
    let of = MvLinear::new(PLANE, w(&[3, 8, 8])).unwrap();
    full("MvLinear::forward", of.forward(&x).map(drop));
    full("MvLinear::backward", of.backward(&x, &x).map(drop));
    full("MvLinear::cast", MvLinear::new(PLANE, w(&[3, 128, 128])).unwrap().cast::<f16>().map(drop));
    let parameter = w(&[8, 3]);
    full(
        "MvNormalization::forward",
        MvNormalization::new(PLANE, parameter.clone()).unwrap().forward(&x).map(drop),
    );
    full("MvLayerNorm::forward", MvLayerNorm::new(PLANE, w(&[8])).unwrap().forward(&x).map(drop));
    let silu = MvSilu::new(PLANE, parameter.clone(), parameter).unwrap();
    full("MvSilu::forward", silu.forward(&x).map(drop));
    full("MvSilu::backward", silu.backward(&x, &x).map(drop));
    let clifford = CliffordLayer::<f32>::builder(product(), ProductKind::Steerable);
    full("CliffordLayer::random", clifford.random::<f32>(&gpu, [256, 256]).map(drop));
    let clifford = clifford.random::<f32>(&gpu, [8, 8]).unwrap();
    full("CliffordLayer::forward", clifford.forward(&x).map(drop));
    full("CliffordLayer::backward", clifford.backward(&x, &x).map(drop));
    std::mem::take(found).none();
}
