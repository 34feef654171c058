//! Reductions, with windows along the axes that are kept and along those that are reduced.

use super::{Pair, place};
use support::strided::Lay;
use tilewise::ops::{self, Axes};
use tilewise::{DType, Element, Fill, Real, Result, Tensor, bf16, f16};

#[test]
fn reductions() {
    fn of_type<T: Real>(pair: &Pair) {
        type Reduction<T> = fn(&Tensor<T>, Axes) -> Result<Tensor<T>>;
        let exact: [(&str, Reduction<T>); 7] = [
            ("sum", ops::sum),
            ("mean", ops::mean),
            ("sum_squares", ops::sum_squares),
            ("norm", ops::norm),
            ("max", ops::max),
            ("min", ops::min),
            ("max_abs", ops::max_abs),
        ];
        let shape = [6, 61, 401];
        let axes: [&[usize]; 7] = [&[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]];
        // Their sums are exact.
        let x = Fill::Integers.values::<T>(shape.iter().product(), 1);
        let signs: Vec<T> =
            x.iter().map(|x| T::from_f64(if x.to_f64() < 0.0 { -1.0 } else { 1.0 })).collect();
        let lays =
            if T::DTYPE == DType::F32 { &[Lay::Plain, Lay::Reversed, Lay::Odd][..] } else { &[Lay::Odd] };
        for &lay in lays {
            for axes in axes {
                let what = format!("{lay:?} {axes:?} {}", T::DTYPE);
                // What depends on the type is how elements are loaded and stored.
                let others = if T::DTYPE == DType::F32 { exact.len() } else { 1 };
                for (name, reduction) in exact.into_iter().take(others) {
                    pair.same(&format!("{name} {what}"), |gpu| {
                        reduction(&place(gpu, &x, &shape, lay), axes.into())
                    });
                }
                pair.same(&format!("prod {what}"), |gpu| ops::prod(&place(gpu, &signs, &shape, lay), axes));
                let rounded = T::DTYPE.size() == 2;
                pair.close(&format!("var {what}"), if rounded { 1e-2 } else { 1e-5 }, |gpu| {
                    ops::var(&place(gpu, &x, &shape, lay), axes, 1)
                });
            }
        }
    }
    let Some(pair) = Pair::open() else { return };
    of_type::<f32>(&pair);
    of_type::<f16>(&pair);
    of_type::<bf16>(&pair);
}

/// The variance of elements far from 0, of which each window has its own part.
#[test]
fn variances_at_a_large_mean() {
    let Some(pair) = Pair::open() else { return };
    let x: Vec<f32> = Fill::Normal.values::<f32>(100_003, 5).iter().map(|x| 1e6 + 4.0 * x).collect();
    let mean = x.iter().map(|&x| f64::from(x)).sum::<f64>() / x.len() as f64;
    let want = x.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / x.len() as f64;
    let found = ops::var(&pair.small.tensor(&x, [100_003]).unwrap(), .., 0).unwrap().to_vec().unwrap()[0];
    assert!((f64::from(found) - want).abs() < 1e-5 * want, "{found} for {want}");
}

#[test]
fn places() {
    fn of_type<T: Element>(pair: &Pair) {
        // Of equal elements the first wins, in whichever window it is.
        let shape = [5, 61, 701];
        let x = Fill::Integers.values::<T>(shape.iter().product(), 7);
        for lay in [Lay::Reversed, Lay::Odd] {
            for axis in 0..3 {
                let what = format!("{lay:?} {axis} {}", T::DTYPE);
                pair.same(&format!("argmax {what}"), |gpu| ops::argmax(&place(gpu, &x, &shape, lay), axis));
                pair.same(&format!("argmin {what}"), |gpu| ops::argmin(&place(gpu, &x, &shape, lay), axis));
            }
        }
        let mut long = vec![T::from_f64(1.0); 200_003];
        long[150_001] = T::from_f64(2.0);
        long[190_001] = T::from_f64(2.0);
        pair.same("a long axis", |gpu| ops::argmax(&gpu.tensor(&long, [200_003])?, 0));
        pair.same("all equal", |gpu| ops::argmin(&gpu.tensor(&long[..150_000], [150_000])?, 0));
        pair.same("sum of i8 and others", |gpu| ops::max(&gpu.tensor(&long, [200_003])?, ..));
    }
    let Some(pair) = Pair::on_the_first_driver() else { return };
    of_type::<f32>(&pair);
    of_type::<f16>(&pair);
    of_type::<bf16>(&pair);
    of_type::<i8>(&pair);
    of_type::<i32>(&pair);
    let (bytes, words) = (Fill::Uniform.values::<i8>(170_001, 1), Fill::Uniform.values::<i32>(170_001, 2));
    pair.same("sum of i8", |gpu| ops::sum(&gpu.tensor(&bytes, [170_001])?, ..));
    pair.same("sum of i32", |gpu| ops::sum(&gpu.tensor(&words, [170_001])?, ..));
}
