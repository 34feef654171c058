//! Versors of batches against those of the CPU in f64: sandwiches in every form.

use std::f64::consts::PI;
use tilewise::clifford::{BladeAxis, Blades, Multivector, Multivectors, Pga, Product, Signature};
use tilewise::reference::{gamma, store_tolerance};
use tilewise::{DType, Element, Error, Fill, Gpu, Real, Result, f16};

/// An ulp of 1 in f32.
pub(crate) const ULP: f64 = 1.0 / (1 << 23) as f64;

/// A batch on the device and the same, as it was rounded, on the CPU.
pub(crate) struct Batch<T: Real> {
    pub(crate) device: Multivectors<T>,
    pub(crate) cpu: Vec<Multivector>,
}

pub(crate) fn batch<T: Real>(
    gpu: &Gpu,
    of: &[Multivector],
    blades: &Blades,
    shape: &[usize],
    axis: BladeAxis,
) -> Batch<T> {
    let rounded: Vec<Vec<T>> =
        of.iter().map(|x| x.select(blades).into_iter().map(T::from_f64).collect()).collect();
    let values: Vec<T> = match axis {
        BladeAxis::First => (0..blades.len()).flat_map(|k| rounded.iter().map(move |x| x[k])).collect(),
        BladeAxis::Last => rounded.concat(),
    };
    let shape = match axis {
        BladeAxis::First => [&[blades.len()], shape].concat(),
        BladeAxis::Last => [shape, &[blades.len()]].concat(),
    };
    let device = Multivectors::new(gpu.tensor(&values, shape).unwrap(), blades, axis).unwrap();
    let cpu = rounded.iter().map(|x| {
        let x: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
        Multivector::new(blades, &x).unwrap()
    });
    Batch { device, cpu: cpu.collect() }
}

pub(crate) fn read<T: Real>(x: &Multivectors<T>) -> Vec<Multivector> {
    let (values, blades) = (x.tensor().to_vec().unwrap(), x.blades());
    let count = values.len() / blades.len();
    let at = |i: usize, k: usize| match x.axis() {
        BladeAxis::First => values[k * count + i],
        BladeAxis::Last => values[i * blades.len() + k],
    };
    let one = |i| {
        let values: Vec<f64> = (0..blades.len()).map(|k| at(i, k).to_f64()).collect();
        Multivector::new(blades, &values).unwrap()
    };
    (0..count).map(one).collect()
}

/// Numbers between -1 and 1.
pub(crate) fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut values = Fill::Uniform.values::<f32>(1 << 14, seed).into_iter();
    move || values.next().unwrap().to_f64()
}

fn vector(signature: Signature, next: &mut impl FnMut() -> f64) -> Multivector {
    let values: Vec<f64> = (0..signature.dimension()).map(|_| next()).collect();
    Multivector::new(&signature.vectors(), &values).unwrap()
}

pub(crate) fn off(x: &Multivector, y: &Multivector) -> f64 {
    let each = x.coefficients().iter().zip(y.coefficients());
    each.fold(
        0.0,
        |most: f64, (x, y)| if x.is_nan() || y.is_nan() { f64::NAN } else { most.max((x - y).abs()) },
    )
}

/// How far it is off, in ulp of a size.
pub(crate) fn ulps(found: &Multivector, want: &Multivector, size: f64) -> f64 {
    let off = off(found, want);
    if off == 0.0 { 0.0 } else { off / (ULP * size) }
}

/// What a sandwich may be off by: of each sum, by its terms' absolute values.
fn tolerance(v: &Multivector, x: &Multivector, dtype: DType) -> f64 {
    let size = |x: &Multivector| x.coefficients().iter().map(|x| x.abs()).sum::<f64>();
    let count = |x: &Multivector| x.coefficients().iter().filter(|x| **x != 0.0).count();
    let most = size(v) * size(v) * x.max_abs();
    gamma(2 * count(v) + 2) * most + store_tolerance(most, dtype)
}

