//! Every tile of every kernel that the device can run, on cubes and on odd shapes: checked against f64, then timed on the
//! device's own clock. One JSON object per line; the exit status says whether all products were right.
//!
//! - `TILEWISE_SIZES=1024,4096` sets the sizes of the cubes. The shapes of `shapes.txt` that are not larger are added.
//! - `TILEWISE_SECONDS=400` sets after how many seconds nothing new is started. Lines say what was left out.

use bench::definition::{Definition, POISON};
use bench::statistics::Spread;
use bench::turns::Turns;
use bench::{ByDevice, Session, clock, environment, repetitions};
use serde_json::{Value, json};
use std::cell::LazyCell;
use std::process::ExitCode;
use std::time::Instant;
use tilewise::gemm::{GemmKernel, Operand, Tile};
use tilewise::reference::Comparison;
use tilewise::{DType, Element, Error, Fill, Gemm, Gpu, Plan, Real, Result, Tensor, f16};

/// Sizes of the cubes, unless `TILEWISE_SIZES` is set.
const SIZES: ByDevice<&[usize]> = ByDevice { software: &[256, 512], gpu: &[256, 512] };
/// The other shapes.
const SHAPES: &str = include_str!("shapes.txt");
/// Rounds of a case, in each of which every tile is timed once: whatever disturbs the machine disturbs all of them.
const ROUNDS: usize = 7;
/// Seconds that one timing should take at least.
const ENOUGH: f64 = 0.01;
/// Seconds after which a case starts no other round.
const CASE_SECONDS: f64 = 10.0;
/// Multiply-adds up to which every entry is checked.
const FULL_CHECK: u64 = 1 << 30;
/// Multiply-adds up to which the naive kernel is timed: it is known to be slow, and would take most of the time.
const MAX_NAIVE: u128 = 1 << 30;
const TIME_IS_UP: &str = "the time was up";

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        let seconds = environment::number("TILEWISE_SECONDS")?.unwrap_or(f64::INFINITY);
        let cubes = session.sizes(16, &SIZES)?;
        let bench = Bench { session, start: Instant::now(), seconds };
        let verdicts = sizes(&cubes)?.into_iter().flat_map(|size| {
            [bench.shape::<f16, f32>(size), bench.shape::<f16, f16>(size), bench.shape::<f32, f32>(size)]
        });
        Ok(verdicts.max().unwrap_or(Verdict::Right) == Verdict::Right)
    })
}

/// Whether every product was right; the larger verdict counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Right,
    Wrong,
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

/// A shape with its types and layout, on which tiles are compared.
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
    /// Transposed, as the weights of a layer are stored: (out, in).
    Nt,
}

/// Operands on the host, and the reference of their product.
struct Inputs<T> {
    a: Vec<T>,
    b: Vec<T>,
    definition: Definition,
}

impl<T: Operand> Inputs<T> {
    fn new(size: [usize; 3]) -> Self {
        let [m, n, k] = size;
        let (a, b) = (Fill::Uniform.values(m * k, 1), Fill::Uniform.values(k * n, 2));
        let definition = Definition::new(&a, &b, size, FULL_CHECK);
        Self { a, b, definition }
    }

    /// Pairs that take turns. All hold the same values in different places in memory.
    fn upload(&self, gpu: &Gpu, case: Case) -> Result<Vec<(Tensor<T>, Tensor<T>)>> {
        let [m, n, k] = case.size;
        Turns::of(gpu, (m * k + k * n) * size_of::<T>()).sets(|| {
            let (a, b) = (gpu.tensor(&self.a, [m, k])?, gpu.tensor(&self.b, [k, n])?);
            match case.layout {
                Storage::Nn => Ok((a, b)),
                Storage::Nt => Ok((a, b.t().contiguous()?.t())),
            }
        })
    }
}

