//! Staged writes run in the recorded order, without a submission between them.

use super::{bits, on_every_device, values, with_ring};
use pollster::block_on;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::failure::{Kind, fails};
use tilewise::gpu::Submission;
use tilewise::{Element, Gpu, f16, matmul, ops};

const SIZE: usize = 8;

#[test]
fn writes_and_products_alternate_in_one_submission() {
    on_every_device("alternating", |gpu| {
        let mut x = gpu.zeros::<f32>([SIZE; 2]).unwrap();
        gpu.wait().unwrap();
        let before = gpu.stats();
        let products: Vec<_> = (0..5)
            .map(|step| {
                x.write_from(|to| to.write(0, &values(SIZE * SIZE, step))).unwrap();
                matmul(&x, &x).unwrap()
            })
            .collect();
        let after = gpu.stats();
        assert_eq!((after.submits - before.submits, after.launches - before.launches), (0, 5));
        let got: Vec<_> = products.iter().map(bits).collect();
        for (step, got) in got.iter().enumerate() {
            let y = gpu.tensor(&values::<f32>(SIZE * SIZE, step as u64), [SIZE; 2]).unwrap();
            assert_eq!(*got, bits(&matmul(&y, &y).unwrap()), "{gpu:?}, step {step}");
        }
    });
}

#[test]
fn both_kinds_of_writes_keep_their_order() {
    on_every_device("both kinds", |gpu| {
        let mut x = gpu.tensor(&[1.0f32; 4], [4]).unwrap();
        let first = ops::add(&x, &x).unwrap();
        x.write_from(|to| to.fill(2.0)).unwrap();
        let second = ops::add(&x, &x).unwrap();
        x.write(&[3.0; 4]).unwrap();
        let third = ops::add(&x, &x).unwrap();
        x.write_from(|to| assert_eq!(to.write_iter((4..9u8).map(f32::from)), 4)).unwrap();
        for (tensor, want) in [(&first, [2.0f32; 4]), (&second, [4.0; 4]), (&third, [6.0; 4])] {
            assert_eq!(tensor.to_vec().unwrap(), want, "{gpu:?}");
        }
        assert_eq!(x.to_vec().unwrap(), [4.0, 5.0, 6.0, 7.0]);
    });
}

fn odd_lengths<T: Element>(gpu: &Gpu) {
    for len in [1, 2, 3, 5, 127, 129] {
        let (first, second) = (values::<T>(len, 1), values::<T>(len, 2));
        let mut x = gpu.tensor(&first, [len]).unwrap();
        let copy = x.cast::<f32>().unwrap();
        x.write_from(|to| to.write(0, &second)).unwrap();
        let wide = |values: &[T]| values.iter().map(|v| v.to_f64()).collect::<Vec<_>>();
        assert_eq!(wide(&x.to_vec().unwrap()), wide(&second), "{gpu:?}, {} of {}", len, T::DTYPE);
        let copy: Vec<f64> = copy.to_vec().unwrap().iter().map(|&v| v.into()).collect();
        assert_eq!(copy, wide(&first));
        let uploaded = block_on(gpu.upload_async(&second, [len])).unwrap();
        assert_eq!(wide(&uploaded.to_vec().unwrap()), wide(&second));
    }
}

#[test]
fn odd_lengths_of_small_elements() {
    on_every_device("odd lengths", |gpu| {
        odd_lengths::<f16>(gpu);
        odd_lengths::<i8>(gpu);
        odd_lengths::<i32>(gpu);
    });
}

#[test]
fn a_part_of_a_tensor_is_written_between_its_uses() {
    on_every_device("a part", |gpu| {
        let mut whole = gpu.zeros::<f32>([4, 4]).unwrap();
        for row in 0..4 {
            let mut part = whole.slice(0, row..row + 1).unwrap().writable_view();
            part.write_from(|to| to.fill(1.0)).unwrap();
            drop(part);
            let sum = ops::add(&whole, &whole).unwrap();
            let ones = sum.to_vec().unwrap().iter().filter(|v| **v == 2.0).count();
            assert_eq!(ones, 4 * (row + 1), "{gpu:?}");
        }
        whole.write_from(|to| assert_eq!(to.len(), 16)).unwrap();
        let mut none = gpu.zeros::<f32>([0, 3]).unwrap();
        none.write_from(|to| assert!(to.is_empty())).unwrap();
    });
}

