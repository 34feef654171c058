//! Results where drivers differ: our functions return the same on all. The book's page on drivers says what a driver's own
//! functions return there.

use tilewise::{Gpu, Result, Tensor, ops};

fn row(gpu: &Gpu, data: &[f32]) -> Tensor<f32> {
    gpu.tensor(data, [data.len()]).unwrap()
}

/// Asserts that each element is as wanted, to a millionth; NaNs and infinities are told apart.
#[track_caller]
fn check(found: Result<Tensor<f32>>, want: &[f32]) {
    let found = found.unwrap().to_vec().unwrap();
    let is_same = |found: f32, want: f32| {
        found == want || found.is_nan() && want.is_nan() || (found - want).abs() <= 1e-6 * want.abs()
    };
    let same = found.len() == want.len() && found.iter().zip(want).all(|(x, y)| is_same(*x, *y));
    assert!(same, "{found:?} in place of {want:?}");
}

#[test]
fn nans_are_kept_wherever_they_stand() {
    for gpu in support::devices() {
        let nan = f32::NAN;
        let (a, b) = (row(&gpu, &[nan, 1.0, 2.0, nan]), row(&gpu, &[1.0, nan, 3.0, nan]));
        check(ops::minimum(&a, &b), &[nan, nan, 2.0, nan]);
        check(ops::maximum(&a, &b), &[nan, nan, 3.0, nan]);
        check(ops::clamp(&a, 0.0, 1.5), &[nan, 1.0, 1.5, nan]);
        check(ops::sign(&a), &[nan, 1.0, 1.0, nan]);
        check(ops::exp(&a), &[nan, 1f32.exp(), 2f32.exp(), nan]);
        check(ops::max(&a, 0), &[nan]);
        check(ops::min(&a, 0), &[nan]);
        assert_eq!(ops::equal(&a, &a).unwrap().to_vec().unwrap(), [0, 1, 1, 0]);
        assert_eq!(ops::not_equal(&a, &a).unwrap().to_vec().unwrap(), [1, 0, 0, 1]);
    }
}

#[test]
fn functions_have_their_values_at_the_ends_of_their_range() {
    for gpu in support::devices() {
        let inf = f32::INFINITY;
        check(ops::tanh(&row(&gpu, &[1000.0, -1000.0, 1e-8, inf])), &[1.0, -1.0, 1e-8, 1.0]);
        check(ops::log(&row(&gpu, &[0.0, -1.0, 1.0, inf])), &[-inf, f32::NAN, 0.0, inf]);
        check(ops::exp(&row(&gpu, &[1000.0, -1000.0, inf, -inf])), &[inf, 0.0, inf, 0.0]);
        check(ops::pow(&row(&gpu, &[-2.0, 0.0, 1.0]), &row(&gpu, &[2.0, 0.0, f32::NAN])), &[4.0, 1.0, 1.0]);
        check(ops::rsqrt(&row(&gpu, &[0.0])), &[inf]);
        check(ops::round(&row(&gpu, &[2.5, -0.4, 3.5])), &[2.0, 0.0, 4.0]);
        let zero = ops::sqrt(&row(&gpu, &[-0.0])).unwrap().to_vec().unwrap();
        assert_eq!(zero[0].to_bits(), 0x8000_0000);
    }
}

#[test]
fn casts_to_integers_saturate() {
    for gpu in support::devices() {
        let x = row(&gpu, &[3e9, -3e9, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 2.9, -2.9]);
        let found = x.cast::<i32>().unwrap().to_vec().unwrap();
        assert_eq!(found, [i32::MAX, i32::MIN, i32::MAX, i32::MIN, 0, 2, -2]);
    }
}
