//! Motors of batches against those of the CPU in f64 and nalgebra's isometries: exp and log, and paths.

use crate::versors::{ULP, batch, bivector, numbers, off, read, rigid, ulps};
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use std::f64::consts::FRAC_PI_2;
use tilewise::Result;
use tilewise::clifford::{BladeAxis, Multivector, Multivectors, Pga, Signature};

/// Bivectors of angles from 0 to pi.
fn bivectors(signature: Signature, shift: f64) -> Vec<Multivector> {
    let mut next = numbers(13);
    let angles = [
        0.0,
        1e-20,
        1e-7,
        5e-8,
        1e-4,
        0.1,
        0.7,
        1.5,
        FRAC_PI_2,
        1.6,
        2.5,
        3.0,
        3.13,
        f64::from(std::f32::consts::PI),
    ];
    angles.into_iter().map(|theta| bivector(signature, theta, shift, &mut next)).collect()
}

#[test]
fn exp_and_log_are_those_of_f64_and_undo_each_other() -> Result<()> {
    let Some(gpu) = support::own(|_| {}) else { return Ok(()) };
    let mut worst = [0.0f64; 3];
    for signature in rigid() {
        for (shift, axis) in [(0.0, BladeAxis::First), (1.0, BladeAxis::Last), (50.0, BladeAxis::First)] {
            let all = bivectors(signature, shift);
            let b = batch::<f32>(&gpu, &all, &signature.bivectors(), &[all.len()], axis);
            let before = gpu.stats().launches;
            let m = b.device.exp()?;
            assert_eq!(gpu.stats().launches - before, 1);
            let found = read(&m);
            for (found, b) in found.iter().zip(&b.cpu) {
                let want = b.exp()?;
                let ratio = ulps(found, &want, want.max_abs());
                assert!(ratio <= 16.0, "exp in {signature} of {b:?}: {ratio} ulp");
                worst[0] = worst[0].max(ratio);
            }
            let log = m.log()?;
            for (log, m) in read(&log).iter().zip(&found) {
                // Beyond that the logarithm itself is ill conditioned.
                if m.coefficient(0) > -0.9 {
                    let want = m.log()?;
                    let ratio = ulps(log, &want, want.max_abs());
                    assert!(ratio <= 32.0, "log in {signature} of {m:?}: {ratio} ulp");
                    worst[1] = worst[1].max(ratio);
                }
            }
            let logs = read(&log);
            for (i, (again, m)) in read(&log.exp()?).iter().zip(&found).enumerate() {
                // A rounding of an angle near pi moves what the sine divides the shift by.
                let shift = if m.coefficient(0) < 0.0 { logs[i].max_abs() } else { 0.0 };
                let ratio = ulps(again, m, m.max_abs().max(shift));
                assert!(ratio <= 16.0, "exp log in {signature} of {m:?}: {ratio} ulp");
                worst[2] = worst[2].max(ratio);
            }
        }
    }
    println!("{}: exp {:.2}, log {:.2}, both {:.2} ulp", gpu.caps().adapter, worst[0], worst[1], worst[2]);
    Ok(())
}

#[test]
fn one_minus_one_and_null_motors_have_the_logarithms_that_are_stated() -> Result<()> {
    let Some(gpu) = support::gpu() else { return Ok(()) };
    for signature in rigid() {
        let scalar = |value| Multivector::scalar_of(signature, value);
        let m =
            batch::<f32>(&gpu, &[1.0, -1.0, 4.0, 0.0].map(scalar), &signature.even(), &[4], BladeAxis::First);
        let logs = read(&m.device.log()?);
        assert_eq!(logs[0], Multivector::zero(signature), "{signature}");
        assert!(off(&logs[1], &scalar(-1.0).log()?) <= 4.0 * ULP, "{signature}: {:?}", logs[1]);
        assert_eq!(logs[2], Multivector::zero(signature), "{signature}: the scale is left out");
        let blades = signature.bivectors();
        assert!(logs[3].select(&blades).iter().all(|x| x.is_nan()), "{signature}: {:?}", logs[3]);
        let unit = read(&m.device.normalized()?);
        assert_eq!(unit[..3], [1.0, -1.0, 1.0].map(scalar), "{signature}");
        assert!(unit[3].select(&signature.even()).iter().all(|x| x.is_nan()), "{signature}: {:?}", unit[3]);
    }
    let translation = Pga::<3>::new(Signature::PGA3D)?.translator([3.0, -4.0, 12.0]).scaled(-1.0);
    let m = batch::<f32>(&gpu, &[translation], &Signature::PGA3D.even(), &[1], BladeAxis::First);
    assert!(off(&read(&m.device.log()?.exp()?)[0], &m.cpu[0]) <= 16.0 * ULP * m.cpu[0].max_abs());
    let translation = Pga::<2>::new(Signature::PGA2D)?.translator([3.0, -4.0]).scaled(-1.0);
    let m = batch::<f32>(&gpu, &[translation], &Signature::PGA2D.even(), &[1], BladeAxis::First);
    assert!(read(&m.device.log()?)[0].coefficients().iter().any(|x| x.is_nan()), "there is none");
    Ok(())
}

