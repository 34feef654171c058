//! Signs of zeros, infinite values and values next to 0, which bounds do not see.

use tilewise::ops::Function;
use tilewise::planning::ops::{TensorCall, real_calls, tensor_calls};
use tilewise::{Real, Tensor, ops, reference};

/// Functions whose results have the sign of their definitions, also where they are 0.
const SIGNED: [Function; 9] = [
    Function::Neg,
    Function::Abs,
    Function::Sqrt,
    Function::Tanh,
    Function::Expm1,
    Function::Log1p,
    Function::Div,
    Function::Pow,
    Function::Atan2,
];

fn values() -> Vec<f32> {
    let sizes =
        [0.0, 1e-44, 1e-39, 1.2e-38, 1e-30, 1e-8, 6e-8, 0.5, 1.0, 2.0, 3.0, 1e20, f32::MAX, f32::INFINITY];
    sizes.into_iter().flat_map(|x| [x, -x]).collect()
}

#[test]
fn results_have_the_signs_of_the_definitions() {
    for gpu in support::turn().iter() {
        let x = values();
        // A device may take subnormals for 0 in a quotient and a root.
        let pairs: Vec<[f32; 2]> = x.iter().flat_map(|&a| x.iter().map(move |&b| [a, b])).collect();
        let [a, b] = [0, 1].map(|at| pairs.iter().map(|pair| pair[at]).collect::<Vec<f32>>());
        let [ta, tb] = [&a, &b].map(|of| gpu.tensor(of, [of.len()]).unwrap());
        let wide = [&a, &b].map(|of| of.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>());
        let mut compared = 0;
        for (function, call) in tensor_calls().into_iter().chain(real_calls()) {
            if !SIGNED.contains(&function) {
                continue;
            }
            let found: Tensor<f32> = match call {
                TensorCall::One(op) => op(&ta).unwrap(),
                TensorCall::Two(op) => op(&ta, &tb).unwrap(),
                _ => continue,
            };
            let operands = [&wide[0][..], &wide[1]];
            let want = reference::apply(function, &operands[..function.operands()]).value;
            for ((pair, found), want) in pairs.iter().zip(found.to_vec().unwrap()).zip(want) {
                let is_flushed = pair[..function.operands()].iter().any(|x| x.is_subnormal());
                if is_flushed && matches!(function, Function::Div | Function::Sqrt) || want.is_nan() {
                    continue;
                }
                assert_eq!(
                    found.is_sign_negative(),
                    want.is_sign_negative(),
                    "{function} of {pair:?}: {found:e}, not {want:e}"
                );
                compared += 1;
            }
        }
        println!("{compared} signs");
        assert!(compared > 5000, "{compared}");
    }
}

/// Next to 0, exponentials and logarithms of sums with 1 are what they are of, in its bits, in every type.
#[test]
fn the_smallest_numbers_are_kept_by_expm1_and_log1p() {
    fn test<T: Real>(gpu: &tilewise::Gpu) {
        let sizes = [0.0, 1e-45, 1e-40, 1.2e-38, 1e-30, 1e-20, 5.9e-8];
        let x: Vec<T> = sizes.iter().flat_map(|&x| [T::from_f64(x), T::from_f64(-x)]).collect();
        let a = gpu.tensor(&x, [x.len()]).unwrap();
        let bits = |of: &[T]| bytemuck::cast_slice::<T, u8>(of).to_vec();
        assert_eq!(bits(&ops::expm1(&a).unwrap().to_vec().unwrap()), bits(&x), "{}", T::DTYPE);
        assert_eq!(bits(&ops::log1p(&a).unwrap().to_vec().unwrap()), bits(&x), "{}", T::DTYPE);
    }
    support::values::for_all_types!(test);
}

/// The angles that IEEE 754 gives to zeros and infinities.
#[test]
fn angles_of_zeros_and_infinities_are_those_of_ieee() {
    use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    let inf = f32::INFINITY;
    let cases = [
        (0.0, 0.0, 0.0),
        (0.0, -0.0, PI),
        (0.0, 1.0, 0.0),
        (0.0, -1.0, PI),
        (1.0, 0.0, FRAC_PI_2),
        (1.0, -0.0, FRAC_PI_2),
        (1.0, inf, 0.0),
        (1.0, -inf, PI),
        (inf, 1.0, FRAC_PI_2),
        (inf, -1.0, FRAC_PI_2),
        (inf, inf, FRAC_PI_4),
        (inf, -inf, 3.0 * FRAC_PI_4),
        (1e-44, 1e-44, FRAC_PI_4),
        (1e-44, -1e-44, 3.0 * FRAC_PI_4),
        (f32::MAX, f32::MAX, FRAC_PI_4),
    ];
    for gpu in support::turn().iter() {
        let (mut y, mut x, mut want) = (Vec::new(), Vec::new(), Vec::new());
        for (a, b, angle) in cases {
            y.extend([a, -a]);
            x.extend([b, b]);
            want.extend([angle, -angle]);
        }
        let (a, b) = (gpu.tensor(&y, [y.len()]).unwrap(), gpu.tensor(&x, [x.len()]).unwrap());
        let found = ops::atan2(&a, &b).unwrap().to_vec().unwrap();
        for (i, (found, want)) in found.into_iter().zip(want).enumerate() {
            let is_right =
                found.to_bits() == want.to_bits() || (found - want).abs() <= want.abs() * f32::EPSILON;
            assert!(
                is_right && found.is_sign_negative() == want.is_sign_negative(),
                "{} {}: {found}",
                y[i],
                x[i]
            );
        }
    }
}
