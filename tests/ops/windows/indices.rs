//! Elements by index, padding, rotations and random numbers.

use super::{MATRIX, Pair, place};
use support::strided::Lay;
use support::values::values;
use tilewise::ops::{self, Rotary, RotaryPairs};
use tilewise::{Element, Fill, f16};

/// Indices from before the first position to behind the last.
fn some(count: usize, extent: i32) -> Vec<i32> {
    (0..).map(|i| i * 7919 % (extent + 9) - 4).take(count).collect()
}

#[test]
fn elements_are_taken_by_index() {
    fn of_type<T: Element>(pair: &Pair) {
        let [m, n] = MATRIX;
        let x = Fill::Integers.values::<T>(m * n, 1);
        for lay in [Lay::Plain, Lay::Odd, Lay::Reversed] {
            let what = format!("{lay:?} {}", T::DTYPE);
            pair.same(&format!("rows of a large table {what}"), |gpu| {
                let ids = place(gpu, &some(77, 230), &[77], lay);
                ops::embedding(&place(gpu, &x, &MATRIX, lay), &ids)
            });
            pair.same(&format!("many rows {what}"), |gpu| {
                let ids = place(gpu, &some(9 * 61, 20), &[9, 61], lay);
                ops::embedding(&place(gpu, &x[..20 * n], &[20, n], lay), &ids)
            });
            for axis in [0, 1] {
                pair.same(&format!("index_select {axis} {what}"), |gpu| {
                    let indices = place(gpu, &some(300, 230), &[300], lay);
                    ops::index_select(&place(gpu, &x, &MATRIX, lay), axis, &indices)
                });
                pair.same(&format!("gather {axis} {what}"), |gpu| {
                    let indices = place(gpu, &some(220 * 390, 225), &[220, 390], lay);
                    ops::gather(&place(gpu, &x, &MATRIX, lay), axis, &indices)
                });
            }
            pair.same(&format!("pad {what}"), |gpu| {
                ops::pad(&place(gpu, &x, &MATRIX, lay), &[(250, 3), (1, 5)], T::from_f64(2.0))
            });
            pair.same(&format!("tril {what}"), |gpu| ops::tril(&place(gpu, &x, &MATRIX, lay), 57));
            pair.same(&format!("triu {what}"), |gpu| ops::triu(&place(gpu, &x, &MATRIX, lay), -31));
        }
        let ids = some(9 * 91, 99);
        pair.same("eye", |gpu| gpu.eye::<T>([301, 260]));
        pair.same("one_hot", |gpu| ops::one_hot::<T>(&place(gpu, &ids, &[9, 91], Lay::Odd), 101));
    }
    let Some(pair) = Pair::open() else { return };
    support::of_reals!(of_type, &pair);
    of_type::<i8>(&pair);
    of_type::<i32>(&pair);
    pair.same("arange", |gpu| gpu.arange(-9, 300_000, 3));
    pair.same("linspace", |gpu| gpu.linspace(f16::NEG_ONE, f16::ONE, 100_001));
}

#[test]
fn values_are_added_by_index() {
    fn of_type<T: Element>(pair: &Pair) {
        let [m, n] = MATRIX;
        let (c, values) = (Fill::Integers.values::<T>(m * n, 1), Fill::Integers.values::<T>(400 * n, 2));
        for lay in [Lay::Plain, Lay::Odd, Lay::Reversed] {
            let what = format!("{lay:?} {}", T::DTYPE);
            pair.same(&format!("index_add {what}"), |gpu| {
                let mut c = place(gpu, &c, &MATRIX, lay);
                let indices = place(gpu, &some(400, 230), &[400], lay);
                ops::index_add(&mut c, 0, &indices, &place(gpu, &values, &[400, n], lay))?;
                c.contiguous()
            });
            for axis in [0, 1] {
                pair.same(&format!("scatter_add {axis} {what}"), |gpu| {
                    let mut c = place(gpu, &c, &MATRIX, lay);
                    let indices = place(gpu, &some(220 * 390, 225), &[220, 390], lay);
                    let values = place(gpu, &values[..220 * 390], &[220, 390], lay);
                    ops::scatter_add(&mut c, axis, &indices, &values)?;
                    c.contiguous()
                });
            }
        }
    }
    let Some(pair) = Pair::open() else { return };
    of_type::<f32>(&pair);
    of_type::<f16>(&pair);
    of_type::<i8>(&pair);
    of_type::<i32>(&pair);
    let g = Fill::Integers.values::<f32>(90 * 401, 3);
    for (rows, padding) in [(230, Some(200)), (30, None)] {
        pair.same("embedding_backward", |gpu| {
            let ids = place(gpu, &some(90, 230), &[9, 10], Lay::Odd);
            ops::embedding_backward(&ids, &place(gpu, &g, &[9, 10, 401], Lay::Odd), rows, padding)
        });
    }
}

#[test]
fn rotations_and_random_numbers() {
    let Some(pair) = Pair::open() else { return };
    let shape = [3, 8, 33, 40];
    let x = values::<f32>(&shape, 1.0, 1);
    for lay in [Lay::Plain, Lay::Odd, Lay::Gaps] {
        pair.same(&format!("rotary {lay:?}"), |gpu| {
            let rotary = Rotary::new(gpu, RotaryPairs::Halves, 32, 1e4, 50)?;
            rotary.apply(&place(gpu, &x, &shape, lay), 7)
        });
        pair.same(&format!("rotary from a position in a tensor {lay:?}"), |gpu| {
            let rotary = Rotary::new(gpu, RotaryPairs::Halves, 32, 1e4, 50)?;
            let at = gpu.tensor(&[3, 7], [2])?.slice(0, 1..)?;
            rotary.apply_at(&place(gpu, &x, &shape, lay), &at)
        });
        // The heads lie within the positions.
        pair.same(&format!("rotary of a view {lay:?}"), |gpu| {
            let rotary = Rotary::new(gpu, RotaryPairs::Interleaved, 32, 1e4, 50)?;
            let x = place(gpu, &x, &[3, 33, 8, 40], lay);
            rotary.apply(&x.permute(&[0, 2, 1, 3])?, 0)
        });
    }
    pair.same("normal f32", |gpu| gpu.random::<f32>([70_003], Fill::Normal, 5));
    pair.same("normal f16", |gpu| gpu.random::<f16>([130_003], Fill::Normal, 6));
}
