//! Optional operands of two devices, and operands of a device that was adopted twice.

use super::{Found, PLANE, mv, random};
use support::failure::says;
use tilewise::clifford::layer::{BiasOn, MvLinear};
use tilewise::gemm::Linear;
use tilewise::ops::{self, CrossEntropy, GroupNorm, LayerNorm, Reduction, RmsNorm};
use tilewise::sketch::{Cqrrpt, ExplicitSketch};
use tilewise::{Activation, Error, Gpu, GpuOptions, Result, Tensor, linear, matmul};

/// What the examples of `tests/support/operations` leave out, or take from what they have anyway.
#[test]
fn operands_of_different_devices() {
    let (gpu, other) = (support::noop(), support::noop());
    let mut found = Found::default();
    let t = |shape: &[usize]| random(&gpu, shape);
    let o = |shape: &[usize]| random(&other, shape);
    let (a, gamma) = (t(&[4, 4]), o(&[4]));
    let mut apart = |call: &str, result: Result<()>| {
        found.of_kind(call, result, |error| matches!(error, Error::Gpu { .. }));
    };
    apart("assign", o(&[4, 4]).assign(|| matmul(&a, &a)));
    apart("linear", linear(&a, &a, Some(&gamma), Activation::None).map(drop));
    apart("Linear::new", Linear::new(a.clone(), Some(gamma.clone()), Activation::None).map(drop));
    let rms = RmsNorm::new().gamma(&gamma);
    apart("RmsNorm::run", rms.run(&a).map(drop));
    let group = GroupNorm::new(2).gamma(&gamma);
    apart("GroupNorm::run", group.run(&a).map(drop));
    apart("l1_and_gradient", ops::l1_and_gradient(&a, &a, Reduction::None, &o(&[4, 4])).map(drop));
    apart("bce_with_logits", ops::bce_with_logits(&a, &a, Some(&gamma), Reduction::Sum).map(drop));
    let classes: Tensor<i32> = other.zeros([4]).unwrap();
    apart("cross_entropy", ops::cross_entropy(&a, &classes).map(drop));
    let entropy = CrossEntropy::new().class_weights(&gamma);
    let of_gpu: Tensor<i32> = gpu.zeros([4]).unwrap();
    apart("cross_entropy", entropy.run(&a, &of_gpu).map(drop));
    let upstream = CrossEntropy::new().run_with_gradient(&a, &of_gpu, &o(&[]));
    apart("cross_entropy_and_gradient", upstream.map(drop));
    apart("LayerNorm::run", LayerNorm::new().gamma(&gamma).run(&a).map(drop));
    let explicit = ExplicitSketch::new(t(&[6, 8])).unwrap();
    apart("cqrrpt", Cqrrpt::new(&o(&[8, 4])).explicit(&explicit).run().map(drop));
    let of = MvLinear::builder(PLANE, t(&[3, 2, 2])).bias(o(&[2]), BiasOn::Scalar);
    apart("MvLinear::build", of.build().map(drop));
    found.none();
}

/// The first devices of two instances, which wgpu compares as equal, and two of one adapter.
#[test]
fn devices_that_only_look_alike_are_told_apart() {
    let adapter = support::noop_adapter();
    let of_adapter = || support::noop_on(&adapter, GpuOptions::default(), |_| ());
    for [gpu, other] in [[support::noop(), support::noop()], [of_adapter(), of_adapter()]] {
        says(matmul(&random(&gpu, &[4, 4]), &random(&other, &[4, 4])), &["live on different devices"]);
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
