//! Functions of single numbers.

use tilewise::ops;

/// webgpu-torch#11, tensorflow/tfjs#350, #7461: a power of a negative number is NaN, and so is 1 to the power NaN.
#[test]
fn powers_of_special_numbers_are_those_of_the_standard() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let pairs = [
        (-2.0, 2.0),
        (-2.0, 3.0),
        (-2.0, -1.0),
        (-2.0, 0.5),
        (-8.0, 1.0 / 3.0),
        (0.0, 0.0),
        (-0.0, 0.0),
        (nan, 0.0),
        (inf, 0.0),
        (1.0, nan),
        (1.0, inf),
        (1.0, -inf),
        (-1.0, inf),
        (-1.0, -inf),
        (0.0, -1.0),
        (-0.0, -1.0),
        (0.0, -2.0),
        (-0.0, -2.0),
        (-0.0, 3.0),
        (0.5, inf),
        (0.5, -inf),
        (2.0, inf),
        (2.0, -inf),
        (-inf, 3.0),
        (-inf, 2.0),
        (-inf, -3.0),
        (inf, 2.0),
        (inf, -2.0),
        (4.0, 0.5),
        (nan, 1.0),
        (2.0, nan),
    ];
    let (bases, exponents): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
    let turn = support::turn();
    for gpu in turn.iter() {
        let [a, b] = [&bases, &exponents].map(|data| gpu.tensor(data, [data.len()]).unwrap());
        let found = ops::pow(&a, &b).unwrap().to_vec().unwrap();
        for ((base, exponent), found) in pairs.into_iter().zip(found) {
            // C's pow, in f64.
            let (found, want) = (f64::from(found), f64::from(base).powf(f64::from(exponent)));
            let is_near = (found - want).abs() <= 1e-6 * want.abs();
            assert!(
                found == want || is_near || found.is_nan() && want.is_nan(),
                "{base} ^ {exponent} is {found}"
            );
        }
    }
}
