//! The candidates of problems, for devices that are not here: the first is the plan, each has a signature of its own, and the
//! trial takes the operands of all.

use std::collections::HashSet;
use support::families::slowed;
use support::laid::flat;
use support::wgsl::{self, FP8, I8, TYPES, plain};
use tilewise::attention::AttentionKernel;
use tilewise::conv::{ConvGeometry, ConvOptions, Padding, SamePadding};
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::planning::attention::{
    AttentionLayouts, AttentionProblem, AttentionRange, AttentionStatistics,
};
use tilewise::planning::conv::{ConvLayouts, ConvProblem, QuantisedConvProblem};
use tilewise::planning::gemm::{BiasAxis, GemmProblem, GemmTypes, Pin, SeedSource};
use tilewise::planning::ops::{SoftmaxFunction, SoftmaxProblem};
use tilewise::planning::sketch::DenseProblem;
use tilewise::planning::{Access, Plan, Problem, TimeSource, fixtures};
use tilewise::sketch::{Direction, Sketch, SketchKind};
use tilewise::{Activation, Caps, DType, Error, Precision};

const F32: GemmTypes = TYPES[0];

fn attention([heads, queries, keys, dim]: [usize; 4], dtype: DType) -> AttentionProblem {
    let (q, k) = (flat(&[1, heads, queries, dim]), flat(&[1, heads, keys, dim]));
    let (bias, lengths, keep) = (flat(&[queries, keys]), flat(&[1]), flat(&[1, keys]));
    let layouts = AttentionLayouts {
        q: &q,
        k: &k,
        v: &k,
        bias: Some(&bias),
        lengths: Some(&lengths),
        keep: (dim > 16).then_some(&keep),
        slopes: None,
    };
    AttentionProblem::new(layouts, AttentionRange::default(), AttentionStatistics::LogSums, dtype).unwrap()
}

fn sketch(kind: SketchKind) -> DenseProblem {
    let sketch = Sketch::new(kind, [192, 200], 1).unwrap();
    DenseProblem::new(&sketch, Direction::Forward, &flat(&[200, 256]), 0, DType::F32).unwrap()
}

/// Products of every type, of several sizes, and with what changes their plans.
fn products() -> Vec<GemmProblem> {
    let mut all = Vec::new();
    for shape in [[64, 64, 64], [1, 1000, 300], [256, 256, 2048], [1000, 1000, 1000], [0, 4, 4], [33, 7, 0]] {
        all.extend(TYPES.map(|types| plain(shape, types)));
        all.push(plain(shape, I8));
        all.push(plain(shape, GemmTypes::new(DType::I8, DType::I8)));
        all.extend(FP8.map(|types| plain(shape, types)));
        all.extend([Precision::Fast, Precision::Split].map(|to| plain(shape, F32).precision(to)));
    }
    let product = plain([120, 300, 900], F32);
    all.extend(GemmKernel::ALL.map(|kernel| product.pinned(Pin::Kernel(kernel))));
    all.push(product.pinned(Pin::Tile(GemmKernel::Tiled.tiles()[2])));
    all.push(product.split_k(SplitK::Splits(5)));
    all.push(product.alpha(2.0).beta(0.5).activation(Activation::Gelu));
    let scaled = plain([120, 300, 900], GemmTypes::new(DType::I8, DType::F16)).alpha(2.0);
    all.push(scaled.line_scale(BiasAxis::Columns, &flat(&[300])).unwrap());
    all.push(plain([120, 300, 900], FP8[1]).line_scale(BiasAxis::Rows, &flat(&[120])).unwrap());
    all.push(product.bias(BiasAxis::Columns, &flat(&[300]), DType::F32).unwrap());
    all
}

/// Convolutions, and the least number of their candidates: as products, each also by the direct kernel; and depthwise.
fn convolutions() -> Vec<(ConvProblem, usize)> {
    let cases = [
        ([2, 14, 14, 16], 3, 1, 3),
        ([2, 7, 8, 32], 1, 1, 3),
        ([1, 9, 9, 32], 3, 2, 3),
        ([1, 9, 9, 32], 3, 32, 1),
    ];
    let mut all = Vec::new();
    for ((x, taps, groups, least), dtype) in
        cases.into_iter().flat_map(|case| [DType::F32, DType::F16, DType::Bf16].map(|dtype| (case, dtype)))
    {
        let (x, weight, bias) = (flat(&x), flat(&[32, taps, taps, x[3] / groups]), flat(&[32]));
        let layouts = ConvLayouts {
            x: &x,
            weight: &weight,
            bias: Some((&bias, dtype)),
            scale_shift: None,
            residual: None,
        };
        let options = ConvOptions::<2>::new().padding(Padding::Same(SamePadding::ExtraAtEnd)).groups(groups);
        all.push((ConvProblem::new(layouts, &options, Activation::Silu, dtype).unwrap(), least));
    }
    all
}

