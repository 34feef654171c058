//! Every tile of every kernel that the device can run, on cubes and on odd shapes: checked against f64, then
//! timed on the device's own clock. One JSON object per line; the exit status tells whether all were right.
//!
//! - `TILEWISE_SIZES=1024,4096` sets the sizes of the cubes; of `shapes.txt` go those that are not larger.
//! - `TILEWISE_SECONDS=400` is when nothing new is begun any more. What was left out is told, line by line.

mod support;

use serde_json::{Value, json};
use std::cell::LazyCell;
use std::process::ExitCode;
use std::time::Instant;
use support::definition::Definition;
use support::examples::ended;

use tilewise::Operand;
use tilewise::gemm::Tile;
use tilewise::reference::Comparison;
use tilewise::{DType, Element, Error, Fill, Gemm, GemmKernel, Gpu, Plan, Real, Result, Tensor, f16};

/// Cubes that are multiplied, unless `TILEWISE_SIZES` says otherwise.
const SIZES: [usize; 2] = [256, 512];
/// The other shapes.
const SHAPES: &str = include_str!("shapes.txt");
/// Rounds of a case, in each of which every tile takes its turn: what disturbs the machine disturbs them all.
const ROUNDS: usize = 7;
/// Seconds that one turn should take at least.
const ENOUGH: f64 = 0.01;
/// Seconds after which a case begins no other round.
const CASE_SECONDS: f64 = 10.0;
/// Multiply-adds above which the naive kernel is left out: known to be slow, it would take most of the time.
const NAIVE_AT_MOST: u128 = 1 << 30;
/// What C holds before a check: no product of these operands comes near it, so what is not written shows.
const POISON: f64 = 60_000.0;
const TIME_IS_UP: &str = "the time was up";

fn main() -> ExitCode {
    ended(run().map(|verdict| matches!(verdict, Verdict::Right)))
}

fn run() -> Result<Verdict> {
    let start = Instant::now();
    let Some(gpu) = support::open()? else {
        println!("{}", json!({ "skipped": "no adapter" }));
        return Ok(Verdict::Right);
    };
    let testing = support::is_testing();
    let cubes = if testing { vec![16] } else { support::sizes(&SIZES)? };
    let rounds = if testing { 1 } else { ROUNDS };
    let bench = Bench { gpu, start, seconds: seconds()?, rounds };
    let verdicts = sizes(&cubes)?.into_iter().flat_map(|size| {
        [bench.shape::<f16, f32>(size), bench.shape::<f16, f16>(size), bench.shape::<f32, f32>(size)]
    });
    Ok(verdicts.max().unwrap_or(Verdict::Right))
}

/// Whether every product was right; the larger verdict counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Right,
    Wrong,
}

/// Seconds after which nothing is begun.
fn seconds() -> Result<f64> {
    let Ok(value) = std::env::var("TILEWISE_SECONDS") else { return Ok(f64::INFINITY) };
    value.parse().map_err(|_| Error::Input {
        what: "TILEWISE_SECONDS".into(),
        why: format!("`{value}` is not a number of seconds"),
    })
}

/// The cubes, and the shapes that are not larger than the largest of them.
fn sizes(cubes: &[usize]) -> Result<Vec<[usize; 3]>> {
    let mut sizes: Vec<[usize; 3]> = cubes.iter().map(|&size| [size; 3]).collect();
    let largest = sizes.iter().map(multiply_adds).max().unwrap_or(0);
    for line in SHAPES.lines().filter(|line| !line.starts_with('#')) {
        let extents: Option<Vec<usize>> = line.split(' ').map(|extent| extent.parse().ok()).collect();
        let shape = extents.and_then(|extents| extents.try_into().ok());
        let shape = shape.ok_or_else(|| Error::Input {
            what: "benches/shapes.txt".into(),
            why: format!("`{line}` is not m n k"),
        })?;
        if multiply_adds(&shape) <= largest {
            sizes.push(shape);
        }
    }
    Ok(sizes)
}

fn multiply_adds(size: &[usize; 3]) -> u128 {
    size.iter().map(|&extent| extent as u128).product()
}

/// A shape with its types and layout: what tiles are compared on.
#[derive(Clone, Copy)]
struct Case {
    size: [usize; 3],
    types: [DType; 2],
    layout: Storage,
}

/// How B is stored; A is row-major.
#[derive(Clone, Copy)]
enum Storage {
    /// Row-major.
    Nn,
    /// Transposed, as the weights of a layer are: (out, in).
    Nt,
}

/// Operands on the host, and what their product is by definition.
struct Inputs<T> {
    a: Vec<T>,
    b: Vec<T>,
    definition: Definition,
}

