//! Forms of a product, each held against what it should be as fast as, in turns and in one run: thin products and some
//! rows against a copy, a deep product in parts against the same in one, a layer against its bare product, the faster
//! precisions against the strict one, i8 against f32. One JSON object per line; the exit status tells whether all ran.
//!
//! - `TILEWISE_SIZES=4096` sets the edge of long matrices and of cubes.
//! - `TILEWISE_THIN=1,8` sets how many rows or columns are thin.
//! - `TILEWISE_TILES=1` measures every tile of the thin kernel, not only the plan's.

#[path = "roof/mod.rs"]
mod roof;
mod support;

use roof::Copier;
use serde_json::json;
use std::process::ExitCode;
use support::contest::{Contest, Side, TOGETHER, pairs};
use support::examples::ended;
use support::{is_testing, told};
use tilewise::gemm::{SplitK, Tile};
use tilewise::{
    Activation, DType, Element, Error, Fill, Gemm, GemmKernel, Gpu, Precision, Real, Result, Tensor, f16,
    linear,
};

/// Rounds, in each of which both sides take their turn.
const ROUNDS: usize = 15;
/// The product that has few elements and a long inner size.
const DEEP: [usize; 3] = [64, 64, 65_536];

/// A case, and its edge on a GPU and on a software device unless `TILEWISE_SIZES` says otherwise.
type Case = (&'static str, fn(&Bench, usize) -> Result<()>, [usize; 2]);

const CASES: [Case; 5] = [
    ("gemv", Bench::thin, [4096, 4096]),
    ("rows", Bench::rows, [8192, 512]),
    ("epilogue", Bench::epilogue, [4096, 512]),
    ("precision", Bench::precision, [4096, 512]),
    ("i8", Bench::integers, [4096, 512]),
];

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
    let bench = Bench { gpu, testing, thin: counts()? };
    let mut ok = true;
    for (case, measure, edges) in CASES {
        for size in bench.sizes(edges)? {
            ok &= told(case, size, measure(&bench, size));
        }
    }
    Ok(ok & told("parts", DEEP[2], bench.deep()))
}

/// How many rows or columns are thin: `TILEWISE_THIN`, or these.
fn counts() -> Result<Vec<usize>> {
    let Ok(value) = std::env::var("TILEWISE_THIN") else { return Ok(vec![1, 4, 8]) };
    let counts: Result<Vec<usize>, _> = value.split(',').map(str::parse).collect();
    counts.map_err(|_| Error::Input {
        what: "TILEWISE_THIN".into(),
        why: format!("`{value}` is not a list of numbers such as 1,8"),
    })
}

struct Bench {
    gpu: Gpu,
    testing: bool,
    thin: Vec<usize>,
}

impl Bench {
    fn sizes(&self, [gpu, software]: [usize; 2]) -> Result<Vec<usize>> {
        if self.testing {
            return Ok(vec![64]);
        }
        support::sizes(&[if support::is_software(&self.gpu) { software } else { gpu }])
    }

    fn hold(&self, contest: &Contest<'_>, own: Side<'_>, other: Side<'_>) -> Result<()> {
        contest.run(&self.gpu, if self.testing { 1 } else { ROUNDS }, own, other)
    }

