//! Tries the candidates of a problem: each is compiled, run, compared with the reference, and timed in interleaved rounds.

use super::contenders::{decide, median_and_spread};
use super::trial_operands::{OP, Of, TrialBuffers};
use super::trial_results::Output;
use crate::gpu::driver::lock::foreign;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::kernels::prepared::Prepared;
use crate::gpu::tuned::tried::{Tried, TriedVerdict};
use crate::plan::{Plan, Tolerance, Trial, TrialRun};
use crate::progress::Steps;
use crate::{Error, Result};
use std::time::{Duration, Instant};

/// After this time no further candidate is compiled.
const COMPILING: Duration = Duration::from_secs(15);
/// After this time no further round begins.
const MEASURING: Duration = Duration::from_millis(1500);
/// Rounds at most.
const ROUNDS: usize = 15;
/// The first round is a warm-up. After this number of rounds slow candidates are dropped, each by its fastest time: other work
/// on the machine can disturb one measurement.
const WARM: usize = 2;
/// Seconds that the runs of a candidate in one round should take together, so that the clock's steps do not matter.
const ENOUGH: f64 = 400e-6;
/// Launches of a candidate in one round at most: `Gpu::time` takes fewer than 64. Longer plans are timed on the host.
const LAUNCHES: usize = 60;
/// A candidate that takes this many times as long as the fastest in the first rounds is not measured again.
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

/// Tries these candidates. Afterwards each has a verdict, and the fastest one with right results has won.
pub(in crate::gpu) fn run(gpu: &Gpu, trial: &Trial, candidates: Vec<Plan>) -> Result<Vec<Tried>> {
    check_operands(trial, &candidates)?;
    let buffers = TrialBuffers::new(gpu, trial.reference.parameters())?;
    let untried =
        |plan| Candidate { plan, prepared: None, verdict: TriedVerdict::Untried, seconds: Vec::new() };
    let mut candidates: Vec<Candidate> = candidates.into_iter().map(untried).collect();
    let count = candidates.len();
    // Each candidate is compiled, and checked in each run; then come the rounds.
    let steps = Steps::aside(OP, count * (1 + trial.runs.len()) + ROUNDS);
    compile(gpu, &mut candidates, |at| foreign(|| steps.at(at, "compiling candidates")))?;
    let reference = gpu.compiled(trial.reference.clone())?;
    for (before, run) in (1..).zip(&trial.runs) {
        let report = |at| foreign(|| steps.at(count * before + at, "checking results"));
        check(gpu, trial, (run, &reference), &buffers, &mut candidates, report)?;
    }
    let before = count * (1 + trial.runs.len());
    measure(gpu, trial, &buffers, &mut candidates, |round| {
        foreign(|| steps.at(before + round, "measuring"))
    })?;
    foreign(|| steps.end())?;
    let mut tried: Vec<Tried> = candidates.into_iter().map(Candidate::tried).collect();
    decide(&mut tried);
    Ok(tried)
}

/// Checks that all plans take the same operands and numbers: a problem may be of another crate.
fn check_operands(trial: &Trial, candidates: &[Plan]) -> Result<()> {
    let takes = |plan: &Plan| {
        let kinds = plan.scalars().iter().map(|scalar| scalar.kind);
        plan.parameters() == trial.reference.parameters()
            && kinds.eq(trial.scalars.iter().map(|scalar| scalar.kind()))
    };
    if takes(&trial.reference) && candidates.iter().all(takes) {
        return Ok(());
    }
    Err(Error::input(OP, "the candidates of the problem take other operands or numbers than its trial"))
}

/// `report` gets the number of candidates before the one that is compiled next.
fn compile(gpu: &Gpu, candidates: &mut [Candidate], report: impl Fn(usize) -> Result<()>) -> Result<()> {
    let start = Instant::now();
    for (at, candidate) in candidates.iter_mut().enumerate() {
        report(at)?;
        if start.elapsed() > COMPILING {
            break;
        }
        match gpu.compiled(candidate.plan.clone()) {
            Ok(prepared) => {
                (candidate.prepared, candidate.verdict) = (Some(prepared), TriedVerdict::Right);
            }
            Err(error) => candidate.has_failed(gpu, error)?,
        }
    }
    Ok(())
}