/// A callback of wgpu runs only when some thread polls. So it tells whether the host has waited.
#[test]
fn the_host_does_not_wait_for_the_device_while_there_is_room() {
    let Some(gpu) = support::own(|options| options.submission = Submission::Batched) else { return };
    let large = gpu.zeros::<f32>([256; 2]).unwrap();
    let mut x = gpu.zeros::<f32>([SIZE; 2]).unwrap();
    let product = ops::add(&matmul(&large, &large).unwrap(), &large).unwrap();
    gpu.flush().unwrap();
    let has_run = Arc::new(AtomicBool::new(false));
    let tell = has_run.clone();
    gpu.queue().on_submitted_work_done(move || tell.store(true, Ordering::Release));
    let submits = gpu.stats().submits;
    let mut next = None;
    for step in 0..4 {
        x.write_from(|to| to.fill(if step == 3 { 1.0 } else { 9.0 })).unwrap();
        next = Some(matmul(&x, &x).unwrap());
    }
    assert!(!has_run.load(Ordering::Acquire), "the host has waited");
    assert_eq!(gpu.stats().submits, submits);
    assert_eq!(next.unwrap().to_vec().unwrap(), [8.0; SIZE * SIZE]);
    assert!(has_run.load(Ordering::Acquire), "a read waits");
    assert!(product.to_vec().unwrap().iter().all(|v| *v == 0.0));
}

#[test]
fn a_full_ring_waits_for_the_oldest_copy_alone() {
    let Some(gpu) = with_ring(2048) else { return };
    let mut x = gpu.zeros::<f32>([256]).unwrap();
    gpu.wait().unwrap();
    let mut sums = Vec::new();
    for step in 0..9u8 {
        x.write_from(|to| to.fill(step.into())).unwrap();
        sums.push(ops::add(&x, &x).unwrap());
        let stats = gpu.stats();
        assert!(stats.bytes_upload_ring + stats.bytes_upload_ring_free <= 2048, "{stats:?}");
    }
    for (step, sum) in (0u8..).zip(sums) {
        assert_eq!(sum.to_vec().unwrap(), [2.0 * f32::from(step); 256]);
    }
}

#[test]
fn an_input_of_a_replay_is_fed_in_one_submission() {
    on_every_device("a replay", |gpu| {
        let x = gpu.zeros::<f32>([SIZE; 2]).unwrap();
        let mut replay = gpu.capture(&[x.view()], || matmul(&x, &x)).unwrap();
        gpu.wait().unwrap();
        let submits = gpu.stats().submits;
        let mut products = Vec::new();
        for step in 0..4 {
            replay.write_from(0, |to| to.write(0, &values::<f32>(SIZE * SIZE, step))).unwrap();
            let product = replay.run(&[x.view()]).unwrap();
            products.push(ops::add(product, product).unwrap());
        }
        assert_eq!(gpu.stats().submits, submits, "{gpu:?}");
        for (step, product) in products.iter().enumerate() {
            let y = gpu.tensor(&values::<f32>(SIZE * SIZE, step as u64), [SIZE; 2]).unwrap();
            let y = matmul(&y, &y).unwrap();
            assert_eq!(bits(product), bits(&ops::add(&y, &y).unwrap()), "{gpu:?}, step {step}");
        }
        fails(replay.write_from(1, |to| to.fill(0.0f32)), Kind::Input, &["the replay has 1 inputs"]);
        fails(replay.write_from(0, |to| to.fill(0i8)), Kind::Input, &["its elements are f32, not i8"]);
    });
}