    /// A copy of a matrix of so many elements.
    fn copy<T: Element>(&self, elements: usize) -> Side<'_> {
        // A copy is of whole workgroups, which only the smallest matrices do not fill.
        let bytes = ((elements * size_of::<T>()) as u64).next_multiple_of(1024);
        let copier = Copier::new(&self.gpu, bytes);
        Side::other(move || copier.seconds(&self.gpu))
    }

    /// Products of a square matrix with few rows or columns, against a copy of as many bytes as it has.
    fn thin(&self, size: usize) -> Result<()> {
        for &count in &self.thin {
            self.thin_of::<f32>(size, count)?;
        }
        self.thin_of::<f16>(size, 1)
    }

    fn thin_of<T: Real>(&self, size: usize, count: usize) -> Result<()> {
        let random = |shape: [usize; 2], seed| self.gpu.random::<T>(shape, Fill::Uniform, seed);
        let long = random([size, size], 1)?;
        let (rows, columns) = (random([count, size], 2)?, random([size, count], 3)?);
        let forms = [
            ("rows of A, B row-major", (rows.clone(), long.clone())),
            ("rows of A, B transposed", (rows.clone(), long.t())),
            ("columns of B, A row-major", (long.clone(), columns.clone())),
            ("columns of B, A transposed", (long.t(), columns)),
            ("columns of B transposed, A row-major", (long, rows.t())),
        ];
        // A single column lies the same either way.
        for (form, pair) in &forms[..if count == 1 { 4 } else { 5 }] {
            let [m, n] = [pair.0.shape()[0], pair.1.shape()[1]];
            for tile in tiles() {
                let options = move |product| pinned(product, tile);
                // As the copy is: one at a time.
                let own = match Side::product(&self.gpu, std::slice::from_ref(pair), 1, options) {
                    Err(Error::Unsupported { .. }) if tile.is_some() => continue,
                    own => own?,
                };
                let types = [T::DTYPE, DType::F32];
                let contest = Contest { case: "gemv", form, against: "a copy", size: [m, n, size], types };
                self.hold(&contest, own, self.copy::<T>(size * size))?;
            }
        }
        Ok(())
    }

    /// More rows than are thin, and too few to keep anything but the memory busy: against a copy of B.
    fn rows(&self, size: usize) -> Result<()> {
        let types = [DType::F16, DType::F32];
        for m in [16, 32, 64] {
            let size @ [_, n, k] = [m, size, size];
            let pairs = pairs::<f16>(&self.gpu, size)?;
            let contest = Contest { case: "rows", form: "some rows", against: "a copy", size, types };
            let own = Side::product(&self.gpu, &pairs, TOGETHER, |product| product)?;
            self.hold(&contest, own, self.copy::<f16>(k * n))?;
        }
        Ok(())
    }

    /// A layer in one launch against its product without bias and activation.
    fn epilogue(&self, size: usize) -> Result<()> {
        self.epilogue_of::<f32>(size)?;
        // Software devices compute in f32 all the same.
        if support::is_software(&self.gpu) { Ok(()) } else { self.epilogue_of::<f16>(size) }
    }

    fn epilogue_of<T: Real>(&self, size: usize) -> Result<()> {
        let mut pairs = pairs::<T>(&self.gpu, [size; 3])?;
        let weights: Vec<Tensor<T>> = pairs.iter().map(|(_, weight)| weight.clone()).collect();
        for (_, transposed) in &mut pairs {
            *transposed = transposed.t();
        }
        let bias = self.gpu.random::<T>([size], Fill::Uniform, 3)?;
        // `linear` makes a new tensor each time, so the product does as well.
        let bare = |at: usize| Gemm::new(&pairs[at % pairs.len()].0, &pairs[at % pairs.len()].1).out::<T>();
        let layer = |at: usize| {
            let at = at % pairs.len();
            linear(&pairs[at].0, &weights[at], Some(&bias), Activation::Gelu).map(drop)
        };
        let with = bare(0).bias(&bias).activation(Activation::Gelu).plan()?;
        let with = Side::launches(&self.gpu, &with, TOGETHER, layer)?;
        let without = Side::launches(&self.gpu, &bare(0).plan()?, TOGETHER, |at| bare(at).run().map(drop))?;
        let (form, against, types) = ("bias and gelu", "the bare product", [T::DTYPE; 2]);
        self.hold(&Contest { case: "epilogue", form, against, size: [size; 3], types }, with, without)
    }

    /// f32 by products of f16, against f32 all through.
    fn precision(&self, size: usize) -> Result<()> {
        let pairs = pairs::<f32>(&self.gpu, [size; 3])?;
        let side = |precision| {
            Side::product(&self.gpu, &pairs, TOGETHER, move |product| product.precision(precision))
        };
        for precision in [Precision::Fast, Precision::Split] {
            let (form, types) = (precision.to_string(), [DType::F32; 2]);
            let size = [size; 3];
            let contest = Contest { case: "precision", form: &form, against: "strict", size, types };
            self.hold(&contest, side(precision)?, side(Precision::Strict)?)?;
        }
        Ok(())
    }

    /// i8, which is exact, against strict f32.
    fn integers(&self, size: usize) -> Result<()> {
        let (size, types) = ([size; 3], [DType::I8, DType::I32]);
        let (integers, reals) = (pairs::<i8>(&self.gpu, size)?, pairs::<f32>(&self.gpu, size)?);
        let own = Side::product(&self.gpu, &integers, TOGETHER, |product| product)?;
        let other =
            Side::product(&self.gpu, &reals, TOGETHER, |product| product.precision(Precision::Strict))?;
        self.hold(&Contest { case: "i8", form: "i8", against: "f32", size, types }, own, other)
    }

    /// A product of few elements and a long inner size, in as many parts as the plan likes and in one.
    fn deep(&self) -> Result<()> {
        let size = if self.testing { [8, 8, 1024] } else { DEEP };
        let pairs = pairs::<f32>(&self.gpu, size)?;
        let own = Side::product(&self.gpu, &pairs, TOGETHER, |product| product)?;
        let one = Side::product(&self.gpu, &pairs, TOGETHER, |product| product.split_k(SplitK::Splits(1)))?;
        let (form, against, types) = ("in parts", "in one", [DType::F32; 2]);
        self.hold(&Contest { case: "parts", form, against, size, types }, own, one)
    }
}

/// What thin products are pinned to, in turn: nothing, or every tile of their kernel.
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
