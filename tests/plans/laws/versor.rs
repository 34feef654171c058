//! Versors on the CPU in f64: closed forms of exp and log, motions against nalgebra's isometries, reflections, and what is
//! refused.

use nalgebra::{Isometry2, Isometry3, Point2, Point3, Translation3, UnitQuaternion, Vector2, Vector3};
use std::f64::consts::{FRAC_PI_2, PI};
use support::failure::says;
use tilewise::clifford::{Blades, Multivector, Pga, Signature};
use tilewise::{Error, Result};

const EPS: f64 = f64::EPSILON;

/// Angles of the exponential: the motion turns by twice as much.
const ANGLES: [f64; 13] =
    [1e-160, 1e-20, 1e-7, 5e-8, 1e-3, 0.4, 0.999_999, 1.0, FRAC_PI_2, 2.0, 3.0, PI - 1e-7, PI];

/// Every algebra that has closed forms; of PGA the null vector first, last and between.
fn algebras() -> Vec<Signature> {
    let mut all = vec![Signature::CL2, Signature::CL3, Signature::PGA2D, Signature::PGA3D];
    all.extend([Signature::PGA2D.null_first(), Signature::PGA3D.null_first()]);
    all.extend(
        [[1, 0, 1].as_slice(), &[1, 0, 1, 1], &[1, 1, 0, 1]]
            .map(|squares| Signature::from_squares(squares).unwrap()),
    );
    all
}

/// Numbers between -1 and 1 (Knuth's linear congruence).
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// The bivectors with the null vector and those without.
fn parts(signature: Signature) -> [Vec<u8>; 2] {
    let null = signature.null();
    let (shifts, turns) = signature.bivectors().masks().iter().partition(|&b| b & null != 0);
    [turns, shifts]
}

/// A bivector that turns by this angle and shifts by about as much as `shift`.
fn bivector(signature: Signature, theta: f64, shift: f64, seed: u64) -> Multivector {
    let mut next = numbers(seed);
    let [turns, shifts] = parts(signature);
    let axis: Vec<f64> = turns.iter().map(|_| next()).collect();
    let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    let turn = axis.iter().map(|x| x / length * theta);
    let values: Vec<f64> = turn.chain(shifts.iter().map(|_| shift * next())).collect();
    let blades = Blades::new(signature, &[turns, shifts.clone()].concat()).unwrap();
    Multivector::new(&blades, &values).unwrap()
}

fn off(x: &Multivector, y: &Multivector) -> f64 {
    x.sub(y).unwrap().max_abs()
}

/// The series of the exponential of half the bivector, squared until it is that of the whole.
fn exp_by_series(b: &Multivector) -> Multivector {
    let small = b.scaled(1.0 / 64.0);
    let mut term = Multivector::scalar_of(b.signature(), 1.0);
    let mut sum = term.clone();
    for k in 1..24 {
        term = term.geometric(&small).unwrap().scaled(1.0 / f64::from(k));
        sum = sum.add(&term).unwrap();
    }
    (0..6).fold(sum, |m, _| m.geometric(&m).unwrap())
}

#[test]
fn exponentials_are_their_series() {
    for signature in algebras() {
        for theta in ANGLES {
            for (seed, shift) in [(1, 0.0), (2, 1.0), (3, 100.0)] {
                let b = bivector(signature, theta, shift, seed);
                let (m, want) = (b.exp().unwrap(), exp_by_series(&b));
                let bound = 1024.0 * EPS * want.max_abs(); // of the series and its six squares
                assert!(off(&m, &want) <= bound, "{signature} {theta} {shift}: {:e}", off(&m, &want));
                let one = m.geometric(&m.reverse()).unwrap();
                let unit = Multivector::scalar_of(signature, 1.0);
                assert!(off(&one, &unit) <= 16.0 * EPS * m.max_abs(), "{signature} {theta} {shift}: {one:?}");
            }
        }
    }
}

#[test]
fn logarithms_undo_exponentials_and_the_other_way_round() {
    let mut worst = [0.0f64; 2];
    for signature in algebras() {
        for theta in ANGLES {
            for (seed, shift) in [(1, 0.0), (2, 1.0), (3, 100.0), (4, 1e-7)] {
                let b = bivector(signature, theta, shift, seed);
                let m = b.exp().unwrap();
                let log = m.log().unwrap();
                let again = log.exp().unwrap();
                let ratio = off(&again, &m) / (EPS * m.max_abs());
                assert!(ratio <= 16.0, "{signature} {theta} {shift}: {ratio} ulp");
                worst[0] = worst[0].max(ratio);
                if theta <= 3.0 {
                    let ratio = off(&log, &b) / (EPS * b.max_abs());
                    assert!(ratio <= 64.0, "{signature} {theta} {shift}: {ratio} ulp"); // 1 / sin 3 = 7
                    worst[1] = worst[1].max(ratio);
                }
                // The scale is left out.
                assert!(
                    off(&m.scaled(4.0).log().unwrap(), &log) <= 64.0 * EPS * log.max_abs(),
                    "{signature} {theta}"
                );
            }
        }
    }
    println!("round trips within {worst:?} ulp");
}

