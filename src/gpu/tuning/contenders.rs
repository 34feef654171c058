//! Selects the candidates of a problem that are tried, and the one that wins.

use crate::gpu::tuned::tried::{Tried, TriedVerdict};
use crate::plan::{MAX_STEP_SECONDS, Plan};
use std::collections::HashMap;

/// Most candidates that are tried.
const MOST: usize = 10;
/// Most candidates with the same tile that are tried because of their prediction. They differ in the number of splits.
const MOST_OF_TILE: usize = 3;
/// The best candidate of each kernel is tried if it is predicted to take at most this many times as long as the fastest.
const WIDE: f64 = 8.0;

/// A candidate with a launch that is predicted to take more seconds, and that cannot be divided further, is not tried.
const TOO_LONG: f64 = 2.0 * MAX_STEP_SECONDS;

/// The candidates to try, fastest predicted first: the first, the best one of each kernel, and the next best.
pub(in crate::gpu) fn contenders(candidates: Vec<Plan>) -> Vec<Plan> {
    let tile = |plan: &Plan| {
        plan.steps().first().map(|step| (step.kernel.shader(), step.tile.clone())).unwrap_or_default()
    };
    let longest = |plan: &Plan| plan.steps().iter().map(|step| step.seconds).fold(0.0, f64::max);
    let limit = WIDE * candidates.first().map_or(0.0, Plan::seconds);
    let (mut of_kernel, mut of_tile) = (HashMap::new(), HashMap::new());
    let mut ranked: Vec<(bool, Plan)> = Vec::new();
    for plan in candidates {
        // A candidate that would keep the device busy for too long is tried only if it is the predicted plan.
        if !ranked.is_empty() && longest(&plan) > TOO_LONG {
            continue;
        }
        let (kernel, tile) = tile(&plan);
        let is_best_of_kernel = of_kernel.insert(kernel, ()).is_none();
        let count = of_tile.entry((kernel, tile)).or_insert(0);
        *count += 1;
        if ranked.is_empty() || is_best_of_kernel && plan.seconds() <= limit {
            ranked.push((true, plan));
        } else if *count <= MOST_OF_TILE {
            ranked.push((false, plan));
        }
    }
    let certain = ranked.iter().filter(|(is_certain, _)| *is_certain).count();
    let mut room = MOST.saturating_sub(certain);
    let is_tried = |(is_certain, plan): (bool, Plan)| {
        if is_certain {
            return Some(plan);
        }
        room = room.checked_sub(1)?;
        Some(plan)
    };
    ranked.into_iter().filter_map(is_tried).collect()
}

/// Lets the fastest candidate with right results win.
pub(in crate::gpu) fn decide(tried: &mut [Tried]) {
    let is_right = |tried: &&mut Tried| matches!(tried.verdict, TriedVerdict::Right | TriedVerdict::Slow);
    let measured = tried.iter_mut().filter(is_right).filter(|tried| tried.measured.is_some());
    let seconds = |tried: &&mut Tried| tried.measured.unwrap_or(f64::INFINITY);
    if let Some(fastest) = measured.min_by(|a, b| seconds(a).total_cmp(&seconds(b))) {
        fastest.verdict = TriedVerdict::Won;
    }
}

/// The median of measured times, and the difference of the quartiles as a share of it.
pub(in crate::gpu) fn median_and_spread(mut seconds: Vec<f64>) -> Option<(f64, f64)> {
    seconds.sort_by(f64::total_cmp);
    let last = seconds.len().checked_sub(1)?;
    let at = |quarter: usize| seconds[last * quarter / 4];
    let median = at(2);
    Some((median, if median > 0.0 { (at(3) - at(1)) / median } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;
    use crate::gemm::{GemmProblem, GemmTypes};
    use crate::layout::{DType, Layout};
    use crate::plan::Problem;

    fn tried(measured: Option<f64>, verdict: TriedVerdict) -> Tried {
        Tried { signature: String::new(), predicted: 1.0, measured, spread: 0.0, verdict }
    }

    #[test]
    fn a_candidate_that_is_wrong_never_wins() {
        use TriedVerdict::{Failed, Right, Slow, Untried, Won, Wrong};
        let verdicts = |mut tried: Vec<Tried>| {
            decide(&mut tried);
            tried.into_iter().map(|tried| tried.verdict).collect::<Vec<_>>()
        };
        let fast_and_wrong = vec![
            tried(Some(3.0), Right),
            tried(Some(1e-9), Wrong),
            tried(Some(2.0), Right),
            tried(Some(1e-9), Failed),
            tried(Some(9.0), Slow),
            tried(None, Untried),
        ];
        assert_eq!(verdicts(fast_and_wrong), [Right, Wrong, Won, Failed, Slow, Untried]);
        assert_eq!(verdicts(vec![tried(Some(1.0), Wrong), tried(None, Right)]), [Wrong, Right]);
        assert_eq!(verdicts(vec![tried(Some(1.0), Right), tried(Some(1.0), Right)]), [Won, Right]);
        assert_eq!(verdicts(Vec::new()), []);
    }

    #[test]
    fn medians_and_quartiles() {
        assert_eq!(median_and_spread(vec![]), None);
        assert_eq!(median_and_spread(vec![2.0]), Some((2.0, 0.0)));
        assert_eq!(median_and_spread(vec![4.0, 1.0, 2.0, 3.0, 100.0]), Some((3.0, 2.0 / 3.0)));
        assert_eq!(median_and_spread(vec![0.0, 0.0]), Some((0.0, 0.0)));
    }

    #[test]
    fn every_kernel_near_the_best_is_tried_and_not_too_many_candidates() {
        for (name, caps) in fixtures::ALL {
            let caps = caps();
            for (size, dtype) in [(64, DType::F32), (256, DType::F16), (1000, DType::F32)] {
                let of = Layout::contiguous("test", &[size, size]).unwrap();
                let types = GemmTypes::new(dtype, DType::F32);
                let problem = GemmProblem::new(&of, &of, &of, types).unwrap();
                let candidates = problem.candidates(&caps).unwrap();
                let kernel = |plan: &Plan| plan.steps()[0].kernel.shader();
                let tried = contenders(candidates.clone());
                assert!(
                    tried.len() <= MOST && tried.len() >= candidates.len().min(4),
                    "{name}: {}",
                    tried.len()
                );
                assert_eq!(tried[0].signature(), problem.plan(&caps).unwrap().signature(), "{name}");
                for near in candidates.iter().filter(|plan| plan.seconds() <= WIDE * tried[0].seconds()) {
                    assert!(tried.iter().any(|plan| kernel(plan) == kernel(near)), "{name}: {near}");
                }
            }
        }
    }
}
