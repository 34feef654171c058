//! The library: the plan's own choice.

use crate::case::Size;
use crate::error::Result;
use crate::side::{Side, Time};
use bench::definition::{Definition, POISON};
use bench::paired::Pair;
use bench::{clock, repetitions};
use std::time::Instant;
use tilewise::{Gemm, Gpu, Real};

/// Products of pairs of operands that take turns, into one output.
pub(crate) struct Ours<'a, T: Real> {
    pub(crate) gpu: &'a Gpu,
    pub(crate) pairs: Vec<Pair<T>>,
}

impl<T: Real> Ours<'_, T> {
    /// Products by the plan's own choice, on the host's clock.
    pub(crate) fn side(&self, size: Size, definition: &Definition) -> Side<'_> {
        Side::new("Tilewise", "auto".into(), definition, || {
            let mut c = self.gpu.tensor(&vec![POISON; size.m * size.n], [size.m, size.n])?;
            self.product(0).run_into(&mut c)?;
            let first = c.to_vec()?;
            let mut next = 0;
            let time: Time<'_> = Box::new(move |count| {
                let start = Instant::now();
                for _ in 0..count {
                    next += 1;
                    self.product(next).run_into(&mut c)?;
                }
                self.gpu.wait()?;
                Ok(start.elapsed().as_secs_f64())
            });
            Ok((first, time))
        })
    }

    /// Seconds of one product on the device's clock, of as many as fill `enough` seconds if one takes `once`.
    pub(crate) fn device_seconds(&self, size: Size, once: f64, enough: f64) -> Result<f64> {
        let count = repetitions::estimated(once, enough, clock::MAX_TOGETHER);
        let mut c = self.gpu.empty([size.m, size.n])?;
        let mut next = 0;
        let seconds = clock::seconds(self.gpu, count, || {
            next += 1;
            self.product(next).run_into(&mut c)
        })?;
        Ok(seconds / count as f64)
    }

    /// The product of the pair whose turn it is.
    pub(crate) fn product(&self, at: usize) -> Gemm<'_, T, f32> {
        let (a, b) = &self.pairs[at % self.pairs.len()];
        Gemm::new(a, b).out::<f32>()
    }
}
