//! Functions of one batch of multivectors and their gradients, against the definition on the CPU.

use crate::batch::{Batch, Wanted, assert_within};
use support::failure::says;
use support::strided::Lay;
use tilewise::clifford::BladeAxis::{First, Last};
use tilewise::clifford::{BladeOrder, Blades, Multivector, Multivectors, Signature, Unary};
use tilewise::reference::gamma;
use tilewise::{Gpu, f16};

fn exactly(value: Multivector) -> Wanted {
    Wanted { tolerance: Multivector::zero(value.signature()), value }
}

/// Off by so many roundings of the largest coefficient.
fn about(value: Multivector, roundings: usize, magnitude: f64) -> Wanted {
    let blades = value.signature().blades();
    let most = vec![gamma(roundings) * magnitude; blades.len()];
    Wanted { tolerance: Multivector::new(&blades, &most).unwrap(), value }
}

fn batch(gpu: &Gpu, blades: &Blades, axis: tilewise::clifford::BladeAxis, seed: u64) -> Batch<f32> {
    Batch::random(gpu, &[3, 6], blades, axis, Lay::Plain, seed)
}

#[test]
fn signs_and_places_are_exact_and_go_back() {
    let Some(gpu) = support::gpu() else { return };
    for (blades, axis) in [(Signature::PGA3D.blades(), First), (Signature::CL3.even(), Last)] {
        let x = batch(&gpu, &blades, axis, 1);
        for function in Unary::ALL {
            let found = x.on_device.unary(function).unwrap();
            assert_within(&found, |index| exactly(x.at(index).unary(function)), function.name());
            // It permutes blades and changes signs: what hands a gradient back undoes it.
            let back = found.unary_backward(function, &blades).unwrap();
            assert_eq!(back.tensor().to_vec().unwrap(), x.on_device.tensor().to_vec().unwrap(), "{function}");
        }
    }
}

#[test]
fn blades_are_selected_reordered_and_projected() {
    let Some(gpu) = support::gpu() else { return };
    let blades = Signature::CL3.blades();
    let x = batch(&gpu, &blades, Last, 1);
    let ascending = x.on_device.select(&blades.ordered(BladeOrder::Ascending)).unwrap();
    assert_eq!(ascending.blades().to_string(), "1 e1 e2 e12 e3 e13 e23 e123");
    assert_within(&ascending, |index| exactly(x.at(index).clone()), "ascending");
    assert_eq!(
        ascending.select(&blades).unwrap().tensor().to_vec().unwrap(),
        x.on_device.tensor().to_vec().unwrap()
    );
    let bivectors = x.on_device.project(&[2]).unwrap();
    assert_eq!(bivectors.blades(), &Signature::CL3.bivectors());
    assert_within(&bivectors, |index| exactly(x.at(index).project(&[2])), "bivectors");
    let padded = bivectors.select(&blades).unwrap();
    assert_within(&padded, |index| exactly(x.at(index).project(&[2])), "all blades of a bivector");
    let none = bivectors.project(&[3]).unwrap();
    assert_eq!((none.blades().to_string().as_str(), none.tensor().to_vec().unwrap()), ("1", vec![0.0; 18]));
    let half = Batch::<f16>::random(&gpu, &[3, 5], &blades, First, Lay::Plain, 1);
    let vectors = half.on_device.project(&[1]).unwrap();
    assert_within(&vectors, |index| exactly(half.at(index).project(&[1])), "vectors in f16");
}

/// The null vector first and last: blades keep their places in memory, and some change sign.
#[test]
fn vectors_stand_in_another_order() {
    let Some(gpu) = support::own(|_| ()) else { return };
    for (signature, axis) in
        [(Signature::PGA3D, First), (Signature::from_squares(&[0, 1, -1, 1]).unwrap(), Last)]
    {
        let x = batch(&gpu, &signature.blades(), axis, 1);
        let to = if signature == Signature::PGA3D { signature.null_first() } else { signature.null_last() };
        let found = x.on_device.reordered(to).unwrap();
        assert_eq!(found.signature(), to);
        assert_within(&found, |index| exactly(x.at(index).reordered(to).unwrap()), "reordered");
        // A product is the same in either order.
        let square = |x: &Multivector| x.geometric(x).unwrap();
        let index = [1, 2];
        let there = square(x.at(&index)).reordered(to).unwrap();
        let off = there.sub(&square(&x.at(&index).reordered(to).unwrap())).unwrap().max_abs();
        assert!(off < 1e-14, "{signature}: {off:e}");
        assert_eq!(there.reordered(signature).unwrap(), square(x.at(&index)));
    }
    // Vectors of their own change their names alone, which takes no launch.
    let planes = batch(&gpu, &Signature::PGA3D.vectors(), First, 1).on_device;
    let before = gpu.stats().launches;
    let renamed = planes.reordered(Signature::PGA3D.null_first()).unwrap();
    assert_eq!((renamed.blades().to_string().as_str(), gpu.stats().launches), ("e1 e2 e3 e0", before));
    says(planes.reordered(Signature::SPACETIME), &["Cl(3,0,1) and Cl(1,3,0) do not have the same vectors"]);
}