#[test]
fn small_angles_keep_all_their_digits() {
    for signature in algebras() {
        for theta in [1e-7, 1e-12, 1e-100] {
            let b = bivector(signature, theta, 0.0, 5);
            assert!(off(&b.exp().unwrap().log().unwrap(), &b) <= 4.0 * EPS * theta, "{signature} {theta}");
        }
    }
}

#[test]
fn one_and_minus_one_have_the_logarithms_that_are_stated() {
    for signature in algebras() {
        let scalar = |value| Multivector::scalar_of(signature, value);
        assert_eq!(scalar(1.0).log().unwrap(), Multivector::zero(signature));
        assert_eq!(Multivector::zero(signature).exp().unwrap(), scalar(1.0));
        let log = scalar(-1.0).log().unwrap();
        let first = parts(signature)[0][0];
        assert_eq!(log, Multivector::blade(signature, first).unwrap().scaled(PI), "{signature}");
        assert!(off(&log.exp().unwrap(), &scalar(-1.0)) <= EPS, "{signature}");
        let b = bivector(signature, 0.7, 2.0, 8);
        let m = b.exp().unwrap();
        let other = m.scaled(-1.0).log().unwrap();
        assert!(off(&other.exp().unwrap(), &m.scaled(-1.0)) <= 16.0 * EPS * m.max_abs(), "{signature}");
    }
}

#[test]
fn translations_are_straight_and_minus_one_is_a_full_turn_along() -> Result<()> {
    for signature in [Signature::PGA3D, Signature::PGA3D.null_first()] {
        let space = Pga::<3>::new(signature)?;
        let motor = space.translator([3.0, -4.0, 12.0]);
        let log = motor.log()?;
        assert_eq!(log, motor.project(&[2]));
        assert_eq!(log.exp()?, motor);
        let full = motor.scaled(-1.0).log()?;
        assert!((full.project(&[2]).quadratic().sqrt() - PI).abs() <= 4.0 * EPS);
        assert!(off(&full.exp()?, &motor.scaled(-1.0)) <= 8.0 * EPS * motor.max_abs());
    }
    let plane = Pga::<2>::new(Signature::PGA2D)?;
    let motor = plane.translator([0.5, 2.0]);
    assert_eq!(motor.log()?.exp()?, motor);
    let refused = motor.scaled(-1.0).log().unwrap_err();
    assert!(matches!(&refused, Error::Input { why, .. } if why.contains("times -1")), "{refused}");
    Ok(())
}

/// A motor of space and the isometry that it is.
fn both(space: &Pga<3>, axis: [f64; 3], angle: f64, by: [f64; 3]) -> (Multivector, Isometry3<f64>) {
    let motor = space.translator(by).geometric(&space.rotor(axis, angle).unwrap()).unwrap();
    let turn = UnitQuaternion::from_axis_angle(&nalgebra::Unit::new_normalize(Vector3::from(axis)), angle);
    (motor, Isometry3::from_parts(Translation3::from(by), turn))
}

#[test]
fn motors_are_the_isometries_of_nalgebra() -> Result<()> {
    let mut worst = 0.0f64;
    for signature in algebras().into_iter().filter(|s| s.pqr() == [3, 0, 1]) {
        let space = Pga::<3>::new(signature)?;
        let mut next = numbers(11);
        let mut three = || [next(), next(), next()];
        for angle in [0.0, 1e-7, 0.3, FRAC_PI_2, 3.0, PI, 4.0, 2.0 * PI] {
            let (axis, by, at) = (three(), three().map(|x| 10.0 * x), three());
            let (motor, isometry) = both(&space, axis, angle, by);
            let found = space.coordinates(&motor.sandwich(&space.point(at))?)?;
            let want = isometry * Point3::from(at);
            let size = Vector3::from(at).norm() + Vector3::from(by).norm();
            let off = (Point3::from(found) - want).norm() / (EPS * size);
            assert!(off <= 8.0, "{signature} {angle}: {off} ulp");
            worst = worst.max(off);
            // A plane through a point goes to the plane through its image.
            let normal = three();
            let d = -(0..3).map(|i| normal[i] * at[i]).sum::<f64>();
            let moved = motor.sandwich(&space.plane(normal, d))?;
            let apart = moved.outer(&space.point(found))?.max_abs();
            assert!(apart <= 64.0 * EPS * size, "{signature} {angle}: {apart:e}");
        }
    }
    println!("points within {worst} ulp of |p| + |t|");
    for signature in algebras().into_iter().filter(|s| s.pqr() == [2, 0, 1]) {
        let plane = Pga::<2>::new(signature)?;
        let motor = plane.translator([2.0, -1.0]).geometric(&plane.rotor(0.8))?;
        let found = plane.coordinates(&motor.sandwich(&plane.point([0.3, 0.4]))?)?;
        let want = Isometry2::new(Vector2::new(2.0, -1.0), 0.8) * Point2::new(0.3, 0.4);
        assert!((Point2::from(found) - want).norm() <= 8.0 * EPS, "{signature}: {found:?} {want}");
    }
    Ok(())
}

