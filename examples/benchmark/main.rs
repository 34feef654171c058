//! Measures matrix products, sketches, Clifford products, attention and convolutions on this machine's device: how fast they are, what
//! share of the device's peaks that is, and whether the predictions of their plans hold.
//!
//! ```sh
//! cargo run --release --example benchmark -- --quick --svg roofline.svg
//! cargo run --release --example benchmark -- --ops gemm --sizes 1024,64x4096x1024 --dtypes f32,f16 --kernels all
//! cargo run --release --example benchmark -- --quick --save before.json
//! cargo run --release --example benchmark -- --quick --compare before.json --fail-on-regression
//! cargo run --release --example benchmark -- --from before.json --svg roofline.svg
//! ```
//! Every result is compared with its definition in f64 before it is timed: all entries of small results, some of large
//! ones. Times are those of the device's clock. Operands are random. Several sets of them take turns, so that the device's last
//! cache does not hold them; rows whose sets all fit in it are marked. The cases of a size are timed in turn, in several rounds of
//! five passes; the median counts. Files are written after every round: an interrupted run leaves what it measured, in
//! `FILE.partial` if the file existed before. The exit status is 0 only if every result is within its bound, and, with
//! `--fail-on-regression`, if rows were compared and none takes 10% longer than in the compared run.

mod arguments;
mod case;
mod cases;
mod choice;
mod compare;
mod figure;
mod fits;
mod labels;
mod measure;
mod operations;
mod output;
mod picture;
mod planned;
mod ready;
mod record;
mod report;
mod roofline;
mod sample;
mod series;
mod table;

use arguments::Args;
use cases::{Group, groups};
use clap::Parser;
use compare::{Comparison, check_common, check_device};
use output::Files;
use record::{Row, Run};
use report::{Regressions, Report};
use std::process::ExitCode;
use support::ended;
use tilewise::{Gpu, Result};

fn main() -> ExitCode {
    let args = Args::parse();
    ended(run(&args).map(|report| {
        print!("{report}");
        report.ok()
    }))
}

fn run(args: &Args) -> Result<Report> {
    // Before anything is measured: options, and files that cannot be compared or written, which would make a run useless.
    args.check()?;
    let saved = args.compare.as_ref().map(|path| Ok((path, Run::load("--compare", path)?))).transpose()?;
    let files = Files::check(args)?;
    let run = match &args.from {
        Some(path) => {
            let run = Run::load("--from", path)?;
            if let Some((path, saved)) = &saved {
                check_device(path, saved, [&run.device, &run.driver])?;
                check_common(path, saved, run.rows.iter().map(Row::name))?;
            }
            run
        }
        None => {
            let gpu = Gpu::open()?;
            let groups = groups(args, &gpu);
            if let Some((path, saved)) = &saved {
                check_device(path, saved, [&gpu.caps().adapter, &gpu.caps().driver])?;
                check_common(path, saved, groups.iter().flat_map(Group::names))?;
            }
            measure::measure(args, &gpu, &groups, &files).inspect_err(|_| {
                if let Some(path) = files.saved_meanwhile() {
                    eprintln!("tilewise: what was measured until then is in {}", path.display());
                }
            })?
        }
    };
    let comparison = saved.map(|(path, saved)| Comparison::new(path, &saved, &run));
    files.write_all(&run, comparison.as_ref())?;
    files.write_picture(|| picture::svg(&run))?;
    let regressions = if args.fail_on_regression { Regressions::Failing } else { Regressions::Reported };
    Ok(Report { run, comparison, regressions })
}