impl<T: Operand> Inputs<T> {
    fn new(size: [usize; 3]) -> Self {
        let [m, n, k] = size;
        let (a, b) = (Fill::Uniform.values(m * k, 1), Fill::Uniform.values(k * n, 2));
        let definition = Definition::new(&a, &b, size);
        Self { a, b, definition }
    }

    /// As many pairs as take turns. All hold the same values: it is the places in memory that differ.
    fn upload(&self, gpu: &Gpu, case: Case) -> Result<Vec<(Tensor<T>, Tensor<T>)>> {
        let [m, n, k] = case.size;
        let bytes = ((m * k + k * n) * size_of::<T>()) as u64;
        let pair = |_| {
            let (a, b) = (gpu.tensor(&self.a, [m, k])?, gpu.tensor(&self.b, [k, n])?);
            match case.layout {
                Storage::Nn => Ok((a, b)),
                Storage::Nt => Ok((a, b.t().contiguous()?.t())),
            }
        };
        (0..support::pairs(gpu, bytes)).map(pair).collect()
    }
}

struct Bench {
    gpu: Gpu,
    start: Instant,
    /// After which nothing is begun.
    seconds: f64,
    rounds: usize,
}

impl Bench {
    fn time_is_up(&self) -> bool {
        self.start.elapsed().as_secs_f64() > self.seconds
    }

    /// One shape with these types, in each layout.
    fn shape<T: Real, C: Real>(&self, size: [usize; 3]) -> Verdict {
        let inputs = LazyCell::new(|| Inputs::<T>::new(size));
        let mut verdict = Verdict::Right;
        for layout in [Storage::Nn, Storage::Nt] {
            let case = Case { size, types: [T::DTYPE, C::DTYPE], layout };
            if self.time_is_up() {
                self.print(case, None, &json!({ "left_out": TIME_IS_UP }));
                continue;
            }
            let found = match Contest::<T, C>::new(self, case, &inputs) {
                Ok(mut contest) => contest.run(),
                Err(error) => self.passed_over(case, None, error),
            };
            verdict = verdict.max(found);
        }
        verdict
    }

    /// Says why a tile, or all of them, has no times here.
    fn passed_over(&self, case: Case, tile: Option<Tile>, error: Error) -> Verdict {
        let why = match error {
            Error::Unsupported { needs, .. } => needs,
            Error::Limit { .. } | Error::OutOfMemory { .. } => error.to_string(),
            _ => {
                self.print(case, tile, &json!({ "error": error.to_string() }));
                return Verdict::Wrong;
            }
        };
        self.print(case, tile, &json!({ "left_out": why }));
        Verdict::Right
    }

    /// One line: what was multiplied, by which tile, and what came of it.
    fn print(&self, case: Case, tile: Option<Tile>, found: &Value) {
        let caps = self.gpu.caps();
        let Case { size: [m, n, k], types, layout } = case;
        let [dtype, out_dtype] = types.map(|dtype| dtype.to_string());
        let mut line = json!({
            "device": caps.adapter,
            "driver": caps.driver,
            "kernel": tile.map(|tile| tile.kernel.to_string()),
            "tile": tile.map(|tile| tile.to_string()),
            "m": m,
            "n": n,
            "k": k,
            "dtype": dtype,
            "out_dtype": out_dtype,
            "layout": match layout {
                Storage::Nn => "nn",
                Storage::Nt => "nt",
            },
        });
        for (key, value) in found.as_object().into_iter().flatten() {
            line[key] = value.clone();
        }
        println!("{line}");
    }
}

/// The tiles against each other, in one case.
struct Contest<'a, T: Real, C: Real> {
    bench: &'a Bench,
    case: Case,
    definition: &'a Definition,
    pairs: Vec<(Tensor<T>, Tensor<T>)>,
    /// The pair whose turn it is.
    next: usize,
    /// One for all products: they run one after the other, as they do through cuBLAS in a stream.
    c: Tensor<C>,
    /// What the plan would do, were it free.
    free: Plan,
}

/// A tile that takes part: how it goes about it, and what it did.
struct Row {
    tile: Tile,
    predicted: f64,
    compared: Comparison,
    /// Products per turn.
    products: u64,
    /// Of one product, turn by turn.
    seconds: Vec<f64>,
}

impl<'a, T: Real, C: Real> Contest<'a, T, C> {
    fn new(bench: &'a Bench, case: Case, inputs: &'a Inputs<T>) -> Result<Self> {
        let pairs = inputs.upload(&bench.gpu, case)?;
        let free = Gemm::new(&pairs[0].0, &pairs[0].1).out::<C>().plan()?;
        let c = poisoned(&bench.gpu, case)?;
        Ok(Self { bench, case, definition: &inputs.definition, pairs, next: 0, c, free })
    }

