//! Rows of one to three features, where a norm has little to average: what it divides is a sum that may have cancelled.

use crate::layers::common::{algebras, first, read, upload, values};
use support::strided::Lay;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{Gate, GradeNorm, LayerProduct, ProductKind};
use tilewise::reference::{BoundedValues, Comparison, LayerProductReference, compare};
use tilewise::{Element, Fill, Gpu};

/// A product's operands in f64, (blade, row, feature) and as the weight of its kind.
struct Case {
    reference: LayerProductReference,
    kind: ProductKind,
    features: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    g: Vec<f64>,
    weight: Vec<f64>,
}

impl Case {
    fn random(product: LayerProduct, kind: ProductKind, [rows, features]: [usize; 2], seed: u64) -> Self {
        let blades = product.blades();
        let len = blades.len() * rows * features;
        let of_weight = product.signature.paths().len()
            * match kind {
                ProductKind::Steerable => features,
                ProductKind::Connected => features * features,
            };
        let [x, y, g, weight] =
            [(len, 1), (len, 2), (len, 3), (of_weight, 4)].map(|(len, i)| values::<f32>(len, 10 * seed + i));
        let reference = LayerProductReference::new(product, &blades, rows);
        Self { reference, kind, features, x, y, g, weight }
    }

    /// With a scalar of y in each row for which the scalar of the product vanishes but for what f32 cannot hold.
    fn cancelled(mut self) -> Self {
        let plane = self.x.len() / self.reference.blades.len();
        let scalar = self.reference.blades.position(0).unwrap() * plane;
        let plain = LayerProductReference::new(
            self.reference.product.gate(Gate::None).norm(GradeNorm::None),
            &self.reference.blades,
            self.reference.rows,
        );
        let zero = |y: &mut [f64], to: f64| y[scalar..scalar + plane].fill(to);
        let mut at = |to: f64| {
            zero(&mut self.y, to);
            plain.steerable(&self.x, &self.y, &self.weight)[scalar..scalar + plane].to_vec()
        };
        let (without, with) = (at(0.0), at(1.0));
        for (i, (without, with)) in without.iter().zip(with).enumerate() {
            let rounded = f32::from_f64(-without / (with - without));
            self.y[scalar + i] = f64::from(rounded.clamp(-4.0, 4.0));
        }
        self
    }

    /// How results and gradients in f32 compare with their definitions, each within its own bound.
    fn compared(&self, gpu: &Gpu) -> [Comparison; 4] {
        let Self { reference, kind, features, x, y, g, weight } = self;
        let product = reference.product;
        let shape = [reference.rows, *features];
        let [dx, dy, dg] =
            [x, y, g].map(|values| first::<f32>(gpu, values, &reference.blades, shape, Lay::Plain));
        let paths = product.signature.paths().len();
        let (out, of, want, gradients) = match kind {
            ProductKind::Steerable => {
                let w = upload::<f32>(gpu, weight, &[*features, paths]);
                let out = product.steerable(&dx, &dy, &w).unwrap();
                let of = product.steerable_backward(&dx, &dy, &w, &dg).unwrap();
                (out, of, reference.steerable(x, y, weight), reference.steerable_backward(x, y, weight, g))
            }
            ProductKind::Connected => {
                let w = upload::<f32>(gpu, weight, &[paths, *features, *features]);
                let out = product.connected(&dx, &dy, &w).unwrap();
                let of = product.connected_backward(&dx, &dy, &w, &dg).unwrap();
                (out, of, reference.connected(x, y, weight), reference.connected_backward(x, y, weight, g))
            }
        };
        let [x, y, g] = [x, y, g].map(|values| BoundedValues::exact(values));
        let most = reference.bounded(*kind, &x, &y, weight);
        let of_most = reference.bounded_backward(*kind, [&x, &y], weight, &g);
        [
            within(&read(out.tensor()), &want, &most),
            within(&read(of.x.tensor()), &gradients.x, &of_most.x),
            within(&read(of.y.tensor()), &gradients.y, &of_most.y),
            within(&read(&of.weight), &gradients.weight, &of_most.weight),
        ]
    }

    fn normalized(&self, gpu: &Gpu) -> [Comparison; 2] {
        let Self { reference, features, x, g, .. } = self;
        let product = reference.product;
        let [o, of] = [x, g].map(|values| {
            first::<f32>(gpu, values, &reference.blades, [reference.rows, *features], Lay::Plain)
        });
        let found = product.normalized(&o).unwrap();
        let back = product.normalized_backward(&o, &of).unwrap();
        let [o, of] = [x, g].map(|values| BoundedValues::exact(values));
        let most = reference.bounded_normalized(&o);
        let of_most = reference.bounded_normalized_backward(&o, &of);
        [
            within(&read(found.tensor()), &reference.normalized(x), &most),
            within(&read(back.tensor()), &reference.normalized_backward(x, g), &of_most),
        ]
    }
}