/// Motors of this algebra with shifts of about 2: the algebra's own, and how far they move.
fn motors(signature: Signature, count: usize, seed: u64) -> Vec<Multivector> {
    let mut next = numbers(seed);
    (0..count).map(|_| bivector(signature, PI * next(), 2.0, &mut next).exp().unwrap()).collect()
}

/// A bivector of this angle.
pub(crate) fn bivector(
    signature: Signature,
    theta: f64,
    shift: f64,
    next: &mut impl FnMut() -> f64,
) -> Multivector {
    let null = signature.null();
    let blades = signature.bivectors();
    let values: Vec<f64> = blades.masks().iter().map(|_| next()).collect();
    let turn: f64 =
        blades.masks().iter().zip(&values).filter(|(b, _)| *b & null == 0).map(|(_, x)| x * x).sum();
    let scale = |(b, x): (&u8, &f64)| if b & null == 0 { x * theta / turn.sqrt() } else { x * shift };
    let values: Vec<f64> = blades.masks().iter().zip(&values).map(scale).collect();
    Multivector::new(&blades, &values).unwrap()
}

/// Where a motor takes the origin, by its distance.
fn moved(motor: &Multivector) -> f64 {
    let signature = motor.signature();
    match signature.pqr() {
        [2, 0, 1] => Pga::<2>::new(signature).map_or(0.0, |pga| {
            let at = pga.coordinates(&motor.sandwich(&pga.point([0.0; 2])).unwrap()).unwrap();
            at.iter().map(|x| x * x).sum::<f64>().sqrt()
        }),
        [3, 0, 1] => Pga::<3>::new(signature).map_or(0.0, |pga| {
            let at = pga.coordinates(&motor.sandwich(&pga.point([0.0; 3])).unwrap()).unwrap();
            at.iter().map(|x| x * x).sum::<f64>().sqrt()
        }),
        _ => 0.0,
    }
}

/// Points of PGA of weight 1, vectors elsewhere.
fn points(signature: Signature, count: usize) -> (Blades, Vec<Multivector>) {
    let mut next = numbers(7);
    let point = |_| match signature.pqr() {
        [2, 0, 1] => Pga::<2>::new(signature).unwrap().point([next(), next()]),
        [3, 0, 1] => Pga::<3>::new(signature).unwrap().point([next(), next(), next()]),
        _ => vector(signature, &mut next),
    };
    let all = (0..count).map(point).collect();
    (if signature.null() == 0 { signature.vectors() } else { signature.points() }, all)
}

pub(crate) fn rigid() -> Vec<Signature> {
    let pga = [Signature::PGA2D, Signature::PGA3D];
    [Signature::CL2, Signature::CL3].into_iter().chain(pga).chain(pga.map(Signature::null_first)).collect()
}

