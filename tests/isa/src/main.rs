//! Compiles the library's kernels for a GPU that need not be present, and prints the results.

use clap::Parser;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use tilewise_isa::row::{Heading, Row};
use tilewise_isa::session::{self, BEGIN};
use tilewise_isa::steps::{Access, Halves, Plans, Selection};
use tilewise_isa::target::Target;
use tilewise_isa::{diff, loops};

/// Compiles the plans for a GPU with Mesa's compiler, without that GPU, and prints the results of each step.
#[derive(Parser)]
#[command(name = "tilewise-isa")]
struct Options {
    /// The GPU: navi31 or gfx1201 (AMD), nv176 (NVIDIA); with your own driver nv192 (NVIDIA), bmg or dg2 (Intel)
    target: String,
    /// Print lines of JSON
    #[arg(long)]
    json: bool,
    /// Compile every kernel in all variants and tiles, each text once
    #[arg(long)]
    sweep: bool,
    /// Compile every tile of matrix products, and write the library's table of inner loops to this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "sweep", "diff", "only", "accumulators", "unchecked_access", "without_f16"])]
    loops: Option<PathBuf>,
    /// Print the differences from the rows of this file, written with `--json`; the exit status is 1 if a figure is worse
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    diff: Option<String>,
    /// Compile only the steps whose plan, family, kernel or tile contains this word
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
    /// Plan as if an invocation could hold this number of accumulators in registers, to compile tiles that plans avoid
    #[arg(long, value_name = "NUMBER")]
    accumulators: Option<u32>,
    /// Compile for a device whose driver does not check accesses to buffers, see `BufferAccess::unchecked` of the library
    #[arg(long)]
    unchecked_access: bool,
    /// Plan for a device whose shaders have no f16
    #[arg(long)]
    without_f16: bool,
    /// Write each step's text, and the compiler's intermediate texts, to this folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(code) => code,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<ExitCode, String> {
    let target = Target::named(&options.target)?;
    let selection = Selection {
        plans: match (&options.loops, options.sweep) {
            (Some(_), _) => Plans::Tiles,
            (None, true) => Plans::Sweep,
            (None, false) => Plans::Usual,
        },
        only: options.only.clone(),
        accumulators: options.accumulators,
        // NVIDIA's checks of accesses are Mesa's own code, and NVIDIA has another driver.
        access: if options.unchecked_access || options.loops.is_some() {
            Access::Unchecked
        } else {
            Access::Robust
        },
        halves: if options.without_f16 { Halves::Packed } else { Halves::Native },
    };
    if let Ok(begin) = std::env::var(BEGIN) {
        let begin = begin.parse().map_err(|_| format!("{BEGIN}={begin} is not a number"))?;
        session::inside(&target, &selection, begin, options.out.as_deref())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &options.loops {
        loops::check(&target, path)?;
    }
    if let Some(folder) = &options.out {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let before = options.diff.as_ref().map(|path| earlier(path, &target, &selection)).transpose()?;
    let mut rows = Vec::new();
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    session::rows(&target, &selection, &arguments, |row: Row| {
        if let Some((path, before)) = &before {
            diff::check_versions(path, before, std::slice::from_ref(&row))?;
        } else if options.loops.is_some() {
            // The rows go into a table.
        } else if options.json {
            say(&serde_json::to_string(&row).expect("plain data"))?;
        } else {
            if rows.is_empty() {
                say(&Heading.to_string())?;
            }
            say(&row.to_string())?;
        }
        rows.push(row);
        Ok(())
    })?;
    if rows.is_empty() {
        return Err("no step contains that word".into());
    }
    if let Some(path) = &options.loops {
        let table = loops::table(&target, &rows)?;
        std::fs::write(path, table).map_err(|error| format!("{}: {error}", path.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some((path, before)) = before else { return Ok(ExitCode::SUCCESS) };
    let difference = diff::between(&before, &rows);
    if difference.new == rows.len() {
        return Err(format!("{path} has none of these steps: were both runs with --sweep, or both without?"));
    }
    for line in &difference.lines {
        say(line)?;
    }
    say(&difference.to_string())?;
    Ok(if difference.worse == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The path of an earlier run's file, and its rows that this selection includes.
fn earlier<'a>(path: &'a str, target: &Target, selection: &Selection) -> Result<(&'a str, Vec<Row>), String> {
    let mut rows = diff::read(path, target.name)?;
    rows.retain(|row| selection.takes(row));
    Ok((path, rows))
}

/// Prints a line. Fails if the reader has closed the pipe.
fn say(line: &str) -> Result<(), String> {
    writeln!(std::io::stdout(), "{line}").map_err(|error| format!("cannot print: {error}"))
}
