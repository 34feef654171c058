//! Norms, inverses and logarithms of multivectors of every size that f32 holds, against f64.

use crate::batch::Batch;
use support::strided::Lay;
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

/// The largest error of one of the coefficients whose blades satisfy `of`, over the largest of them. What f32 cannot hold is left out.
fn error_of(found: &[f64], want: &[f64], blades: &Blades, of: impl Fn(u8) -> bool) -> f64 {
    let of: Vec<usize> = (0..want.len()).filter(|&i| of(blades.masks()[i])).collect();
    let most = of.iter().fold(0.0f64, |most, &i| most.max(want[i].abs()));
    if most < 1e-37 || most > f64::from(f32::MAX) {
        return 0.0;
    }
    // Parts of a sum that are below 2^-126 may be flushed.
    let off =
        of.iter().map(|&i| (found[i] - want[i]).abs()).filter(|&off| off.is_nan() || off > 2f64.powi(-124));
    // NaN counts.
    off.fold(0.0, |most, off| if off <= most { most } else { off }) / most
}

fn on_host(of: &Multivectors<f32>) -> Vec<f64> {
    of.tensor().to_vec().unwrap().into_iter().map(f64::from).collect()
}

/// Translations and rotors of very different sizes, none of them subnormal: whatever f32 holds of the logarithm is right, translation and rotation each.
#[test]
fn logarithms_of_large_and_small_translations() {
    let Some(gpu) = support::gpu() else { return };
    let half_turn =
        |signature: Signature| signature.bivectors().masks().iter().map(|_| 0.0).collect::<Vec<f64>>();
    for (signature, bivector) in [
        (Signature::PGA3D, vec![0.3, -0.2, 0.5, 0.4, 0.1, -0.7]),
        (Signature::PGA3D, vec![1.5, 1.0, -0.6, 0.4, 0.1, -0.7]),
        (Signature::PGA2D, vec![0.3, -0.2, 0.5]),
        (Signature::PGA3D, half_turn(Signature::PGA3D)),
    ] {
        let (blades, bivectors) = (signature.motors(), signature.bivectors());
        let is_shift = |blade: u8| signature.square(blade) == 0;
        let mut motor = if bivector.iter().all(|&x| x == 0.0) {
            // The negative of a translation.
            blades
                .masks()
                .iter()
                .map(|&blade| f64::from(blade.count_ones() == 2 && is_shift(blade)))
                .collect()
        } else {
            Multivector::new(&bivectors, &bivector).unwrap().exp().unwrap().select(&blades)
        };
        let scalar = blades.position(0).unwrap();
        if motor[scalar] == 0.0 {
            motor[scalar] = -1.0;
        }
        for of_rotor in [-34, -30, -20, -15, -8, 0, 8, 15, 20, 30, 37] {
            for of_shift in [-34, -30, -20, -15, -8, 0, 8, 15, 20, 30, 37] {
                let sized = |(x, &blade): (&f64, &u8)| {
                    let size = if is_shift(blade) { of_shift } else { of_rotor };
                    <f32 as Element>::from_f64(x * 10f64.powi(size))
                };
                let values: Vec<f32> = motor.iter().zip(blades.masks()).map(sized).collect();
                let (m, wide) = batch(&gpu, &values, &blades);
                let (found, want) = (m.log().unwrap(), wide.log().unwrap().select(&bivectors));
                let of_shifts = want.iter().zip(bivectors.masks()).filter(|&(_, &blade)| is_shift(blade));
                let most = of_shifts.fold(0.0f64, |most, (x, _)| most.max(x.abs()));
                if !(1e-37..=f64::from(f32::MAX)).contains(&most) {
                    continue; // what is infinite or 0 in f32 has no direction
                }
                let found = on_host(&found);
                let what = format!("rotor 1e{of_rotor}, translation 1e{of_shift} in {signature}");
                let shifts = error_of(&found, &want, &bivectors, is_shift);
                let turns = error_of(&found, &want, &bivectors, |blade| !is_shift(blade));
                assert!(shifts < 1e-5, "translation of {what}: {found:?}, not {want:?}");
                assert!(turns < 1e-5, "rotation of {what}: {found:?}, not {want:?}");
            }
        }
    }
}

