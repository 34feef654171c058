//! Times a row of cooperative matrices: the kernel of its self-test, with more iterations, against the same multiply-adds without
//! matrices. Drivers list rows that they emulate, and one was seen to be a thousand times slower than scalar arithmetic.

use crate::caps::{Caps, RowSpeed};
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::rows::row_test::Test;
use crate::gpu::rows::scalar_test::ScalarCase;
use crate::gpu::rows::self_test::{OP, TestSize};
use crate::gpu::views::view::View;
use crate::plan::Plan;
use crate::{Error, Result};

/// Seconds that one launch should take: enough for the device's clock.
const ENOUGH: f64 = 0.2e-3;
/// The same for the host's clock, which measures waiting too.
const ENOUGH_OF_HOST: f64 = 2e-3;
/// Seconds of a launch that is not repeated: a device that is slow must not be kept busy.
const LONG: f64 = 5e-3;
/// Iterations of the first launch, of each further one as a multiple of the one before, and at most.
const ITERATIONS: [u32; 3] = [4, 4, 256];
/// Number of launches. The result is the fastest, because other work on the machine can only slow a launch down.
const ROUNDS: usize = 3;
/// The number of workgroups: enough for large devices, and few enough for a short launch on small ones.
const WORKGROUPS: [u32; 2] = [4, 512];

/// The kernel without matrices of a test, which is compiled ahead with those of others. None if the row has no such kernel.
pub(in crate::gpu) fn scalar_plan(test: &Test, caps: &Caps) -> Option<Plan> {
    scalar(test, TestSize { workgroups: workgroups(caps), iterations: ITERATIONS[0] })?.plan(caps).ok()
}

/// The speed of the row of a passed test. None if it cannot be timed.
///
/// # Errors
/// [`Error::Device`] if the device is lost, [`Error::OutOfMemory`] if there is no room for the operands.
pub(in crate::gpu) fn speed(gpu: &Gpu, test: &Test) -> Result<Option<RowSpeed>> {
    let caps = gpu.known_caps();
    let workgroups = workgroups(caps);
    let work = |iterations| TestSize { workgroups, iterations };
    let most = work(ITERATIONS[2]);
    let Some(scalar) = scalar(test, most) else { return Ok(None) };
    let without = rate(gpu, &scalar.bytes(), |iterations| scalar.of_work(work(iterations)).plan(caps))?;
    let with = rate(gpu, &test.bytes(most), |iterations| test.plan_of(work(iterations), caps))?;
    Ok(RowSpeed::new(with / without))
}

fn scalar(test: &Test, work: TestSize) -> Option<ScalarCase> {
    let (row, subgroup) = test.row_and_subgroup();
    ScalarCase::of(&row, subgroup, work)
}

fn workgroups(caps: &Caps) -> u32 {
    let [least, most] = WORKGROUPS;
    caps.machine.workgroups().clamp(least, most)
}

/// Iterations per second of the plan that `of` returns for a number of iterations, on operands of these bytes. All start as zeros.
fn rate(gpu: &Gpu, bytes: &[usize], of: impl Fn(u32) -> Result<Plan>) -> Result<f64> {
    let buffers = bytes.iter().map(|bytes| gpu.upload(OP, &vec![0; *bytes]));
    let buffers = buffers.collect::<Result<Vec<_>>>()?;
    let run = |iterations: u32| {
        let prepared = gpu.compiled_untested(of(iterations)?)?;
        let parameters = prepared.plan.parameters().iter().zip(&buffers);
        let views =
            parameters.map(|(parameter, buffer)| View::of_words(buffer, 0..parameter.layout.len() * 4));
        let views = views.collect::<Result<Vec<_>>>()?;
        let timing = gpu.time(|| gpu.run_prepared(&prepared, &views, &[]))?.1;
        Ok::<_, Error>(timing.seconds)
    };
    let enough = if gpu.known_caps().timestamps { ENOUGH } else { ENOUGH_OF_HOST };
    let [mut iterations, times, most] = ITERATIONS;
    // NOTE: the first launch of a kernel can include late compilation by the driver.
    let mut fastest = run(iterations)?.min(run(iterations)?);
    while fastest < enough && iterations < most {
        iterations *= times;
        fastest = run(iterations)?;
    }
    for _ in 1..ROUNDS {
        if fastest < LONG {
            fastest = fastest.min(run(iterations)?);
        }
    }
    Ok(f64::from(iterations) / fastest)
}