#[test]
fn paths_are_within_64_ulp_of_nalgebra() -> Result<()> {
    let Some(gpu) = support::own(|_| {}) else { return Ok(()) };
    const STEPS: usize = 64;
    for axis in [BladeAxis::First, BladeAxis::Last] {
        let signature = Signature::PGA3D;
        let space = Pga::<3>::new(signature)?;
        let pose = |axis: [f64; 3], angle, by| {
            space.translator(by).geometric(&space.rotor(axis, angle).unwrap()).unwrap()
        };
        let ends =
            [pose([1.0, 2.0, -1.0], 0.4, [1.0, 0.0, 2.0]), pose([0.0, 1.0, 1.0], 2.9, [-3.0, 1.0, 0.0])];
        let [a, b] = ends.map(|end| batch::<f32>(&gpu, &[end.scaled(1.0)], &signature.motors(), &[1], axis));
        for sign in [1.0f32, -1.0] {
            let b = Multivectors::new(
                tilewise::ops::mul(b.device.tensor(), &gpu.tensor(&[sign], [1])?)?,
                b.device.blades(),
                axis,
            )?;
            let times: Vec<f32> = (0..=STEPS).map(|i| i as f32 / STEPS as f32).collect();
            let path = a.device.interpolate(&b, &gpu.tensor(&times, [times.len()])?)?;
            assert_eq!(path.positions(), [STEPS + 1]);
            let [from, to] = [isometry(&space, &a.cpu[0])?, isometry(&space, &read(&b)[0])?];
            let mut worst = 0.0f64;
            for (motor, t) in read(&path).iter().zip(&times) {
                let want = screw(&from, &to, f64::from(*t));
                for p in [[0.0; 3], [0.5, -2.0, 1.0]] {
                    let found = Point3::from(space.coordinates(&motor.sandwich(&space.point(p))?)?);
                    let size = Vector3::from(p).norm() + want.translation.vector.norm();
                    worst = worst.max((found - want * Point3::from(p)).norm() / (ULP * size));
                }
            }
            println!("{}: {axis:?}: within {worst:.2} ulp of nalgebra", gpu.caps().adapter);
            assert!(worst <= 64.0, "{axis:?} {sign}: {worst}");
        }
    }
    Ok(())
}

/// The isometry that a motor is, read off the points that it moves.
fn isometry(space: &Pga<3>, motor: &Multivector) -> Result<Isometry3<f64>> {
    let motor = motor.normalized()?;
    let of = |mask| motor.coefficient(mask);
    // cos, and minus the coefficients of e23, e31, e12.
    let turn =
        UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(of(0), -of(0b110), of(0b101), -of(0b011)));
    let by = space.coordinates(&motor.sandwich(&space.point([0.0; 3]))?)?;
    Ok(Isometry3::from_parts(Translation3::from(by), turn))
}

/// The screw from one pose to another: nalgebra's own interpolation turns and shifts apart.
fn screw(a: &Isometry3<f64>, b: &Isometry3<f64>, t: f64) -> Isometry3<f64> {
    let way = a.inverse() * b;
    let shift = way.translation.vector;
    let Some((axis, angle)): Option<(Unit<Vector3<f64>>, f64)> = way.rotation.axis_angle() else {
        return a * Translation3::from(shift * t);
    };
    let along = axis.into_inner() * axis.dot(&shift);
    let across = shift - along;
    let centre = (across + axis.cross(&across) / (0.5 * angle).tan()) * 0.5;
    let turn = UnitQuaternion::from_axis_angle(&axis, angle * t);
    a * Isometry3::from_parts(Translation3::from(along * t + centre - turn * centre), turn)
}
