//! Variants of a product, each timed in turn with a baseline: matrix-vector products and a few rows against a copy, a
//! split-k product against the same without splits, a layer against its bare product, the faster precisions against the
//! strict one, i8 against f32, a device without the driver's checks of accesses to buffers against the usual one. One
//! JSON object per line; the exit status says whether everything ran.
//!
//! - `TILEWISE_SIZES=4096` sets the edge of matrix operands and of cubes.
//! - `TILEWISE_SKINNY=1,8` sets the numbers of rows or columns of the vector operands.
//! - `TILEWISE_TILES=1` times every tile of the GEMV kernel instead of the plan's choice.

use bench::paired::{Paired, Side, TOGETHER, pairs};
use bench::{ByDevice, Session, environment, ran, unchecked};
use std::process::ExitCode;
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::gpu::RobustBufferAccess;
use tilewise::ops::add;
use tilewise::{Activation, DType, Error, Fill, Gemm, Gpu, Precision, Real, Result, Tensor, f16, linear};

/// The product that has few elements and a long inner size.
const DEEP: [usize; 3] = [64, 64, 65_536];

/// A case and its default sizes.
type Case = (&'static str, fn(&Bench, usize) -> Result<()>, ByDevice<&'static [usize]>);

const CASES: [Case; 6] = [
    ("gemv", Bench::gemv, ByDevice { software: &[4096], gpu: &[4096] }),
    ("rows", Bench::rows, ByDevice { software: &[512], gpu: &[8192] }),
    ("epilogue", Bench::epilogue, ByDevice { software: &[512], gpu: &[4096] }),
    ("precision", Bench::precision, ByDevice { software: &[512], gpu: &[4096] }),
    ("i8", Bench::integers, ByDevice { software: &[512], gpu: &[4096] }),
    ("access", Bench::access, ByDevice { software: &[512], gpu: &[4096] }),
];

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        let bench =
            Bench { session, skinny: environment::list("TILEWISE_SKINNY")?.unwrap_or_else(|| vec![1, 4, 8]) };
        let mut ok = true;
        for (case, measure, sizes) in CASES {
            for size in bench.session.sizes(64, &sizes)? {
                ok &= ran(case, size, measure(&bench, size));
            }
        }
        Ok(ok & ran("split-k", DEEP[2], bench.deep()))
    })
}

struct Bench {
    session: Session,
    /// Numbers of rows or columns of vector operands.
    skinny: Vec<usize>,
}

impl Bench {
    /// Products of a square matrix with a few rows or columns, against a copy of the matrix.
    fn gemv(&self, size: usize) -> Result<()> {
        for &count in &self.skinny {
            self.gemv_of::<f32>(size, count)?;
        }
        self.gemv_of::<f16>(size, 1)
    }

    fn gemv_of<T: Real>(&self, size: usize, count: usize) -> Result<()> {
        let gpu = &self.session.gpu;
        let random = |shape: [usize; 2], seed| gpu.random::<T>(shape, Fill::Uniform, seed);
        let matrix = random([size, size], 1)?;
        let (rows, columns) = (random([count, size], 2)?, random([size, count], 3)?);
        let variants = [
            ("rows of A, B row-major", (rows.clone(), matrix.clone())),
            ("rows of A, B transposed", (rows.clone(), matrix.t())),
            ("columns of B, A row-major", (matrix.clone(), columns.clone())),
            ("columns of B, A transposed", (matrix.t(), columns)),
            ("columns of B transposed, A row-major", (matrix, rows.t())),
        ];
        // A single column has the same strides if it is transposed.
        for (variant, pair) in &variants[..if count == 1 { 4 } else { 5 }] {
            let size = [pair.0.shape()[0], pair.1.shape()[1], size];
            for tile in tiles() {
                let options = move |product| pinned(product, tile);
                // One product at a time, as the copy is.
                let own = match Side::product(gpu, std::slice::from_ref(pair), 1, options) {
                    Err(Error::Unsupported { .. }) if tile.is_some() => continue,
                    own => own?,
                };
                let types = [T::DTYPE, DType::F32];
                let copy = Side::copy(gpu, size[2] * size[2] * size_of::<T>());
                Paired { case: "gemv", variant, baseline: "a copy", size, types }.run(
                    &self.session,
                    own,
                    copy,
                )?;
            }
        }
        Ok(())
    }

    /// More rows than GEMV kernels take, and too few to keep more than the memory busy: against a copy of B.
    fn rows(&self, edge: usize) -> Result<()> {
        let (gpu, types) = (&self.session.gpu, [DType::F16, DType::F32]);
        for m in [16, 32, 64] {
            let size = [m, edge, edge];
            let pairs = pairs::<f16>(gpu, size)?;
            let own = Side::product(gpu, &pairs, TOGETHER, |product| product)?;
            let copy = Side::copy(gpu, edge * edge * size_of::<f16>());
            let paired = Paired { case: "rows", variant: "some rows", baseline: "a copy", size, types };
            paired.run(&self.session, own, copy)?;
        }
        Ok(())
    }

    /// A layer in one launch, against its product without bias and activation.
    fn epilogue(&self, size: usize) -> Result<()> {
        self.epilogue_of::<f32>(size)?;
        // Software devices compute f16 in f32.
        if self.session.is_software() { Ok(()) } else { self.epilogue_of::<f16>(size) }
    }