/// A convolution of i8, requantised.
fn quantised() -> QuantisedConvProblem {
    let (x, weight) = (flat(&[1, 14, 14, 32]), flat(&[32, 3, 3, 32]));
    let geometry = ConvGeometry::new("test", &x, &weight, &ConvOptions::new()).unwrap();
    let problem = QuantisedConvProblem::new(&geometry, [&x, &weight], DType::I8).unwrap();
    problem.scaled(0.5).bias(&flat(&[32])).unwrap()
}

/// Checks the candidates of a problem and the operands of its trial.
fn check<P: Problem>(name: &str, problem: &P, caps: &Caps) -> Vec<Plan> {
    let Ok(plan) = problem.plan(caps) else {
        let (of_plan, of_candidates) = (problem.plan(caps).err(), problem.candidates(caps).err());
        assert_eq!(
            of_plan.map(|e| e.to_string()),
            of_candidates.map(|e| e.to_string()),
            "{name}: {problem:?}"
        );
        return Vec::new();
    };
    let candidates = problem.candidates(caps).unwrap();
    assert_eq!(candidates[0], plan, "{name}: {problem:?}");
    assert_eq!(plan.time_source(), TimeSource::Predicted);
    let signatures: HashSet<String> = candidates.iter().map(Plan::signature).collect();
    assert_eq!(signatures.len(), candidates.len(), "{name}: {problem:?}");
    for other in &candidates[1..] {
        assert_eq!(other.parameters(), plan.parameters(), "{name}: {other}");
        assert_eq!(other.scalars(), plan.scalars(), "{name}: {other}");
    }
    if let Some(trial) = problem.trial(caps).unwrap() {
        assert_eq!(trial.reference.parameters(), plan.parameters(), "{name}: {}", trial.reference);
        assert_eq!(trial.reference.scalars(), plan.scalars(), "{name}: {}", trial.reference);
        let kinds = |plan: &Plan| plan.scalars().iter().map(|scalar| scalar.kind).collect::<Vec<_>>();
        assert_eq!(kinds(&plan), trial.scalars.iter().map(|scalar| scalar.kind()).collect::<Vec<_>>());
        assert!(!trial.runs.is_empty());
        for run in &trial.runs {
            assert_eq!(run.values.len(), plan.parameters().len(), "{name}: {problem:?}");
            let outputs = plan.parameters().iter().filter(|to| to.access != Access::Read).count();
            assert_eq!(run.tolerances.len(), outputs, "{name}: {problem:?}");
            for of in &run.tolerances {
                assert!(of.relative < 0.05 && of.absolute.is_finite(), "{name}: {problem:?}: {of:?}");
            }
        }
    }
    candidates
}

fn each(mut check: impl FnMut(&str, &Caps)) {
    fixtures::ALL.iter().for_each(|(name, caps)| check(name, &caps()));
}

#[test]
fn the_first_candidate_of_a_product_is_its_plan() {
    each(|name, caps| {
        let mut many = 0;
        for problem in products() {
            let found = check(name, &problem, caps);
            many = many.max(found.len());
            if let Ok(Some(trial)) = problem.trial(caps) {
                let is_scalar = |step: &tilewise::planning::Step| {
                    ["gemm/naive", "gemm/reduce_splits"].contains(&step.kernel.shader())
                };
                assert!(trial.reference.steps().iter().all(is_scalar), "{name}: {}", trial.reference);
            }
        }
        assert!(many > 10, "{name}: {many}");
    });
}

#[test]
fn candidates_are_ranked_by_prediction() {
    each(|name, caps| {
        let plans = plain([512; 3], F32).candidates(caps).unwrap();
        // Large register tiles of software devices are charged for the time that it takes to compile them.
        let of_one_kernel = |plan: &&Plan| plan.steps()[0].kernel.shader() == "gemm/naive";
        assert_eq!(plans.iter().filter(of_one_kernel).count(), 1, "{name}");
        let slack = 1e-2;
        for pair in plans.windows(2) {
            assert!(pair[0].seconds() <= pair[1].seconds() + slack, "{name}: {} before {}", pair[0], pair[1]);
        }
    });
}