/// The same screw by nalgebra: the part of the translation along the axis goes on, the other turns about its centre.
fn screw(a: &Isometry3<f64>, b: &Isometry3<f64>, t: f64) -> Isometry3<f64> {
    let way = a.inverse() * b;
    let shift = way.translation.vector;
    let Some((axis, angle)) = way.rotation.axis_angle() else {
        return a * Translation3::from(shift * t);
    };
    let along = axis.into_inner() * axis.dot(&shift);
    let across = shift - along;
    let centre = (across + axis.cross(&across) / (0.5 * angle).tan()) * 0.5;
    let turn = UnitQuaternion::from_axis_angle(&axis, angle * t);
    a * Isometry3::from_parts(Translation3::from(along * t + centre - turn * centre), turn)
}

#[test]
fn interpolation_is_a_screw_of_constant_speed_between_exact_ends() -> Result<()> {
    let space = Pga::<3>::new(Signature::PGA3D.null_first())?;
    let (a, from) = both(&space, [1.0, 2.0, -1.0], 0.4, [1.0, 0.0, 2.0]);
    let (b, to) = both(&space, [0.0, 1.0, 1.0], 2.9, [-3.0, 1.0, 0.0]);
    for end in [b.clone(), b.scaled(-1.0)] {
        assert_eq!(a.interpolate(&end, 0.0)?, a);
        let last = a.interpolate(&end, 1.0)?;
        assert!(last == b || last == b.scaled(-1.0));
        assert!(a.inverse()?.geometric(&last)?.coefficient(0) >= 0.0, "the shorter way");
        let steps: Vec<Multivector> =
            (0..=64).map(|i| a.interpolate(&end, f64::from(i) / 64.0)).collect::<Result<_>>()?;
        let first = steps[0].inverse()?.geometric(&steps[1])?;
        for (i, pair) in steps.windows(2).enumerate() {
            let step = pair[0].inverse()?.geometric(&pair[1])?;
            assert!(off(&step, &first) <= 64.0 * EPS * steps[i].max_abs(), "{i}: {:e}", off(&step, &first));
        }
        for (i, step) in steps.iter().enumerate() {
            let at = [0.5, -2.0, 1.0];
            let found = Point3::from(space.coordinates(&step.sandwich(&space.point(at))?)?);
            let want = screw(&from, &to, i as f64 / 64.0) * Point3::from(at);
            assert!((found - want).norm() <= 64.0 * EPS * 8.0, "{i}: {found} {want}");
        }
    }
    let beyond = a.interpolate(&b, 2.0)?;
    let way = a.inverse()?.geometric(&b)?;
    assert!(
        off(&beyond, &b.geometric(&way)?) <= 64.0 * EPS * beyond.max_abs()
            || off(&beyond.scaled(-1.0), &b.geometric(&way)?) <= 64.0 * EPS * beyond.max_abs()
    );
    assert_eq!(a.interpolate(&a, 0.5)?.signature(), a.signature());
    assert!(off(&a.interpolate(&a, 0.5)?, &a) <= 8.0 * EPS * a.max_abs());
    Ok(())
}

#[test]
fn reflections_mirror_points_planes_and_vectors() -> Result<()> {
    let e = |signature: Signature, values: &[f64]| Multivector::new(&signature.vectors(), values).unwrap();
    // A vector along the mirror's normal turns round, one in the mirror stays.
    let (a, inside) = (e(Signature::CL3, &[0.6, 0.8, 0.0]), e(Signature::CL3, &[-0.8, 0.6, 2.0]));
    assert!(off(&a.sandwich(&a)?, &a.scaled(-1.0)) <= EPS);
    assert!(off(&a.sandwich(&inside)?, &inside) <= 4.0 * EPS);
    let space = Pga::<3>::new(Signature::PGA3D)?;
    let mirror = space.plane([0.0, 0.6, 0.8], -1.0);
    let image = space.coordinates(&mirror.sandwich(&space.point([5.0, 0.0, 0.0]))?)?;
    for (found, want) in image.into_iter().zip([5.0, 1.2, 1.6]) {
        assert!((found - want).abs() <= 4.0 * EPS, "{image:?}");
    }
    // Two reflections in parallel planes are a translation by twice their distance.
    let motor = space.plane([1.0, 0.0, 0.0], -3.0).geometric(&space.plane([1.0, 0.0, 0.0], -1.0))?;
    assert_eq!(space.coordinates(&motor.sandwich(&space.point([0.0; 3]))?)?, [4.0, 0.0, 0.0]);
    // In spacetime, products are taken to products by versors of either parity, to the square of v times its reverse.
    let mut next = numbers(3);
    let mut vector = || e(Signature::SPACETIME, &[next(), next(), next(), next()]);
    let (x, y, a, b) = (vector(), vector(), vector(), vector());
    for v in [a.clone(), a.geometric(&b)?, a.geometric(&b)?.geometric(&y)?] {
        let scale = v.geometric(&v.reverse())?.coefficient(0);
        let both = v.sandwich(&x)?.geometric(&v.sandwich(&b)?)?;
        assert!(off(&both, &v.sandwich(&x.geometric(&b)?)?.scaled(scale)) <= 256.0 * EPS);
    }
    Ok(())
}

