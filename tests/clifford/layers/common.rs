//! Values, their gradients by differences, and comparisons.

use support::strided::{Lay, Placed};
use tilewise::clifford::{BladeAxis, Blades, Multivectors, Signature};
use tilewise::{Element, Fill, Gpu, Real, Tensor};

/// The relative error of one operation in f32, whichever way it rounds.
pub(crate) const U: f64 = 1.0 / (1 << 23) as f64;

/// The algebras that layers are held to.
pub(crate) fn algebras() -> [Signature; 6] {
    let [plane, space, time, pga, conformal] =
        [Signature::CL2, Signature::CL3, Signature::SPACETIME, Signature::PGA3D, Signature::CGA3D];
    [plane, space, time, pga, pga.null_first(), conformal]
}

/// Values between -1 and 1 that this type holds.
pub(crate) fn values<T: Element>(len: usize, seed: u64) -> Vec<f64> {
    Fill::Uniform.values::<T>(len, seed).into_iter().map(|x| x.to_f64()).collect()
}

pub(crate) fn upload<T: Element>(gpu: &Gpu, values: &[f64], shape: &[usize]) -> Tensor<T> {
    laid(gpu, values, shape, Lay::Plain)
}

pub(crate) fn laid<T: Element>(gpu: &Gpu, values: &[f64], shape: &[usize], lay: Lay) -> Tensor<T> {
    let values: Vec<T> = values.iter().map(|&x| T::from_f64(x)).collect();
    Placed::new(gpu, &values, shape, lay).tensor
}

/// Values (blade, row, feature) as multivectors with blades along the first axis.
pub(crate) fn first<T: Real>(
    gpu: &Gpu,
    values: &[f64],
    blades: &Blades,
    [rows, features]: [usize; 2],
    lay: Lay,
) -> Multivectors<T> {
    let tensor = laid(gpu, values, &[blades.len(), rows, features], lay);
    Multivectors::new(tensor, blades, BladeAxis::First).unwrap()
}

pub(crate) fn read<T: Element>(x: &Tensor<T>) -> Vec<f64> {
    x.to_vec().unwrap().into_iter().map(|x| x.to_f64()).collect()
}

/// Every value within its tolerance.
pub(crate) fn near(found: &[f64], want: &[f64], tolerance: impl Fn(usize) -> f64, what: &str) {
    assert_eq!(found.len(), want.len(), "{what}");
    for (i, (found, want)) in found.iter().zip(want).enumerate() {
        let (off, most) = ((found - want).abs(), tolerance(i));
        assert!(off <= most, "{what} [{i}]: {found}, not {want}: {off:e}, allowed are {most:e}");
    }
}

pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A gradient against central differences of the loss, which takes the values that it is a gradient with respect to.
pub(crate) fn assert_slope(at: &[f64], gradient: &[f64], loss: impl Fn(&[f64]) -> f64, what: &str) {
    const STEP: f64 = 1e-5;
    let slope = |i: usize| {
        let moved = |by: f64| {
            let mut at = at.to_vec();
            at[i] += by;
            loss(&at)
        };
        (moved(STEP) - moved(-STEP)) / (2.0 * STEP)
    };
    let slopes: Vec<f64> = (0..at.len()).map(slope).collect();
    let most = 2e-6 * largest(&slopes).max(1.0);
    near(gradient, &slopes, |_| most, what);
}

/// From (row, feature, blade) to (blade, row, feature).
pub(crate) fn blades_first(values: &[f64], blades: usize) -> Vec<f64> {
    (0..blades).flat_map(|k| values.iter().skip(k).step_by(blades).copied()).collect()
}
