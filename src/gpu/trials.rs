//! Tries the candidates of a problem: each is compiled, run, compared with the reference, and timed in interleaved rounds.

use super::contenders::{decide, median_and_spread};
use super::handle::Gpu;
use super::memory::Allocation;
use super::prepared::Prepared;
use super::trial_operands::{is_near, upload};
use super::tuned::{Tried, TriedVerdict};
use super::view::View;
use crate::plan::{Access, Parameter, Plan, Trial, TrialRun};
use crate::{Error, Result};
use std::time::{Duration, Instant};

/// After this time no further candidate is compiled.
const COMPILING: Duration = Duration::from_secs(15);
/// After this time no further round begins.
const MEASURING: Duration = Duration::from_millis(1500);
/// Rounds at most.
const ROUNDS: usize = 15;
/// Seconds that the runs of a candidate in one round should take together, so that the clock's steps do not matter.
const ENOUGH: f64 = 400e-6;
/// Launches of a candidate in one round at most: `Gpu::time` takes fewer than 64. Longer plans are timed on the host.
const LAUNCHES: usize = 60;
/// A candidate that takes this many times as long as the fastest in the first round is not measured again.
const SLOW: f64 = 3.0;
/// How often a round is tried again if other threads' work is submitted in between.
const TRIES: usize = 3;

/// A candidate under trial.
struct Candidate {
    plan: Plan,
    prepared: Option<Prepared>,
    verdict: TriedVerdict,
    seconds: Vec<f64>,
}

/// The buffers of a run.
struct Buffers {
    inputs: Vec<Option<Allocation>>,
    outputs: Vec<Option<Allocation>>,
}

/// Tries these candidates. Each has a verdict then, and the fastest one with right results has won.
pub(super) fn run(gpu: &Gpu, trial: &Trial, candidates: Vec<Plan>) -> Result<Vec<Tried>> {
    let untried =
        |plan| Candidate { plan, prepared: None, verdict: TriedVerdict::Untried, seconds: Vec::new() };
    let mut candidates: Vec<Candidate> = candidates.into_iter().map(untried).collect();
    compile(gpu, &mut candidates)?;
    let mut last = None;
    for run in &trial.runs {
        last = Some(check(gpu, trial, run, &mut candidates)?);
    }
    if let Some(buffers) = last {
        measure(gpu, trial, &buffers, &mut candidates)?;
    }
    let mut tried: Vec<Tried> = candidates.into_iter().map(Candidate::tried).collect();
    decide(&mut tried);
    Ok(tried)
}

fn compile(gpu: &Gpu, candidates: &mut [Candidate]) -> Result<()> {
    let start = Instant::now();
    for candidate in candidates {
        if start.elapsed() > COMPILING {
            break;
        }
        match gpu.compiled(candidate.plan.clone()) {
            Ok(prepared) => {
                (candidate.prepared, candidate.verdict) = (Some(prepared), TriedVerdict::Right);
            }
            Err(error) => {
                gpu.inner.status.check()?;
                log::warn!("{}: a candidate cannot be tried: {error}", candidate.plan.op());
                candidate.verdict = TriedVerdict::Failed;
            }
        }
    }
    Ok(())
}

/// Runs the reference, and every candidate that was right so far, with the operands of a run.
fn check(gpu: &Gpu, trial: &Trial, run: &TrialRun, candidates: &mut [Candidate]) -> Result<Buffers> {
    let parameters = trial.reference.parameters();
    let mut buffers = Buffers {
        inputs: upload(gpu, parameters, run, |access| access == Access::Read)?,
        outputs: Vec::new(),
    };
    let results = |buffers: &mut Buffers, prepared: &Prepared| -> Result<Vec<Option<Vec<u8>>>> {
        buffers.outputs = upload(gpu, parameters, run, |access| access != Access::Read)?;
        gpu.run_prepared(prepared, &buffers.views(parameters), &trial.scalars)?;
        let read = |output: &Option<Allocation>| match output {
            Some(output) => gpu.start_read_blocking(output, 0..output.len())?.wait(<[u8]>::to_vec).map(Some),
            None => Ok(None),
        };
        buffers.outputs.iter().map(read).collect()
    };
    let expected = results(&mut buffers, &gpu.compiled(trial.reference.clone())?)?;
    for candidate in candidates.iter_mut().filter(|candidate| candidate.verdict == TriedVerdict::Right) {
        let Some(prepared) = &candidate.prepared else { continue };
        candidate.verdict = match results(&mut buffers, prepared) {
            Ok(found) if are_near(parameters, &found, &expected, run) => TriedVerdict::Right,
            Ok(_) => {
                let (op, signature) = (candidate.plan.op(), candidate.plan.signature());
                log::warn!("{op}: a candidate has wrong results on this device: {signature}");
                TriedVerdict::Wrong
            }
            Err(error) => {
                gpu.inner.status.check()?;
                log::warn!("{}: a candidate cannot be tried: {error}", candidate.plan.op());
                TriedVerdict::Failed
            }
        };
    }
    Ok(buffers)
}

