//! What a program takes until its first result: it opens the device, computes one thing and reads it. Each case is a process of its own,
//! cold, where nothing was compiled before, and warm, where an earlier process has left its caches.
//!
//! Prints a table of milliseconds by kind of driver call, with what is outside of them; `TILEWISE_TABLE=json` prints JSON lines.
//! `TILEWISE_ROUNDS` (5) is the number of processes of each case, of which the median counts, and `TILEWISE_ONLY=softmax` selects
//! cases by the beginnings of their names.

use bench::process::this_program;
use bench::statistics::median;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};
use tilewise::gemm::Operand;
use tilewise::gpu::DriverTimes;
use tilewise::{Element, Error, Gpu, Result, f16, matmul, ops};

/// Rows and columns of the operands.
const SIZE: usize = 256;
/// Variable that tells a process which case to run.
const CASE: &str = "TILEWISE_FIRST_RESULT";

/// A case: its name, and what it computes.
type Case = (&'static str, fn(&Gpu) -> Result<f64>);

const CASES: [Case; 4] = [
    ("product f32", product::<f32>),
    ("softmax f32", softmax),
    ("product f16", product::<f16>),
    // This tests all rows of cooperative matrices.
    ("capabilities", |gpu| Ok(if gpu.caps().adapter.is_empty() { 1.0 } else { 0.0 })),
];

/// Columns of the table, whose sum is `total`, and the field of each.
const COLUMNS: [(&str, &str); 9] = [
    ("instance", "instance"),
    ("adapters", "adapters"),
    ("device", "device"),
    ("self-tests", "self_tests"),
    ("modules", "modules"),
    ("pipelines", "pipelines"),
    ("submit", "submits"),
    ("wait", "waits"),
    ("outside", "outside"),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// Nothing is cached.
    Cold,
    /// All is cached.
    Warm,
}

pub(crate) fn main() -> ExitCode {
    if let Ok(name) = std::env::var(CASE) {
        return ended(CASES.iter().find(|(case, _)| *case == name).map_or(Ok(()), run));
    }
    ended(measure())
}

fn ended(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Unsupported { .. }) if !is_required() => {
            println!("{}", json!({ "skipped": "no adapter" }));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_required() -> bool {
    std::env::var("GPU_REQUIRED").as_deref() == Ok("1")
}

/// The process of a case: prints its times as one JSON object.
fn run((name, compute): &Case) -> Result<()> {
    let begun = Instant::now();
    let gpu = Gpu::open()?;
    let opened = begun.elapsed();
    let error = compute(&gpu)?;
    let total = begun.elapsed();
    let times = gpu.driver_times();
    if error > 1e-3 {
        return Err(failed(name, format!("the result has an error of {error}")));
    }
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let DriverTimes { instance, adapters, device, self_tests, modules, pipelines, submits, waits, .. } =
        times;
    println!(
        "{}",
        json!({
            "instance": ms(instance), "adapters": ms(adapters), "device": ms(device), "self_tests": ms(self_tests),
            "modules": ms(modules), "pipelines": ms(pipelines), "submits": ms(submits), "waits": ms(waits),
            "outside": ms(total.saturating_sub(times.total())), "open": ms(opened), "total": ms(total),
            "compiled": gpu.stats().pipelines,
        })
    );
    Ok(())
}

fn failed(what: &str, why: String) -> Error {
    Error::Input { what: what.into(), why }
}

/// Small numbers of both signs.
fn values<T: Element>(seed: usize) -> Vec<T> {
    (0..SIZE * SIZE).map(|at| T::from_f64(((at * 7 + seed) % 9) as f64 * 0.25 - 1.0)).collect()
}

/// The product of two matrices, and its largest error in one row.
fn product<T: Operand>(gpu: &Gpu) -> Result<f64> {
    let (a, b) = (values::<T>(1), values::<T>(2));
    let c = matmul(&gpu.tensor(&a, [SIZE, SIZE])?, &gpu.tensor(&b, [SIZE, SIZE])?)?.to_vec()?;
    let entry = |col: usize| -> f64 { (0..SIZE).map(|k| a[k].to_f64() * b[k * SIZE + col].to_f64()).sum() };
    let error = |col: usize| (c[col].to_f64() - entry(col)).abs() / entry(col).abs().max(1.0);
    Ok((0..SIZE).map(error).fold(0.0, f64::max))
}

/// The softmax of the rows of a matrix, and the error of the sum of one.
fn softmax(gpu: &Gpu) -> Result<f64> {
    let x = gpu.tensor(&values::<f32>(1), [SIZE, SIZE])?;
    let y = ops::softmax(&x, 1)?.to_vec()?;
    Ok((y[..SIZE].iter().map(|&y| f64::from(y)).sum::<f64>() - 1.0).abs())
}

/// Runs each case in processes of its own.
fn measure() -> Result<()> {
    let testing = std::env::args().any(|argument| argument == "--test");
    let asked = std::env::var("TILEWISE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    let rounds = if testing { 1 } else { asked.unwrap_or(5).max(1) };
    let as_json = std::env::var("TILEWISE_TABLE").as_deref() == Ok("json");
    let folder = Folder::new().map_err(|error| failed("a folder for caches", error.to_string()))?;
    let mut rows = Vec::new();
    for (name, _) in CASES.iter().filter(|(name, _)| bench::wants(name)) {
        for start in [Start::Cold, Start::Warm] {
            if start == Start::Warm {
                child(name, start, &folder, 0)?; // leaves the caches
            }
            let all: Vec<Value> =
                (0..rounds).map(|round| child(name, start, &folder, round)).collect::<Result<_>>()?;
            let Some(first) = all.first().filter(|first| first.get("skipped").is_none()) else {
                println!("{}", json!({ "case": name, "skipped": "no adapter" }));
                break;
            };
            let mut row =
                json!({ "case": name, "start": if start == Start::Cold { "cold" } else { "warm" } });
            for (field, _) in first.as_object().into_iter().flatten() {
                let values: Vec<f64> = all.iter().filter_map(|one| one[field].as_f64()).collect();
                row[field] = json!(median(&values));
            }
            if as_json {
                println!("{row}");
            }
            rows.push(row);
        }
    }
    if !as_json {
        table(&rows);
    }
    Ok(())
}

fn table(rows: &[Value]) {
    let heads = COLUMNS.iter().map(|(head, _)| *head).chain(["total", "of it open"]);
    println!("| ms | start | {} |", heads.collect::<Vec<_>>().join(" | "));
    println!("|---|---|{}", "---:|".repeat(COLUMNS.len() + 2));
    for row in rows {
        let of = |field: &str| format!("{:.1}", row[field].as_f64().unwrap_or(f64::NAN));
        let fields = COLUMNS.iter().map(|(_, field)| *field).chain(["total", "open"]);
        let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
        println!(
            "| {} | {} | {} |",
            text("case"),
            text("start"),
            fields.map(of).collect::<Vec<_>>().join(" | ")
        );
    }
}

/// Runs a case in a process of its own and returns what it prints.
fn child(name: &str, start: Start, folder: &Folder, round: usize) -> Result<Value> {
    let mut command = this_program();
    command.env(CASE, name).stderr(Stdio::inherit());
    match start {
        Start::Cold => {
            let empty = folder.0.join(format!("cold-{}-{round}", name.replace(' ', "-")));
            command.env("TILEWISE_CACHE", empty).env("MESA_SHADER_CACHE_DISABLE", "1")
        }
        Start::Warm => command
            .env("TILEWISE_CACHE", folder.0.join("warm"))
            .env("MESA_SHADER_CACHE_DIR", folder.0.join("mesa"))
            .env_remove("MESA_SHADER_CACHE_DISABLE"),
    };
    let output = command.output().map_err(|error| failed(name, error.to_string()))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let ended = || failed(name, format!("the process ended with {} and printed {printed:?}", output.status));
    serde_json::from_str(printed.trim()).ok().filter(|_| output.status.success()).ok_or_else(ended)
}

/// A folder for caches, which is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("tilewise-first-result-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
