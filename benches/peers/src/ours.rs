//! The library: the plan's own choice.

use crate::case::Size;
use crate::check::Definition;
use crate::error::Result;
use crate::side::{POISON, Side, Time};
use bench::clock;
use std::time::Instant;
use tilewise::{Gemm, Gpu, Real, Tensor};

/// Products of pairs of operands that take turns, into one output.
pub(crate) struct Ours<'a, T: Real> {
    gpu: &'a Gpu,
    pairs: Vec<(Tensor<T>, Tensor<T>)>,
}

/// Products that are timed together on the device's clock at most.
const MAX_TOGETHER: u64 = 31;

impl<'a, T: Real> Ours<'a, T> {
    /// Uploads the operands this number of times.
    pub(crate) fn new(gpu: &'a Gpu, [a, b]: [&[T]; 2], size: Size, pairs: usize) -> Result<Self> {
        let Size { m, n, k } = size;
        let pair = |_| Ok((gpu.tensor(a, [m, k])?, gpu.tensor(b, [k, n])?));
        Ok(Self { gpu, pairs: (0..pairs).map(pair).collect::<Result<_>>()? })
    }

    /// Products by the plan's own choice, on the host's clock.
    pub(crate) fn side(&self, size: Size, definition: &Definition) -> Side<'_> {
        Side::new("Tilewise", "auto".into(), definition, || {
            let mut c = self.gpu.tensor(&vec![POISON; size.m * size.n], [size.m, size.n])?;
            self.multiply(0, &mut c)?;
            let first = c.to_vec()?;
            let mut next = 0;
            let time: Time<'_> = Box::new(move |count| {
                let start = Instant::now();
                for _ in 0..count {
                    next += 1;
                    self.multiply(next, &mut c)?;
                }
                self.gpu.wait()?;
                Ok(start.elapsed().as_secs_f64())
            });
            Ok((first, time))
        })
    }

    /// Seconds of one product on the device's clock, of as many as fill `enough` seconds if one takes `once`.
    pub(crate) fn device_seconds(&self, size: Size, once: f64, enough: f64) -> Result<f64> {
        let count = clock::repetitions(once, enough).min(MAX_TOGETHER);
        let mut c = self.gpu.empty([size.m, size.n])?;
        let mut next = 0;
        let seconds = clock::seconds(self.gpu, count, || {
            next += 1;
            let (a, b) = self.pair(next);
            Gemm::new(a, b).out::<f32>().run_into(&mut c)
        })?;
        Ok(seconds / count as f64)
    }

    /// The plan's step with the longest predicted time.
    pub(crate) fn plan(&self) -> Result<String> {
        let (a, b) = self.pair(0);
        let plan = Gemm::new(a, b).out::<f32>().plan()?;
        let longest = plan.steps().iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        Ok(longest.map(ToString::to_string).unwrap_or_default())
    }

    fn multiply(&self, at: usize, c: &mut Tensor<f32>) -> Result<()> {
        let (a, b) = self.pair(at);
        Ok(Gemm::new(a, b).out::<f32>().run_into(c)?)
    }

    fn pair(&self, at: usize) -> &(Tensor<T>, Tensor<T>) {
        &self.pairs[at % self.pairs.len()]
    }
}
