//! Measures the rates of a device.

use super::matrices::MatrixPeakProblem;
use super::plan::{LANES, OP};
use super::problem::{PeakNumber, PeakProblem};
use crate::caps::{CoopRow, CoopScalar, Machine, MeasuredRates};
use crate::gpu::Gpu;
use crate::layout::Fill;
use crate::progress::Steps;
use crate::tensor::Tensor;
use crate::{Error, Result, ops};
use half::f16;

/// A number of invocations that occupies every device many times over.
const INVOCATIONS: u32 = 1 << 19;
/// A number of workgroups of one subgroup each, for kernels on cooperative matrices, that occupies every device many
/// times over.
const WORKGROUPS: u32 = 1 << 12;
/// The least seconds of one measurement.
const ENOUGH: f64 = 0.01;
/// The largest number of iterations of the loop.
const MOST_ITERATIONS: u32 = 1 << 16;
/// Repetitions of a measurement. The fastest counts, because other work on the machine can only slow one down.
const ROUNDS: usize = 5;
/// Launches that wait for each other in one measurement.
const LAUNCHES: u32 = 60;
/// Seconds that a short launch computes.
const SHORT: f64 = 20e-6;
/// The largest number of copied bytes.
const COPIED: u64 = 1 << 28;

impl Gpu {
    /// Measures the rates that predictions depend on most: multiply-adds of f32, f16, packed i8 and cooperative matrices, a copy in
    /// device memory, and the time between two launches that depend on each other. Returns the device's
    /// [`Machine`](crate::gpu::Machine) with these figures. Takes about a second on an otherwise idle device; the first call takes
    /// longer, because it compiles kernels.
    ///
    /// A `Gpu` that is opened later with [`Tuning::Remembered`](crate::gpu::Tuning::Remembered) or
    /// [`Tuning::Now`](crate::gpu::Tuning::Now) predicts with these figures, if this `Gpu` was opened with one of them too and
    /// files are cached. The rates of caches and of shared memory keep their assumed values.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let machine = gpu.measure_machine()?;
    /// println!("{:.1} GFLOP/s", machine.f32_flops * 1e-9);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// [`Error::OutOfMemory`] if the operands do not fit; [`Error::Input`] in the closures of [`capture`](Self::capture),
    /// [`record_into`](Self::record_into) and [`time`](Self::time), or if another thread submits work in between;
    /// [`Error::Cancelled`] in [`with_progress`](crate::with_progress), and then nothing is remembered; [`Error::Device`] if
    /// the device is lost.
    pub fn measure_machine(&self) -> Result<Machine> {
        let rates = measure_rates(self)?;
        self.remember_rates(rates);
        Ok(self.caps().machine.measured(&rates))
    }
}

/// The rates of the device, measured now. They are not stored, and no assumed figure replaces a measured one.
///
/// # Errors
/// Those of [`Gpu::measure_machine`].
pub fn measure_rates(gpu: &Gpu) -> Result<MeasuredRates> {
    let sums = gpu.empty::<i32>([INVOCATIONS as usize])?;
    let rate = |number| multiply_adds(gpu, &sums, number);
    let steps = Steps::of(OP, 6);
    steps.at(0, "f32")?;
    let f32_flops = rate(PeakNumber::F32)?;
    steps.at(1, "f16")?;
    let f16_flops = gpu.known_caps().f16.then(|| rate(PeakNumber::F16)).transpose()?;
    steps.at(2, "i8")?;
    let i8_flops = rate(PeakNumber::I8)?;
    steps.at(3, "cooperative matrices")?;
    let matrix_flops = matrices(gpu)?;
    steps.at(4, "memory")?;
    let memory_bandwidth = copied(gpu)?;
    steps.at(5, "launches")?;
    let launch_seconds = launch(gpu, &sums, f32_flops)?;
    steps.end()?;
    Ok(MeasuredRates {
        f32_flops: Some(f32_flops),
        f16_flops,
        i8_flops: Some(i8_flops),
        matrix_flops,
        memory_bandwidth: Some(memory_bandwidth),
        launch_seconds: Some(launch_seconds),
    })
}

/// Multiply-adds of numbers per second, two operations each.
fn multiply_adds(gpu: &Gpu, sums: &Tensor<i32>, number: PeakNumber) -> Result<f64> {
    flops(|iterations| {
        let problem = PeakProblem::new(number, INVOCATIONS, iterations);
        let seconds = gpu.time(|| gpu.run(&problem, &[sums.view()], &[]))?.1.seconds;
        Ok((problem.operations(), seconds))
    })
}

