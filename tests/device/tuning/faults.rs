//! Candidates with faults: they are found, none of them wins, and the application's own failures stay its own.

use super::{bare, executed, only, operands, problem, without_files};
use support::failure::{Kind, fails, says};
use support::heads::heads;
use support::laid::flat;
use tilewise::gpu::{CacheFolder, TriedVerdict, Tuning};
use tilewise::planning::attention::{AttentionProblem, AttentionRange, AttentionStatistics};
use tilewise::planning::gemm::{GemmProblem, GemmTypes};
use tilewise::planning::{Plan, Problem, Trial, fixtures};
use tilewise::{Activation, Caps, DType, Error, Gemm, Gpu, Result, matmul, ops};

/// A problem with one more candidate: the plan of another problem with the same operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Planted<P> {
    problem: P,
    fault: P,
    /// Whether the other plan is that of another device.
    is_foreign: bool,
}

impl<P: Problem> Problem for Planted<P> {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        self.problem.plan(caps)
    }

    fn candidates(&self, caps: &Caps) -> Result<Vec<Plan>> {
        let foreign = fixtures::h200();
        let planted = self.fault.plan(if self.is_foreign { &foreign } else { caps })?;
        let mut candidates = self.problem.candidates(caps)?;
        candidates.truncate(2);
        candidates.insert(1, planted);
        Ok(candidates)
    }

    fn trial(&self, caps: &Caps) -> Result<Option<Trial>> {
        self.problem.trial(caps)
    }
}

/// Tunes the problem, and says what became of the planted candidate. One of the others has won.
fn verdict_of<P: Problem>(gpu: &Gpu, problem: P, fault: P, is_foreign: bool) -> TriedVerdict {
    let planted = Planted { problem, fault, is_foreign };
    let tuned = gpu.tune(&planted).unwrap();
    // They are tried in their order.
    let [first, of_planted, ..] = &tuned.tried[..] else { panic!("{tuned}") };
    assert_ne!(first.verdict, TriedVerdict::Wrong, "{tuned}");
    assert!(tuned.winner().is_some_and(|winner| !std::ptr::eq(winner, of_planted)), "{tuned}");
    of_planted.verdict
}

fn product(activation: Activation) -> GemmProblem {
    let types = GemmTypes::new(DType::F32, DType::F32);
    let layouts = [flat(&[24, 4000]), flat(&[4000, 40]), flat(&[24, 40])];
    GemmProblem::new(&layouts[0], &layouts[1], &layouts[2], types).unwrap().activation(activation)
}

#[test]
fn another_function_of_the_sums_is_found_where_most_sums_are_saturated() {
    let Some(gpu) = without_files(Tuning::Off) else { return };
    // They differ by at most 0.0005 times a number near 0, and not at all far from it.
    let [problem, fault] = [Activation::Gelu, Activation::GeluTanh].map(product);
    assert_eq!(verdict_of(&gpu, problem, fault, false), TriedVerdict::Wrong);
}

/// An attention of one query, which attends this number of keys before its own.
fn attention(keys: usize, left: Option<usize>, dtype: DType) -> AttentionProblem {
    let (q, k) = (flat(&[1, 8, 1, 32]), flat(&[1, 8, keys, 32]));
    let layouts = heads([&q, &k, &k]);
    let range = AttentionRange { left, ..AttentionRange::default() };
    AttentionProblem::new(layouts, range, AttentionStatistics::LogSums, dtype).unwrap()
}

#[test]
fn lost_keys_of_a_long_attention_are_found() {
    let Some(gpu) = without_files(Tuning::Off) else { return };
    for (dtype, lost) in [(DType::F32, 16), (DType::F16, 16), (DType::F32, 64)] {
        let keys = 8192;
        let verdict = verdict_of(
            &gpu,
            attention(keys, None, dtype),
            attention(keys, Some(keys - 1 - lost), dtype),
            false,
        );
        assert_eq!(verdict, TriedVerdict::Wrong, "{lost} of {keys} keys, {dtype}");
    }
}

