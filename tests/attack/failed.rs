//! Launches that are refused and recordings that fail: nothing else is lost, and what is lost never reads as a number.

use crate::held::{elements, integers};
use crate::mistakes::small_tile;
use crate::model::Model;
use crate::random::Random;
use crate::rough::{before_a_launch, behind_a_launch};
use crate::support;
use crate::watchdog::doing;
use crate::world::SMALL_BINDING;
use tilewise::gpu::Submission;
use tilewise::{Error, Gemm, GemmKernel, Gpu, Split, f16, ops, wgpu};

fn devices() -> Vec<Gpu> {
    let batched = support::own(|options| options.submission = Submission::Batched);
    [batched, support::adopted(|_| ())].iter().flatten().map(|gpu| (**gpu).clone()).collect()
}

/// A device without features whose bindings hold 64 KiB.
fn small_bindings() -> Option<Gpu> {
    let gpu = support::adopted(|desc| {
        desc.required_features = wgpu::Features::empty();
        desc.required_limits =
            wgpu::Limits { max_storage_buffer_binding_size: SMALL_BINDING, ..wgpu::Limits::default() };
    })?;
    Some((*gpu).clone())
}

#[test]
fn a_launch_on_a_destroyed_buffer_is_refused_alone() {
    for gpu in devices() {
        let _doing = doing("a launch on a destroyed buffer");
        let model = Model::random(&mut Random::new(&[3]), &[6, 7]);
        let _graves: Vec<_> = (0..20).map(|_| before_a_launch(&gpu, &model)).collect();
    }
}

#[test]
fn what_a_failed_recording_should_have_written_stays_failed_until_it_is_written() {
    for gpu in devices() {
        let _doing = doing("a recording that fails");
        let model = Model::random(&mut Random::new(&[4]), &[6, 7]);
        let _graves: Vec<_> = (0..20).map(|_| behind_a_launch(&gpu, &model)).collect();
    }
}

#[test]
fn products_in_any_number_of_parts_are_right_or_refused_and_nothing_else_is_lost() {
    let Some(gpu) = small_bindings() else { return };
    let a = Model::random(&mut Random::new(&[5]), &[48, 320]);
    let want = a.matmul(&a.t(), 1 << 24).expect("small").values;
    let one = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [4]).unwrap();
    let a = gpu.tensor(&elements::<f32>(&a.values), &a.shape).unwrap();
    for parts in [1, 2, 4, 5, 7, 8, 10, 1000] {
        let _doing = doing(format!("a product in {parts} parts"));
        let sum = ops::add(&one, &one).unwrap();
        let at = a.t();
        let product = Gemm::new(&a, &at).tile(small_tile()).split(Split::Parts(parts));
        match product.run() {
            Ok(c) => assert_eq!(integers(&c.to_vec().unwrap()), want, "{parts} parts"),
            Err(error) => {
                // Parts are of whole steps of k: eight are five, whose sums fit.
                assert!(parts > 8, "{parts} parts: {error}");
                assert!(
                    matches!(error, Error::Limit { .. } | Error::Unsupported { .. }),
                    "{parts} parts: {error}"
                );
            }
        }
        for time in 1..=2 {
            assert_eq!(
                sum.to_vec().unwrap(),
                [2.0, 4.0, 6.0, 8.0],
                "beside {parts} parts, read {time} times"
            );
        }
    }
}

#[test]
fn what_cannot_be_bound_is_refused_and_nothing_else_is_lost() {
    let Some(gpu) = small_bindings() else { return };
    let _doing = doing("a sum that cannot be bound");
    let one = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [4]).unwrap();
    let a = gpu.zeros::<f32>([256, 16]).unwrap();
    let sum = ops::add(&one, &one).unwrap();
    // 256 KiB: computed in panels, each of which can be bound.
    let large = Gemm::new(&a, &a.t()).kernel(GemmKernel::Naive).run().unwrap();
    for error in [
        ops::add(&large, &large).map(drop).expect_err("it cannot be bound"),
        large.t().contiguous().map(drop).expect_err("it cannot be bound"),
        large.cast::<f16>().map(drop).expect_err("it cannot be bound"),
    ] {
        assert!(matches!(error, Error::Limit { .. }), "{error:?}");
    }
    assert_eq!(integers(&large.to_vec().unwrap()), vec![0; 256 * 256]);
    for time in 1..=2 {
        assert_eq!(sum.to_vec().unwrap(), [2.0, 4.0, 6.0, 8.0], "read {time} times");
    }
}
