//! Products and their gradients on the device, against the definition on the CPU.

use crate::batch::{Batch, Wanted, assert_within};
use support::failure::says;
use support::strided::Lay;
use tilewise::clifford::BladeAxis::{First, Last};
use tilewise::clifford::{BladeAxis, Blades, Multivector, Multivectors, MvProduct, Product, Signature};
use tilewise::gpu::DeviceType;
use tilewise::planning::clifford::Terms;
use tilewise::reference::{gamma, store_tolerance};
use tilewise::{Error, Gpu, Real, bf16, f16};

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
    let longest = terms.max_terms_per_blade();
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

/// Whether every product of two blades is zero, as Hestenes' and the commutator are in the algebra of a single null vector.
fn is_nothing(case: &Case) -> bool {
    let units = |blades: &Blades| -> Vec<Multivector> {
        let unit =
            |at: usize| (0..blades.len()).map(move |i| f64::from(u8::from(i == at))).collect::<Vec<_>>();
        (0..blades.len()).map(|at| Multivector::new(blades, &unit(at)).unwrap()).collect()
    };
    let [x, y] = [0, 1].map(|i| units(&case.blades[i]));
    let is_zero = |z: Multivector| z.select(&case.blades[0].signature().blades()).iter().all(|x| *x == 0.0);
    x.iter().all(|x| y.iter().all(|y| is_zero(x.product(case.product, y).unwrap())))
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
    assert_eq!(terms.terms.is_empty(), is_nothing(case), "{what}");
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

/// Operands that lie in every way: what is loaded and stored by twos, by fours, as it comes, in pairs of 16 bits; what is
/// repeated. Each is another kernel.
#[test]
fn operands_are_read_where_they_lie_and_repeated_where_they_lack_axes() {
    let Some(gpu) = support::gpu() else { return };
    let cl2 = [Signature::CL2.blades(), Signature::CL2.vectors()];
    let cl3 = [Signature::CL3.blades(), Signature::CL3.even()];
    let case = |blades: &[Blades; 2], axis, positions, lays| Case {
        product: Product::Geometric,
        blades: blades.clone(),
        axis,
        positions,
        lays,
    };
    let plain = [Lay::Plain; 2];
    // (blade, batch, feature): ragged planes, one operand for all, features apart, an axis more.
    check::<f32>(&gpu, &case(&cl2, First, [&[3, 7], &[3, 7]], plain), "ragged planes");
    check::<f32>(&gpu, &case(&cl2, First, [&[6, 8], &[1, 1]], plain), "one for all");
    check::<f32>(&gpu, &case(&cl2, First, [&[6, 8], &[8]], [Lay::Gaps, Lay::Odd]), "gaps, and an axis less");
    check::<f32>(&gpu, &case(&cl3, First, [&[2, 1, 6], &[5, 1]], [Lay::Plain, Lay::Even]), "all pairs");
    check::<f16>(&gpu, &case(&cl2, First, [&[4, 8], &[4, 8]], plain), "f16 by fours");
    check::<f16>(&gpu, &case(&cl3, First, [&[3, 5], &[3, 5]], plain), "f16, ragged");
    check::<bf16>(&gpu, &case(&cl3, First, [&[4, 8], &[4, 8]], plain), "bf16 by twos");
    check::<bf16>(&gpu, &case(&cl2, First, [&[3, 5], &[1, 5]], plain), "bf16, ragged and repeated");
    // (batch, feature, blade): blades that are no multiple of four, one operand for a batch.
    check::<f32>(
        &gpu,
        &case(&[Signature::CL3.vectors(), Signature::CL3.bivectors()], Last, [&[4, 5], &[4, 5]], plain),
        "three blades",
    );
    check::<f16>(&gpu, &case(&cl3, Last, [&[4, 5], &[5]], plain), "f16, blades last");
    check::<bf16>(
        &gpu,
        &case(
            &[Signature::CL3.vectors(), Signature::CL3.vectors()],
            Last,
            [&[4, 5], &[4, 5]],
            [Lay::Odd, Lay::Plain],
        ),
        "bf16, from an odd element on",
    );
}

/// What GPUs are given: more blades by twos, and loads of four or two from wherever a plane begins.
#[test]
fn what_gpus_are_given_runs_on_every_device() {
    let Some(gpu) = support::own(|options| options.assume.device_type = Some(DeviceType::Discrete)) else {
        return;
    };
    let geometric = |signature, positions| dense(Product::Geometric, signature, First, positions);
    let plan = |case: &Case| {
        let [x, y] = operands::<f32>(&gpu, case);
        MvProduct::new(case.product, &x.on_device, &y.on_device).plan().unwrap().steps()[0].kernel.to_string()
    };
    for (case, read) in [
        (geometric(Signature::CL2, &[3, 7]), "shifted "),
        (geometric(Signature::CL3, &[3, 5]), "shifted_two "),
        (geometric(Signature::PGA3D, &[4, 6]), "aligned "),
    ] {
        assert!(plan(&case).contains(&format!("read_x:{read}")), "{}", plan(&case));
        check::<f32>(&gpu, &case, read);
        check::<f16>(&gpu, &case, read);
    }
    check::<bf16>(&gpu, &geometric(Signature::CL2, &[3, 7]), "bf16, shifted");
    check::<bf16>(&gpu, &geometric(Signature::CL3, &[3, 5]), "bf16, shifted by one");
    let odd = Case { lays: [Lay::Odd, Lay::Plain], ..geometric(Signature::CL2, &[1, 9]) };
    check::<f32>(&gpu, &odd, "a plane that begins at an odd element");
}

/// The same on a device without f16 and immediates, where elements of 16 bits come in pairs.
#[test]
fn a_bare_device_has_f16_in_pairs() {
    let Some(gpu) = support::bare() else { return };
    let (cl2, cl3) = (Signature::CL2, Signature::CL3);
    check::<f16>(&gpu, &dense(Product::Geometric, cl2, First, &[4, 8]), "pairs by fours");
    check::<f16>(&gpu, &dense(Product::Geometric, cl3, First, &[4, 8]), "pairs by twos");
    check::<f16>(&gpu, &dense(Product::Geometric, cl3, First, &[3, 5]), "pairs, ragged");
    check::<f16>(&gpu, &dense(Product::Geometric, cl3, Last, &[3, 5]), "pairs, blades last");
}

/// All products, of operands that have some blades: only what they have is computed.
#[test]
fn every_product_has_the_terms_of_its_operands_blades() {
    let Some(gpu) = support::gpu() else { return };
    let pga = Signature::PGA3D;
    for (i, product) in Product::ALL.into_iter().enumerate() {
        // Of each, blades whose product is not nothing.
        let blades = match product {
            Product::Regressive => [pga.points(), pga.points()],
            Product::RightContraction => [pga.points(), pga.motors()],
            Product::Scalar => [pga.motors(), pga.motors()],
            _ if i % 2 == 0 => [pga.motors(), pga.points()],
            _ => [pga.vectors(), pga.bivectors()],
        };
        let axis = [First, Last][i % 2];
        let case = Case { product, blades, axis, positions: [&[3, 5]; 2], lays: [Lay::Plain; 2] };
        check::<f32>(&gpu, &case, product.name());
        if [Product::Regressive, Product::LeftContraction].contains(&product) || support::is_full_sweep() {
            check_backward::<f32>(&gpu, &case, product.name());
        }
    }
    // A vector times a bivector has its own terms alone, and vectors and trivectors for a result.
    let terms = Product::Geometric.terms(&Signature::CL3.vectors(), &Signature::CL3.bivectors()).unwrap();
    assert_eq!((terms.terms.len(), terms.out.to_string().as_str()), (9, "e1 e2 e3 e123"));
}

/// Every product of every signature of up to five vectors.
#[test]
fn the_full_sweep_multiplies_in_every_algebra() {
    if !support::is_full_sweep() {
        return;
    }
    let Some(gpu) = support::gpu() else { return };
    for n in 1..=5usize {
        for p in 0..=n {
            for q in 0..=n - p {
                let signature = Signature::new(p, q, n - p - q).unwrap();
                for product in Product::ALL {
                    for axis in [First, Last] {
                        let what = format!("{product} of {signature}, {axis:?}");
                        check::<f32>(&gpu, &dense(product, signature, axis, &[3, 5]), &what);
                        check_backward::<f32>(&gpu, &dense(product, signature, axis, &[3, 5]), &what);
                    }
                }
            }
        }
    }
}

/// Gradients of an operand that was repeated are sums over what it was repeated along.
#[test]
fn gradients_of_what_was_repeated_are_summed() {
    let Some(gpu) = support::gpu() else { return };
    let blades = Signature::CL2.blades();
    for (axis, of_y) in [(First, [3usize, 1]), (Last, [1, 1])] {
        let batch = |positions: &[usize], seed| {
            Batch::<f32>::random(&gpu, positions, &blades, axis, Lay::Plain, seed)
        };
        let (x, y, g) = (batch(&[3, 5], 1), batch(&of_y, 2), batch(&[3, 5], 3));
        let (of_x, found) =
            x.on_device.product_backward(Product::Geometric, &y.on_device, &g.on_device).unwrap();
        assert_eq!((of_x.positions(), found.positions()), (vec![3, 5], of_y.to_vec()));
        let along = |position: &[usize], i: usize| {
            if of_y[i] == 1 { 0..[3, 5][i] } else { position[i]..position[i] + 1 }
        };
        let want = |position: &[usize]| {
            let mut sum = Multivector::zero(Signature::CL2);
            for row in along(position, 0) {
                for column in along(position, 1) {
                    let [x, y, g] = [&x, &y, &g].map(|batch| batch.at(&[row, column]));
                    sum = sum.add(&x.product_backward(Product::Geometric, y, g).unwrap().1).unwrap();
                }
            }
            let most = Multivector::new(&blades, &[60.0 * gamma(60); 4]).unwrap();
            Wanted { value: sum, tolerance: most }
        };
        assert_within(&found, want, &format!("{axis:?}"));
    }
}

/// One launch that reads each operand once and writes the result once; nothing beside.
#[test]
fn a_product_is_one_launch_of_each_byte_once() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let blades = Signature::CL3.blades();
    let [x, y] =
        [1, 2].map(|seed| Batch::<f32>::random(&gpu, &[8, 16], &blades, First, Lay::Plain, seed).on_device);
    x.geometric(&y).unwrap();
    let before = gpu.stats();
    let z = x.geometric(&y).unwrap();
    let after = gpu.stats();
    assert_eq!(after.launches - before.launches, 1);
    let bytes = (z.tensor().len() * 4) as u64;
    assert_eq!(after.bytes_bound_for_reading - before.bytes_bound_for_reading, 2 * bytes);
    assert_eq!(after.bytes_bound_for_writing - before.bytes_bound_for_writing, bytes);
    assert_eq!(after.buffers_created - before.buffers_created, 0, "the first result's buffer serves again");
}

