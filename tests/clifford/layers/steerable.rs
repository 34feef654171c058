//! Steerable products of Clifford layers and their norms, forward and backward, against their definitions in f64; and what
//! they cost, by the device's counters.

use support::strided::{Lay, Placed};
use tilewise::clifford::layer::{Gate, GradeNorm, LayerProduct, ProductKind};
use tilewise::clifford::{BladeAxis, BladeOrder, Multivectors, Signature};
use tilewise::gpu::DeviceType;
use tilewise::reference::{BoundedValues, LayerProductReference, compare};
use tilewise::{Fill, Gpu, Real, Tensor, bf16, f16};

/// Operands of a product: values, and where they lie.
struct Operands<T: Real> {
    reference: LayerProductReference,
    values: [Vec<T>; 4],
    x: Multivectors<T>,
    y: Multivectors<T>,
    g: Multivectors<T>,
    weight: Tensor<T>,
}

/// How near results are to be, relative to the largest of each tensor: those of others' vectors.
fn tolerance<T: Real>() -> f64 {
    match T::DTYPE {
        tilewise::DType::F32 => 2e-6,
        tilewise::DType::F16 => 1e-3,
        _ => 8e-3,
    }
}

impl<T: Real> Operands<T> {
    fn random(gpu: &Gpu, product: LayerProduct, [rows, features]: [usize; 2], lay: Lay) -> Self {
        let blades = product.blades();
        let shape = [blades.len(), rows, features];
        let paths = product.signature.paths().len();
        let uniform = |len: usize, seed: u64| Fill::Uniform.values::<T>(len, seed);
        let len = shape.iter().product();
        let values = [uniform(len, 1), uniform(len, 2), uniform(len, 3), uniform(features * paths, 4)];
        let place = |values: &[T]| {
            let tensor = Placed::new(gpu, values, &shape, lay).tensor;
            Multivectors::new(tensor, &blades, BladeAxis::First).unwrap()
        };
        let [x, y, g] = [0, 1, 2].map(|i| place(&values[i]));
        let weight = Placed::new(gpu, &values[3], &[features, paths], lay).tensor;
        let reference = LayerProductReference::new(product, &blades, rows);
        Self { reference, values, x, y, g, weight }
    }

    fn values(&self, i: usize) -> Vec<f64> {
        self.values[i].iter().map(|value| value.to_f64()).collect()
    }

    fn check(&self, what: &str) {
        let product = self.reference.product;
        let [x, y, g, w] = [0, 1, 2, 3].map(|i| self.values(i));
        let out = product.steerable(&self.x, &self.y, &self.weight).unwrap();
        let made = product.steerable_backward(&self.x, &self.y, &self.weight, &self.g).unwrap();
        let want = self.reference.steerable_backward(&x, &y, &w, &g);
        let mut off = [vec![0.0; x.len()], vec![0.0; y.len()], vec![0.0; w.len()]];
        if x.len() == self.reference.rows * self.reference.blades.len() {
            // The norm of one feature: what is left of a gradient may be far smaller than the terms that cancelled.
            // How far off it may be depends on them.
            let [of_x, of_y, of_g] = [&x, &y, &g].map(|values| BoundedValues::exact(values));
            let bounded = self.reference.bounded_backward(ProductKind::Steerable, [&of_x, &of_y], &w, &of_g);
            off = [bounded.x.bounds, bounded.y.bounds, bounded.weight.bounds];
        }
        let of_type = tolerance::<T>();
        near(out.tensor(), &self.reference.steerable(&x, &y, &w), of_type, &format!("{what}, out"));
        near_each(made.x.tensor(), &want.x, of_type, &off[0], &format!("{what}, gradient of x"));
        near_each(made.y.tensor(), &want.y, of_type, &off[1], &format!("{what}, gradient of y"));
        near_each(&made.weight, &want.weight, 2e-6, &off[2], &format!("{what}, gradient of the weights"));
    }
}

/// Each value may be off by `tolerance` times the largest.
fn near<T: Real>(found: &Tensor<T>, want: &[f64], tolerance: f64, what: &str) {
    near_each(found, want, tolerance, &vec![0.0; want.len()], what);
}

/// Each value may be off by `tolerance` times the largest, plus its own bound.
fn near_each<T: Real>(found: &Tensor<T>, want: &[f64], tolerance: f64, off: &[f64], what: &str) {
    let found = found.to_vec().unwrap();
    assert_eq!(found.len(), want.len(), "{what}");
    let largest = want.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let bounds = off.iter().map(|off| tolerance * largest + off);
    let compared = compare(
        found.iter().zip(want).zip(bounds).map(|((found, want), bound)| (found.to_f64(), *want, bound)),
    );
    assert!(compared.ok(), "{what}: {compared:?}");
}

