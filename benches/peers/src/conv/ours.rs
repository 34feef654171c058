//! The library: the plan's own choice.

use super::definition::{Definition, Operands, options};
use super::shape::Shape;
use crate::error::{Error, Result};
use crate::side::{Side, Time};
use bench::{clock, repetitions};
use std::time::Instant;
use tilewise::conv::Convolution;
use tilewise::{Element, Gpu, Real, Tensor};

const NAME: &str = "Tilewise";

/// Convolutions of sets of operands that take turns.
pub(crate) struct Ours<'a, T: Real> {
    gpu: &'a Gpu,
    shape: &'a Shape,
    integers: Set<T>,
    sets: Vec<Set<T>>,
}

/// Images and a weight.
type Set<T> = (Tensor<T>, Tensor<T>);

impl<'a, T: Real> Ours<'a, T> {
    /// Of this number of sets.
    pub(crate) fn new(
        gpu: &'a Gpu,
        shape: &'a Shape,
        definition: &Definition<T>,
        sets: usize,
    ) -> Result<Self> {
        let set = |of: &Operands<T>| -> Result<Set<T>> {
            Ok((gpu.tensor(&of.x, shape.x())?, gpu.tensor(&of.weight, shape.weight())?))
        };
        let sets = (0..sets).map(|_| set(&definition.uniform)).collect::<Result<_>>()?;
        Ok(Self { gpu, shape, integers: set(&definition.integers)?, sets })
    }

    /// On the host's clock.
    pub(crate) fn side(&self, definition: &Definition<T>) -> Side<'_> {
        Side::new(NAME, "auto".into(), definition, || {
            let integers = read(&self.convolution(&self.integers).run()?)?;
            definition.check_integers(&integers).map_err(|why| Error::Side { side: NAME.into(), why })?;
            let first = read(&self.of_turn(0).run()?)?;
            let mut next = 0;
            let time: Time<'_> = Box::new(move |count| {
                let start = Instant::now();
                for _ in 0..count {
                    next += 1;
                    self.of_turn(next).run()?;
                }
                self.gpu.wait()?;
                Ok(start.elapsed().as_secs_f64())
            });
            Ok((first, time))
        })
    }

    /// Seconds of one convolution on the device's clock, of as many as fill `enough` seconds if one takes `once`.
    pub(crate) fn device_seconds(&self, once: f64, enough: f64) -> Result<f64> {
        let count = repetitions::estimated(once, enough, clock::MAX_TOGETHER);
        let mut next = 0;
        let seconds = clock::seconds(self.gpu, count, || {
            next += 1;
            self.of_turn(next).run().map(drop)
        })?;
        Ok(seconds / count as f64)
    }

    /// The convolution of the set whose turn it is.
    pub(crate) fn of_turn(&self, at: usize) -> Convolution<'_, T> {
        self.convolution(&self.sets[at % self.sets.len()])
    }

    fn convolution<'b>(&self, (x, weight): &'b Set<T>) -> Convolution<'b, T> {
        Convolution::new(x, weight).options(options(self.shape))
    }
}

fn read<T: Real>(y: &Tensor<T>) -> Result<Vec<f32>> {
    Ok(y.to_vec()?.iter().map(|y| f32::from_f64(y.to_f64())).collect())
}
