//! A run: measures all cases, group by group.

use crate::arguments::Args;
use crate::case::Case;
use crate::cases::{Group, Unfit};
use crate::fits::{self, Patience};
use crate::output::Files;
use crate::peaks::Meter;
use crate::ready::Ready;
use crate::record::{Row, Run};
use crate::{operations, planned};
use indicatif::{ProgressBar, ProgressStyle};
use tilewise::gpu::{Clock, Timing};
use tilewise::{DType, Error, Gpu, Result};

/// Rounds, and those of a quick run.
const ROUNDS: u32 = 25;
const QUICK_ROUNDS: u32 = 15;
/// Passes over all cases, each with a part of the rounds: rounds right after one another share what disturbs the machine for
/// some seconds.
const MAX_PASSES: u32 = 5;

/// Measures what the arguments ask for.
pub(crate) fn measure(args: &Args, gpu: &Gpu, groups: &[Group], files: &Files<'_>) -> Result<Run> {
    let rounds = args.rounds.unwrap_or(if args.quick { QUICK_ROUNDS } else { ROUNDS });
    let passes = MAX_PASSES.min(rounds);
    let cases: usize = groups.iter().map(|group| group.cases.len()).sum();
    check_any(args, gpu, groups)?;
    // Shown only on a terminal.
    let bar = ProgressBar::new(cases as u64 * u64::from(rounds + passes)).with_style(style()?);
    bar.set_message("peaks");
    let meter = Meter::open()?;
    let mut run = Run::begin(gpu, meter.measure()?);
    for pass in 0..passes {
        let rounds = rounds * (pass + 1) / passes - rounds * pass / passes;
        for group in groups {
            let mut ready = prepare(args, gpu, group, &mut run, &bar)?;
            bar.inc((group.cases.len() - ready.len()) as u64 * u64::from(rounds));
            for _ in 0..rounds {
                round(gpu, &mut ready, &mut run)?;
                bar.inc(ready.len() as u64);
                files.write_progress(&run)?;
            }
        }
        // Before, in the middle, and at the end.
        if pass == passes / 2 || pass + 1 == passes {
            run.peaks = run.peaks.or_higher(&meter.measure()?);
        }
    }
    run.finished = true;
    bar.finish_and_clear();
    match (run.rows.is_empty(), run.left_out.first()) {
        (true, Some(first)) => Err(nothing(&first.case, &first.why, run.left_out.len() - 1)),
        _ => Ok(run),
    }
}

/// The error of a run in which no case can be measured.
fn nothing(case: &str, why: &str, others: usize) -> Error {
    let others = if others == 0 { String::new() } else { format!("; nor do {others} other cases") };
    Error::Input { what: format!("{case} does not fit"), why: format!("{why}{others}") }
}

/// How much time a case may take.
fn patience(args: &Args) -> Patience {
    if args.quick { Patience::Quick } else { Patience::Whole }
}

/// Refuses a run in which no case fits, before anything is measured.
fn check_any(args: &Args, gpu: &Gpu, groups: &[Group]) -> Result<()> {
    let cases = || groups.iter().flat_map(|group| &group.cases);
    let mut first = None;
    for (case, _) in cases() {
        let fits = fits::check(case, gpu.caps(), patience(args));
        let fits = fits.and_then(|()| {
            planned::check(case, gpu.caps(), patience(args)).map_err(|error| error.to_string())
        });
        match fits {
            Ok(()) => return Ok(()),
            Err(why) => first = first.or(Some((case, why))),
        }
    }
    match first {
        Some((case, why)) => Err(nothing(&case.to_string(), &why, cases().count() - 1)),
        None => Ok(()),
    }
}

/// Times every case once, so that what disturbs the machine disturbs them all.
fn round(gpu: &Gpu, cases: &mut [(Case, Ready)], run: &mut Run) -> Result<()> {
    for (case, ready) in cases {
        let Timing { seconds, clock } = ready.time(gpu)?;
        let row = run.row(Row::new(case, ready));
        row.clock = if clock == Clock::Gpu { "gpu" } else { "host" }.into();
        row.rounds.push(seconds);
    }
    Ok(())
}

fn style() -> Result<ProgressStyle> {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {elapsed}");
    style.map_err(|error| Error::Input { what: "the progress bar".into(), why: error.to_string() })
}

/// Makes the cases of a group ready: those that fit.
fn prepare(
    args: &Args,
    gpu: &Gpu,
    group: &Group,
    run: &mut Run,
    bar: &ProgressBar,
) -> Result<Vec<(Case, Ready)>> {
    let patience = patience(args);
    let mut all = Vec::new();
    let mut dtypes: Vec<DType> = group.cases.iter().map(|(case, _)| case.dtype).collect();
    dtypes.dedup();
    for dtype in dtypes {
        let mut fitting = Vec::new();
        for &(case, unfit) in group.cases.iter().filter(|(case, _)| case.dtype == dtype) {
            bar.inc(1);
            match fits::check(&case, gpu.caps(), patience) {
                Ok(()) => fitting.push((case, unfit)),
                Err(why) => run.leave_out(&case, why),
            }
        }
        let cases: Vec<Case> = fitting.iter().map(|(case, _)| *case).collect();
        if let Some(case) = cases.first() {
            bar.set_message(case.to_string());
        }
        let prepared = match operations::prepare(gpu, &cases, patience) {
            Ok(prepared) => prepared,
            Err(error @ Error::Device(_)) => return Err(error),
            Err(error) => {
                cases.iter().for_each(|case| run.leave_out(case, error.to_string()));
                continue;
            }
        };
        for ((case, unfit), ready) in fitting.into_iter().zip(prepared) {
            match ready {
                Ok(ready) => all.push((case, ready)),
                Err(Error::Unsupported { .. }) if unfit == Unfit::Skipped => {}
                Err(error @ Error::Device(_)) => return Err(error),
                Err(error) => run.leave_out(&case, error.to_string()),
            }
        }
    }
    Ok(all)
}
