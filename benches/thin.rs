//! Thin products against a copy, and a deep product in parts against the same in one: each pair in turn, in one run. One
//! JSON object per line.
//!
//! `TILEWISE_SIZES=4096` sets the edge of the long matrix; `TILEWISE_TILES=1` measures every tile, not only the plan's.

#[path = "roof/mod.rs"]
mod roof;
mod support;

use roof::Copier;
use serde_json::json;
use tilewise::gemm::{Operand, Split, Tile};
use tilewise::{Fill, Gemm, GemmKernel, Gpu, Real, Result, Tensor};

/// The edge of the long matrix, unless `TILEWISE_SIZES` says otherwise.
const SIZES: [usize; 1] = [4096];
/// Rounds, in each of which everything takes its turn.
const ROUNDS: usize = 15;
/// The product that has few elements and a long inner size.
const DEEP: [usize; 3] = [64, 64, 65_536];

fn main() -> Result<()> {
    let Some(gpu) = support::open()? else {
        println!("{}", json!({ "skipped": "no adapter" }));
        return Ok(());
    };
    // `cargo bench -- --test` asks whether it works, not for figures.
    let testing = std::env::args().any(|argument| argument == "--test");
    let rounds = if testing { 1 } else { ROUNDS };
    let sizes = if testing { vec![256] } else { support::sizes(&SIZES)? };
    for size in sizes {
        for count in counts()? {
            thin::<f32>(&gpu, size, count, rounds)?;
        }
        thin::<tilewise::f16>(&gpu, size, 1, rounds)?;
    }
    deep(&gpu, if testing { [8, 8, 1024] } else { DEEP }, rounds)
}

/// A product with one thin operand, and how it is called here.
struct Case<T: Operand> {
    name: &'static str,
    a: Tensor<T>,
    b: Tensor<T>,
}

/// Products of a square matrix with so many rows or columns, against a copy of as many bytes as it has.
fn thin<T: Real>(gpu: &Gpu, size: usize, count: usize, rounds: usize) -> Result<()> {
    let long = gpu.random::<T>([size, size], Fill::Uniform, 1)?;
    let rows = gpu.random::<T>([count, size], Fill::Uniform, 2)?;
    let columns = gpu.random::<T>([size, count], Fill::Uniform, 3)?;
    let case = |name, a: &Tensor<T>, b: &Tensor<T>| Case { name, a: a.clone(), b: b.clone() };
    let cases = [
        case("rows of A, B row-major", &rows, &long),
        case("rows of A, B transposed", &rows, &long.t()),
        case("columns of B, A row-major", &long, &columns),
        case("columns of B, A transposed", &long.t(), &columns),
        case("columns of B transposed, A row-major", &long, &rows.t()),
    ];
    let bytes = (size * size * size_of::<T>()) as u64;
    let copier = Copier::new(gpu, bytes);
    let every = std::env::var("TILEWISE_TILES").is_ok();
    for case in &cases[..if count == 1 { 4 } else { 5 }] {
        let tiles: Vec<Option<Tile>> = if every {
            GemmKernel::Gemv.tiles().iter().map(|&tile| Some(tile)).collect()
        } else {
            vec![None]
        };
        for tile in tiles {
            let product = Gemm::new(&case.a, &case.b).out::<f32>();
            let product = match tile {
                Some(tile) => product.tile(tile).split(Split::Parts(1)),
                None => product,
            };
            let Ok(plan) = product.plan() else { continue };
            product.run()?;
            let mut times = [vec![], vec![]];
            for _ in 0..rounds {
                times[0].push(support::seconds(gpu, 1, || product.run().map(drop))?);
                times[1].push(copier.seconds(gpu));
            }
            // Round by round: what disturbs the machine disturbs both.
            let of_copy =
                median(times[0].iter().zip(&times[1]).map(|(own, copy)| copy / own / 2.0).collect());
            let [seconds, copy] = times.map(median);
            let [speed, copied] = [bytes as f64 / seconds, 2.0 * bytes as f64 / copy];
            let found = json!({
                "device": gpu.caps().adapter,
                "case": case.name,
                "dtype": T::DTYPE.to_string(),
                "thin": count,
                "size": size,
                "plan": plan.to_string().lines().next(),
                "seconds": seconds,
                "bytes_per_second": speed,
                "copy_bytes_per_second": copied,
                "of_copy": of_copy,
            });
            println!("{found}");
        }
    }
    Ok(())
}

/// A product of few elements and a long inner size, in as many parts as the plan likes and in one.
fn deep(gpu: &Gpu, [m, n, k]: [usize; 3], rounds: usize) -> Result<()> {
    let a = gpu.random::<f32>([m, k], Fill::Uniform, 1)?;
    let b = gpu.random::<f32>([k, n], Fill::Uniform, 2)?;
    let free = Gemm::new(&a, &b);
    let whole = Gemm::new(&a, &b).split(Split::Parts(1));
    let mut times = [vec![], vec![]];
    for round in 0..=rounds {
        for (product, times) in [&free, &whole].into_iter().zip(&mut times) {
            let seconds = support::seconds(gpu, 1, || product.run().map(drop))?;
            if round > 0 {
                times.push(seconds); // the first compiles
            }
        }
    }
    let [parts, one] = times.map(median);
    let found = json!({
        "device": gpu.caps().adapter,
        "case": "in parts",
        "shape": [m, n, k],
        "plan": free.plan()?.to_string().lines().next(),
        "plan_of_one": whole.plan()?.to_string().lines().next(),
        "seconds": parts,
        "seconds_of_one": one,
        "times_as_fast": one / parts,
    });
    println!("{found}");
    Ok(())
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    let last = seconds.len() - 1;
    f64::midpoint(seconds[last / 2], seconds[last.div_ceil(2)])
}

/// How many rows or columns are thin: `TILEWISE_THIN`, or these.
fn counts() -> Result<Vec<usize>> {
    let Ok(value) = std::env::var("TILEWISE_THIN") else { return Ok(vec![1, 4, 8]) };
    let counts: Result<Vec<usize>, _> = value.split(',').map(str::parse).collect();
    counts.map_err(|_| tilewise::Error::Input {
        what: "TILEWISE_THIN".into(),
        why: format!("`{value}` is not a list of numbers such as 1,8"),
    })
}