/// Algebras of every kind: Euclidean, degenerate, of spacetime. Others' vectors have the null vector first.
fn algebras() -> Vec<Signature> {
    vec![Signature::CL2, Signature::CL3, Signature::PGA2D, Signature::PGA3D, Signature::SPACETIME]
}

#[test]
fn products_are_those_of_the_reference() {
    let Some(gpu) = support::gpu() else { return };
    let shapes = [([5, 64], Lay::Plain), ([3, 65], Lay::Odd), ([37, 6], Lay::Gaps), ([33, 3], Lay::Reversed)];
    for (i, signature) in algebras().into_iter().enumerate().take(support::by_sweep(5, 5, 3)) {
        let product = LayerProduct::new(signature)
            .norm([GradeNorm::Rms, GradeNorm::Invariant, GradeNorm::None][i % 3])
            .gate([Gate::Gelu, Gate::GeluTanh, Gate::Gelu, Gate::None][i % 4]);
        let (shape, lay) = shapes[i % shapes.len()];
        Operands::<f32>::random(&gpu, product, shape, lay)
            .check(&format!("{product:?} of {shape:?}, {lay:?}"));
    }
}

#[test]
fn any_rows_and_features_and_types() {
    let Some(gpu) = support::gpu() else { return };
    let product = LayerProduct::new(Signature::CL2);
    for shape in [[1, 1], [1, 65], [130, 3]] {
        Operands::<f32>::random(&gpu, product, shape, Lay::Plain).check(&format!("{shape:?}"));
    }
    for (gpu, (shape, lay)) in support::devices().iter().zip([([9, 64], Lay::Plain), ([5, 33], Lay::Odd)]) {
        Operands::<f16>::random(gpu, product, shape, lay).check(&format!("f16 {shape:?} {lay:?}"));
    }
    Operands::<bf16>::random(&gpu, product, [3, 5], Lay::Odd).check("bf16");
}

#[test]
fn five_vectors() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let product = LayerProduct::new(Signature::CGA3D).norm(GradeNorm::Invariant);
    Operands::<f32>::random(&gpu, product, [3, 5], Lay::Plain).check("CGA");
}

/// What GPUs are given, on whatever is here.
#[test]
fn tiles_of_gpus() {
    let Some(gpu) = support::own(|options| options.assume.device_type = Some(DeviceType::Discrete)) else {
        return;
    };
    for (shape, lay) in [([70, 64], Lay::Plain), ([9, 300], Lay::Plain), ([3, 65], Lay::Odd)] {
        let product = LayerProduct::new(Signature::CL2);
        Operands::<f32>::random(&gpu, product, shape, lay).check(&format!("{shape:?}"));
    }
}

/// A row that no workgroup has room for takes two launches, and five passes.
#[test]
fn rows_that_are_too_long() {
    let Some(gpu) = support::own(|options| options.assume.device_type = Some(DeviceType::Discrete)) else {
        return;
    };
    let product = LayerProduct::new(Signature::CL2);
    let operands = Operands::<f32>::random(&gpu, product, [3, 2100], Lay::Plain);
    operands.check("long rows");
    Operands::<f16>::random(&gpu, product, [2, 2101], Lay::Plain).check("long rows of f16");
    let before = gpu.stats();
    let out = product.steerable(&operands.x, &operands.y, &operands.weight).unwrap();
    let after = gpu.stats();
    assert_eq!(after.launches - before.launches, 2);
    let bytes = bytes_between(before, after);
    let passes = bytes as f64 / (4 * out.tensor().len()) as f64;
    let of_weights = 10.0 / (3.0 * 4.0) + 0.1; // paths over rows and blades, and sums
    assert!((5.0..5.0 + of_weights).contains(&passes), "{passes}");
}

fn bytes_between(before: tilewise::gpu::Stats, after: tilewise::gpu::Stats) -> u64 {
    after.bytes_bound_for_reading - before.bytes_bound_for_reading + after.bytes_bound_for_writing
        - before.bytes_bound_for_writing
}

