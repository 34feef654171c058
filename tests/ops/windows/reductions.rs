//! Reductions, with windows along the axes that are kept and along those that are reduced.

use super::{Pair, place, sweep};
use crate::reductions::of_reals;
use support::strided::Lay;
use tilewise::ops;
use tilewise::planning::ops::ReduceFunction;
use tilewise::{Element, Fill, Real, bf16, f16};

#[test]
fn reductions() {
    const AXES: [&[usize]; 7] = [&[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]];
    /// All but those of indices.
    const FUNCTIONS: usize = ReduceFunction::ALL.len() - 2;

    fn of_type<T: Real>(pair: &Pair, [function, axes, lay]: [usize; 3]) {
        let listed = of_reals::<T>().into_iter().filter(|(name, ..)| !name.starts_with("var"));
        let exact: Vec<_> = listed.map(|(name, reduction, _)| (name, reduction)).collect();
        assert_eq!(exact.len(), FUNCTIONS - 1);
        let shape = [6, 61, 401];
        let (axes, lay) = (AXES[axes], [Lay::Plain, Lay::Reversed, Lay::Odd][lay]);
        let what = format!("{lay:?} {axes:?} {}", T::DTYPE);
        // Their sums are exact.
        let x = Fill::Integers.values::<T>(shape.iter().product(), 1);
        match exact.get(function) {
            Some(("prod", prod)) => {
                let sign = |x: &T| T::from_f64(if x.to_f64() < 0.0 { -1.0 } else { 1.0 });
                let signs: Vec<T> = x.iter().map(sign).collect();
                pair.same(&format!("prod {what}"), |gpu| prod(&place(gpu, &signs, &shape, lay), axes.into()));
            }
            Some((name, reduction)) => pair
                .same(&format!("{name} {what}"), |gpu| reduction(&place(gpu, &x, &shape, lay), axes.into())),
            None => {
                let off = if T::DTYPE.size() == 2 { 1e-2 } else { 1e-5 };
                pair.close(&format!("var {what}"), off, |gpu| {
                    ops::var(&place(gpu, &x, &shape, lay), axes, 1)
                });
            }
        }
    }
    let Some(pair) = Pair::open() else { return };
    for [function, axes, lay, dtype] in sweep([FUNCTIONS, AXES.len(), 3, 3]) {
        let of_type = [of_type::<f32>, of_type::<f16>, of_type::<bf16>][dtype];
        of_type(&pair, [function, axes, lay]);
    }
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
    /// Of equal elements the first wins, in whichever window it is.
    fn of_type<T: Element>(pair: &Pair, [lay, axis, largest]: [usize; 3]) {
        let shape = [5, 61, 701];
        let x = Fill::Integers.values::<T>(shape.iter().product(), 7);
        let lay = [Lay::Reversed, Lay::Odd][lay];
        let what = format!("{lay:?} {axis} {}, of the largest: {largest}", T::DTYPE);
        pair.same(&what, |gpu| {
            let x = place(gpu, &x, &shape, lay);
            if largest == 1 { ops::argmax(&x, axis) } else { ops::argmin(&x, axis) }
        });
    }
    fn of_a_long_axis<T: Element>(pair: &Pair) {
        let mut long = vec![T::from_f64(1.0); 200_003];
        long[150_001] = T::from_f64(2.0);
        long[190_001] = T::from_f64(2.0);
        pair.same("a long axis", |gpu| ops::argmax(&gpu.tensor(&long, [200_003])?, 0));
        pair.same("all equal", |gpu| ops::argmin(&gpu.tensor(&long[..150_000], [150_000])?, 0));
        pair.same("sum of i8 and others", |gpu| ops::max(&gpu.tensor(&long, [200_003])?, ..));
    }
    let Some(pair) = Pair::on_the_first_driver() else { return };
    for [dtype, lay, axis, largest] in sweep([5, 2, 3, 2]) {
        let of_types = [of_type::<f32>, of_type::<f16>, of_type::<bf16>, of_type::<i8>, of_type::<i32>];
        of_types[dtype](&pair, [lay, axis, largest]);
    }
    support::of_reals!(of_a_long_axis, &pair);
    of_a_long_axis::<i8>(&pair);
    of_a_long_axis::<i32>(&pair);
    let (bytes, words) = (Fill::Uniform.values::<i8>(170_001, 1), Fill::Uniform.values::<i32>(170_001, 2));
    pair.same("sum of i8", |gpu| ops::sum(&gpu.tensor(&bytes, [170_001])?, ..));
    pair.same("sum of i32", |gpu| ops::sum(&gpu.tensor(&words, [170_001])?, ..));
}