struct Bench {
    session: Session,
    start: Instant,
    /// Seconds after which nothing new is started.
    seconds: f64,
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
            let found = match Tiles::<T, C>::new(self, case, &inputs) {
                Ok(mut tiles) => tiles.run(),
                Err(error) => self.left_out_or_failed(case, None, error),
            };
            verdict = verdict.max(found);
        }
        verdict
    }

    /// Prints why a tile, or all of them, has no times in this case.
    fn left_out_or_failed(&self, case: Case, tile: Option<Tile>, error: Error) -> Verdict {
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

    /// Prints a line: the product, its tile and what was found.
    fn print(&self, case: Case, tile: Option<Tile>, found: &Value) {
        let caps = self.session.gpu.caps();
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

/// All tiles in one case.
struct Tiles<'a, T: Real, C: Real> {
    bench: &'a Bench,
    case: Case,
    definition: &'a Definition,
    pairs: Vec<(Tensor<T>, Tensor<T>)>,
    /// The pair that is multiplied next.
    next: usize,
    /// The output of all products: they run one after the other, as in a stream of cuBLAS.
    c: Tensor<C>,
    /// The plan that pins no tile.
    free: Plan,
}

/// A tile that is timed.
struct Row {
    tile: Tile,
    predicted: f64,
    compared: Comparison,
    /// Products in one timing.
    products: u64,
    /// Seconds of one product, round by round.
    seconds: Vec<f64>,
}

impl<'a, T: Real, C: Real> Tiles<'a, T, C> {
    fn new(bench: &'a Bench, case: Case, inputs: &'a Inputs<T>) -> Result<Self> {
        let pairs = inputs.upload(&bench.session.gpu, case)?;
        let free = Gemm::new(&pairs[0].0, &pairs[0].1).out::<C>().plan()?;
        let c = poisoned(&bench.session.gpu, case)?;
        Ok(Self { bench, case, definition: &inputs.definition, pairs, next: 0, c, free })
    }

    /// Checks every tile, then times them round by round.
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
                Err(error) => {
                    verdict = verdict.max(self.bench.left_out_or_failed(self.case, Some(tile), error))
                }
            }
        }
        let start = Instant::now();
        for round in 0..self.bench.session.rounds(ROUNDS) {
            if round > 0 && (self.bench.time_is_up() || start.elapsed().as_secs_f64() > CASE_SECONDS) {
                break;
            }
            rows.retain_mut(|row| match self.seconds(row.tile, row.products) {
                Ok(seconds) => {
                    row.seconds.push(seconds);
                    true
                }
                Err(error) => {
                    verdict = verdict.max(self.bench.left_out_or_failed(self.case, Some(row.tile), error));
                    false
                }
            });
        }
        rows.iter().map(|row| self.print(row)).fold(verdict, Verdict::max)
    }

    /// Why a tile is not timed, although the device could run it.
    fn left_out(&self, tile: Tile) -> Option<&'static str> {
        if self.bench.time_is_up() {
            return Some(TIME_IS_UP);
        }
        if tile.kernel == GemmKernel::Naive && multiply_adds(&self.case.size) > MAX_NAIVE {
            return Some("products as large as this would take most of the time");
        }
        // Large tiles take software devices seconds to compile, for nothing where no plan would choose them.
        let [rows, columns] = [tile.bm, tile.bn].map(|extent| extent as usize);
        let [m, n, _] = self.case.size;
        let idle = rows >= 2 * m && columns >= 2 * n && !self.chosen(tile);
        idle.then_some("three quarters of its block would be idle")
    }

    /// Whether the plan would choose this tile.
    fn chosen(&self, tile: Tile) -> bool {
        Tile::of_step(&self.free.steps()[0]) == Some(&tile)
    }

    /// Compiles a tile, checks its product and times it once.
    fn prepare(&mut self, tile: Tile) -> Result<Row> {
        let (a, b) = &self.pairs[0];
        let product = Gemm::new(a, b).out::<C>().tile(tile);
        let predicted = product.plan()?.seconds();
        self.c = poisoned(&self.bench.session.gpu, self.case)?;
        product.run_into(&mut self.c)?;
        let compared = self.definition.compare(&self.c.to_vec()?);
        let products = repetitions::estimated(self.seconds(tile, 1)?, ENOUGH, clock::MAX_TOGETHER);
        Ok(Row { tile, predicted, compared, products, seconds: Vec::new() })
    }

    /// Seconds of one product by this tile, over `products` of them.
    fn seconds(&mut self, tile: Tile, products: u64) -> Result<f64> {
        let bench = self.bench;
        let seconds = clock::seconds(&bench.session.gpu, products, || {
            let (a, b) = &self.pairs[self.next];
            self.next = (self.next + 1) % self.pairs.len();
            Gemm::new(a, b).out::<C>().tile(tile).run_into(&mut self.c)
        })?;
        Ok(seconds / products as f64)
    }

    fn print(&self, row: &Row) -> Verdict {
        let spread = Spread::of(&row.seconds);
        let median = spread.map(|spread| spread.median);
        let found = json!({
            "clock": if self.bench.session.gpu.caps().timestamps { "gpu" } else { "host" },
            "rounds": row.seconds.len(),
            "products_per_round": row.products,
            "operand_pairs": self.pairs.len(),
            "gpu_seconds_median": median,
            "gpu_seconds_min": spread.map(|spread| spread.least),
            "gpu_seconds_max": spread.map(|spread| spread.most),
            "tflops": median.map(|median| 2.0 * multiply_adds(&self.case.size) as f64 / median * 1e-12),
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

/// C before a product is computed and checked.
fn poisoned<C: Element>(gpu: &Gpu, case: Case) -> Result<Tensor<C>> {
    let [m, n, _] = case.size;
    gpu.tensor(&[C::from_f64(POISON.into())], [1])?.as_strided(&[m, n], &[0, 0], 0)?.contiguous()
}