/// Multiply-adds per second on the fastest row of f16 with sums in f32; kernels use these rows. None if there is no such row.
fn matrices(gpu: &Gpu) -> Result<Option<f64>> {
    let (mut best, [ab, c]) = (None, [CoopScalar::F16, CoopScalar::F32]);
    let is_usable = |row: &&CoopRow| row.is_of_wgsl(row.m, ab, c);
    for row in gpu.caps().rows.clone().iter().filter(is_usable) {
        if gpu.caps().coop(row.m, ab, c).is_err() {
            continue;
        }
        match of_row(gpu, row.m) {
            Ok(rate) => best = Some(best.map_or(rate, |best: f64| best.max(rate))),
            // The driver gave the kernel subgroups of another size: the row is fenced off now.
            Err(Error::Unsupported { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(best)
}

/// Multiply-adds per second on matrices of this size.
fn of_row(gpu: &Gpu, fragment: u32) -> Result<f64> {
    // NOTE: on zeros a GPU draws less power and runs faster than it does on data.
    let [ab, c] = MatrixPeakProblem::new(fragment, WORKGROUPS, 0).shapes();
    let (ab, c) = (gpu.random::<f16>(ab, Fill::Uniform, 1)?, gpu.empty::<f32>(c)?);
    flops(|iterations| {
        let problem = MatrixPeakProblem::new(fragment, WORKGROUPS, iterations);
        let seconds = gpu.time(|| gpu.run(&problem, &[ab.view(), c.view()], &[]))?.1.seconds;
        Ok((problem.operations(), seconds))
    })
}

/// Operations per second. The number of iterations grows until a measurement takes long enough. `run` returns the operations
/// of some iterations and their seconds.
fn flops(mut run: impl FnMut(u32) -> Result<(f64, f64)>) -> Result<f64> {
    let mut iterations = 1;
    run(iterations)?; // compiles
    let operations = loop {
        let (operations, seconds) = run(iterations)?;
        if seconds >= ENOUGH || iterations >= MOST_ITERATIONS {
            break operations;
        }
        iterations *= 2;
    };
    Ok(operations / fastest(|| Ok(run(iterations)?.1))?)
}

/// Bytes read and written per second by a copy that is larger than any cache.
fn copied(gpu: &Gpu) -> Result<f64> {
    let limits = &gpu.known_caps().limits;
    let room = gpu.stats().bytes_free.or(gpu.known_caps().memory).unwrap_or(COPIED) / 4;
    let bytes = limits.binding_bytes.min(limits.buffer_bytes).min(room).min(COPIED) / 4096 * 4096;
    let elements = usize::try_from(bytes / 4).map_err(Error::device)?;
    let (a, mut c) = (gpu.empty::<f32>([elements])?, gpu.empty::<f32>([elements])?);
    ops::copy_into(&a, &mut c)?;
    let seconds = fastest(|| Ok(gpu.time(|| ops::copy_into(&a, &mut c))?.1.seconds))?;
    Ok(2.0 * bytes as f64 / seconds)
}

/// Seconds from one launch to the next one that writes the same buffer. It is the time of several short launches minus that of one
/// launch with the same work, per launch, and at least the time of a launch that computes nothing. A core sleeps while another
/// finishes its work, and is woken for each launch.
fn launch(gpu: &Gpu, sums: &Tensor<i32>, f32_flops: f64) -> Result<f64> {
    let machine = &gpu.known_caps().machine;
    let workgroups = machine.workgroups();
    let words = workgroups.saturating_mul(LANES).min(INVOCATIONS);
    let sums = sums.slice(0, ..words as usize)?;
    let seconds = |launches: u32, iterations: u32| {
        let problem = PeakProblem::new(PeakNumber::F32, words, iterations);
        let all = || (0..launches).try_for_each(|_| gpu.run(&problem, &[sums.view()], &[]));
        all()?;
        fastest(|| Ok(gpu.time(all)?.1.seconds))
    };
    let one = PeakProblem::new(PeakNumber::F32, words, 1).operations() / f32_flops;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
    let iterations = ((SHORT / one) as u32).clamp(1, MOST_ITERATIONS / LAUNCHES);
    let between = seconds(LAUNCHES, iterations)? - seconds(1, LAUNCHES * iterations)?;
    Ok(between.max(seconds(LAUNCHES, 0)?) / f64::from(LAUNCHES))
}

/// The fastest of several measurements. It is above 0 even with a coarse clock.
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
