//! A loop over frames of 1 MiB: the host fills a frame, the device computes one, the host reads the result. With `write` and
//! `to_vec`, which wait for each other, against `write_from` and a `read` that is awaited one frame later.
//!
//! Prints one JSON object per line: milliseconds per frame, the fastest, median and slowest of the rounds, which alternate.

use bench::statistics::Spread;
use std::time::Instant;
use tilewise::{Fill, Gpu, Result, Tensor, matmul, ops};

/// Rows and columns of a frame.
const SIZE: usize = 512;
/// Columns of the product.
const COLUMNS: usize = 64;
const FRAMES: u32 = 40;
const ROUNDS: usize = 7;

/// What the device does with a frame.
type Work<'a> = &'a dyn Fn(&Tensor<f32>) -> Result<Tensor<f32>>;

pub(crate) fn main() -> Result<()> {
    let gpu = match Gpu::open() {
        Ok(gpu) => gpu,
        Err(error) if std::env::var("GPU_REQUIRED").as_deref() != Ok("1") => {
            println!("skipped: {error}");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let weight = gpu.random::<f32>([SIZE, COLUMNS], Fill::Uniform, 1)?;
    let scale = gpu.tensor(&[0.5f32], [1])?;
    let light = |x: &Tensor<f32>| ops::mul(x, &scale);
    let heavy = |x: &Tensor<f32>| matmul(x, &weight);
    let works: [(&str, Work<'_>); 2] = [("a scale", &light), ("a product", &heavy)];
    for (name, work) in works {
        let mut times = [[0.0; ROUNDS]; 2];
        let mut sums = [0.0; 2];
        for round in 0..=ROUNDS {
            for (which, run) in [plain, staged].into_iter().enumerate() {
                let start = Instant::now();
                sums[which] = run(&gpu, work)?;
                let millis = start.elapsed().as_secs_f64() * 1e3 / f64::from(FRAMES);
                // The first round warms up.
                if round > 0 {
                    times[which][round - 1] = millis;
                }
            }
        }
        assert_eq!(sums[0].to_bits(), sums[1].to_bits(), "both loops have the same results");
        for (way, times) in ["write, to_vec", "write_from, read one frame later"].into_iter().zip(times) {
            let Some(Spread { least: min, median, most: max, .. }) = Spread::of(&times) else { continue };
            println!(
                "{{\"staging\": \"{name}\", \"loop\": \"{way}\", \"ms_min\": {min:.3}, \"ms_median\": {median:.3}, \
                 \"ms_max\": {max:.3}}}"
            );
        }
    }
    Ok(())
}

/// What the host computes for a frame: a moving pattern.
fn pixel(frame: u32, at: usize) -> f32 {
    let at = u32::try_from(at).expect("a frame is small");
    let mixed = at.wrapping_mul(2_654_435_761).wrapping_add(frame.wrapping_mul(40_503));
    f32::from(u16::try_from(mixed >> 16).expect("16 bits are left")) / 65536.0
}

/// What the host does with a result.
fn consume(values: &[f32]) -> f64 {
    values.iter().map(|&v| f64::from(v)).sum()
}

fn plain(gpu: &Gpu, work: Work<'_>) -> Result<f64> {
    let mut x = gpu.zeros::<f32>([SIZE, SIZE])?;
    let mut sum = 0.0;
    for frame in 0..FRAMES {
        let data: Vec<f32> = (0..SIZE * SIZE).map(|at| pixel(frame, at)).collect();
        x.write(&data)?;
        sum += consume(&work(&x)?.to_vec()?);
    }
    Ok(sum)
}

fn staged(gpu: &Gpu, work: Work<'_>) -> Result<f64> {
    let mut x = gpu.zeros::<f32>([SIZE, SIZE])?;
    let mut sum = 0.0;
    let mut before = None;
    for frame in 0..FRAMES {
        x.write_from(|to| {
            to.write_iter((0..SIZE * SIZE).map(|at| pixel(frame, at)));
        })?;
        let read = work(&x)?.read(); // submits
        if let Some(read) = before.replace(read) {
            sum += consume(&pollster::block_on(read)?);
        }
    }
    if let Some(read) = before {
        sum += consume(&pollster::block_on(read)?);
    }
    Ok(sum)
}