#[test]
fn a_candidate_that_cannot_be_compiled_does_not_end_the_trial() {
    let Some(gpu) = bare(Tuning::Off) else { return };
    let types = GemmTypes::new(DType::F16, DType::F32);
    let of = flat(&[64, 64]);
    let problem = GemmProblem::new(&of, &of, &of, types).unwrap();
    // A kernel on matrices or on numbers of f16, of which this device has neither.
    let verdict = verdict_of(&gpu, problem, problem, true);
    assert_eq!(verdict, TriedVerdict::Failed);
}

#[test]
fn candidates_with_other_operands_are_refused() {
    let Some(gpu) = without_files(Tuning::Off) else { return };
    let of = |m: usize| {
        let types = GemmTypes::new(DType::F32, DType::F32);
        GemmProblem::new(&flat(&[m, 64]), &flat(&[64, 32]), &flat(&[m, 32]), types).unwrap()
    };
    let (launches, in_use) = (gpu.stats().launches, gpu.stats().bytes_in_use);
    for fault in [of(48), of(24).alpha(2.0)] {
        let planted = Planted { problem: of(24), fault, is_foreign: false };
        fails(gpu.tune(&planted), Kind::Input, &["other operands"]);
    }
    assert_eq!((gpu.stats().launches, gpu.stats().bytes_in_use), (launches, in_use));
}

/// A launch that fails when it is submitted: its operand's buffer is destroyed.
fn record_failure(gpu: &Gpu) {
    let bad = gpu.zeros::<f32>([64]).unwrap();
    let good = gpu.zeros::<f32>([64]).unwrap();
    bad.buffer().unwrap().0.destroy();
    drop(ops::add(&good, &bad).unwrap());
}

#[test]
fn a_failure_of_the_application_is_told_to_the_application() {
    for tuning in [Tuning::Now, Tuning::Remembered] {
        let Some(gpu) = without_files(tuning) else { return };
        let [a, b] = operands(&gpu);
        record_failure(&gpu);
        if tuning == Tuning::Now {
            assert!(matmul(&a, &b).unwrap().to_vec().is_ok());
        } else {
            gpu.tune(&problem(&gpu)).unwrap();
        }
        only(&gpu);
        let told = gpu.flush().unwrap_err();
        assert!(matches!(told, Error::Device(_)), "{tuning:?}: {told:?}");
        assert!(told.to_string().contains("elementwise"), "{tuning:?}: {told}");
        gpu.flush().expect("it is told once");
    }
}

#[test]
fn nothing_is_tuned_while_the_hosts_clock_times() {
    let Some(gpu) = bare(Tuning::Now) else { return };
    let [a, b] = operands(&gpu);
    let (_, timing) = gpu.time(|| Gemm::new(&a, &b).run()).unwrap();
    assert_eq!(timing.clock, tilewise::gpu::Clock::Host);
    assert!(gpu.tuned().is_empty());
    says(gpu.time(|| gpu.tune(&problem(&gpu)).map(drop)), &["timed"]);
    executed(&gpu);
    only(&gpu);
}

#[test]
fn a_forgotten_winner_is_no_longer_used() {
    let Some(gpu) = without_files(Tuning::Remembered) else { return };
    let by_prediction = executed(&gpu).0;
    gpu.tune(&problem(&gpu)).unwrap();
    gpu.forget_tuning();
    assert_eq!(executed(&gpu).0, by_prediction);
    let [a, b] = operands(&gpu);
    assert_eq!(Gemm::new(&a, &b).plan().unwrap().signature(), by_prediction.signature());
}

/// The operands of a trial have their place in the budget before anything is made on the host.
#[test]
fn a_problem_that_is_larger_than_the_memory_is_refused_at_once() {
    let budget = 1 << 20;
    let Some(gpu) = support::own(|options| {
        options.tuning = Tuning::Remembered;
        options.cache = CacheFolder::Off;
        options.memory_budget = Some(budget);
    }) else {
        return;
    };
    let of = flat(&[8192, 4096]);
    let types = GemmTypes::new(DType::F32, DType::F32);
    let problem = GemmProblem::new(&of, &flat(&[4096, 8]), &flat(&[8192, 8]), types).unwrap();
    let before = gpu.stats();
    fails(gpu.tune(&problem), Kind::OutOfMemory, &[]);
    let after = gpu.stats();
    assert_eq!((after.launches, after.pipelines, after.bytes_in_use), (0, before.pipelines, 0));
}
