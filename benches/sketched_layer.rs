//! Sketched linear layers of one term of rank 16, each timed in turn with the dense layer: forward and backward, for
//! several widths and batches. GPUs are measured in f16 too, and against lower bounds: a copy of the bytes that the two
//! products of a layer move, and for small layers two launches that compute next to nothing. One JSON object per line;
//! the exit status says whether everything ran. A sketched layer pays where its `ratio` is below 1.
//!
//! - `TILEWISE_SIZES=256,4096` sets the widths of inputs and outputs.
//! - `TILEWISE_BATCHES=1,64` sets the batches.

use bench::paired::{Paired, Side, TOGETHER};
use bench::{ByDevice, Session, ran};
use std::process::ExitCode;
use tilewise::sketch::{SignStorage, SkLinear};
use tilewise::{Activation, DType, Fill, Gemm, Real, Result, Tensor, f16};

const TERMS: usize = 1;
const RANK: usize = 16;
/// Rounds, in each of which layer and baseline are timed once.
const ROUNDS: usize = 9;
const WIDTHS: ByDevice<&[usize]> =
    ByDevice { software: &[256, 1024, 4096], gpu: &[256, 512, 1024, 2048, 4096, 8192, 16384] };
const BATCHES: ByDevice<&[usize]> = ByDevice { software: &[1, 64], gpu: &[1, 8, 64, 512, 8192] };

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        let (widths, batches) = (session.sizes(48, &WIDTHS)?, session.batches(16, &BATCHES)?);
        // Software devices compute f16 in f32.
        let with_f16 = !session.is_software() || session.testing;
        let bench = Bench { session };
        let mut ok = true;
        for &width in &widths {
            for &batch in &batches {
                ok &= ran("layer f32", width, bench.layer::<f32>(width, batch));
                if with_f16 {
                    ok &= ran("layer f16", width, bench.layer::<f16>(width, batch));
                    ok &= ran("layer's lower bounds", width, bench.lower_bounds::<f16>(width, batch));
                }
            }
        }
        Ok(ok)
    })
}

struct Bench {
    session: Session,
}

/// A sketched layer, the dense weight (out, in) that it replaces, its input, and the gradient of its output.
struct Case<T: Real> {
    layer: SkLinear<T>,
    weight: Tensor<T>,
    x: Tensor<T>,
    g: Tensor<T>,
    hidden: Tensor<T>,
}

impl Bench {
    fn case<T: Real>(&self, width: usize, batch: usize) -> Result<Case<T>> {
        let gpu = &self.session.gpu;
        // U is data, as in a fitted layer, so that every kernel may compute its products.
        let into = gpu.random::<T>([TERMS, width, RANK], Fill::Uniform, 4)?;
        let out_of = gpu.random::<T>([TERMS, RANK, width], Fill::Uniform, 5)?;
        let layer = SkLinear::from_factors([&into, &out_of, &out_of, &into], None, Activation::None)?;
        let x = gpu.random::<T>([batch, width], Fill::Uniform, 1)?;
        let hidden = layer.hidden(&x)?;
        let g = gpu.random::<T>([batch, width], Fill::Uniform, 2)?;
        Ok(Case { layer, weight: gpu.random::<T>([width, width], Fill::Uniform, 3)?, x, g, hidden })
    }

    /// Forward and backward, against the dense layer: one product, and two.
    fn layer<T: Real>(&self, width: usize, batch: usize) -> Result<()> {
        let gpu = &self.session.gpu;
        let Case { layer, weight, x, g, hidden } = &self.case::<T>(width, batch)?;
        let [first, _] = layer.plans(x)?;
        let transposed = weight.t();
        let dense = Gemm::new(x, &transposed).out::<T>().plan()?;
        let own = Side::launches(gpu, &first, TOGETHER, |_| layer.forward(x).map(drop))?;
        let other =
            Side::launches(gpu, &dense, TOGETHER, |_| Gemm::new(x, &transposed).out::<T>().run().map(drop))?;
        self.compare::<T>("forward", "dense", [batch, width], own, other)?;
        let builder = SkLinear::<T>::builder(TERMS, RANK).allow_larger().signs(SignStorage::Generated);
        let generated = builder.random(gpu, [width, width])?;
        let own = Side::launches(gpu, &generated.plans(x)?[0], TOGETHER, |_| generated.forward(x).map(drop))?;
        let other =
            Side::launches(gpu, &dense, TOGETHER, |_| Gemm::new(x, &transposed).out::<T>().run().map(drop))?;
        self.compare::<T>("forward, generated signs", "dense", [batch, width], own, other)?;
        let across = x.t();
        let own = Side::launches(gpu, &first, TOGETHER, |_| layer.backward(x, hidden, g).map(drop))?;
        let other = Side::launches(gpu, &dense, TOGETHER, |_| {
            Gemm::new(g, weight).out::<T>().run()?;
            Gemm::new(&across, g).run().map(drop)
        })?;
        self.compare::<T>("backward", "dense", [batch, width], own, other)
    }

    /// Forward, against a copy of the bytes of both products, and against two launches of which one waits for the other.
    fn lower_bounds<T: Real>(&self, width: usize, batch: usize) -> Result<()> {
        let gpu = &self.session.gpu;
        let Case { layer, x, .. } = &self.case::<T>(width, batch)?;
        let [first, _] = layer.plans(x)?;
        let inner = 2 * TERMS * RANK;
        let elements = 2 * (batch * width + width * inner + batch * inner);
        let own = Side::launches(gpu, &first, TOGETHER, |_| layer.forward(x).map(drop))?;
        let other = Side::lower_bound(gpu, elements * size_of::<T>(), 0.0);
        self.compare::<T>("forward", "a copy of its bytes", [batch, width], own, other)?;
        let one = gpu.random::<T>([1, 1], Fill::Uniform, 1)?;
        let plan = Gemm::new(&one, &one).out::<T>().plan()?;
        let own = Side::launches(gpu, &first, TOGETHER, |_| layer.forward(x).map(drop))?;
        let other = Side::launches(gpu, &plan, TOGETHER, |_| {
            let first = Gemm::new(&one, &one).out::<T>().run()?;
            Gemm::new(&first, &one).out::<T>().run().map(drop)
        })?;
        self.compare::<T>("forward", "two launches", [batch, width], own, other)
    }

    fn compare<T: Real>(
        &self,
        variant: &str,
        baseline: &str,
        [batch, width]: [usize; 2],
        own: Side<'_>,
        other: Side<'_>,
    ) -> Result<()> {
        let out = if variant == "backward" { DType::F32 } else { T::DTYPE };
        let (size, types) = ([batch, width, width], [T::DTYPE, out]);
        let paired = Paired { case: "sketched-layer", variant, baseline, size, types };
        paired.run_rounds(&self.session, ROUNDS, own, other)
    }
}