    /// Every tile, checked first; then round after round.
    fn run(&mut self) -> Verdict {
        let mut verdict = Verdict::Right;
        let mut rows = Vec::new();
        for tile in GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles()).copied() {
            if let Some(why) = self.left_out(tile) {
                self.bench.print(self.case, Some(tile), &json!({ "left_out": why }));
                continue;
            }
            match self.prepare(tile) {
                Ok(row) => rows.push(row),
                Err(error) => verdict = verdict.max(self.bench.passed_over(self.case, Some(tile), error)),
            }
        }
        let start = Instant::now();
        for round in 0..self.bench.rounds {
            if round > 0 && (self.bench.time_is_up() || start.elapsed().as_secs_f64() > CASE_SECONDS) {
                break;
            }
            rows.retain_mut(|row| match self.turn(row.tile, row.products) {
                Ok(seconds) => {
                    row.seconds.push(seconds);
                    true
                }
                Err(error) => {
                    verdict = verdict.max(self.bench.passed_over(self.case, Some(row.tile), error));
                    false
                }
            });
        }
        rows.iter().map(|row| self.print(row)).fold(verdict, Verdict::max)
    }

    /// Why a tile does not take part, although the device could run it.
    fn left_out(&self, tile: Tile) -> Option<&'static str> {
        if self.bench.time_is_up() {
            return Some(TIME_IS_UP);
        }
        if tile.kernel == GemmKernel::Naive && multiply_adds(&self.case.size) > NAIVE_AT_MOST {
            return Some("products as large as this would take most of the time");
        }
        // Large tiles compile for seconds on a software device, to no purpose where no plan would take them.
        let [rows, columns] = [tile.bm, tile.bn].map(|extent| extent as usize);
        let [m, n, _] = self.case.size;
        let idle = rows >= 2 * m && columns >= 2 * n && !self.chosen(tile);
        idle.then_some("three quarters of its block would be idle")
    }

    /// Whether the plan would take this tile, were it free.
    fn chosen(&self, tile: Tile) -> bool {
        let step = &self.free.steps()[0];
        step.kernel.shader() == tile.kernel.shader() && step.tile == tile.to_string()
    }

    /// Compiles the tile, checks it, and sees how long it takes.
    fn prepare(&mut self, tile: Tile) -> Result<Row> {
        let (a, b) = &self.pairs[0];
        let product = Gemm::new(a, b).out::<C>().tile(tile);
        let predicted = product.plan()?.seconds();
        self.c = poisoned(&self.bench.gpu, self.case)?;
        product.run_into(&mut self.c)?;
        let compared = self.definition.compare(&self.c.to_vec()?);
        let products = support::products(self.turn(tile, 1)?, ENOUGH);
        Ok(Row { tile, predicted, compared, products, seconds: Vec::new() })
    }

    /// Seconds of one product, of so many by the tile.
    fn turn(&mut self, tile: Tile, products: u64) -> Result<f64> {
        let bench = self.bench;
        let seconds = support::seconds(&bench.gpu, products, || {
            let (a, b) = &self.pairs[self.next];
            self.next = (self.next + 1) % self.pairs.len();
            Gemm::new(a, b).out::<C>().tile(tile).run_into(&mut self.c)
        })?;
        Ok(seconds / products as f64)
    }

    fn print(&self, row: &Row) -> Verdict {
        let mut seconds = row.seconds.clone();
        seconds.sort_by(f64::total_cmp);
        let median = support::median(seconds.clone());
        let found = json!({
            "clock": if self.bench.gpu.caps().timestamps { "gpu" } else { "host" },
            "rounds": seconds.len(),
            "products_per_round": row.products,
            "operand_pairs": self.pairs.len(),
            "gpu_seconds_median": median,
            "gpu_seconds_min": seconds[0],
            "gpu_seconds_max": seconds[seconds.len() - 1],
            "tflops": 2.0 * multiply_adds(&self.case.size) as f64 / median * 1e-12,
            "chosen": self.chosen(row.tile),
            "predicted_seconds": row.predicted,
            "check": self.definition.check(),
            "max_abs_err": row.compared.max_abs_err,
            "bound_ratio": row.compared.bound_ratio,
            "ok": row.compared.ok(),
        });
        self.bench.print(self.case, Some(row.tile), &found);
        if row.compared.ok() { Verdict::Right } else { Verdict::Wrong }
    }
}

/// C before a product is checked.
fn poisoned<C: Element>(gpu: &Gpu, case: Case) -> Result<Tensor<C>> {
    let [m, n, _] = case.size;
    gpu.tensor(&[C::from_f64(POISON)], [1])?.as_strided(&[m, n], &[0, 0], 0)?.contiguous()
}
