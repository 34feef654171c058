//! Versors before a layer and behind it: the same, for reflections and rotations of every algebra.

use crate::layers::common::{near, read, values};
use tilewise::clifford::{Blades, Multivector, Signature};
use tilewise::{Element, Fill};

/// A layer in f32 and by definition, of values (blade, position).
pub(crate) struct Layer<'a> {
    pub(crate) definition: &'a dyn Fn(&[f64]) -> Vec<f64>,
    /// What the device may be off by.
    pub(crate) tolerance: &'a dyn Fn(&[f64]) -> Vec<f64>,
    pub(crate) device: &'a dyn Fn(&[f64]) -> Vec<f64>,
}

/// A product of so many vectors, none of which is nearly null, of norm 1.
pub(crate) fn versor(signature: Signature, vectors: usize, seed: u64) -> Multivector {
    let mut candidates = Fill::Uniform.values::<f32>(4096, seed).into_iter().map(|x| x.to_f64());
    let mut product = Multivector::scalar_of(signature, 1.0);
    let mut found = 0;
    while found < vectors {
        let values: Vec<f64> = candidates.by_ref().take(signature.dimension()).collect();
        let vector = Multivector::new(&signature.vectors(), &values).unwrap();
        // What is nearly null is a boost that stretches by more than the rounding of f32 bears.
        let size: f64 = values.iter().map(|x| x * x).sum();
        if vector.quadratic().abs() > 0.6 * size {
            product = product.geometric(&vector.normalized().unwrap()).unwrap();
            found += 1;
        }
    }
    product
}

/// What a versor does to blades, with its inverse behind and not its reverse, so that scalars stay: a matrix (to, from).
pub(crate) fn action(versor: &Multivector, blades: &Blades) -> Vec<Vec<f64>> {
    let square = versor.quadratic();
    let column = |&mask: &u8| {
        let blade = Multivector::blade(blades.signature(), mask).unwrap();
        versor.sandwich(&blade).unwrap().scaled(1.0 / square).select(blades)
    };
    let columns: Vec<Vec<f64>> = blades.masks().iter().map(column).collect();
    (0..blades.len()).map(|to| columns.iter().map(|column| column[to]).collect()).collect()
}

/// A matrix of blades, applied to values (blade, position).
pub(crate) fn applied(matrix: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    let plane = x.len() / matrix.len();
    let at = |row: &Vec<f64>, i: usize| (0..row.len()).map(|k| row[k] * x[k * plane + i]).sum();
    matrix.iter().flat_map(|row| (0..plane).map(move |i| at(row, i))).collect()
}

/// How far versors before a layer are from versors behind it, and how far they may be, over all values: by definition to
/// f64, on the device by what it may be off there and here, and by the rounding of what goes in.
fn differences(layer: &Layer, blades: &Blades, positions: usize, vectors: usize, seed: u64) -> [Vec<f64>; 4] {
    let x = values::<f32>(blades.len() * positions, seed);
    let versor = action(&versor(blades.signature(), vectors, seed + 100), blades);
    let moved = applied(&versor, &x);
    let rounded: Vec<f64> = moved.iter().map(|&x| f32::from_f64(x).to_f64()).collect();
    let magnitude: Vec<Vec<f64>> = versor.iter().map(|row| row.iter().map(|x| x.abs()).collect()).collect();
    let [exact, of_rounded] = [&moved, &rounded].map(|x| (layer.definition)(x));
    let behind = applied(&versor, &(layer.definition)(&x));
    let mut tolerance = applied(&magnitude, &(layer.tolerance)(&x));
    for ((most, own), (exact, rounded)) in
        tolerance.iter_mut().zip((layer.tolerance)(&rounded)).zip(exact.iter().zip(&of_rounded))
    {
        *most += own + (exact - rounded).abs();
    }
    let on_device = (layer.device)(&rounded);
    let off = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).collect::<Vec<_>>();
    let device_behind = applied(&versor, &(layer.device)(&x));
    let sizes = applied(&magnitude, &(layer.definition)(&x).iter().map(|x| x.abs()).collect::<Vec<_>>());
    [off(&exact, &behind), sizes, off(&on_device, &device_behind), tolerance]
}

/// Versors of one to four vectors: odd ones reflect.
pub(crate) fn assert_equivariant(layer: &Layer, blades: &Blades, positions: usize, what: &str) {
    for vectors in 1..=4 {
        let seed = 17 * vectors as u64;
        let what = format!("{what}, {}, a versor of {vectors}", blades.signature());
        let [exact, sizes, device, tolerance] = differences(layer, blades, positions, vectors, seed);
        let zero = vec![0.0; exact.len()];
        let most = 1e-9 * sizes.iter().fold(1.0, |most: f64, x| most.max(*x));
        near(&exact, &zero, |_| most, &format!("{what}, by definition"));
        near(&device, &zero, |i| tolerance[i], &format!("{what}, on the device"));
    }
}

/// That versors before and behind differ by far more than rounding.
pub(crate) fn assert_not_equivariant(layer: &Layer, blades: &Blades, positions: usize, what: &str) {
    for vectors in 1..=2 {
        let [exact, _, device, tolerance] = differences(layer, blades, positions, vectors, 5);
        let broken = |off: &[f64]| off.iter().zip(&tolerance).any(|(off, most)| *off > 10.0 * most);
        assert!(broken(&exact) && broken(&device), "{what}, {}", blades.signature());
    }
}

/// Reads a layer's result as values (blade, position).
pub(crate) fn result(x: &tilewise::clifford::Multivectors<f32>) -> Vec<f64> {
    read(x.tensor())
}
