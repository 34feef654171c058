//! Norms, inverses and logarithms of multivectors of every size that f32 holds, against f64.

use crate::batch::Batch;
use crate::support;
use crate::support::strided::Lay;
use tilewise::Element;
use tilewise::Gpu;
use tilewise::clifford::BladeAxis::First;
use tilewise::clifford::{Blades, Multivector, Multivectors, Signature};

/// Powers of ten: squares of the first and the last are beyond f32. No coefficient is subnormal.
const SIZES: [i32; 13] = [-34, -30, -25, -20, -15, -9, 0, 9, 15, 19, 25, 30, 37];

fn batch(gpu: &Gpu, values: &[f32], blades: &Blades) -> (Multivectors<f32>, Multivector) {
    let wide: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
    let on_device = Batch::<f32>::of(gpu, values, &[1], blades, First, Lay::Plain).on_device;
    (on_device, Multivector::new(blades, &wide).unwrap())
}

fn assert_close(found: &Multivectors<f32>, want: &Multivector, what: &str) {
    let want = want.select(found.blades());
    let most = want.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let off = 1e-5 * most + 2f64.powi(-126);
    for (found, want) in found.tensor().to_vec().unwrap().into_iter().zip(want) {
        let found = f64::from(found);
        let overflows = want.abs() > f64::from(f32::MAX) && found.is_infinite();
        assert!((found - want).abs() <= off || overflows, "{what}: {found:e}, not {want:e}");
    }
}

#[test]
fn norms_and_inverses_hold_over_the_whole_range() {
    let Some(gpu) = support::gpu() else { return };
    for (signature, values) in [
        (Signature::CL3, [1.0f32, -2.0, 0.5].as_slice()),
        (Signature::SPACETIME, &[3.0, 0.5, -1.0, 0.25]),
        (Signature::PGA3D, &[1.0, 2.0, -2.0, 0.75]),
    ] {
        let blades = signature.vectors();
        for size in SIZES {
            let what = format!("1e{size} in {signature}");
            let values: Vec<f32> = values.iter().map(|x| x * 10f32.powi(size)).collect();
            let (x, wide) = batch(&gpu, &values, &blades);
            let (g, slope) = batch(&gpu, &vec![0.5; values.len()], &blades);
            let length = wide.quadratic().abs().sqrt();
            assert_close(
                &x.norm().unwrap(),
                &Multivector::scalar_of(signature, length),
                &format!("norm of {what}"),
            );
            let unit = wide.normalized().unwrap();
            assert_close(&x.normalized().unwrap(), &unit, &format!("normalized {what}"));
            // The slope of the norm is the unit vector, with the signs of the squares.
            let one = Batch::<f32>::of(&gpu, &[1.0], &[1], &signature.scalars(), First, Lay::Plain).on_device;
            let sign = wide.quadratic().signum();
            let found = x.norm_backward(&one).unwrap();
            let units = unit.select(&blades);
            let squares = blades.masks().iter().map(|&blade| f64::from(signature.square(blade)));
            let want: Vec<f64> = units.iter().zip(squares).map(|(x, square)| sign * square * x).collect();
            assert_close(
                &found,
                &Multivector::new(&blades, &want).unwrap(),
                &format!("slope of the norm of {what}"),
            );
            assert_close(&x.inverse().unwrap(), &wide.inverse().unwrap(), &format!("inverse of {what}"));
            let want = wide.inverse_backward(&slope).unwrap();
            assert_close(
                &x.inverse_backward(&g).unwrap(),
                &want,
                &format!("gradient of the inverse of {what}"),
            );
        }
    }
}

#[test]
fn logarithms_ignore_the_norm_over_the_whole_range() {
    let Some(gpu) = support::gpu() else { return };
    let signature = Signature::PGA3D;
    let blades = signature.motors();
    // A rotation and a shift across its axis.
    let bivector = Multivector::new(&signature.bivectors(), &[0.3, -0.2, 0.5, 0.4, 0.1, -0.7]).unwrap();
    let motor = bivector.exp().unwrap().select(&blades);
    for size in SIZES {
        let values: Vec<f32> =
            motor.iter().map(|x| <f32 as Element>::from_f64(x * 10f64.powi(size))).collect();
        let (m, wide) = batch(&gpu, &values, &blades);
        assert_close(&m.log().unwrap(), &wide.log().unwrap(), &format!("log of 1e{size}"));
    }
}
