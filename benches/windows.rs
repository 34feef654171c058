//! Operations on a tensor that is larger than a binding, each timed in turn with the same calls on its eight slices, which fit.
//! One JSON object per line, with the bytes in use at the peak beyond the operand and the result; the exit status says whether
//! everything ran.
//!
//! - `TILEWISE_SIZES=1024` sets the sizes of the tensor in MiB. Bindings have an eighth of that. The tensor is there twice, and the
//!   results are as large.
//! - `TILEWISE_ONLY=mul,sum` selects cases by name.

use bench::paired::{Paired, Side};
use bench::{ByDevice, Session, ran};
use std::process::ExitCode;
use tilewise::ops::{self, Axes};
use tilewise::{Error, Fill, Gpu, Result, Tensor};

/// Sizes of the tensor in MiB.
const SIZES: ByDevice<&[usize]> = ByDevice { software: &[1024], gpu: &[1024] };
/// Elements of a row.
const ROW: usize = 4096;
/// Rounds, in each of which both are timed once.
const ROUNDS: usize = 7;

type Operation = (&'static str, fn(&Tensor<f32>) -> Result<Tensor<f32>>);

const OPERATIONS: [Operation; 5] = [
    ("mul", |x| ops::mul(x, 2.0)),
    ("add", |x| ops::add(x, 1.0)),
    ("sum", |x| ops::sum(x, Axes::from(..))),
    ("sum of rows", |x| ops::sum(x, 1)),
    ("softmax", |x| ops::softmax(x, 1)),
];

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        let mut ok = true;
        for mebibytes in session.sizes(2, &SIZES)? {
            let bytes = mebibytes << 20;
            let limited = Session { gpu: limited(&session.gpu, bytes as u64 / 8)?, testing: session.testing };
            let x = limited.gpu.random::<f32>([bytes / 4 / ROW, ROW], Fill::Uniform, 1)?;
            for (name, run) in OPERATIONS.into_iter().filter(|(name, _)| bench::wants(name)) {
                ok &= ran(name, mebibytes, measure(&limited, &x, (name, run)));
            }
        }
        Ok(ok)
    })
}

/// The same device, whose bindings have at most this number of bytes.
fn limited(gpu: &Gpu, bytes: u64) -> Result<Gpu> {
    let name = &gpu.caps().adapter;
    let adapter = Gpu::adapters().into_iter().find(|adapter| &adapter.get_info().name == name);
    let adapter = adapter.expect("it was there");
    let mut desc = Gpu::device_descriptor(&adapter);
    let limit = &mut desc.required_limits.max_storage_buffer_binding_size;
    *limit = bytes.min(*limit);
    let opened = pollster::block_on(adapter.request_device(&desc));
    let (device, queue) = opened.map_err(|error| Error::Device(Box::new(error)))?;
    Gpu::adopt(&adapter, device, queue)
}

fn measure(session: &Session, x: &Tensor<f32>, (name, run): Operation) -> Result<()> {
    let gpu = &session.gpu;
    gpu.trim();
    gpu.reset_peak();
    let before = gpu.stats().bytes_in_use;
    let (result, plans) = gpu.plans_of(|| run(x));
    let used = result?.len() as u64 * 4;
    let beyond = gpu.stats().bytes_peak - before - used;
    let rows = x.shape()[0];
    let slices =
        (0..8).map(|at| x.slice(0, at * rows / 8..(at + 1) * rows / 8)).collect::<Result<Vec<_>>>()?;
    let whole = Side::launches(gpu, &plans[0], 1, |_| run(x).map(drop))?;
    // The results of all slices are there at once, as the one of the whole is.
    let parts =
        Side::launches(gpu, &plans[0], 1, |_| slices.iter().map(run).collect::<Result<Vec<_>>>().map(drop))?;
    let variant = format!("{name}, {} steps, {beyond} bytes beyond the result", plans[0].steps().len());
    let paired = Paired {
        case: "windows",
        variant: &variant,
        baseline: "eight slices",
        size: [rows, ROW, 1],
        types: [tilewise::DType::F32; 2],
    };
    paired.run_rounds(session, ROUNDS, whole, parts)
}