#[test]
fn inverses_are_of_versors_only() -> Result<()> {
    let mut next = numbers(17);
    for signature in [Signature::CL3, Signature::SPACETIME, Signature::CGA3D, Signature::PGA3D] {
        let mut vector = || {
            let values: Vec<f64> = (0..signature.dimension()).map(|_| next()).collect();
            Multivector::new(&signature.vectors(), &values).unwrap()
        };
        let v = vector().geometric(&vector())?.geometric(&vector())?;
        let one = v.geometric(&v.inverse()?)?;
        assert!(off(&one, &Multivector::scalar_of(signature, 1.0)) <= 1e-12, "{signature}: {one:?}");
        let unit = v.normalized()?;
        assert!((unit.quadratic().abs() - 1.0).abs() <= 64.0 * EPS * unit.max_abs().powi(2), "{signature}");
        // Rounded to f32 it is one still; with one coefficient off by a thousandth it is not.
        #[expect(clippy::cast_possible_truncation, reason = "that is the point")]
        let rounded: Vec<f64> = v.coefficients().iter().map(|&x| f64::from(x as f32)).collect();
        let all = Blades::new(signature, &(0..=signature.pseudoscalar()).collect::<Vec<_>>())?;
        assert!(Multivector::new(&all, &rounded)?.inverse().is_ok(), "{signature}");
        let wrong = v.add(&Multivector::blade(signature, 1)?.scaled(1e-3))?;
        if signature != Signature::CL3 {
            assert!(wrong.inverse().is_err(), "{signature}");
        }
    }
    let refused = |result: Result<Multivector>, words: &[&str]| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Input { .. }), "{error}");
        let text = error.to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    };
    let cl3 = |mask| Multivector::blade(Signature::CL3, mask).unwrap();
    let pga = |mask| Multivector::blade(Signature::PGA3D, mask).unwrap();
    let spacetime = |mask| Multivector::blade(Signature::SPACETIME, mask).unwrap();
    refused(cl3(0).add(&cl3(1))?.inverse(), &["inverse", "not a versor", "e1"]);
    refused(Multivector::zero(Signature::CL3).inverse(), &["null", "0e0"]);
    refused(pga(8).inverse(), &["inverse", "null"]);
    refused(spacetime(1).add(&spacetime(2))?.normalized(), &["normalized", "null"]);
    refused(cl3(0).scaled(f64::NAN).inverse(), &["NaN"]);
    refused(pga(0b1001).log(), &["log", "null"]);
    refused(pga(0).add(&pga(15))?.log(), &["not a versor", "e1230"]);
    refused(cl3(1).log(), &["even"]);
    refused(cl3(0).exp(), &["bivectors only"]);
    refused(spacetime(3).exp(), &["exp in Cl(1,3,0)", "Cl(2,0,1)"]);
    refused(spacetime(0).log(), &["log in Cl(1,3,0)"]);
    refused(cl3(0).add(&cl3(1))?.sandwich(&cl3(1)), &["even blades or odd ones"]);
    refused(cl3(0).interpolate(&pga(0), 0.5), &["Cl(3,0,0)", "Cl(3,0,1)"]);
    refused(cl3(0).interpolate(&Multivector::zero(Signature::CL3), 0.5), &["null"]);
    let space = Pga::<3>::new(Signature::PGA3D)?;
    refused(space.rotor([0.0; 3], 1.0), &["axis", "direction"]);
    says(space.coordinates(&space.plane([1.0, 0.0, 0.0], 0.0)), &["weight 0"]);
    assert!(Pga::<2>::new(Signature::PGA3D).unwrap_err().to_string().contains("Cl(3,0,1)"));
    assert!(Pga::<4>::new(Signature::CL3).is_err());
    Ok(())
}