#[test]
fn motors_move_points_within_16_ulp_in_one_launch_however_they_are_repeated() -> Result<()> {
    let Some(gpu) = support::own(|_| {}) else { return Ok(()) };
    const N: usize = 67;
    let mut worst = 0.0f64;
    for signature in rigid() {
        let (blades, all) = points(signature, N);
        for axis in [BladeAxis::First, BladeAxis::Last] {
            let x = batch::<f32>(&gpu, &all, &blades, &[N], axis);
            let each = batch::<f32>(&gpu, &motors(signature, N, 3), &signature.motors(), &[N], axis);
            let one = batch::<f32>(&gpu, &motors(signature, 1, 4), &signature.motors(), &[1], axis);
            let few = batch::<f32>(&gpu, &motors(signature, 5, 5), &signature.motors(), &[5, 1], axis);
            type Repeated<'a> = (&'a Batch<f32>, &'a [usize], fn(usize) -> usize);
            let pairs: [Repeated<'_>; 3] =
                [(&each, &[N], |i| i), (&one, &[N], |_| 0), (&few, &[5, N], |i| i / N)];
            for (v, positions, motor) in pairs {
                let before = gpu.stats().launches;
                let y = v.device.sandwich(&x.device)?;
                assert_eq!(gpu.stats().launches - before, 1, "{signature} {axis:?}");
                assert_eq!(y.positions(), positions);
                assert_eq!(y.blades(), &blades);
                for (i, found) in read(&y).iter().enumerate() {
                    let (v, p) = (&v.cpu[motor(i)], &x.cpu[i % N]);
                    let length = p.select(&blades).iter().map(|x| x * x).sum::<f64>().sqrt();
                    let ratio =
                        off(found, &v.sandwich(p)?.project(&grades(&blades))) / (ULP * (length + moved(v)));
                    assert!(ratio <= 16.0, "{signature} {axis:?} {positions:?} {i}: {ratio} ulp");
                    worst = worst.max(ratio);
                }
            }
        }
    }
    println!("{}: points within {worst:.2} ulp of |p| + |t|", gpu.caps().adapter);
    Ok(())
}

fn grades(blades: &Blades) -> Vec<usize> {
    blades.has_grades().iter().enumerate().filter(|(_, has)| **has).map(|(g, _)| g).collect()
}

/// Versors of a dense algebra at every multivector, even and odd, in one launch each.
fn check_dense<T: Real>(gpu: &Gpu, signature: Signature, factors: usize) -> Result<()> {
    const N: usize = 5;
    let mut next = numbers(11);
    let versor = |next: &mut dyn FnMut() -> f64| {
        let mut next = || next();
        (1..factors)
            .fold(vector(signature, &mut next), |v, _| v.geometric(&vector(signature, &mut next)).unwrap())
    };
    let versors: Vec<Multivector> = (0..N).map(|_| versor(&mut next)).collect();
    let all = signature.blades();
    let dense: Vec<Multivector> = (0..N)
        .map(|_| Multivector::new(&all, &(0..all.len()).map(|_| next()).collect::<Vec<_>>()).unwrap())
        .collect();
    let of = if factors.is_multiple_of(2) { signature.even() } else { signature.odd() };
    let v = batch::<T>(gpu, &versors, &of, &[N], BladeAxis::First);
    let x = batch::<T>(gpu, &dense, &all, &[N], BladeAxis::First);
    let before = gpu.stats().launches;
    let y = v.device.sandwich(&x.device)?;
    assert_eq!(gpu.stats().launches - before, 1, "{signature}");
    for (i, found) in read(&y).iter().enumerate() {
        let want = v.cpu[i].sandwich(&x.cpu[i])?;
        let most = tolerance(&v.cpu[i], &x.cpu[i], T::DTYPE);
        assert!(
            off(found, &want) <= most,
            "{signature} {factors} {i}: {:e}, not {most:e}",
            off(found, &want)
        );
    }
    Ok(())
}

#[test]
fn versors_of_other_algebras_act_on_all_blades() -> Result<()> {
    let Some(gpu) = support::own(|_| {}) else { return Ok(()) };
    check_dense::<f32>(&gpu, Signature::SPACETIME, 2)?;
    check_dense::<f32>(&gpu, Signature::SPACETIME, 3)?;
    check_dense::<f32>(&gpu, Signature::new(2, 1, 1)?, 2)?;
    check_dense::<f32>(&gpu, Signature::CGA3D, 2)?;
    check_dense::<f16>(&gpu, Signature::CL3, 2)
}

#[test]
fn reflections_mirror_planes_and_points() -> Result<()> {
    let Some(gpu) = support::gpu() else { return Ok(()) };
    for signature in [Signature::PGA3D, Signature::PGA3D.null_first()] {
        let space = Pga::<3>::new(signature)?;
        let mirror = batch::<f32>(
            &gpu,
            &[space.plane([0.0, 0.6, 0.8], -1.0)],
            &signature.planes(),
            &[1],
            BladeAxis::First,
        );
        let (blades, all) = points(signature, 9);
        let x = batch::<f32>(&gpu, &all, &blades, &[9], BladeAxis::First);
        let images = read(&mirror.device.sandwich(&x.device)?);
        for (found, p) in images.iter().zip(&x.cpu) {
            let [found, p] = [space.coordinates(found)?, space.coordinates(p)?];
            let distance = 0.6 * p[1] + 0.8 * p[2] - 1.0;
            let want = [p[0], p[1] - 1.2 * distance, p[2] - 1.6 * distance];
            for (found, want) in found.iter().zip(want) {
                assert!((found - want).abs() <= 16.0 * ULP * 3.0, "{signature}: {found} {want}");
            }
        }
        let turned = read(&mirror.device.sandwich(&mirror.device)?);
        assert!(off(&turned[0], &mirror.cpu[0].scaled(-1.0)) <= 16.0 * ULP, "a mirror turns round");
    }
    Ok(())
}

#[test]
fn what_is_no_versor_and_no_algebra_of_motors_is_refused() -> Result<()> {
    let Some(gpu) = support::gpu() else { return Ok(()) };
    let zeros = |blades: &Blades, axis| {
        let shape = match axis {
            BladeAxis::First => [blades.len(), 2],
            BladeAxis::Last => [2, blades.len()],
        };
        Multivectors::new(gpu.zeros::<f32>(shape).unwrap(), blades, axis).unwrap()
    };
    let first = |blades: &Blades| zeros(blades, BladeAxis::First);
    let (cl3, spacetime) = (Signature::CL3, Signature::SPACETIME);
    let refused = |result: Result<Multivectors<f32>>, words: &[&str]| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Input { .. } | Error::Shape { .. }), "{error}");
        assert!(words.iter().all(|word| error.to_string().contains(word)), "{error}");
    };
    refused(first(&cl3.blades()).sandwich(&first(&cl3.vectors())), &["both", "e123"]);
    refused(first(&cl3.even()).sandwich(&first(&spacetime.vectors())), &["Cl(3,0,0)", "Cl(1,3,0)"]);
    refused(first(&cl3.even()).sandwich(&zeros(&cl3.vectors(), BladeAxis::Last)), &["First", "Last"]);
    refused(first(&spacetime.bivectors()).exp(), &["exp in Cl(1,3,0)", "Cl(2,0,1)"]);
    refused(first(&spacetime.even()).log(), &["log in Cl(1,3,0)"]);
    refused(first(&cl3.even()).exp(), &["bivectors only", "1"]);
    refused(first(&cl3.blades()).log(), &["even blades only", "e1"]);
    let even = first(&cl3.even());
    refused(even.interpolate(&first(&cl3.blades()), &gpu.zeros([2])?), &["even blades only"]);
    refused(even.interpolate(&even, &gpu.zeros([3])?), &["[2]", "[3]"]);
    assert!(
        even.sandwich(&Multivectors::new(gpu.zeros([3, 0])?, &cl3.vectors(), BladeAxis::First)?).is_err()
    );
    let none = Multivectors::new(gpu.zeros::<f32>([4, 0])?, &cl3.even(), BladeAxis::First)?;
    assert!(none.log()?.exp()?.tensor().is_empty());
    Ok(())
}

#[test]
fn larger_algebras_take_two_products() -> Result<()> {
    let Some(gpu) = support::gpu() else { return Ok(()) };
    let signature = Signature::new(5, 1, 0)?;
    let mut next = numbers(19);
    let v = vector(signature, &mut next).geometric(&vector(signature, &mut next))?;
    let v = batch::<f32>(&gpu, &[v], &signature.even(), &[1], BladeAxis::Last);
    let vectors: Vec<Multivector> = (0..3).map(|_| vector(signature, &mut next)).collect();
    let x = batch::<f32>(&gpu, &vectors, &signature.vectors(), &[3], BladeAxis::Last);
    for (found, x) in read(&v.device.sandwich(&x.device)?).iter().zip(&x.cpu) {
        let want = v.cpu[0].sandwich(x)?.project(&[1]);
        assert!(off(found, &want) <= tolerance(&v.cpu[0], x, DType::F32), "{found:?} {want:?}");
    }
    let product = Product::Geometric.terms(&signature.even(), &signature.vectors())?;
    assert_eq!(product.terms.len(), 192);
    Ok(())
}