    fn epilogue_of<T: Real>(&self, size: usize) -> Result<()> {
        let gpu = &self.session.gpu;
        let mut pairs = pairs::<T>(gpu, [size; 3])?;
        let weights: Vec<Tensor<T>> = pairs.iter().map(|(_, weight)| weight.clone()).collect();
        for (_, transposed) in &mut pairs {
            *transposed = transposed.t();
        }
        let bias = gpu.random::<T>([size], Fill::Uniform, 3)?;
        // `linear` returns a new tensor each time, so the product does as well.
        let bare = |at: usize| Gemm::new(&pairs[at % pairs.len()].0, &pairs[at % pairs.len()].1).out::<T>();
        let layer = |at: usize| {
            let at = at % pairs.len();
            linear(&pairs[at].0, &weights[at], Some(&bias), Activation::Gelu).map(drop)
        };
        let plan = bare(0).bias(&bias).activation(Activation::Gelu).plan()?;
        let own = Side::launches(gpu, &plan, TOGETHER, layer)?;
        let product = Side::launches(gpu, &bare(0).plan()?, TOGETHER, |at| bare(at).run().map(drop))?;
        let (variant, baseline, types) = ("bias and gelu", "the bare product", [T::DTYPE; 2]);
        let paired = Paired { case: "epilogue", variant, baseline, size: [size; 3], types };
        paired.run(&self.session, own, product)
    }

    /// f32 by products of f16, against f32 arithmetic.
    fn precision(&self, size: usize) -> Result<()> {
        let gpu = &self.session.gpu;
        let pairs = pairs::<f32>(gpu, [size; 3])?;
        let side =
            |precision| Side::product(gpu, &pairs, TOGETHER, move |product| product.precision(precision));
        for precision in [Precision::Fast, Precision::Split] {
            let (variant, types) = (precision.to_string(), [DType::F32; 2]);
            let size = [size; 3];
            let paired = Paired { case: "precision", variant: &variant, baseline: "strict", size, types };
            paired.run(&self.session, side(precision)?, side(Precision::Strict)?)?;
        }
        Ok(())
    }

    /// i8, which is exact, against strict f32.
    fn integers(&self, size: usize) -> Result<()> {
        let gpu = &self.session.gpu;
        let (size, types) = ([size; 3], [DType::I8, DType::I32]);
        let (integers, reals) = (pairs::<i8>(gpu, size)?, pairs::<f32>(gpu, size)?);
        let own = Side::product(gpu, &integers, TOGETHER, |product| product)?;
        let strict = Side::product(gpu, &reals, TOGETHER, |product| product.precision(Precision::Strict))?;
        Paired { case: "i8", variant: "i8", baseline: "f32", size, types }.run(&self.session, own, strict)
    }

    /// Products and a sum on a device whose driver does not check accesses to buffers, against the usual device.
    fn access(&self, size: usize) -> Result<()> {
        if self.session.gpu.caps().robust_buffer_access != RobustBufferAccess::On {
            return Ok(()); // not Vulkan
        }
        let gpu = unchecked::open()?;
        self.access_of_product::<f16>(&gpu, "product", [size; 3])?;
        self.access_of_product::<f32>(&gpu, "product", [size; 3])?;
        self.access_of_product::<f16>(&gpu, "a row", [1, size, size])?;
        self.access_of_product::<f32>(&gpu, "a row", [1, size, size])?;
        let paired = accesses("sum", [size, size, 1], [DType::F32; 2]);
        paired.run(&self.session, sum(&gpu, size)?, sum(&self.session.gpu, size)?)
    }

    fn access_of_product<T: Real>(&self, gpu: &Gpu, variant: &str, size: [usize; 3]) -> Result<()> {
        let usual = &self.session.gpu;
        let (own, usual_pairs) = (pairs::<T>(gpu, size)?, pairs::<T>(usual, size)?);
        let own = Side::product(gpu, &own, TOGETHER, |product| product)?;
        let usual = Side::product(usual, &usual_pairs, TOGETHER, |product| product)?;
        accesses(variant, size, [T::DTYPE, DType::F32]).run(&self.session, own, usual)
    }

    /// A product of few elements and a long inner size, with as many splits as the plan chooses and without.
    fn deep(&self) -> Result<()> {
        let gpu = &self.session.gpu;
        let size = if self.session.testing { [8, 8, 1024] } else { DEEP };
        let pairs = pairs::<f32>(gpu, size)?;
        let own = Side::product(gpu, &pairs, TOGETHER, |product| product)?;
        let one = Side::product(gpu, &pairs, TOGETHER, |product| product.split_k(SplitK::Splits(1)))?;
        let (variant, baseline, types) = ("split-k", "one split", [DType::F32; 2]);
        Paired { case: "split-k", variant, baseline, size, types }.run(&self.session, own, one)
    }
}

/// A row of the case `access`.
fn accesses(variant: &str, size: [usize; 3], types: [DType; 2]) -> Paired<'_> {
    Paired { case: "access", variant, baseline: "checked by the driver", size, types }
}

/// The elementwise sum of two matrices.
fn sum(gpu: &Gpu, size: usize) -> Result<Side<'_>> {
    let matrix = |seed| gpu.random::<f32>([size, size], Fill::Uniform, seed);
    let (a, b) = (matrix(1)?, matrix(2)?);
    let (c, plans) = gpu.plans_of(|| add(&a, &b));
    let mut c = c?;
    Side::launches(gpu, &plans[0], TOGETHER, move |_| c.assign(|| add(&a, &b)))
}

/// The tiles that GEMV products are pinned to, one after the other; `None` is the plan's choice.
fn tiles() -> Vec<Option<Tile>> {
    if std::env::var("TILEWISE_TILES").is_err() {
        return vec![None];
    }
    GemmKernel::Gemv.tiles().iter().copied().map(Some).collect()
}

fn pinned<T: Real>(product: Gemm<'_, T>, tile: Option<Tile>) -> Gemm<'_, T> {
    match tile {
        Some(tile) => product.tile(tile).split_k(SplitK::Splits(1)),
        None => product,
    }
}