#[test]
fn a_pin_holds_for_all_candidates() {
    each(|name, caps| {
        let product = plain([120, 300, 900], F32);
        for plan in product.pinned(Pin::Kernel(GemmKernel::Naive)).candidates(caps).unwrap() {
            assert_eq!(plan.steps()[0].kernel.shader(), "gemm/naive", "{name}");
        }
        for plan in product.split_k(SplitK::Splits(5)).candidates(caps).unwrap() {
            let is_split = wgsl::parts_of(&plan) == 5;
            assert!(is_split || plan.steps()[0].kernel.shader() == "gemm/naive", "{name}: {plan}");
        }
        let coop = attention([4, 64, 64, 64], DType::F16).pinned(Some(AttentionKernel::Coop));
        for plan in coop.candidates(caps).unwrap_or_default() {
            assert_eq!(plan.steps()[0].kernel.shader(), "attention/attention_coop", "{name}");
        }
        let needs = |result: Result<_, Error>| matches!(result, Err(Error::Unsupported { .. }));
        let none = product.pinned(Pin::Kernel(GemmKernel::Dot));
        assert!(needs(none.plan(caps).map(|_| ())) && needs(none.candidates(caps).map(|_| ())), "{name}");
    });
}

#[test]
fn the_first_candidate_of_other_families_is_their_plan() {
    each(|name, caps| {
        for kind in [SketchKind::Gaussian, SketchKind::Sign, SketchKind::Uniform] {
            assert!(check(name, &sketch(kind), caps).len() > 1, "{name}");
            let seeded = sketch(kind).seeded(SeedSource::Tensor([0, 1]));
            assert!(check(name, &seeded, caps).len() > 1, "{name}");
        }
        for (shape, dtype) in [
            ([8, 100, 120, 16], DType::F32),
            ([8, 1, 4096, 64], DType::F16),
            ([32, 512, 512, 128], DType::F16),
            ([2, 3, 5, 7], DType::Bf16),
        ] {
            let problem = attention(shape, dtype);
            check(name, &problem, caps);
            check(name, &problem.pinned(Some(AttentionKernel::Plain)), caps);
            check(name, &problem.pinned(Some(AttentionKernel::Coop)), caps);
        }
        for (problem, least) in convolutions() {
            assert!(check(name, &problem, caps).len() >= least, "{name}: {problem}");
        }
        let sums = quantised();
        assert!(check(name, &sums, caps).len() > 1, "{name}: {sums}");
        assert!(sums.trial(caps).unwrap().is_some(), "{name}: {sums}");
        let rows = flat(&[64, 256]);
        let softmax = SoftmaxProblem::new(SoftmaxFunction::Softmax, &rows, None, 1, DType::F32).unwrap();
        assert_eq!(check(name, &softmax, caps).len(), 1, "{name}");
        assert_eq!(softmax.trial(caps).unwrap(), None);
    });
}

/// A measured device predicts other times, and long steps are cut into other numbers of pieces.
#[test]
fn signatures_depend_on_no_prediction() {
    each(|name, caps| {
        let slow = slowed(caps, 1e6);
        for problem in [plain([2048; 3], F32), plain([64, 64, 100_000], F32)] {
            let naive = problem.pinned(Pin::Kernel(GemmKernel::Naive));
            let [here, there] = [caps, &slow].map(|caps| naive.plan(caps).unwrap());
            assert!(there.steps().len() > here.steps().len(), "{name}: {there}");
            assert_eq!(here.signature(), there.signature(), "{name}");
        }
    });
}

/// A launch can be cut between workgroups, and not within one. What is longer than that is neither tried nor compared with.
#[test]
fn no_trial_keeps_a_device_busy_for_long() {
    let longest = |plan: &Plan| plan.steps().iter().map(|step| step.seconds).fold(0.0, f64::max);
    let (mut with_trial, mut without) = (0, 0);
    each(|name, caps| {
        for factor in [1.0, 1e3, 1e5, 1e9] {
            let slow = slowed(caps, factor);
            for problem in [plain([1, 1, 1 << 20], F32), plain([64, 64, 1 << 16], F32)] {
                let candidates = problem.candidates(&slow).unwrap();
                for plan in &candidates[1..] {
                    assert!(longest(plan) <= 1.0, "{name}, {factor} times slower: {plan}");
                }
                match problem.trial(&slow).unwrap() {
                    None => without += 1,
                    Some(trial) => {
                        with_trial += 1;
                        assert!(longest(&trial.reference) <= 1.0, "{name}, {factor}: {}", trial.reference);
                    }
                }
            }
        }
    });
    assert!(with_trial > without && without > 0, "{with_trial} with a trial, {without} without");
}

#[test]
fn only_outputs_that_are_read_have_contents() {
    let caps = fixtures::h200();
    let accesses = |problem: GemmProblem| {
        let plan = problem.trial(&caps).unwrap().expect("a trial").reference;
        plan.parameters().iter().map(|to| to.access).collect::<Vec<_>>()
    };
    let product = plain([64; 3], F32);
    assert_eq!(accesses(product), [Access::Read, Access::Read, Access::Write]);
    assert_eq!(accesses(product.beta(0.5)), [Access::Read, Access::Read, Access::Update]);
}
