//! What a device cannot bind is refused before anything is recorded, and nothing else is lost.

use support::TestGpu;
use support::watchdog::doing;
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::{Error, Fill, Gemm, ops, reference, wgpu};

/// A device without features whose bindings hold 64 KiB.
fn small_bindings() -> Option<TestGpu> {
    support::adopted(|desc| {
        desc.required_features = wgpu::Features::empty();
        desc.required_limits =
            wgpu::Limits { max_storage_buffer_binding_size: 64 << 10, ..wgpu::Limits::default() };
    })
}

#[test]
fn products_in_any_number_of_parts_are_right_or_refused_and_nothing_else_is_lost() {
    let Some(gpu) = small_bindings() else { return };
    let shape @ [m, _, k] = [48, 48, 320];
    let values = Fill::Integers.values::<f32>(m * k, 5);
    let columns: Vec<f32> = (0..k * m).map(|i| values[i % m * k + i / m]).collect();
    let want = reference::gemm(&values, &columns, shape).value;
    let one = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [4]).unwrap();
    let a = gpu.tensor(&values, [m, k]).unwrap();
    let smallest = GemmKernel::Tiled.tiles().iter().min_by_key(|tile| (tile.bm, tile.tm));
    let tile = *smallest.expect("a kernel has tiles");
    for parts in [1, 2, 4, 5, 7, 8, 10, 1000] {
        let _doing = doing(format!("a product in {parts} parts"));
        let sum = ops::add(&one, &one).unwrap();
        let at = a.t();
        let product = Gemm::new(&a, &at).tile(tile).split_k(SplitK::Splits(parts));
        match product.run() {
            Ok(c) => {
                let got: Vec<f64> = c.to_vec().unwrap().into_iter().map(f64::from).collect();
                assert_eq!(got, want, "{parts} parts");
            }
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
    // So are operations on elements, but not a row that is larger than a binding.
    assert_eq!(ops::add(&large, 1.0).unwrap().to_vec().unwrap(), vec![1.0; 256 * 256]);
    let row = large.reshape([256 * 256]).unwrap();
    for error in [
        ops::softmax(&row, 0).map(drop).expect_err("it cannot be bound"),
        ops::cumsum(&row, 0).map(drop).expect_err("it cannot be bound"),
    ] {
        assert!(matches!(error, Error::Limit { .. }), "{error:?}");
    }
    assert_eq!(large.to_vec().unwrap(), vec![0.0; 256 * 256]);
    for time in 1..=2 {
        assert_eq!(sum.to_vec().unwrap(), [2.0, 4.0, 6.0, 8.0], "read {time} times");
    }
}
