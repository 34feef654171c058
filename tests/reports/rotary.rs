//! Rotary position embeddings.

use crate::{assert_near, random, rounding, wide};
use tilewise::ops::{Rotary, RotaryPairs};
use tilewise::{Gpu, Real, f16};

const BASE: f64 = 10_000.0;

/// Rows of `dim` elements, of which the first `rotary_dims` turn: row i of each `length` is at position `start` + i.
fn turned(
    x: &[f64],
    [length, dim]: [usize; 2],
    pairs: RotaryPairs,
    rotary_dims: usize,
    start: usize,
) -> Vec<f64> {
    let mut y = x.to_vec();
    for (at, row) in y.chunks_exact_mut(dim).enumerate() {
        let position = (start + at % length) as f64;
        for i in 0..rotary_dims / 2 {
            let angle = position * BASE.powf(-2.0 * i as f64 / rotary_dims as f64);
            let (p, q) = match pairs {
                RotaryPairs::Halves => (i, i + rotary_dims / 2),
                RotaryPairs::Interleaved => (2 * i, 2 * i + 1),
            };
            let (a, b) = (row[p], row[q]);
            row[p] = a * angle.cos() - b * angle.sin();
            row[q] = a * angle.sin() + b * angle.cos();
        }
    }
    y
}

/// mlx-rs#359 (2026), pie-project/pie#603 (2026): at length 1 only the first head turns, and the pairs are wrong if only some of
/// the elements turn.
#[test]
fn every_head_turns_at_length_one() {
    fn check<T: Real>(gpu: &Gpu) {
        let [batch, heads, dim, rotary_dims, start] = [3, 5, 64, 16, 5000];
        for pairs in RotaryPairs::ALL {
            let rotary = Rotary::new(gpu, pairs, rotary_dims, BASE, start + 2).unwrap();
            for length in [1, 2] {
                let data = random::<T>(batch * heads * length * dim, 1);
                let x = gpu.tensor(&data, [batch, heads, length, dim]).unwrap();
                let want = turned(&wide(&data), [length, dim], pairs, rotary_dims, start);
                let found = wide(&rotary.apply(&x, start).unwrap().to_vec().unwrap());
                let what = format!("{pairs:?}, length {length}, {}", T::DTYPE);
                assert_near(&found, &want, |i| 1e-6 + rounding::<T>(want[i]), &what);
            }
        }
    }
    let turn = support::turn();
    for gpu in turn.iter() {
        check::<f32>(gpu);
        check::<f16>(gpu);
    }
}

/// tracel-ai/burn#3011 (2025): too many workgroups.
#[test]
fn a_long_batch_turns_there_and_back() {
    let Some(gpu) = support::gpu() else { return };
    let shape = if support::is_full_sweep() { [128, 4, 512, 64] } else { [16, 4, 64, 64] };
    let data = random::<f32>(shape.iter().product(), 1);
    let x = gpu.tensor(&data, shape).unwrap();
    let rotary = Rotary::new(&gpu, RotaryPairs::Halves, 64, BASE, shape[2]).unwrap();
    let y = rotary.apply(&x, 0).unwrap();
    let last = [shape[2], 64].iter().product::<usize>();
    let want = turned(&wide(&data[data.len() - last..]), [shape[2], 64], RotaryPairs::Halves, 64, 0);
    let found = y.to_vec().unwrap();
    assert_near(&wide(&found[data.len() - last..]), &want, |_| 1e-6, "the last head");
    let back = wide(&rotary.backward(&y, 0).unwrap().to_vec().unwrap());
    assert_near(&back, &wide(&data), |_| 2e-6, "there and back");
}
