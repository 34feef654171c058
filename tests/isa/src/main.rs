//! Compiles the library's kernels for a GPU that need not be here, and says what its compiler made of them.

use clap::Parser;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use tilewise_isa::diff;
use tilewise_isa::row::{Heading, Row};
use tilewise_isa::session::{self, BEGIN};
use tilewise_isa::steps::Selection;
use tilewise_isa::target::Target;

/// Compiles the plans of a device that is not here with Mesa's compiler for its GPU, and prints what became of each step.
#[derive(Parser)]
#[command(name = "tilewise-isa")]
struct Options {
    /// The GPU: navi31 and gfx1201 (AMD), nv176 (NVIDIA); by hand nv192 (NVIDIA), bmg and dg2 (Intel)
    target: String,
    /// Print lines of JSON
    #[arg(long)]
    json: bool,
    /// Compile every form and tile, each text once
    #[arg(long)]
    sweep: bool,
    /// Print what differs from the rows of this file, which `--json` has printed; the status is 1 if anything is worse
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    diff: Option<String>,
    /// Compile only the steps whose plan, family, kernel or tile contains this word
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
    /// Plan as if an invocation held so many accumulators in registers: tiles that the library does not take for a GPU
    #[arg(long, value_name = "NUMBER")]
    accumulators: Option<u32>,
    /// Write each step's text, and what the compiler shows of its work, to this folder
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
    let selection =
        Selection { sweep: options.sweep, only: options.only.clone(), accumulators: options.accumulators };
    if let Ok(begin) = std::env::var(BEGIN) {
        let begin = begin.parse().map_err(|_| format!("{BEGIN}={begin} is no number"))?;
        session::inside(&target, &selection, begin, options.out.as_deref())?;
        return Ok(ExitCode::SUCCESS);
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
        return Err("no step has that word".into());
    }
    let Some((path, before)) = before else { return Ok(ExitCode::SUCCESS) };
    let difference = diff::between(&before, &rows);
    if difference.new == rows.len() {
        return Err(format!(
            "{path} has none of these steps: was it written with or without --sweep, as this is?"
        ));
    }
    for line in &difference.lines {
        say(line)?;
    }
    say(&difference.to_string())?;
    Ok(if difference.worse == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The rows of an earlier run that go with those of this one, and the file that they are from.
fn earlier<'a>(path: &'a str, target: &Target, selection: &Selection) -> Result<(&'a str, Vec<Row>), String> {
    let mut rows = diff::read(path, target.name)?;
    rows.retain(|row| selection.takes(row));
    Ok((path, rows))
}

/// Prints a line. Who reads may have gone.
fn say(line: &str) -> Result<(), String> {
    writeln!(std::io::stdout(), "{line}").map_err(|error| format!("cannot print: {error}"))
}
