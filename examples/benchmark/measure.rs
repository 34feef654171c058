//! A run: measures all cases, group by group.

use crate::arguments::Args;
use crate::case::Case;
use crate::cases::{Group, Unfit};
use crate::fits::{self, Patience};
use crate::output::Files;
use crate::ready::Ready;
use crate::record::{Row, Run};
use crate::{operations, planned};
use bench::peak;
use bench::turns::{self, Turns};
use indicatif::{ProgressBar, ProgressStyle};
use tilewise::gpu::{Clock, Timing, Tuning};
use tilewise::{DType, Error, Gpu, GpuOptions, Result};

/// Rounds, and those of a quick run.
const ROUNDS: u32 = 25;
const QUICK_ROUNDS: u32 = 25;
/// Passes over all cases, each with a part of the rounds.
const MAX_PASSES: u32 = 5;
/// Bytes of the operands of a batch at most, unless a single group has more.
const BATCH_BYTES: u64 = 4 << 30;

/// Measures what the arguments ask for.
///
/// A round times every case once, so that what disturbs the machine for some seconds is in few rounds of each case. If the sets
/// of all cases do not fit in memory, batches of them take turns. Each pass opens the device anew: where a driver puts compiled
/// code and buffers can change times by a third (attention of f32 on lavapipe), and stays the same until they are made again.
pub(crate) fn measure(args: &Args, gpu: &Gpu, groups: &[Group], files: &Files<'_>) -> Result<Run> {
    let rounds = args.rounds.unwrap_or(if args.quick { QUICK_ROUNDS } else { ROUNDS });
    check_any(args, gpu, groups)?;
    let batches = batches(groups, gpu);
    let passes = MAX_PASSES.min(rounds);
    let cases: usize = groups.iter().map(|group| group.cases.len()).sum();
    // Shown only on a terminal.
    let bar = ProgressBar::new(cases as u64 * u64::from(rounds + passes)).with_style(style()?);
    bar.set_message("peaks");
    // On a `Gpu` of its own, which remembers nothing: what it measures is not what later runs predict with.
    let meter = Gpu::open_with(GpuOptions { tuning: Tuning::Off, ..GpuOptions::from_env()? })?;
    let mut run = Run::begin(gpu, peak::measure(&meter)?);
    // Plans that are tuned in this run are known to its first `Gpu` only, unless files are cached.
    let is_tuned = GpuOptions::from_env()?.tuning != Tuning::Off;
    for pass in 0..passes {
        let again = if is_tuned { None } else { Some(Gpu::open()?) };
        let gpu = again.as_ref().unwrap_or(gpu);
        let [first, end] = [pass, pass + 1].map(|pass| rounds * pass / passes);
        for batch in &batches {
            let mut ready = Vec::new();
            for group in *batch {
                let mut cases = prepare(args, gpu, group, &mut run, &bar)?;
                bar.inc((group.cases.len() - cases.len()) as u64 * u64::from(end - first));
                round(gpu, &mut cases, &mut run, &bar)?;
                files.write_progress(&run)?;
                ready.push(cases);
            }
            for _ in first + 1..end {
                for cases in &mut ready {
                    round(gpu, cases, &mut run, &bar)?;
                    files.write_progress(&run)?;
                }
            }
        }
        // Before, in the middle, and at the end.
        if pass == passes / 2 || pass + 1 == passes {
            run.peaks = run.peaks.or_higher(peak::measure(&meter)?);
        }
    }
    run.finished = true;
    bar.finish_and_clear();
    match (run.rows.is_empty(), run.left_out.first()) {
        (true, Some(first)) => Err(nothing(&first.case, &first.why, run.left_out.len() - 1)),
        _ => Ok(run),
    }
}

/// The groups in batches whose sets of operands fit together in memory, as far as single groups do.
fn batches<'a>(groups: &'a [Group], gpu: &Gpu) -> Vec<&'a [Group]> {
    let room = turns::room(gpu).min(BATCH_BYTES);
    let mut batches = Vec::new();
    let (mut begin, mut bytes) = (0, 0u64);
    for (at, group) in groups.iter().enumerate() {
        let cases = group.cases.iter().filter_map(|(case, _)| fits::turns(gpu, case).ok());
        let needed = cases.map(Turns::bytes).fold(0, u64::saturating_add);
        if at > begin && bytes.saturating_add(needed) > room {
            batches.push(&groups[begin..at]);
            (begin, bytes) = (at, 0);
        }
        bytes = bytes.saturating_add(needed);
    }
    batches.push(&groups[begin..]);
    batches
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

/// Times every case of a group once.
fn round(gpu: &Gpu, cases: &mut [(Case, Ready)], run: &mut Run, bar: &ProgressBar) -> Result<()> {
    for (case, ready) in cases {
        let Timing { seconds, clock } = ready.time(gpu)?;
        let row = run.row(Row::new(case, ready));
        row.clock = if clock == Clock::Gpu { "gpu" } else { "host" }.into();
        row.rounds.push(seconds);
        bar.inc(1);
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
