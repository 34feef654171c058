//! Sketched linear layers, one term of rank 16, against the dense layer, in turns and in one run: forward and backward,
//! for several widths and batches. On a GPU in f16 too, and against the least that a layer could take: a copy of the
//! bytes that its two products read and write, and for small ones two launches of next to nothing. One JSON object per
//! line; the exit status tells whether all ran. A `ratio` below 1 is a layer that pays.
//!
//! - `TILEWISE_SIZES=256,4096` sets the widths, of inputs and outputs.
//! - `TILEWISE_BATCHES=1,64` sets the batches.

#[path = "roof/mod.rs"]
mod roof;
mod support;

use roof::Copier;
use serde_json::json;
use std::process::ExitCode;
use support::contest::{Contest, Side, TOGETHER};
use support::examples::ended;
use support::{is_software, is_testing, told};
use tilewise::sketch::{SignStorage, SkLinear};
use tilewise::{Activation, DType, Fill, Gemm, Gpu, Real, Result, Tensor, f16};

const TERMS: usize = 1;
const RANK: usize = 16;
/// Rounds, in each of which both sides take their turn.
const ROUNDS: usize = 9;
/// Widths and batches on software devices, and on GPUs.
const OF_SOFTWARE: [&[usize]; 2] = [&[256, 1024, 4096], &[1, 64]];
const OF_GPUS: [&[usize]; 2] = [&[256, 512, 1024, 2048, 4096, 8192, 16384], &[1, 8, 64, 512, 8192]];

fn main() -> ExitCode {
    ended(run())
}

/// Whether every case ran.
fn run() -> Result<bool> {
    let Some(gpu) = support::open()? else {
        println!("{}", json!({ "skipped": "no adapter" }));
        return Ok(true);
    };
    let testing = is_testing();
    let software = is_software(&gpu);
    let [widths, batches] = if software { OF_SOFTWARE } else { OF_GPUS };
    let (widths, batches) = if testing {
        (vec![48], vec![16])
    } else {
        (support::sizes(widths)?, support::sizes_from("TILEWISE_BATCHES", batches)?)
    };
    let bench = Bench { gpu, rounds: if testing { 1 } else { ROUNDS } };
    let mut ok = true;
    for &width in &widths {
        for &batch in &batches {
            ok &= told("layer f32", width, bench.layer::<f32>(width, batch));
            if !software || testing {
                ok &= told("layer f16", width, bench.layer::<f16>(width, batch));
                ok &= told("layer floors", width, bench.floors::<f16>(width, batch));
            }
        }
    }
    Ok(ok)
}

struct Bench {
    gpu: Gpu,
    rounds: usize,
}

/// A layer and the dense weight (out, in) that it takes the place of, with what comes in from both sides.
struct Case<T: Real> {
    layer: SkLinear<T>,
    weight: Tensor<T>,
    x: Tensor<T>,
    g: Tensor<T>,
    hidden: Tensor<T>,
}

impl Bench {
    fn case<T: Real>(&self, width: usize, batch: usize) -> Result<Case<T>> {
        let gpu = &self.gpu;
        // U is data, as in a fitted layer: all kernels may have its products.
        let into = gpu.random::<T>([TERMS, width, RANK], Fill::Uniform, 4)?;
        let out_of = gpu.random::<T>([TERMS, RANK, width], Fill::Uniform, 5)?;
        let layer = SkLinear::from_factors([&into, &out_of, &out_of, &into], None, Activation::None)?;
        let x = gpu.random::<T>([batch, width], Fill::Uniform, 1)?;
        let hidden = layer.hidden(&x)?;
        let g = gpu.random::<T>([batch, width], Fill::Uniform, 2)?;
        Ok(Case { layer, weight: gpu.random::<T>([width, width], Fill::Uniform, 3)?, x, g, hidden })
    }

    /// Forward and backward, against what a dense layer takes: one product, and two.
    fn layer<T: Real>(&self, width: usize, batch: usize) -> Result<()> {
        let gpu = &self.gpu;
        let Case { layer, weight, x, g, hidden } = &self.case::<T>(width, batch)?;
        let [first, _] = layer.plans(x)?;
        let transposed = weight.t();
        let dense = Gemm::new(x, &transposed).out::<T>().plan()?;
        let own = Side::launches(gpu, &first, TOGETHER, |_| layer.forward(x).map(drop))?;
        let other =
            Side::launches(gpu, &dense, TOGETHER, |_| Gemm::new(x, &transposed).out::<T>().run().map(drop))?;
        self.contest::<T>("forward", "dense", [batch, width], own, other)?;
        let builder = SkLinear::<T>::builder(TERMS, RANK).allow_larger().signs(SignStorage::Generated);
        let made = builder.random(gpu, [width, width])?;
        let own = Side::launches(gpu, &made.plans(x)?[0], TOGETHER, |_| made.forward(x).map(drop))?;
        let other =
            Side::launches(gpu, &dense, TOGETHER, |_| Gemm::new(x, &transposed).out::<T>().run().map(drop))?;
        self.contest::<T>("forward, signs made", "dense", [batch, width], own, other)?;
        let across = x.t();
        let own = Side::launches(gpu, &first, TOGETHER, |_| layer.backward(x, hidden, g).map(drop))?;
        let other = Side::launches(gpu, &dense, TOGETHER, |_| {
            Gemm::new(g, weight).out::<T>().run()?;
            Gemm::new(&across, g).run().map(drop)
        })?;
        self.contest::<T>("backward", "dense", [batch, width], own, other)
    }

    /// Forward, against the bytes of both products, and against two launches of which one waits for the other.
    fn floors<T: Real>(&self, width: usize, batch: usize) -> Result<()> {
        let gpu = &self.gpu;
        let Case { layer, x, .. } = &self.case::<T>(width, batch)?;
        let [first, _] = layer.plans(x)?;
        let inner = 2 * TERMS * RANK;
        let elements = 2 * (batch * width + width * inner + batch * inner);
        let bytes = (elements * size_of::<T>()) as u64;
        // A copy reads and writes: half of the bytes each.
        let copier = Copier::new(gpu, (bytes / 2).next_multiple_of(1024));
        let own = Side::launches(gpu, &first, TOGETHER, |_| layer.forward(x).map(drop))?;
        let other = Side::other(move || copier.seconds(gpu));
        self.contest::<T>("forward", "a copy of its bytes", [batch, width], own, other)?;
        let one = gpu.random::<T>([1, 1], Fill::Uniform, 1)?;
        let plan = Gemm::new(&one, &one).out::<T>().plan()?;
        let own = Side::launches(gpu, &first, TOGETHER, |_| layer.forward(x).map(drop))?;
        let other = Side::launches(gpu, &plan, TOGETHER, |_| {
            let first = Gemm::new(&one, &one).out::<T>().run()?;
            Gemm::new(&first, &one).out::<T>().run().map(drop)
        })?;
        self.contest::<T>("forward", "two launches", [batch, width], own, other)
    }

    fn contest<T: Real>(
        &self,
        form: &str,
        against: &str,
        [batch, width]: [usize; 2],
        own: Side<'_>,
        other: Side<'_>,
    ) -> Result<()> {
        let (size, types) =
            ([batch, width, width], [T::DTYPE, if form == "backward" { DType::F32 } else { T::DTYPE }]);
        Contest { case: "layer", form, against, size, types }.run(&self.gpu, self.rounds, own, other)
    }
}
