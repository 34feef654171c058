//! Measures the rates of a device.

use super::plan::OP;
use super::problem::{PeakNumber, PeakProblem};
use crate::caps::{Machine, MeasuredRates};
use crate::gpu::Gpu;
use crate::tensor::Tensor;
use crate::{Error, Result, ops};

/// Invocations that occupy every device many times over.
const INVOCATIONS: u32 = 1 << 19;
/// Seconds that one measurement should take at least.
const ENOUGH: f64 = 0.01;
/// Iterations of the loop at most.
const MOST_ITERATIONS: u32 = 1 << 16;
/// Measurements, of which the fastest counts: other work on the machine can only slow one down.
const ROUNDS: usize = 5;
/// Launches that wait for each other in one measurement.
const LAUNCHES: u32 = 60;
/// Bytes that are copied at most.
const COPIED: u64 = 1 << 28;

impl Gpu {
    /// Measures the rates that predictions depend on most: multiply-adds of f32, f16 and packed i8, a copy in device memory, and
    /// the time between two launches that depend on each other. Returns the device's [`Machine`](crate::gpu::Machine) with these
    /// figures. Takes about a second, on an otherwise idle device.
    ///
    /// A `Gpu` that is opened later with [`Tuning::Remembered`](crate::gpu::Tuning::Remembered) or
    /// [`Tuning::Now`](crate::gpu::Tuning::Now) predicts with these figures, if this one was opened so too and files are cached.
    /// The rates of cooperative matrices and caches stay as assumed.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let machine = gpu.measure_machine()?;
    /// println!("{:.1} GFLOP/s", machine.f32_flops * 1e-9);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// [`Error::OutOfMemory`] if there is no room for the operands; [`Error::Input`] in the closures of
    /// [`capture`](Self::capture), [`record_into`](Self::record_into) and [`time`](Self::time), or if another thread submits
    /// work in between; [`Error::Device`] if the device is lost.
    pub fn measure_machine(&self) -> Result<Machine> {
        let sums = self.empty::<i32>([INVOCATIONS as usize])?;
        let rate = |number| flops(self, &sums, number);
        let rates = MeasuredRates {
            f32_flops: Some(rate(PeakNumber::F32)?),
            f16_flops: self.caps().f16.then(|| rate(PeakNumber::F16)).transpose()?,
            i8_flops: Some(rate(PeakNumber::I8)?),
            memory_bandwidth: Some(copied(self)?),
            launch_seconds: Some(launch(self, &sums)?),
        };
        self.remember_rates(rates);
        Ok(self.caps().machine.measured(&rates))
    }
}

/// Multiply-adds per second, two operations each.
fn flops(gpu: &Gpu, sums: &Tensor<i32>, number: PeakNumber) -> Result<f64> {
    let seconds = |problem: &PeakProblem| -> Result<f64> {
        Ok(gpu.time(|| gpu.run(problem, &[sums.view()], &[]))?.1.seconds)
    };
    let mut problem = PeakProblem::new(number, INVOCATIONS, 16);
    while seconds(&problem)? < ENOUGH && problem.dims.iterations < MOST_ITERATIONS {
        problem = PeakProblem::new(number, INVOCATIONS, 2 * problem.dims.iterations);
    }
    Ok(problem.operations() / fastest(|| seconds(&problem))?)
}

/// Bytes read and written per second by a copy that no cache holds.
fn copied(gpu: &Gpu) -> Result<f64> {
    let limits = &gpu.caps().limits;
    let room = gpu.stats().bytes_free.or(gpu.caps().memory).unwrap_or(COPIED) / 4;
    let bytes = limits.binding_bytes.min(limits.buffer_bytes).min(room).min(COPIED) / 4096 * 4096;
    let elements = usize::try_from(bytes / 4).map_err(Error::device)?;
    let (a, mut c) = (gpu.empty::<f32>([elements])?, gpu.empty::<f32>([elements])?);
    ops::copy_into(&a, &mut c)?;
    let seconds = fastest(|| Ok(gpu.time(|| ops::copy_into(&a, &mut c))?.1.seconds))?;
    Ok(2.0 * bytes as f64 / seconds)
}

/// Seconds from one launch to the next one that writes the same buffer.
fn launch(gpu: &Gpu, sums: &Tensor<i32>) -> Result<f64> {
    let nothing = PeakProblem::new(PeakNumber::F32, 1, 0);
    let one = sums.slice(0, ..1)?;
    let all = || (0..LAUNCHES).try_for_each(|_| gpu.run(&nothing, &[one.view()], &[]));
    Ok(fastest(|| Ok(gpu.time(all)?.1.seconds))? / f64::from(LAUNCHES))
}

/// The fastest of some measurements. It is above 0, whatever the steps of the clock.
fn fastest(mut run: impl FnMut() -> Result<f64>) -> Result<f64> {
    let mut fastest = f64::INFINITY;
    for _ in 0..ROUNDS {
        fastest = fastest.min(run()?);
    }
    if fastest > 0.0 && fastest.is_finite() {
        return Ok(fastest);
    }
    Err(Error::input(OP, "the device's clock does not advance while it computes"))
}