/// Three passes in one launch, five in one and the sums of weight gradients: two sums, where there are many workgroups.
#[test]
fn launches_and_passes() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    let product = LayerProduct::new(Signature::CL3);
    let Operands { x, y, g, weight, .. } = Operands::<f32>::random(&gpu, product, [4096, 16], Lay::Plain);
    let size = (4 * x.tensor().len()) as f64;
    let passes = |work: &dyn Fn()| {
        let before = gpu.stats();
        work();
        let after = gpu.stats();
        (after.launches - before.launches, bytes_between(before, after) as f64 / size)
    };
    let (launches, forward) = passes(&|| drop(product.steerable(&x, &y, &weight).unwrap()));
    assert_eq!(launches, 1);
    assert!((3.0..3.01).contains(&forward), "{forward} passes");
    let (launches, backward) = passes(&|| drop(product.steerable_backward(&x, &y, &weight, &g).unwrap()));
    let plans = [
        product.plan_steerable(&x, &y, &weight).unwrap(),
        product.plan_steerable_backward(&x, &y, &weight, &g).unwrap(),
    ];
    assert_eq!(launches, plans[1].steps().len() as u64);
    assert!((5.0..5.4).contains(&backward), "{backward} passes");
    let sums = plans[1].steps().iter().filter(|step| step.kernel.shader() != "clifford/rows").count();
    assert_eq!(plans.each_ref().map(|plan| plan.steps().len()), [1, 1 + sums], "{}", plans[1]);
    assert!((1..=2).contains(&sums), "{}", plans[1]);
    let [forward, backward] = plans.each_ref().map(|plan| plan.work().bytes() as f64 / size);
    assert!(
        (3.0..3.01).contains(&forward) && (5.0..5.4).contains(&backward),
        "{forward} and {backward} passes"
    );
}

#[test]
fn the_same_bits_every_time() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let product = LayerProduct::new(Signature::CL3);
    let Operands { x, y, g, weight, .. } = Operands::<f32>::random(&gpu, product, [70, 33], Lay::Plain);
    let run = || {
        let out = product.steerable(&x, &y, &weight).unwrap();
        let of = product.steerable_backward(&x, &y, &weight, &g).unwrap();
        let tensors = [out.tensor(), of.x.tensor(), of.y.tensor(), &of.weight].map(|t| t.to_vec().unwrap());
        tensors.concat().into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    let first = run();
    (1..100).for_each(|i| assert!(run() == first, "repeat {i}"));
}

#[test]
fn norms_by_themselves() {
    let Some(gpu) = support::gpu() else { return };
    for (signature, norm, shape) in [
        (Signature::CL3, GradeNorm::Rms, [7, 33]),
        (Signature::PGA3D, GradeNorm::Invariant, [3, 64]),
        (Signature::CL2, GradeNorm::None, [2, 5]),
    ] {
        let product = LayerProduct::new(signature).norm(norm);
        let operands = Operands::<f32>::random(&gpu, product, shape, Lay::Plain);
        let [o, g] = [operands.values(0), operands.values(2)];
        let what = format!("{product:?}, {shape:?}");
        near(
            product.normalized(&operands.x).unwrap().tensor(),
            &operands.reference.normalized(&o),
            2e-6,
            &what,
        );
        let back = product.normalized_backward(&operands.x, &operands.g).unwrap();
        near(
            back.tensor(),
            &operands.reference.normalized_backward(&o, &g),
            2e-6,
            &format!("{what}, backward"),
        );
    }
}

/// Blades along the last axis and in another order, several axes of rows, and rows that are no single axis.
#[test]
fn operands_in_other_layouts() {
    let Some(gpu) = support::gpu() else { return };
    let product = LayerProduct::new(Signature::CL3);
    let blades = product.blades().ordered(BladeOrder::Ascending);
    let values = Fill::Uniform.values::<f32>(2 * 3 * 5 * 8, 1);
    let x = gpu.tensor(&values, [2, 3, 5, 8]).unwrap();
    let last = Multivectors::new(x.clone(), &blades, BladeAxis::Last).unwrap();
    let turned = Multivectors::new(x.permute(&[1, 0, 2, 3]).unwrap(), &blades, BladeAxis::Last).unwrap();
    let weight = gpu.random::<f32>([5, 20], Fill::Uniform, 2).unwrap();
    let w: Vec<f64> = weight.to_vec().unwrap().into_iter().map(f64::from).collect();
    let reference = LayerProductReference::new(product, &blades, 6);
    for (operand, shape) in [(last, [8, 2, 3, 5]), (turned, [8, 3, 2, 5])] {
        let rank = [3, 0, 1, 2];
        let first = operand.tensor().permute(&rank).unwrap().contiguous().unwrap();
        let x: Vec<f64> = first.to_vec().unwrap().into_iter().map(f64::from).collect();
        let out = product.steerable(&operand, &operand, &weight).unwrap();
        assert_eq!((out.tensor().shape(), out.axis()), (&shape[..], BladeAxis::First));
        assert_eq!(out.blades(), &blades);
        near(out.tensor(), &reference.steerable(&x, &x, &w), 2e-6, "other layouts");
    }
}
