//! More workgroups than one axis of a grid has.

use crate::{assert_near, random, rounding, wide};
use tilewise::ops::{self, LayerNorm};
use tilewise::{Element, Gpu, f16};

/// Elements of each operation. A full sweep runs what was reported; by default a device's axis has 64 workgroups, so that few
/// elements need as many axes.
#[derive(Clone, Copy)]
struct Sizes {
    elements: usize,
    softmax_rows: usize,
    norm_rows: usize,
}

fn devices() -> Vec<(support::TestGpu, Sizes)> {
    let small = Sizes { elements: 1_300_013, softmax_rows: 40_000, norm_rows: 70_001 };
    let narrow = support::adopted(|desc| desc.required_limits.max_compute_workgroups_per_dimension = 64);
    let mut devices: Vec<_> = narrow.into_iter().map(|gpu| (gpu, small)).collect();
    if support::is_full_sweep() {
        let reported = Sizes { elements: 130_000_000, softmax_rows: 16_000_000, norm_rows: 32_000_000 };
        devices.extend(support::gpu().map(|gpu| (gpu, reported)));
    }
    devices
}

/// tensorflow/tfjs#8373, ggml-org/llama.cpp#23750, sonos/tract#2820: more than 65,535 workgroups are dropped, or refused.
#[test]
fn grids_beyond_one_axis_reach_every_element() {
    for (gpu, Sizes { elements, .. }) in devices() {
        let data: Vec<i8> = (0..elements).map(|i| i8::try_from(i % 127).unwrap() - 63).collect();
        let x = gpu.tensor(&data, [elements]).unwrap();
        let doubled = ops::add(&x, &x).unwrap().to_vec().unwrap();
        let is_double = |at: usize| i32::from(doubled[at]) == (2 * i32::from(data[at])).clamp(-128, 127);
        let is_wrapped = |at: usize| doubled[at] == data[at].wrapping_mul(2);
        assert!((0..elements).all(|at| is_double(at) || is_wrapped(at)), "add of {elements}");
        let total: i64 = data.iter().map(|&x| i64::from(x)).sum();
        assert_eq!(ops::sum(&x, 0).unwrap().to_vec().unwrap(), [i32::try_from(total).unwrap()]);
        let mut marked = data;
        marked[elements - 2] = 127;
        let marked = gpu.tensor(&marked, [elements]).unwrap();
        assert_eq!(
            ops::argmax(&marked, 0).unwrap().to_vec().unwrap(),
            [i32::try_from(elements - 2).unwrap()]
        );
        let rows = elements / 1000;
        let view = marked.slice(0, ..rows * 1000).unwrap().reshape([rows, 1000]).unwrap();
        let copied = view.t().contiguous().unwrap().to_vec().unwrap();
        let held = view.to_vec().unwrap();
        let is_turned = |at: usize| copied[at] == held[at % rows * 1000 + at / rows];
        assert!((0..rows * 1000).all(is_turned), "a transposed copy of {elements}");
    }
}

/// The same reports: one workgroup for each row.
#[test]
fn rows_beyond_one_axis_are_all_computed() {
    fn check(gpu: &Gpu, sizes: &Sizes) {
        let (rows, len) = (sizes.softmax_rows, 4);
        let data = random::<f16>(rows * len, 1);
        let y = ops::softmax(&gpu.tensor(&data, [rows, len]).unwrap(), 1).unwrap().to_vec().unwrap();
        for (at, (x, y)) in data.chunks_exact(len).zip(y.chunks_exact(len)).enumerate() {
            let weights: Vec<f64> = wide(x).iter().map(|x| x.exp()).collect();
            let want: Vec<f64> = weights.iter().map(|w| w / weights.iter().sum::<f64>()).collect();
            assert_near(&wide(y), &want, |i| 2.0 * rounding::<f16>(want[i]), &format!("softmax of row {at}"));
        }
        let (rows, len) = (sizes.norm_rows, 2);
        let data: Vec<f16> = (0..rows * len)
            .map(|i| <f16 as Element>::from_f64((i % 1009) as f64 * if i % 2 == 0 { 1.0 } else { 0.5 }))
            .collect();
        let y = LayerNorm::new().run(&gpu.tensor(&data, [rows, len]).unwrap());
        let y = y.unwrap().to_vec().unwrap();
        for (at, (x, y)) in data.chunks_exact(len).zip(y.chunks_exact(len)).enumerate() {
            let half = (x[0].to_f64() - x[1].to_f64()) / 2.0;
            let want = half / (half * half + 1e-5).sqrt();
            let allowed = 1e-4 + rounding::<f16>(want);
            assert_near(&wide(y), &[want, -want], |_| allowed, &format!("layer norm of row {at}"));
        }
    }
    for (gpu, sizes) in devices() {
        check(&gpu, &sizes);
    }
}