fn within(found: &[f64], want: &[f64], most: &BoundedValues) -> Comparison {
    compare(found.iter().zip(want).zip(&most.bounds).map(|((&found, &want), &off)| (found, want, off)))
}

/// Algebras and norms with a gate and a kind each, and all of them in the full sweep. Most have their kernels in other tests too.
fn products() -> Vec<(LayerProduct, ProductKind)> {
    let both = |product| [ProductKind::Steerable, ProductKind::Connected].map(|kind| (product, kind));
    let all = |signature| GradeNorm::ALL.map(|norm| LayerProduct::new(signature).norm(norm));
    if support::is_full_sweep() {
        let products = algebras().into_iter().flat_map(all);
        let products = products.flat_map(|product| Gate::ALL.map(|gate| product.gate(gate)));
        return products.flat_map(both).collect();
    }
    let of_space = LayerProduct::new(Signature::CL3);
    let invariant = GradeNorm::Invariant;
    let few = [
        (of_space, ProductKind::Steerable),
        (of_space.norm(invariant).gate(Gate::GeluTanh), ProductKind::Connected),
        (LayerProduct::new(Signature::PGA3D).gate(Gate::None), ProductKind::Connected),
        (LayerProduct::new(Signature::SPACETIME).norm(invariant), ProductKind::Steerable),
    ];
    all(Signature::CL2).into_iter().flat_map(both).chain(few).collect()
}

#[test]
fn rows_of_few_features_are_within_their_bounds() {
    let Some(gpu) = support::gpu() else { return };
    for (product, kind) in products() {
        let mut worst = [0.0f64; 4];
        for (shape, seed) in [[1, 1], [67, 1], [67, 2], [67, 3]].into_iter().zip(1..) {
            let case = Case::random(product, kind, shape, seed);
            for (i, part) in case.compared(&gpu).into_iter().enumerate() {
                assert!(part.ok(), "{product:?}, {kind:?}, {shape:?}, {i}: {part:?}");
                worst[i] = worst[i].max(part.bound_ratio);
            }
        }
        println!("{product:?}, {kind:?}: errors over their bounds {worst:.3?}");
    }
}

/// The scalar of each product is what rounding leaves of its terms, and the norm divides it by as little.
#[test]
fn scalars_that_cancel_are_within_their_bounds() {
    let Some(gpu) = support::gpu() else { return };
    for signature in [Signature::CL2, Signature::CL3] {
        let product = LayerProduct::new(signature).gate(Gate::None);
        let case = Case::random(product, ProductKind::Steerable, [67, 1], 5).cancelled();
        for (i, part) in case.compared(&gpu).into_iter().enumerate() {
            println!("{signature}, {i}: {part:?}");
            assert!(part.ok(), "{signature}, {i}: {part:?}");
        }
    }
}

/// Squares of indefinite grades that may be on either side of zero, of values near and far from it.
#[test]
fn norms_of_few_features_are_within_their_bounds() {
    let Some(gpu) = support::gpu() else { return };
    let [rms, invariant] = [GradeNorm::Rms, GradeNorm::Invariant];
    let mut products =
        vec![(Signature::CL2, rms), (Signature::SPACETIME, invariant), (Signature::PGA3D, invariant)];
    if support::is_full_sweep() {
        products =
            algebras().into_iter().flat_map(|signature| [(signature, rms), (signature, invariant)]).collect();
    }
    for (signature, norm) in products {
        for (features, scale) in [(1, 1.0), (1, 1e-3), (2, 1e3), (3, 1.0)] {
            let product = LayerProduct::new(signature).norm(norm);
            let mut case = Case::random(product, ProductKind::Steerable, [67, features], 6);
            // Values with few bits: many squares of a grade are zero, or nearly.
            let few_bits = |x: f32| f32::from_f64(scale * f64::from((8.0 * x).round()) / 8.0).to_f64();
            case.x = Fill::Uniform.values::<f32>(case.x.len(), 7).into_iter().map(few_bits).collect();
            for (i, part) in case.normalized(&gpu).into_iter().enumerate() {
                assert!(part.ok(), "{signature}, {norm}, {features}, {scale}, {i}: {part:?}");
            }
        }
    }
}
