//! Elementwise operations, copies and casts.

use super::{MATRIX, Pair, place};
use support::failure::says;
use support::strided::Lay;
use support::values::values;
use tilewise::{Element, Fill, Real, bf16, f16, ops};

#[test]
fn elements() {
    fn of_type<T: Real>(pair: &Pair) {
        let [m, n] = MATRIX;
        let (x, y) = (values::<T>(&MATRIX, 2.0, 1), values::<T>(&MATRIX, 2.0, 2));
        for lay in Lay::ALL {
            let what = format!("{lay:?} {}", T::DTYPE);
            pair.same(&format!("add {what}"), |gpu| {
                ops::add(&place(gpu, &x, &MATRIX, lay), &place(gpu, &y, &MATRIX, Lay::Plain))
            });
            pair.same(&format!("add of a row {what}"), |gpu| {
                ops::add(&place(gpu, &x, &MATRIX, lay), &place(gpu, &y[..n], &[n], lay))
            });
            pair.same(&format!("mul by a column {what}"), |gpu| {
                ops::mul(&place(gpu, &x, &MATRIX, lay), &place(gpu, &y[..m], &[m, 1], lay))
            });
        }
        pair.same("into a view", |gpu| {
            let mut c = place(gpu, &vec![T::from_f64(0.0); m * n], &MATRIX, Lay::Gaps);
            c.assign(|| {
                ops::mul(&place(gpu, &x, &MATRIX, Lay::Odd), &place(gpu, &y, &MATRIX, Lay::Reversed))
            })?;
            c.contiguous()
        });
        pair.same("update", |gpu| {
            let mut c = gpu.tensor(&x, MATRIX)?;
            ops::mul_assign(&mut c, &place(gpu, &y[..n], &[n], Lay::Odd))?;
            Ok(c)
        });
        pair.same::<T>("map", |gpu| {
            let [x, y] = [&x, &y].map(|of| place(gpu, of, &MATRIX, Lay::Odd));
            let row = place(gpu, &vec![T::from_f64(1.5); n], &[n], Lay::Plain);
            ops::map(&[&x, &y, &row], |[x, y, row]| x * y + row.exp())
        });
        // A row alone exceeds a binding.
        let long = values::<T>(&[2, 40_001], 1.0, 3);
        pair.same("long rows", |gpu| ops::sub(&gpu.tensor(&long, [2, 40_001])?, 0.5));
        pair.same("a mask", |gpu| ops::less(&gpu.tensor(&long, [2, 40_001])?, 0.0));
    }
    let Some(pair) = Pair::open() else { return };
    support::of_reals!(of_type, &pair);
    let x = Fill::Uniform.values::<i8>(150_001, 1);
    pair.same("i8", |gpu| ops::add(&gpu.tensor(&x, [150_001])?.slice(0, 3..)?, 1));
}

#[test]
fn copies() {
    fn of_type<T: Element>(pair: &Pair) {
        let [m, n] = MATRIX;
        let x = Fill::Integers.values::<T>(m * n, 1);
        for lay in Lay::ALL {
            let what = format!("{lay:?} {}", T::DTYPE);
            pair.same(&format!("contiguous {what}"), |gpu| {
                place(gpu, &x, &MATRIX, lay).slice(0, 1..)?.t().contiguous()
            });
            pair.same(&format!("into a view {what}"), |gpu| {
                let c = gpu.zeros::<T>([m, n + 3])?;
                ops::copy_into(&place(gpu, &x, &MATRIX, lay), &mut c.slice(1, 3..)?.writable_view())?;
                ops::copy_into(
                    &place(gpu, &x[..n], &[1, n], lay),
                    &mut c.slice(0, 1..2)?.slice(1, ..n)?.writable_view(),
                )?;
                c.contiguous()
            });
            pair.same(&format!("concat {what}"), |gpu| {
                let x = place(gpu, &x, &MATRIX, lay);
                ops::concat(&[&x, &x.slice(1, ..5)?, &x], 1)
            });
        }
    }
    let Some(pair) = Pair::open() else { return };
    support::of_reals!(of_type, &pair);
    of_type::<i8>(&pair);
    of_type::<i32>(&pair);
}

#[test]
fn casts() {
    let Some(pair) = Pair::open() else { return };
    let x = values::<f32>(&MATRIX, 100.0, 1);
    for lay in Lay::ALL {
        pair.same(&format!("f16 {lay:?}"), |gpu| place(gpu, &x, &MATRIX, lay).cast::<f16>());
        pair.same(&format!("bf16 {lay:?}"), |gpu| place(gpu, &x, &MATRIX, lay).cast::<bf16>());
        pair.same(&format!("i8 {lay:?}"), |gpu| place(gpu, &x, &MATRIX, lay).cast::<i8>());
        let halves = values::<f16>(&MATRIX, 100.0, 2);
        pair.same(&format!("f32 {lay:?}"), |gpu| place(gpu, &halves, &MATRIX, lay).cast::<f32>());
    }
}

#[test]
fn copies_at_a_position() {
    fn of_type<T: Element>(pair: &Pair) {
        let [m, n] = MATRIX;
        let x = Fill::Integers.values::<T>(3 * m * n, 1);
        for lay in [Lay::Plain, Lay::Reversed, Lay::Odd] {
            for at in [-1, 1, 7] {
                let what = format!("{at} {lay:?} {}", T::DTYPE);
                pair.same(&format!("slice_at {what}"), |gpu| {
                    let at = gpu.tensor(&[at], [1])?;
                    ops::slice_at(&place(gpu, &x, &[m, 3, n], lay), 1, &at, 2)
                });
                pair.same(&format!("copy_into_at {what}"), |gpu| {
                    let (mut c, at) = (place(gpu, &x, &[m, 3, n], lay), gpu.tensor(&[at], [1])?);
                    let a = place(gpu, &x[..2 * m * n], &[m, 2, n], Lay::Odd);
                    ops::copy_into_at(&a, &mut c, 1, &at)?;
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
    // The whole axis of the position is bound.
    let (x, at) = (pair.small.zeros::<f32>([2, 20_000]).unwrap(), pair.small.zeros::<i32>([1]).unwrap());
    says(ops::slice_at(&x, 1, &at, 5), &["slice along axis 1"]);
    let x = x.t().contiguous().unwrap();
    let mut c = pair.small.zeros::<f32>([20_000, 2]).unwrap();
    let error = ops::copy_into_at(&x.slice(0, ..9).unwrap().contiguous().unwrap(), &mut c, 0, &at);
    says(error, &["slice along axis 0"]);
}
