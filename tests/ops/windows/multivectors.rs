//! Products and layers of many multivectors.

use super::{Pair, joined, place};
use support::strided::Lay;
use support::values::values;
use tilewise::clifford::layer::{Gate, GradeNorm, LayerProduct, MvLayerNorm, MvNormalization, MvSilu};
use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::{Gpu, Gradients, Parameters, Real, Result, Tensor, f16};

const PLANE: Signature = Signature::CL2;
/// Rows and features.
const ROWS: [usize; 2] = [601, 21];

#[test]
fn products_of_many_multivectors() {
    let Some(pair) = Pair::on_the_first_driver() else { return };
    let blades = Signature::CL3.vectors();
    let (x, y) = (values::<f32>(&[3, 9001], 1.0, 1), values::<f32>(&[3, 9001], 1.0, 2));
    for (axis, shape) in [(BladeAxis::First, [3, 9001]), (BladeAxis::Last, [9001, 3])] {
        for lay in [Lay::Plain, Lay::Odd] {
            pair.same(&format!("geometric product {axis:?} {lay:?}"), |gpu| {
                let of = |values: &[f32]| Multivectors::new(place(gpu, values, &shape, lay), &blades, axis);
                of(&x)?.geometric(&of(&y)?).map(Multivectors::into_tensor)
            });
        }
    }
}

/// Operands of layers: random, with the blades first or last.
struct Operands<'a> {
    gpu: &'a Gpu,
    axis: BladeAxis,
    lay: Lay,
}

impl Operands<'_> {
    fn of<T: Real>(&self, seed: u64) -> Result<Multivectors<T>> {
        let [rows, features] = ROWS;
        let shape = match self.axis {
            BladeAxis::First => [4, rows, features],
            BladeAxis::Last => [rows, features, 4],
        };
        let values = values::<T>(&shape, 1.0, seed);
        Multivectors::new(place(self.gpu, &values, &shape, self.lay), &PLANE.blades(), self.axis)
    }

    fn parameter<T: Real>(&self, shape: &[usize], seed: u64) -> Tensor<T> {
        place(self.gpu, &values::<T>(shape, 1.0, seed), shape, self.lay)
    }
}

/// Runs it with the blades on either side, and operands with and without gaps.
fn each(pair: &Pair, what: &str, off: f64, run: impl Fn(&Operands<'_>) -> Result<Tensor<f32>>) {
    for axis in [BladeAxis::First, BladeAxis::Last] {
        for lay in [Lay::Plain, Lay::Odd] {
            pair.close(&format!("{what} {axis:?} {lay:?}"), off, |gpu| run(&Operands { gpu, axis, lay }));
        }
    }
}

#[test]
fn steerable_products_and_norms_of_rows() {
    fn of_type<T: Real>(pair: &Pair, off: f64) {
        let product = LayerProduct::new(PLANE).gate(Gate::Gelu).norm(GradeNorm::Rms);
        let paths = PLANE.paths().len();
        each(pair, &format!("a product of {}", T::DTYPE), off, |of| {
            let (x, y, g) = (of.of::<T>(1)?, of.of::<T>(2)?, of.of::<T>(3)?);
            let weight = of.parameter::<T>(&[ROWS[1], paths], 4);
            let forward = product.steerable(&x, &y, &weight)?.into_tensor().cast()?;
            let found = product.steerable_backward(&x, &y, &weight, &g)?;
            joined(&[forward, found.x.into_tensor().cast()?, found.y.into_tensor().cast()?, found.weight])
        });
        each(pair, &format!("a norm of {}", T::DTYPE), off, |of| {
            let (x, g) = (of.of::<T>(1)?, of.of::<T>(3)?);
            let [forward, backward] = [product.normalized(&x)?, product.normalized_backward(&x, &g)?];
            joined(&[forward.into_tensor().cast()?, backward.into_tensor().cast()?])
        });
    }
    let Some(pair) = Pair::on_the_first_driver() else { return };
    of_type::<f32>(&pair, 1e-4);
    of_type::<f16>(&pair, 2e-2);
}

#[test]
fn functions_with_parameters_of_features() {
    let Some(pair) = Pair::on_the_first_driver() else { return };
    for function in 0..3 {
        each(&pair, &format!("function {function}"), 2e-4, |of| {
            let (x, g) = (of.of::<f32>(1)?, of.of::<f32>(3)?);
            let [a, b] = [4, 5].map(|seed| of.parameter::<f32>(&[ROWS[1], 3], seed));
            let (forward, (dx, gradients)) = match function {
                0 => {
                    let layer = MvNormalization::new(PLANE, a)?;
                    (layer.forward(&x)?, layer.backward(&x, &g)?)
                }
                1 => {
                    let gains = a.slice(1, ..1)?.contiguous()?.reshape([ROWS[1]])?;
                    let layer = MvLayerNorm::new(PLANE, gains)?;
                    (layer.forward(&x)?, layer.backward(&x, &g)?)
                }
                _ => {
                    let layer = MvSilu::new(PLANE, a, b)?;
                    (layer.forward(&x)?, layer.backward(&x, &g)?)
                }
            };
            let gradients: Vec<_> = gradients.iter().map(|(_, of)| of.clone()).collect();
            joined(&[forward.into_tensor(), dx.into_tensor(), joined(&gradients)?])
        });
    }
}

#[test]
fn connected_products() {
    let Some(pair) = Pair::on_the_first_driver() else { return };
    for norm in [GradeNorm::None, GradeNorm::Rms] {
        let product = LayerProduct::new(PLANE).gate(Gate::GeluTanh).norm(norm);
        each(&pair, &format!("{norm:?}"), 2e-4, |of| {
            let (x, y, g) = (of.of::<f32>(1)?, of.of::<f32>(2)?, of.of::<f32>(3)?);
            let weight = of.parameter::<f32>(&[PLANE.paths().len(), ROWS[1], ROWS[1]], 4);
            let forward = product.connected(&x, &y, &weight)?.into_tensor();
            let found = product.connected_backward(&x, &y, &weight, &g)?;
            joined(&[forward, found.x.into_tensor(), found.y.into_tensor(), found.weight])
        });
    }
}

#[test]
fn steps_of_gradient_descent() {
    let Some(pair) = Pair::on_the_first_driver() else { return };
    pair.same("a step", |gpu| {
        let of = |seed| gpu.tensor(&values::<f32>(&[6001, 3], 1.0, seed), [6001, 3]);
        let mut layer = MvNormalization::new(PLANE, of(1)?)?;
        let mut gradients = Gradients::new();
        gradients.add("a", of(2)?)?;
        layer.descend(&gradients, 0.5)?;
        Ok(layer.a().clone())
    });
}