/// The norm by any metric, and its gradient; both are 0 of null multivectors.
#[test]
fn norms_are_those_of_the_metric() {
    let Some(gpu) = support::gpu() else { return };
    for (signature, axis) in [(Signature::CL3, First), (Signature::new(1, 1, 1).unwrap(), Last)] {
        let x = batch(&gpu, &signature.blades(), axis, 1);
        let g = batch(&gpu, &signature.scalars(), axis, 2);
        let norm = x.on_device.norm().unwrap();
        assert_eq!(norm.blades(), &signature.scalars());
        // The square may cancel: what it loses is relative to the sum of squares, and the root's error is that over it.
        let off = |x: &Multivector| {
            let squares: f64 = x.coefficients().iter().map(|x| x * x).sum();
            squares / x.norm()
        };
        let wanted = |index: &[usize]| {
            let x = x.at(index);
            about(Multivector::scalar_of(signature, x.norm()), 16, off(x) + x.norm())
        };
        assert_within(&norm, wanted, "norm");
        let backward = x.on_device.norm_backward(&g.on_device).unwrap();
        let wanted = |index: &[usize]| {
            let (x, g) = (x.at(index), g.at(index).coefficient(0));
            let slope = g.abs() / x.norm();
            about(x.norm_backward(g), 16, slope * (1.0 + off(x) / x.norm()))
        };
        assert_within(&backward, wanted, "norm, gradient");
    }
    let null = Signature::PGA3D.vectors();
    let e0 = Batch::<f32>::of(&gpu, &[0.0, 0.0, 0.0, 2.0], &[1], &null, First, Lay::Plain).on_device;
    let g = Batch::<f32>::of(&gpu, &[1.0], &[1], &Signature::PGA3D.scalars(), First, Lay::Plain).on_device;
    assert_eq!(e0.norm().unwrap().tensor().to_vec().unwrap(), [0.0]);
    assert_eq!(e0.norm_backward(&g).unwrap().tensor().to_vec().unwrap(), [0.0; 4]);
}

/// Products of vectors have inverses; what is none, and zero, have NaN.
#[test]
fn versors_have_inverses_and_nothing_else_has() {
    let Some(gpu) = support::gpu() else { return };
    for (signature, axis) in
        [(Signature::CL3, First), (Signature::PGA3D, Last), (Signature::SPACETIME, First)]
    {
        let vectors = [1, 2].map(|seed| batch(&gpu, &signature.vectors(), axis, seed));
        let versor = vectors[0].on_device.geometric(&vectors[1].on_device).unwrap();
        let inverse = versor.inverse().unwrap();
        let found = inverse.geometric(&versor).unwrap();
        let wanted = |index: &[usize]| {
            let [a, b] = [&vectors[0], &vectors[1]].map(|vector| vector.at(index).clone());
            let size = |x: &Multivector| x.coefficients().iter().map(|x| x * x).sum::<f64>();
            let worst = size(&a) * size(&b) / (a.quadratic() * b.quadratic()).abs();
            about(Multivector::scalar_of(signature, 1.0), 64, worst)
        };
        assert_within(&found, wanted, &format!("{signature}: inverse times versor"));
    }
    let even = Signature::SPACETIME.even();
    let of = |values: &[f32]| Batch::<f32>::of(&gpu, values, &[1], &even, First, Lay::Plain).on_device;
    let nan =
        |x: Multivectors<f32>| x.inverse().unwrap().tensor().to_vec().unwrap().iter().all(|x| x.is_nan());
    assert!(nan(of(&[0.0; 8])), "zero");
    assert!(nan(of(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5])), "a sum of a scalar and the pseudoscalar");
}

/// The gradients on the CPU against finite differences, and those on the device against them.
#[test]
fn gradients_of_inverses_are_slopes() {
    let Some(gpu) = support::gpu() else { return };
    let signature = Signature::SPACETIME;
    let x = batch(&gpu, &signature.vectors(), Last, 1);
    let g = batch(&gpu, &signature.vectors(), Last, 2);
    let backward = x.on_device.inverse_backward(&g.on_device).unwrap();
    let wanted = |index: &[usize]| {
        let (x, g) = (x.at(index), g.at(index));
        let size: f64 = x.coefficients().iter().map(|x| x * x).sum();
        let worst = (size / x.quadratic()).powi(2) * 2.0 / x.quadratic().abs() * 4.0;
        about(x.inverse_backward(g).unwrap(), 32, worst)
    };
    assert_within(&backward, wanted, "inverse, gradient");
}