/// Runs the reference, and every candidate that was right so far, with the operands of a run.
fn check(
    gpu: &Gpu,
    trial: &Trial,
    (run, reference): (&TrialRun, &Prepared),
    buffers: &TrialBuffers<'_>,
    candidates: &mut [Candidate],
    report: impl Fn(usize) -> Result<()>,
) -> Result<()> {
    let compute = |prepared: &Prepared, of: Of| {
        buffers.fill_outputs(run, of)?;
        gpu.run_prepared(prepared, &buffers.views(of), &trial.scalars)
    };
    buffers.fill_inputs(run)?;
    compute(reference, Of::Reference)?;
    let tolerance = |at: usize| run.tolerances.get(at).copied().unwrap_or(Tolerance::default());
    let outputs: Vec<_> = buffers.outputs().enumerate().collect();
    let compared: Vec<_> = outputs
        .iter()
        .map(|(at, (to, buffers))| (Output::new((to.dtype, &to.layout), tolerance(*at)), *buffers))
        .collect();
    let is_right = |prepared: &Prepared| -> Result<bool> {
        compute(prepared, Of::Candidate)?;
        for (output, buffers) in &compared {
            if !output.is_near(gpu, *buffers)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    // Results that the reference lacks are an error of the trial, not of the candidates.
    gpu.wait()?;
    buffers.outputs().try_for_each(|(_, [_, expected])| expected.check())?;
    let is_next = |(_, candidate): &(usize, &mut Candidate)| candidate.verdict == TriedVerdict::Right;
    for (at, candidate) in candidates.iter_mut().enumerate().filter(is_next) {
        let Some(prepared) = &candidate.prepared else { continue };
        report(at)?;
        match is_right(prepared) {
            Ok(true) => {}
            Ok(false) => {
                let (op, signature) = (candidate.plan.op(), candidate.plan.signature());
                log::warn!("{op}: a candidate has wrong results on this device: {signature}");
                candidate.verdict = TriedVerdict::Wrong;
            }
            Err(error) => candidate.has_failed(gpu, error)?,
        }
    }
    Ok(())
}

/// Times the candidates that are right in interleaved rounds.
fn measure(
    gpu: &Gpu,
    trial: &Trial,
    buffers: &TrialBuffers<'_>,
    candidates: &mut [Candidate],
    report: impl Fn(usize) -> Result<()>,
) -> Result<()> {
    let views = buffers.views(Of::Candidate);
    let launch = |prepared: &Prepared| gpu.run_prepared(prepared, &views, &trial.scalars);
    let (start, mut fastest) = (Instant::now(), f64::INFINITY);
    for round in 0..ROUNDS {
        report(round)?;
        for candidate in candidates.iter_mut().filter(|candidate| candidate.verdict == TriedVerdict::Right) {
            let Some(prepared) = &candidate.prepared else { continue };
            match seconds(gpu, &candidate.plan, candidate.repeats(), || launch(prepared)) {
                Ok(found) => candidate.seconds.push(found),
                // Other threads submit work all the time: no measurement would be of the candidates alone.
                Err(error @ Error::Input { .. }) => return Err(error),
                Err(error) => candidate.has_failed(gpu, error)?,
            }
        }
        if round + 1 == WARM {
            let right = || candidates.iter().filter(|candidate| candidate.verdict == TriedVerdict::Right);
            fastest = right().map(Candidate::fastest).fold(fastest, f64::min);
            let is_slow = |candidate: &&mut Candidate| {
                candidate.verdict == TriedVerdict::Right && candidate.fastest() > SLOW * fastest
            };
            candidates.iter_mut().filter(is_slow).for_each(|slow| slow.verdict = TriedVerdict::Slow);
        }
        if start.elapsed() > MEASURING {
            break;
        }
    }
    Ok(())
}

/// The seconds of one of several launches of a plan.
fn seconds(gpu: &Gpu, plan: &Plan, repeats: usize, launch: impl Fn() -> Result<()>) -> Result<f64> {
    let work = || (0..repeats).try_for_each(|_| launch());
    if plan.steps().len() > LAUNCHES {
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
            Err(Error::Input { .. }) => {
                let why = "other threads submit work all the time, so that nothing can be measured";
                return Err(Error::input(OP, why));
            }
            Err(error) => return Err(error),
        }
    }
}

impl Candidate {
    /// The candidate cannot be compiled or run. Fails if that is because the device is lost or the trial is cancelled.
    fn has_failed(&mut self, gpu: &Gpu, error: Error) -> Result<()> {
        if matches!(error, Error::Cancelled { .. }) {
            return Err(error);
        }
        gpu.inner.status.check()?;
        // The failed launch is not one of the application.
        let _ = gpu.take_failure();
        log::warn!("{}: a candidate cannot be tried: {error}: {}", self.plan.op(), self.plan.signature());
        self.verdict = TriedVerdict::Failed;
        self.seconds.clear();
        Ok(())
    }

    /// The shortest time so far.
    fn fastest(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// How many times it is launched in a round.
    fn repeats(&self) -> usize {
        let launches = LAUNCHES / self.plan.steps().len().max(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number, limited to a small one"
        )]
        let wanted = (ENOUGH / self.fastest()).ceil() as usize;
        wanted.clamp(1, launches.max(1))
    }

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
