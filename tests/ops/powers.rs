//! Powers: exact where the type has them, and finite up to its end.

use support::values::for_all_types;
use tilewise::ops::Expr;
use tilewise::{Element, Gpu, Real, Tensor, ops};

/// Whole numbers, exponents and their powers, all of which f32 has.
fn whole_powers() -> Vec<[f64; 3]> {
    let bases = (-40..=40).chain([64, 100, 127, 128, 255, 256, 999, 1000, 1024, 4095, 4096, -1000]);
    let all = bases.flat_map(|base| (-149..=127).map(move |exponent| [f64::from(base), f64::from(exponent)]));
    let power = |[base, exponent]: [f64; 2]| {
        // A power of an odd number is whole, below 2^24, or 1 over such a number, which only 1 is.
        let value = if exponent == 0.0 { 1.0 } else { base.powf(exponent) };
        let is_there = f64::from(<f32 as Element>::from_f64(value)) == value
            && value.abs() >= f64::from(f32::MIN_POSITIVE);
        let is_exact = exponent >= 0.0 || base.abs().log2().fract() == 0.0;
        (is_there && is_exact).then_some([base, exponent, value])
    };
    all.filter_map(power).collect()
}

fn assert_bits<T: Real>(found: &Tensor<T>, want: &[T], what: impl Fn(usize) -> String) {
    let found = found.to_vec().unwrap();
    let bits = |x: &T| bytemuck::bytes_of(x).to_vec();
    for (i, (found, want)) in found.iter().zip(want).enumerate() {
        assert!(bits(found) == bits(want), "{} of {}: {found:?}, not {want:?}", what(i), T::DTYPE);
    }
}

#[test]
fn whole_powers_of_whole_numbers_are_exact() {
    fn test<T: Real>(gpu: &Gpu) {
        let is_exact = |x: f64| T::from_f64(x).to_f64() == x;
        let all: Vec<[f64; 3]> =
            whole_powers().into_iter().filter(|of| of.iter().all(|&x| is_exact(x))).collect();
        assert!(all.len() > 250, "{} powers of {}", all.len(), T::DTYPE);
        let [bases, exponents, want] =
            [0, 1, 2].map(|at| all.iter().map(|of| T::from_f64(of[at])).collect::<Vec<T>>());
        let shape = [all.len()];
        let (a, b) = (gpu.tensor(&bases, shape).unwrap(), gpu.tensor(&exponents, shape).unwrap());
        let what = |i: usize| format!("{:?}^{:?}", bases[i], exponents[i]);
        assert_bits(&ops::pow(&a, &b).unwrap(), &want, what);
        let mapped: Tensor<T> = ops::map(&[&a, &b], |[a, b]: [Expr; 2]| (a + 0.0).pow(b)).unwrap();
        assert_bits(&mapped, &want, what);
        // A number as the exponent, and as the base.
        for exponent in [2.0f32, 3.0, 4.0, 5.0, -1.0, -3.0, 10.0] {
            let of: Vec<usize> = (0..all.len()).filter(|&i| all[i][1] == f64::from(exponent)).collect();
            let only = |from: &[T]| of.iter().map(|&i| from[i]).collect::<Vec<T>>();
            let (few, want) = (only(&bases), only(&want));
            let a = gpu.tensor(&few, [few.len()]).unwrap();
            assert_bits(&ops::pow(&a, exponent).unwrap(), &want, |i| format!("{:?}^{exponent}", few[i]));
        }
        for base in [2.0f32, 3.0, 10.0, -2.0] {
            let of: Vec<usize> = (0..all.len()).filter(|&i| all[i][0] == f64::from(base)).collect();
            let only = |from: &[T]| of.iter().map(|&i| from[i]).collect::<Vec<T>>();
            let (few, want) = (only(&exponents), only(&want));
            let b = gpu.tensor(&few, [few.len()]).unwrap();
            assert_bits(&ops::pow(base, &b).unwrap(), &want, |i| format!("{base}^{:?}", few[i]));
        }
    }
    for_all_types!(test);
}

