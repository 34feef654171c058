//! The rows of the table: the network in each type, with matrix units and without.

use crate::check::bound_ratio;
use crate::digits::Digit;
use crate::network::Network;
use crate::pictures::{COLOURS, EDGE, input, picture};
use std::time::Instant;
use tilewise::io::Safetensors;
use tilewise::{DType, Error, Gpu, Plan, Real, Result, Tensor, bf16, f16, wgpu};

/// Pictures whose steps are held against their definitions in f64.
const CHECKED: usize = 2;
/// Times that a batch is timed at least.
const TIMED: usize = 5;

/// The pictures of held-out digits, of which each one's number is its seed, and their classes.
pub(crate) struct Pictures {
    pub(crate) bytes: Vec<Vec<u8>>,
    pub(crate) classes: Vec<usize>,
}

impl Pictures {
    pub(crate) fn of(digits: &[Digit]) -> Self {
        let classes = digits.iter().map(|digit| digit.class).collect();
        let bytes = digits.iter().enumerate().map(|(at, digit)| picture(at, digit)).collect();
        Self { bytes, classes }
    }

    /// A batch from this picture on. Behind the last picture, the first ones follow.
    fn batch<T: Real>(&self, first: usize, batch: usize) -> Vec<T> {
        let pictures = self.bytes.iter().cycle().skip(first).take(batch).flatten();
        pictures.map(|&byte| T::from_f64(input(byte))).collect()
    }
}

/// A row of the table.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) dtype: DType,
    /// What came of it, or what the device lacks.
    pub(crate) outcome: Result<Ran, String>,
}

/// The network in one type.
pub(crate) struct Ran {
    pub(crate) parameters: usize,
    /// Launches of a batch.
    pub(crate) launches: usize,
    /// Operations of a picture.
    pub(crate) flops: f64,
    /// The share of them that matrix units compute.
    pub(crate) on_matrix_units: f64,
    /// Seconds of a batch: written, computed and read. The median.
    pub(crate) seconds: f64,
    /// Bytes of the weights, the input, and what the replay keeps.
    pub(crate) bytes: u64,
    /// The largest difference of an output and PyTorch's in f64.
    pub(crate) largest_error: f64,
    /// The largest error of a value over its bound, step by step.
    pub(crate) bound_ratio: f64,
    /// The class that each picture was given.
    pub(crate) found: Vec<usize>,
    pub(crate) right: usize,
}

/// Runs all rows.
pub(crate) fn rows(gpu: &Gpu, file: &Safetensors, pictures: &Pictures, batch: usize) -> Result<Vec<Row>> {
    let plain = without_matrix_units(gpu)?;
    Ok(vec![
        row::<f32>("f32", gpu, file, pictures, batch)?,
        row::<f16>("f16, matrix units off", &plain, file, pictures, batch)?,
        row::<f16>("f16, as planned", gpu, file, pictures, batch)?,
        row::<bf16>("bf16, as planned", gpu, file, pictures, batch)?,
    ])
}

fn row<T: Real>(
    name: &'static str,
    gpu: &Gpu,
    file: &Safetensors,
    pictures: &Pictures,
    batch: usize,
) -> Result<Row> {
    let outcome = match run::<T>(gpu, file, pictures, batch) {
        Err(Error::Unsupported { needs, .. }) => Err(needs),
        outcome => Ok(outcome?),
    };
    Ok(Row { name, dtype: T::DTYPE, outcome })
}

/// The same adapter, opened as an application might: without matrix units.
fn without_matrix_units(gpu: &Gpu) -> Result<Gpu> {
    let name = &gpu.caps().adapter;
    let adapter = Gpu::adapters().into_iter().find(|adapter| adapter.get_info().name == *name);
    let Some(adapter) = adapter else {
        return Err(Error::Input { what: name.clone(), why: "the adapter is not listed any more".into() });
    };
    let mut desc = Gpu::device_descriptor(&adapter);
    desc.required_features.remove(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX);
    let opened = pollster::block_on(adapter.request_device(&desc));
    let (device, queue) = opened.map_err(|error| Error::Device(error.into()))?;
    Gpu::adopt(&adapter, device, queue)
}

fn run<T: Real>(gpu: &Gpu, file: &Safetensors, pictures: &Pictures, batch: usize) -> Result<Ran> {
    let network = Network::<T>::load(gpu, file)?;
    let x = gpu.zeros::<T>([batch, EDGE, EDGE, COLOURS])?;
    let (replay, plans) = gpu.plans_of(|| gpu.capture(&[x.view()], || network.forward(&x, |_| Ok(()))));
    let mut replay = replay?;
    let count = pictures.bytes.len();
    let (mut found, mut outputs, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    // Once more than is timed: the first run compiles.
    let runs = count.div_ceil(batch).max(TIMED + 1);
    for first in (0..runs).map(|run| run * batch) {
        let values = pictures.batch::<T>(first % count, batch);
        let begun = Instant::now();
        replay.write(0, &values)?;
        let computed = replay.run(&[x.view()])?.to_vec()?;
        seconds.push(begun.elapsed().as_secs_f64());
        let rows = computed.chunks(computed.len() / batch);
        found.extend(rows.clone().take(count - found.len()).map(largest));
        if first == 0 {
            outputs = computed.iter().map(|y| y.to_f64()).collect();
        }
    }
    seconds.remove(0);
    seconds.sort_by(f64::total_cmp);
    let expected = file.values("expected")?;
    let errors = outputs.iter().zip(&expected).map(|(found, expected)| (found - expected).abs());
    let flops = |of: fn(&Plan) -> f64| plans.iter().map(of).sum::<f64>();
    let all = flops(|plan| plan.work().flops.matrix + plan.work().flops.f32 + plan.work().flops.f16);
    let checked: Tensor<T> = x.slice(0, ..CHECKED.min(batch))?;
    Ok(Ran {
        parameters: network.parameters(),
        launches: replay.launches(),
        flops: all / batch as f64,
        on_matrix_units: flops(|plan| plan.work().flops.matrix) / all,
        seconds: seconds[seconds.len() / 2],
        bytes: network.bytes() as u64 + replay.bytes() + (x.len() * size_of::<T>()) as u64,
        largest_error: errors.fold(0.0, f64::max),
        bound_ratio: bound_ratio(&network, &checked)?,
        right: found.iter().zip(&pictures.classes).filter(|(found, class)| found == class).count(),
        found,
    })
}

/// The index of the largest value.
fn largest<T: Real>(values: &[T]) -> usize {
    (0..values.len()).max_by(|&i, &j| values[i].to_f64().total_cmp(&values[j].to_f64())).unwrap_or(0)
}
