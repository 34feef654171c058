//! Products and their gradients on the device, against the definition on the CPU.

use crate::batch::{Batch, Wanted, assert_within};
use crate::support::strided::Lay;
use crate::support::{self};
use tilewise::clifford::BladeAxis::{First, Last};
use tilewise::clifford::{BladeAxis, Blades, Multivector, Product, Signature, Terms};
use tilewise::reference::{gamma, store_tolerance};
use tilewise::{Gpu, Real, f16};

/// A product of two batches.
struct Case {
    product: Product,
    blades: [Blades; 2],
    axis: BladeAxis,
    positions: [&'static [usize]; 2],
    lays: [Lay; 2],
}

/// Dense operands without gaps.
fn dense(product: Product, signature: Signature, axis: BladeAxis, positions: &'static [usize]) -> Case {
    Case {
        product,
        blades: [signature.blades(), signature.blades()],
        axis,
        positions: [positions; 2],
        lays: [Lay::Plain; 2],
    }
}

/// The value on some blades, and how far its parts may be off: as sums of so many terms, and as they are stored.
fn wanted<T: Real>(value: &Multivector, terms: &Terms, x: &[f64], y: &[f64]) -> Wanted {
    let value = Multivector::new(&terms.out, &value.select(&terms.out)).unwrap();
    let longest = terms.longest();
    let summed = terms
        .magnitude(x, y)
        .into_iter()
        .map(|most| gamma(longest) * most + longest as f64 * 2f64.powi(-126));
    let stored = value.select(&terms.out).into_iter().map(|value| store_tolerance(value, T::DTYPE));
    let tolerances: Vec<f64> = summed.zip(stored).map(|(summed, stored)| summed + stored).collect();
    Wanted { tolerance: Multivector::new(&terms.out, &tolerances).unwrap(), value }
}

fn operands<T: Real>(gpu: &Gpu, case: &Case) -> [Batch<T>; 2] {
    let batch = |i: usize| {
        Batch::random(gpu, case.positions[i], &case.blades[i], case.axis, case.lays[i], 1 + i as u64)
    };
    [batch(0), batch(1)]
}

/// The product of a case.
fn check<T: Real>(gpu: &Gpu, case: &Case, what: &str) {
    let [x, y] = operands::<T>(gpu, case);
    let z = x.on_device.product(case.product, &y.on_device).unwrap();
    let terms = case.product.terms(&case.blades[0], &case.blades[1]).unwrap();
    assert_eq!(z.blades(), &terms.out, "{what}");
    let want = |index: &[usize]| {
        let (x, y) = (x.at(index), y.at(index));
        let value = x.product(case.product, y).unwrap();
        wanted::<T>(&value, &terms, &x.select(&case.blades[0]), &y.select(&case.blades[1]))
    };
    let worst = assert_within(&z, want, what);
    println!("{what}: {} terms, {worst:.3} of the bound", terms.terms.len());
}

/// The gradients of a case whose operands are at the same positions.
fn check_backward<T: Real>(gpu: &Gpu, case: &Case, what: &str) {
    let [x, y] = operands::<T>(gpu, case);
    let [of_x, of_y] = &case.blades;
    let terms = case.product.terms(of_x, of_y).unwrap();
    let g = Batch::<T>::random(gpu, case.positions[0], &terms.out, case.axis, Lay::Plain, 3);
    let found = x.on_device.product_backward(case.product, &y.on_device, &g.on_device).unwrap();
    let backward = |index: &[usize]| {
        let [x, y, g] = [&x, &y, &g].map(|batch| batch.at(index));
        (
            x.product_backward(case.product, y, g).unwrap(),
            x.select(of_x),
            y.select(of_y),
            g.select(&terms.out),
        )
    };
    let want_x = |index: &[usize]| {
        let ((value, _), _, y, g) = backward(index);
        wanted::<T>(&value, &terms.backward_x(of_x), &g, &y)
    };
    let want_y = |index: &[usize]| {
        let ((_, value), x, _, g) = backward(index);
        wanted::<T>(&value, &terms.backward_y(of_y), &x, &g)
    };
    assert_eq!([found.0.blades(), found.1.blades()], [of_x, of_y], "{what}");
    assert_within(&found.0, want_x, &format!("{what}, gradient of x"));
    assert_within(&found.1, want_y, &format!("{what}, gradient of y"));
}

/// Every algebra that has a name, and one that nobody tried: dense products, and for some their gradients.
#[test]
fn every_algebra_multiplies() {
    let Some(gpu) = support::gpu() else { return };
    let fresh = Signature::new(2, 1, 1).unwrap();
    let geometric = |signature, axis, positions| dense(Product::Geometric, signature, axis, positions);
    check::<f32>(&gpu, &geometric(Signature::CL2, First, &[3, 20]), "Cl(2), by fours");
    check::<f32>(&gpu, &geometric(Signature::CL3, First, &[4, 16]), "Cl(3), by twos");
    check::<f32>(&gpu, &geometric(Signature::PGA2D, Last, &[3, 5]), "PGA of the plane, blades last");
    check::<f32>(&gpu, &geometric(Signature::PGA3D, First, &[5, 13]), "PGA of space");
    check::<f32>(&gpu, &geometric(Signature::PGA3D.null_first(), Last, &[5, 13]), "PGA of space, null first");
    check::<f32>(&gpu, &geometric(Signature::SPACETIME, Last, &[7]), "spacetime");
    check_backward::<f32>(&gpu, &geometric(Signature::CL3, First, &[4, 16]), "Cl(3)");
    check_backward::<f32>(&gpu, &geometric(fresh, Last, &[3, 2]), "Cl(2,1,1)");
    check::<f32>(&gpu, &geometric(fresh, Last, &[3, 2]), "Cl(2,1,1)");
}

/// The conformal algebra has 1,024 terms, which are written out.
#[test]
fn the_conformal_algebra_multiplies() {
    let Some(gpu) = support::gpu() else { return };
    check::<f32>(&gpu, &dense(Product::Geometric, Signature::CGA3D, First, &[3, 11]), "CGA of space");
}

/// Algebras of more vectors have too many terms to be written out: a table has them.
#[test]
fn large_algebras_multiply_by_a_table() {
    let Some(gpu) = support::gpu() else { return };
    let signature = |[p, q, r]: [usize; 3]| Signature::new(p, q, r).unwrap();
    check::<f32>(&gpu, &dense(Product::Geometric, signature([4, 1, 1]), First, &[3, 5]), "Cl(4,1,1)");
    check::<f16>(&gpu, &dense(Product::Geometric, signature([3, 3, 0]), Last, &[3]), "Cl(3,3) in f16");
    check_backward::<f32>(&gpu, &dense(Product::Geometric, signature([3, 3, 0]), Last, &[5]), "Cl(3,3)");
    check::<f32>(&gpu, &dense(Product::Geometric, signature([4, 3, 1]), Last, &[2]), "Cl(4,3,1)");
}
