//! A run: measures all cases, group by group.

use crate::arguments::Args;
use crate::case::Case;
use crate::cases::{Group, Unfit, groups};
use crate::fits::{self, Patience};
use crate::ready::Ready;
use crate::record::{Row, Run};
use crate::{operations, output, peaks, timing};
use indicatif::{ProgressBar, ProgressStyle};
use tilewise::gpu::Clock;
use tilewise::{DType, Error, Gpu, Result};

/// Rounds, and those of a quick run.
const ROUNDS: u32 = 15;
const QUICK_ROUNDS: u32 = 9;

/// Measures what the arguments ask for.
pub(crate) fn measure(args: &Args, gpu: &Gpu) -> Result<Run> {
    let rounds = args.rounds.unwrap_or(if args.quick { QUICK_ROUNDS } else { ROUNDS });
    let groups = groups(args, gpu);
    let cases: usize = groups.iter().map(|group| group.cases.len()).sum();
    // Shown only on a terminal.
    let bar = ProgressBar::new(cases as u64 * u64::from(rounds + 1)).with_style(style()?);
    bar.set_message("peaks");
    let mut run = Run::begin(gpu, peaks::measure(gpu));
    // A file that cannot be written is refused now, and not after minutes.
    output::write(args, &run, None)?;
    for group in &groups {
        let mut ready = prepare(args, gpu, group, &mut run, &bar)?;
        bar.inc((group.cases.len() - ready.len()) as u64 * u64::from(rounds));
        let first = run.rows.len();
        for _ in 0..rounds {
            let mut times = Vec::new();
            timing::round(gpu, ready.iter_mut().map(|(_, ready)| ready), |timing| {
                times.push(timing);
                bar.inc(1);
            })?;
            for (index, timing) in times.into_iter().enumerate() {
                if run.rows.len() == first + index {
                    let (case, ready) = &ready[index];
                    run.rows.push(Row::new(case, ready));
                }
                let row = &mut run.rows[first + index];
                row.clock = if timing.clock == Clock::Gpu { "gpu" } else { "host" }.into();
                row.rounds.push(timing.seconds);
            }
            output::write(args, &run, None)?;
        }
    }
    bar.set_message("peaks");
    run.peaks = run.peaks.or_higher(&peaks::measure(gpu));
    run.finished = true;
    bar.finish_and_clear();
    match (run.rows.is_empty(), run.left_out.first()) {
        (true, Some(first)) => {
            let others = run.left_out.len() - 1;
            let why = format!("{}, and {others} other cases do not fit either", first.why);
            Err(Error::Input { what: first.case.clone(), why })
        }
        _ => Ok(run),
    }
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
    let patience = if args.quick { Patience::Quick } else { Patience::Whole };
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