/// The order of summing is that of the table, whatever the walk: the same bits from one run to the next.
#[test]
fn the_same_product_has_the_same_bits() {
    let Some(gpu) = support::gpu() else { return };
    let blades = Signature::CL3.blades();
    let [x, y] =
        [1, 2].map(|seed| Batch::<f32>::random(&gpu, &[4, 16], &blades, First, Lay::Plain, seed).on_device);
    let bits = || {
        let z = x.geometric(&y).unwrap().into_tensor().to_vec().unwrap();
        z.into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    let first = bits();
    assert!((0..20).all(|_| bits() == first));
}

/// What does not go together is an error that says so, and what is empty is empty.
#[test]
fn mistakes_are_errors_and_nothing_is_nothing() {
    let Some(gpu) = support::gpu() else { return };
    let batch = |positions: &[usize], blades: &Blades, axis| {
        Batch::<f32>::random(&gpu, positions, blades, axis, Lay::Plain, 1).on_device
    };
    let (cl3, pga) = (Signature::CL3, Signature::PGA2D);
    let x = batch(&[2, 3], &cl3.blades(), First);
    let says = |result: Result<Multivectors<f32>, Error>, words: &str| {
        says(result, &[words]);
    };
    says(x.geometric(&batch(&[2, 3], &pga.blades(), First)), "the operands are of Cl(3,0,0) and Cl(2,0,1)");
    says(
        x.geometric(&batch(&[2, 3], &cl3.blades(), Last)),
        "the operands have different blade axes, First and Last",
    );
    says(x.geometric(&batch(&[2, 4], &cl3.blades(), First)), "extents must be equal or 1");
    says(
        MvProduct::new(Product::Outer, &x, &x).blades(&pga.blades()).run(),
        "the operands are of Cl(3,0,0) and Cl(2,0,1)",
    );
    says(x.select(&pga.blades()), "the operands are of");
    says(x.project(&[4]), "the algebra has no grade 4");
    says(Multivectors::new(x.tensor().clone(), &cl3.even(), First), "one element per blade");
    says(Multivectors::new(x.tensor().clone(), &cl3.blades(), Last), "one element per blade");
    let other = x.product_backward(Product::Geometric, &x, &batch(&[2, 1], &cl3.blades(), First));
    says(other.map(|(x, _)| x), "the positions of the result");
    says(x.norm_backward(&x), "the gradient must have the blades");
    // An inverse of so many blades is not written out.
    let large = Signature::new(6, 0, 0).unwrap();
    says(batch(&[1], &large.blades(), First).inverse(), "number of operations");
    for positions in [[0, 3], [2, 0]] {
        let none = batch(&positions, &cl3.blades(), First);
        let product = none.geometric(&none).unwrap();
        assert_eq!((product.positions(), product.tensor().to_vec().unwrap()), (positions.to_vec(), vec![]));
        let (of_x, _) = none.product_backward(Product::Geometric, &none, &product).unwrap();
        assert_eq!(of_x.positions(), positions);
        assert!(none.norm().unwrap().tensor().is_empty() && none.reverse().unwrap().tensor().is_empty());
    }
    // A product without terms is a scalar, and zero.
    let trivector = cl3.grades(&[3]).unwrap();
    let nothing = batch(&[2], &trivector, First).outer(&batch(&[2], &trivector, First)).unwrap();
    assert_eq!(
        (nothing.blades().to_string().as_str(), nothing.tensor().to_vec().unwrap()),
        ("1", vec![0.0; 2])
    );
    // The errors left everything usable.
    x.geometric(&x).unwrap().tensor().to_vec().unwrap();
}