#[test]
fn the_first_power_is_the_number_in_its_bits() {
    fn test<T: Real>(gpu: &Gpu) {
        let sizes = [
            0.0,
            1e-45,
            1e-40,
            6e-8,
            1e-38,
            1.2e-38,
            1e-20,
            0.3,
            1.0,
            3.0,
            65_504.0,
            1e19,
            3.389e38,
            3.4028235e38,
        ];
        let mut x: Vec<T> = sizes.iter().flat_map(|&x| [T::from_f64(x), T::from_f64(-x)]).collect();
        x.extend([T::from_f64(f64::INFINITY), T::from_f64(f64::NEG_INFINITY)]);
        // The last numbers before the end.
        let end = (0..64).map(|i| f64::from(f32::MAX) * (1.0 - f64::from(i) * 2f64.powi(-24)));
        x.extend(end.map(T::from_f64));
        let a = gpu.tensor(&x, [x.len()]).unwrap();
        assert_bits(&ops::pow(&a, 1.0).unwrap(), &x, |i| format!("{:?}^1", x[i]));
        let ones = gpu.tensor(&vec![T::from_f64(1.0); x.len()], [x.len()]).unwrap();
        assert_bits(&ops::pow(&a, &ones).unwrap(), &x, |i| format!("{:?}^1", x[i]));
    }
    for_all_types!(test);
}

#[test]
fn powers_near_both_ends_of_the_range_are_within_an_ulp() {
    for gpu in support::turn().iter() {
        let mut pairs = vec![
            [2.0f32, 127.9999],
            [2.0, 127.99999],
            [f32::MAX.sqrt(), 2.0],
            [f32::MAX, 0.99999994],
            [1e19, 2.0],
        ];
        // Exponents that lead to the largest number, and to the smallest normal one.
        for base in [1.5f32, 2.0, 3.0, 7.25, 10.0, 0.1, 1e-10, 1.0001, 0.999, 1e30] {
            for end in [f64::from(f32::MAX), f64::from(f32::MIN_POSITIVE)] {
                let exponent = <f32 as Element>::from_f64(end.ln() / f64::from(base).ln());
                pairs.extend(
                    (-4..=4).map(|i: i32| [base, f32::from_bits(exponent.to_bits().wrapping_add_signed(i))]),
                );
            }
        }
        let [bases, exponents] = [0, 1].map(|at| pairs.iter().map(|pair| pair[at]).collect::<Vec<f32>>());
        let n = pairs.len();
        let (a, b) = (gpu.tensor(&bases, [n]).unwrap(), gpu.tensor(&exponents, [n]).unwrap());
        for (pair, found) in pairs.iter().zip(ops::pow(&a, &b).unwrap().to_vec().unwrap()) {
            let want = f64::from(pair[0]).powf(f64::from(pair[1]));
            let nearest = <f32 as Element>::from_f64(want);
            let is_subnormal = want < f64::from(f32::MIN_POSITIVE) * (1.0 + 1e-7);
            let is_right = if nearest.is_infinite() {
                found == f32::INFINITY || found == f32::MAX
            } else {
                (f64::from(found) - want).abs() <= want * 2f64.powi(-23)
                    || (is_subnormal && found == 0.0)
                    || (nearest == f32::MAX && found == f32::INFINITY)
            };
            assert!(is_right, "{pair:?}: {found:e}, not {want:e}");
        }
    }
}

#[test]
fn special_powers_are_those_of_ieee() {
    for gpu in support::turn().iter() {
        let [inf, nan] = [f32::INFINITY, f32::NAN];
        let all = [0.0f32, 0.5, 1.0, 2.0, 3.0, 2.5, 1e-30, 1e30, inf, 16_777_217.0];
        let all: Vec<f32> = all.into_iter().flat_map(|x| [x, -x]).chain([nan]).collect();
        let pairs: Vec<[f32; 2]> = all.iter().flat_map(|&a| all.iter().map(move |&b| [a, b])).collect();
        let [bases, exponents] = [0, 1].map(|at| pairs.iter().map(|pair| pair[at]).collect::<Vec<f32>>());
        let n = pairs.len();
        let (a, b) = (gpu.tensor(&bases, [n]).unwrap(), gpu.tensor(&exponents, [n]).unwrap());
        for (pair, found) in pairs.iter().zip(ops::pow(&a, &b).unwrap().to_vec().unwrap()) {
            let want = f64::from(pair[0]).powf(f64::from(pair[1]));
            let close = (f64::from(found) - want).abs() <= want.abs() * 2f64.powi(-23);
            let nearest = <f32 as Element>::from_f64(want);
            let ends =
                if nearest.is_subnormal() { found == 0.0 || found == nearest } else { found == nearest };
            assert!(close || ends || (want.is_nan() && found.is_nan()), "{pair:?}: {found}, not {want}");
            assert!(
                want.is_nan() || found.is_sign_negative() == want.is_sign_negative(),
                "{pair:?}: {found}"
            );
        }
    }
}
