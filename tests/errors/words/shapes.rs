//! Shapes that do not go together.

use super::{Found, PLANE, mv, product, random, sketched, sketches};
use tilewise::clifford::layer::{
    BiasOn, CliffordLayer, Connected, MvLayerNorm, MvLinear, MvNormalization, MvSilu, ProductKind,
};
use tilewise::clifford::{BladeAxis, Multivectors, MvProduct, Product};
use tilewise::gemm::Linear;
use tilewise::ops::{
    self, BatchNorm, GroupNorm, InstanceNorm, LayerNorm, Reduction, RmsNorm, Rotary, RotaryPairs,
    RunningStatistics,
};
use tilewise::sketch::{
    Budget, Cqrrpt, ExplicitSketch, SkLinear, Sketch, SketchKind, cqrrpt, lstsq, range, recommend_rank, rsvd,
    trace,
};
use tilewise::{Activation, Gemm, Parameters, linear, matmul};

#[test]
fn shapes_that_do_not_go_together() {
    let gpu = support::noop();
    let found = &mut Found::default();
    let t = |shape: &[usize]| random(&gpu, shape);
    let (a, b) = (t(&[3, 4]), t(&[5, 6]));
    let given: &[&[usize]] = &[&[3, 4], &[5, 6]];

    found.shapes("matmul", given, Gemm::new(&a, &b).plan());
    found.shapes("assign", &[&[3, 3], &[2, 2]], {
        let (a, mut c) = (t(&[3, 4]), t(&[2, 2]));
        c.assign(|| matmul(&a, &a.t()))
    });
    let x = t(&[7, 64]);
    let (weight, vector) = (t(&[64, 10]), t(&[10]));
    found.shapes("linear", &[&[7, 64], &[64, 10]], linear(&x, &weight, None, Activation::None));
    found.shapes("linear", &[&[64], &[10, 64]], linear(&t(&[64]), &weight.t(), None, Activation::None));
    found.shapes("linear", &[&[10]], linear(&x, &vector, None, Activation::None));
    found.shapes("linear", &[&[64], &[10, 64]], linear(&x, &t(&[10, 64]), Some(&t(&[64])), Activation::None));
    found.shapes("Linear::new", &[&[10]], Linear::new(vector.clone(), None, Activation::None));
    found.shapes(
        "Linear::new",
        &[&[10], &[64, 10]],
        Linear::new(weight.clone(), Some(vector.clone()), Activation::None),
    );

    let mut c = t(&[3, 4]);
    found.shapes("bias_add_assign", &[&[10], &[3, 4]], ops::bias_add_assign(&mut c, &vector));
    let at = gpu.zeros::<i32>([1]).unwrap();
    found.shapes("copy_into_at", given, ops::copy_into_at(&b, &mut c, 2, &at));
    found.shapes("slice_at", given, ops::slice_at(&a, 2, &at, 1));
    found.shapes("slice_at", given, ops::slice_at(&a, 1, &at, 5));
    found.shapes("sum", given, ops::sum(&a, 2));
    found.shapes("sum_squares", given, ops::sum_squares(&a, 2));
    found.shapes("max_abs", given, ops::max_abs(&a, 2));
    found.shapes("mean", &[&[3, 4], &[0, 2]], ops::mean(&a, [0, 2]));
    found.shapes("prod", &[&[3, 4], &[1, 1]], ops::prod(&a, [1, 1]));
    found.shapes("norm", given, ops::norm(&a, 2));
    found.shapes("max", given, ops::max(&a, 2));
    found.shapes("max", &[&[3, 0]], ops::max(&t(&[3, 0]), 1));
    found.shapes("min", given, ops::min(&a, 2));
    found.shapes("argmax", given, ops::argmax(&a, 2));
    found.shapes("argmin", given, ops::argmin(&a, 2));
    found.shapes("var", given, ops::var(&a, 2, 1));
    found.shapes("cumsum", given, ops::cumsum(&a, 2));
    found.shapes("softmax", given, ops::softmax(&a, 2));
    found.shapes("log_softmax", given, ops::log_softmax(&a, 2));
    let rotary = Rotary::new(&gpu, RotaryPairs::Halves, 6, 1e4, 9).unwrap();
    found.shapes("Rotary::apply", &[&[3, 4], &[6]], rotary.apply(&a, 0));
    found.shapes("Rotary::backward", &[&[10]], rotary.backward(&vector, 0));
    let classes = gpu.zeros::<i32>([5]).unwrap();
    found.shapes("cross_entropy", &[&[3, 4], &[5]], ops::cross_entropy(&a, &classes));
    found.shapes(
        "cross_entropy_and_gradient",
        &[&[3, 4], &[5]],
        ops::cross_entropy_and_gradient(&a, &classes),
    );
    let mean = Reduction::Mean;
    found.shapes(
        "bce_with_logits_and_gradient",
        &[&[3, 4], &[10]],
        ops::bce_with_logits_and_gradient(&a, &a, Some(&vector), mean, 1.0),
    );

    let norm = LayerNorm::new().gamma(&vector);
    found.shapes("LayerNorm::run", &[&[10]], norm.run(&a));
    found.shapes("LayerNorm::run", &[&[3, 4]], norm.axes(3).run(&a));
    found.shapes("LayerNorm::with_statistics", &[&[10]], norm.with_statistics(&a));
    let mut normed = LayerNorm::new().with_statistics(&a).unwrap();
    let plain = LayerNorm::new();
    normed.mean = vector.clone();
    found.shapes("LayerNorm::backward", &[&[10]], plain.backward(&a, &normed, &a));
    let norm = RmsNorm::new().gamma(&vector);
    found.shapes("RmsNorm::run", &[&[10]], norm.run(&a));
    found.shapes("RmsNorm::with_statistics", &[&[10]], norm.with_statistics(&a));
    let normed = RmsNorm::new().with_statistics(&a).unwrap();
    found.shapes("RmsNorm::backward", &[&[10]], norm.backward(&a, &normed, &a));

    let norm = GroupNorm::new(2).gamma(&vector);
    found.shapes("GroupNorm::run", &[&[10]], norm.run(&a));
    found.shapes("GroupNorm::run", &[&[3, 4]], GroupNorm::new(3).run(&a));
    found.shapes("GroupNorm::run", &[&[10]], GroupNorm::new(2).run(&vector));
    found.shapes("GroupNorm::with_statistics", &[&[10]], norm.with_statistics(&a));
    let mut normed = GroupNorm::new(2).with_statistics(&a).unwrap();
    found.shapes("GroupNorm::backward", &[&[10]], norm.backward(&a, &normed, &a));
    normed.rstd = vector.clone();
    let plain = InstanceNorm::new().gamma(&vector);
    found.shapes("InstanceNorm::run", &[&[10]], plain.run(&a));
    found.shapes("InstanceNorm::with_statistics", &[&[10]], plain.with_statistics(&a));
    let norm = BatchNorm::new().gamma(&vector);
    let running = RunningStatistics { mean: vector.clone(), variance: vector.clone() };
    let plain = BatchNorm::new();
    found.shapes("BatchNorm::run", &[&[10]], plain.run(&a, &running));
    found.shapes("BatchNorm::backward", &[&[10]], plain.backward(&a, &running, &a));
    found.shapes("BatchNorm::training", &[&[10]], norm.training(&a, None));
    found.shapes("BatchNorm::training", &[&[10]], plain.training(&vector, None));

    found.shapes("tensor", &[&[1], &[3, 4]], gpu.tensor(&[0.0f32], [3, 4]));
    found.shapes("slice", given, a.slice(2, ..));
    found.shapes("reshape", &[&[3, 4], &[5, 5]], a.reshape([5, 5]));
    found.shapes("permute", &[&[3, 4], &[0]], a.permute(&[0]));
    found.shapes("write", &[&[1], &[3, 4]], c.write(&[0.0]));

    for sketch in sketches() {
        found.shapes("Sketch::apply", &[&[3, 4], &[8, 16]], sketch.apply(&a, 1));
        found.shapes("Sketch::adjoint", &[&[3, 4], &[8, 16]], sketch.adjoint(&a, 1));
        found.shapes("Sketch::left", &[&[3, 4], &[8, 16]], sketch.left(&a));
        found.shapes("Sketch::right", &[&[10]], sketch.right(&vector));
        found.shapes("Sketch::plan", &[&[3, 4]], sketch.plan(tilewise::sketch::Direction::Forward, &a, 9));
    }
    found.shapes("Sketch::new", &[&[0, 4]], Sketch::new(SketchKind::Sign, [0, 4], 1));
    found.shapes("ExplicitSketch::new", &[&[10]], ExplicitSketch::new(vector.clone()));
    let of = ExplicitSketch::new(t(&[8, 16])).unwrap();
    found.shapes("ExplicitSketch::apply", &[&[3, 4], &[8, 16]], of.apply(&a, 1));
    found.shapes("ExplicitSketch::adjoint", &[&[3, 4], &[8, 16]], of.adjoint(&a, 1));
    found.shapes("ExplicitSketch::left", &[&[10]], of.left(&vector));
    found.shapes("ExplicitSketch::right", &[&[3, 4], &[8, 16]], of.right(&a));
    found.shapes("rsvd", &[&[10]], rsvd(&vector, 2));
    found.shapes("range", &[&[10]], range(&vector, 2));
    found.shapes("cqrrpt", &[&[10]], cqrrpt(&vector));
    found.shapes("cqrrpt", &[&[3, 4], &[8, 16]], Cqrrpt::new(&a).operator(sketches()[0]).run());
    found.shapes("lstsq", &[&[3, 4], &[5, 6]], lstsq(&a, &b));
    found.shapes("trace", given, trace(&a, 4, 1));
    found.shapes("recommend_rank", &[&[10]], recommend_rank(&vector, Budget::Params(0.5)));
    found.shapes(
        "SkLinear::recommend_rank",
        &[&[10]],
        SkLinear::recommend_rank(&vector, Budget::Params(0.5)),
    );
    found.shapes("SkLinear::fit", &[&[10]], SkLinear::fit(&vector, 1, 1));
    found.shapes("SkLinear::panther", &[&[10]], SkLinear::builder(1, 1).panther(&vector));
    found.shapes("SkLinear::least_squares", &[&[10]], SkLinear::builder(1, 1).least_squares(&vector));
    let wide_enough = t(&[12, 16]);
    found.shapes("SkLinear::fit_to", given, SkLinear::builder(1, 1).fit_to(&wide_enough, &a));
    let builder = SkLinear::builder(1 << 63, 2).allow_larger();
    let beyond: &[&[usize]] = &[&[1 << 63, 2], &[16, 12]];
    found.shapes("SkLinear::fit", beyond, builder.fit(&wide_enough));
    found.shapes("SkLinear::fit_to", beyond, builder.fit_to(&wide_enough, &t(&[5, 16])));
    found.shapes("SkLinear::panther", beyond, builder.panther(&wide_enough));
    found.shapes("SkLinear::least_squares", beyond, builder.least_squares(&wide_enough));
    found.shapes("SkLinear::random", beyond, builder.random(&gpu, [16, 12]));
    found.shapes("SkLinear::random", &[&[0, 4]], SkLinear::<f32>::builder(1, 1).random(&gpu, [0, 4]));
    found.shapes(
        "SkLinear::from_factors",
        &[&[3, 4]],
        SkLinear::from_factors([&a, &a, &a, &a], None, Activation::None),
    );
    let layer = sketched(&gpu);
    found.shapes("SkLinear::plans", given, layer.plans(&a));
    let of_other = || {
        let other = SkLinear::<f32>::builder(1, 2).allow_larger().random(&gpu, [3, 4]).unwrap();
        let [x, hidden, g] = [[5, 3], [5, 4], [5, 4]].map(|shape| random(&gpu, &shape));
        other.backward(&x, &hidden, &g).unwrap().1
    };
    let sizes: &[&[usize]] = &[&[1, 3, 2], &[1, 16, 2]];
    found.shapes("SkLinear::backward_into", sizes, layer.backward_into(&a, &a, &a, &mut of_other()));
    found.shapes("Parameters::descend", sizes, layer.clone().descend(&of_other(), 0.1));

    let mvs = |shape: &[usize]| mv(t(shape));
    let (x, y) = (mvs(&[4, 3, 2]), mvs(&[4, 5, 2]));
    let positions: &[&[usize]] = &[&[3, 2], &[5, 2]];
    found.shapes("Multivectors::new", given, Multivectors::new(a.clone(), &PLANE.blades(), BladeAxis::First));
    found.shapes(
        "product",
        positions,
        MvProduct::new(Product::Geometric, &x, &y).blades(&PLANE.even()).run(),
    );
    found.shapes("product", positions, MvProduct::new(Product::Geometric, &x, &y).plan());
    let rotor = |shape: &[usize]| Multivectors::new(t(shape), &PLANE.even(), BladeAxis::First).unwrap();
    found.shapes("plan_sandwich", positions, rotor(&[2, 3, 2]).plan_sandwich(&y));
    let of = t(&[7, 7]);
    let motors = [rotor(&[2, 3, 2]), rotor(&[2, 3, 2]), rotor(&[2, 5, 2])];
    found.shapes("interpolate", &[&[7, 7], &[3, 2]], motors[0].interpolate(&motors[1], &of));
    found.shapes("interpolate", positions, motors[0].interpolate(&motors[2], &of));

    let all = t(&[PLANE.paths().len(), 2, 2]);
    let connected = Connected::new(product(), &x, &x, &all).unwrap();
    found.shapes("Connected::plan_backward", positions, connected.plan_backward(&y));
    let weight = t(&[2, 9]);
    let layer = product();
    let paths = [2, PLANE.paths().len()];
    found.shapes("LayerProduct::steerable", &[&[2, 9], &paths], layer.steerable(&x, &x, &weight));
    found.shapes("LayerProduct::plan_steerable", positions, layer.plan_steerable(&x, &y, &weight));
    let plan = layer.plan_steerable_backward(&x, &y, &weight, &x);
    found.shapes("LayerProduct::plan_steerable_backward", positions, plan);
    found.shapes("LayerProduct::plan_connected", positions, layer.plan_connected(&x, &y, &weight));
    found.shapes("MvLinear::new", given, MvLinear::new(PLANE, a.clone()));
    let biased = MvLinear::builder(PLANE, t(&[3, 5, 6])).bias(vector.clone(), BiasOn::Scalar);
    found.shapes("MvLinear::build", &[&[10]], biased.build());
    found.shapes("MvNormalization::new", given, MvNormalization::new(PLANE, a.clone()));
    found.shapes("MvLayerNorm::new", given, MvLayerNorm::new(PLANE, a.clone()));
    found.shapes("MvSilu::new", given, MvSilu::new(PLANE, a.clone(), a.clone()));
    let clifford = CliffordLayer::<f32>::builder(layer, ProductKind::Connected).random(&gpu, [5, 6]).unwrap();
    found.shapes("CliffordLayer::forward", positions, clifford.forward(&x));
    found.shapes("CliffordLayer::backward", positions, clifford.backward(&x, &x));
    std::mem::take(found).none();
}