fn are_near(
    parameters: &[Parameter],
    found: &[Option<Vec<u8>>],
    expected: &[Option<Vec<u8>>],
    run: &TrialRun,
) -> bool {
    parameters.iter().zip(found.iter().zip(expected)).all(|(to, results)| match results {
        (Some(found), Some(expected)) => is_near((to.dtype, &to.layout), found, expected, run.tolerance),
        _ => to.access == Access::Read,
    })
}

/// Times the candidates that are right in interleaved rounds.
fn measure(gpu: &Gpu, trial: &Trial, buffers: &Buffers, candidates: &mut [Candidate]) -> Result<()> {
    let views = buffers.views(trial.reference.parameters());
    let seconds = |candidate: &Candidate, repeats: usize| -> Result<f64> {
        let Some(prepared) = &candidate.prepared else { return Ok(f64::INFINITY) };
        let work = || (0..repeats).try_for_each(|_| gpu.run_prepared(prepared, &views, &trial.scalars));
        if candidate.plan.steps().len() > LAUNCHES {
            gpu.wait()?;
            let start = Instant::now();
            work()?;
            gpu.wait()?;
            return Ok(start.elapsed().as_secs_f64() / repeats as f64);
        }
        let mut tries = 1;
        loop {
            match gpu.time(work) {
                Ok(((), timing)) => return Ok(timing.seconds / repeats as f64),
                // Another thread has submitted work.
                Err(Error::Input { .. }) if tries < TRIES => tries += 1,
                Err(error) => return Err(error),
            }
        }
    };
    let (start, mut fastest) = (Instant::now(), f64::INFINITY);
    for round in 0..ROUNDS {
        for candidate in candidates.iter_mut().filter(|candidate| candidate.verdict == TriedVerdict::Right) {
            let launches = LAUNCHES / candidate.plan.steps().len().max(1);
            let once = candidate.seconds.first().copied().unwrap_or(f64::INFINITY);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a positive number, limited to a small one"
            )]
            let repeats = ((ENOUGH / once).ceil() as usize).clamp(1, launches.max(1));
            let found = seconds(candidate, repeats)?;
            candidate.seconds.push(found);
            fastest = fastest.min(found);
        }
        if round == 0 {
            let is_slow = |candidate: &&mut Candidate| {
                candidate.verdict == TriedVerdict::Right
                    && candidate.seconds.first().is_some_and(|&found| found > SLOW * fastest)
            };
            candidates.iter_mut().filter(is_slow).for_each(|slow| slow.verdict = TriedVerdict::Slow);
        }
        if start.elapsed() > MEASURING {
            break;
        }
    }
    Ok(())
}

impl Buffers {
    /// The operands of a call.
    fn views(&self, parameters: &[Parameter]) -> Vec<View<'_>> {
        let buffers =
            self.inputs.iter().zip(&self.outputs).map(|(input, output)| input.as_ref().or(output.as_ref()));
        let views = parameters.iter().zip(buffers);
        views.filter_map(|(to, buffer)| Some(View::new(buffer?, to.layout, to.dtype))).collect()
    }
}

impl Candidate {
    /// The outcome. The first round, which warms up, counts only if it was the only one.
    fn tried(self) -> Tried {
        let Self { plan, verdict, mut seconds, .. } = self;
        if seconds.len() > 1 {
            seconds.remove(0);
        }
        let measured = median_and_spread(seconds);
        Tried {
            signature: plan.signature(),
            predicted: plan.seconds(),
            measured: measured.map(|(median, _)| median),
            spread: measured.map_or(0.0, |(_, spread)| spread),
            verdict,
        }
    }
}