/// The path between motors of any norms ends at the second, with the norm of the first.
#[test]
fn paths_between_motors_of_different_norms() {
    let Some(gpu) = support::gpu() else { return };
    let signature = Signature::PGA3D;
    let blades = signature.motors();
    let of = |values: [f64; 6]| {
        let bivector = Multivector::new(&signature.bivectors(), &values).unwrap();
        bivector.exp().unwrap().select(&blades)
    };
    let (a, b) = (of([0.3, -0.2, 0.5, 0.4, 0.1, -0.7]), of([0.1, 0.4, -0.3, -0.2, 0.6, 0.3]));
    let t = gpu.tensor(&[0.25f32], [1]).unwrap();
    for sizes in [[0, 0], [-30, 30], [30, 37], [-36, -36], [25, 30], [-20, -25]] {
        let [(a, wide_a), (b, wide_b)] = [(&a, sizes[0]), (&b, sizes[1])].map(|(motor, size)| {
            let of_size = |x: &f64| <f32 as Element>::from_f64(x * 10f64.powi(size));
            batch(&gpu, &motor.iter().map(of_size).collect::<Vec<f32>>(), &blades)
        });
        let want = wide_a.interpolate(&wide_b, 0.25).unwrap();
        assert_close(&a.interpolate(&b, &t).unwrap(), &want, &format!("path of sizes 10^{sizes:?}"));
    }
}

/// Each coefficient of a unit multivector, of an inverse and of a slope is right by itself, whatever the size of others.
#[test]
fn small_coefficients_beside_large_ones() {
    let Some(gpu) = support::gpu() else { return };
    for (signature, values) in [
        (Signature::CL3, [1e10f32, -2e-10, 3e-20].as_slice()),
        (Signature::CL3, &[1e37, -2e10, 3e3]),
        (Signature::CL3, &[1e12, -2e-10, 3e-15]),
        (Signature::CL3, &[1e-12, -2e-25, 3e-34]),
        // The last vector squares to 0: it is not part of the norm.
        (Signature::PGA3D, &[1e-15, 2e-15, -2e-15, 3e10]),
        (Signature::PGA3D, &[1e-30, 2e-30, -2e-30, 3e-10]),
        (Signature::PGA3D, &[1e15, 2e15, -2e15, 3e-15]),
        (Signature::PGA3D, &[1e15, 2e15, -2e15, 3e35]),
    ] {
        let blades = signature.vectors();
        let null = blades.masks().iter().position(|&blade| signature.square(blade) == 0);
        let mut values = values.to_vec();
        if let Some(null) = null {
            let last = values.len() - 1;
            values.swap(null, last);
        }
        let (x, wide) = batch(&gpu, &values, &blades);
        let one = Batch::<f32>::of(&gpu, &[1.0], &[1], &signature.scalars(), First, Lay::Plain).on_device;
        let norm = wide.quadratic().abs().sqrt();
        let (g, slope) = batch(&gpu, &vec![0.5; values.len()], &blades);
        let check = |found: &Multivectors<f32>, want: &[f64], what: &str| {
            let found = on_host(found);
            for (i, &blade) in blades.masks().iter().enumerate() {
                let off = error_of(&found, want, &blades, |one| one == blade);
                assert!(off < 1e-5, "{what} of {values:?} in {signature}: {i} of {found:?}, not {want:?}");
            }
        };
        check(&x.normalized().unwrap(), &wide.normalized().unwrap().select(&blades), "unit");
        check(&x.inverse().unwrap(), &wide.inverse().unwrap().select(&blades), "inverse");
        check(&x.norm_backward(&one).unwrap(), &wide.norm_backward(1.0).select(&blades), "slope of the norm");
        let want = wide.inverse_backward(&slope).unwrap().select(&blades);
        check(&x.inverse_backward(&g).unwrap(), &want, "gradient of the inverse");
        assert_close(&x.norm().unwrap(), &Multivector::scalar_of(signature, norm), "norm");
    }
}
