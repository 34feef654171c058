//! What `Gpu::tune` tries, and what it returns.

use super::{executed, is_measured, operands, problem, result_of, without_files};
use support::laid::flat;
use tilewise::attention::AttentionKernel;
use tilewise::conv::{ConvGeometry, ConvOptions, Padding};
use tilewise::gpu::{TriedVerdict, Tuning};
use tilewise::planning::attention::{
    AttentionLayouts, AttentionProblem, AttentionRange, AttentionStatistics,
};
use tilewise::planning::conv::{ConvLayouts, ConvProblem, QuantisedConvProblem};
use tilewise::planning::gemm::{BiasAxis, GemmProblem, GemmTypes};
use tilewise::planning::ops::{SoftmaxFunction, SoftmaxProblem};
use tilewise::planning::sketch::DenseProblem;
use tilewise::planning::{Problem, TimeSource};
use tilewise::sketch::{Direction, Sketch, SketchKind};
use tilewise::{Activation, DType, Error, Gemm, Gpu, Precision, reference};

fn product([m, n, k]: [usize; 3], ab: DType, c: DType) -> GemmProblem {
    GemmProblem::new(&flat(&[m, k]), &flat(&[k, n]), &flat(&[m, n]), GemmTypes::new(ab, c)).unwrap()
}

/// Tunes a problem: every candidate that can be compiled has right results, and the fastest won.
fn tune<P: Problem>(gpu: &Gpu, problem: &P) {
    let tuned = gpu.tune(problem).unwrap();
    let winner = tuned.winner().expect("a candidate won");
    for tried in &tuned.tried {
        let is_allowed = matches!(tried.verdict, TriedVerdict::Untried) || is_measured(&tried);
        assert!(is_allowed, "{tuned}");
        assert!(tried.measured.is_none() || tried.measured >= winner.measured, "{tuned}");
        assert!(tried.predicted > 0.0 && tried.spread >= 0.0, "{tuned}");
    }
    assert_eq!(tuned.tried[0].signature, problem.plan(gpu.caps()).unwrap().signature(), "{tuned}");
    assert!(tuned.gain() >= Some(1.0), "{tuned}");
    let text = tuned.to_string();
    assert_eq!(text.lines().count(), 1 + tuned.tried.len(), "{text}");
    assert!(text.contains("won") && text.contains(&winner.signature), "{text}");
}

#[test]
fn candidates_of_every_family_have_right_results() {
    let Some(gpu) = without_files(Tuning::Off) else { return };
    tune(&gpu, &product([33, 50, 70], DType::F32, DType::F32).alpha(2.0).beta(1.0));
    let bias = product([40, 64, 300], DType::F16, DType::F16).activation(Activation::Gelu);
    tune(&gpu, &bias.bias(BiasAxis::Columns, &flat(&[64]), DType::F16).unwrap());
    tune(&gpu, &product([33, 20, 65], DType::I8, DType::I32));
    for c in support::few([DType::I8, DType::F16], 2) {
        let scaled = product([33, 20, 65], DType::I8, c).line_scale(BiasAxis::Rows, &flat(&[33])).unwrap();
        tune(&gpu, &scaled.line_scale(BiasAxis::Columns, &flat(&[20])).unwrap());
    }
    tune(&gpu, &product([32, 32, 64], DType::F32, DType::F32).precision(Precision::Split));
    tune(&gpu, &product([1, 300, 200], DType::Bf16, DType::F32));
    let sketch = Sketch::new(SketchKind::Gaussian, [32, 100], 1).unwrap();
    tune(&gpu, &DenseProblem::new(&sketch, Direction::Forward, &flat(&[100, 40]), 0, DType::F32).unwrap());
}

#[test]
fn candidates_of_attention_have_right_results() {
    let Some(gpu) = without_files(Tuning::Off) else { return };
    for dtype in support::few([DType::F16, DType::F32], 2) {
        let (q, k) = (flat(&[1, 2, 40, 16]), flat(&[1, 2, 200, 16]));
        let (lengths, keep, slopes) = (flat(&[1]), flat(&[1, 200]), flat(&[2]));
        let layouts = AttentionLayouts {
            q: &q,
            k: &k,
            v: &k,
            bias: None,
            lengths: Some(&lengths),
            keep: Some(&keep),
            slopes: Some(&slopes),
        };
        let (range, statistics) = (AttentionRange::default(), AttentionStatistics::LogSums);
        let problem = AttentionProblem::new(layouts, range, statistics, dtype).unwrap();
        tune(&gpu, &problem);
        tune(&gpu, &problem.pinned(Some(AttentionKernel::Plain)));
    }
}

/// Of windows, and of i8 windows.
#[test]
fn candidates_of_convolutions_have_right_results() {
    let Some(gpu) = without_files(Tuning::Off) else { return };
    let (x, weight, vector) = (flat(&[1, 9, 10, 12]), flat(&[20, 3, 3, 12]), flat(&[20]));
    let options = ConvOptions::new().padding(Padding::Explicit([[1, 1], [2, 0]])).stride([2, 1]);
    let geometry = ConvGeometry::new("test", &x, &weight, &options).unwrap();
    let residual = flat(&geometry.output_shape());
    // A software driver compiles each kernel on matrices for many seconds: of f16 in full sweeps alone.
    let types = if support::is_full_sweep() { &[DType::F32, DType::F16][..] } else { &[DType::F32] };
    for &dtype in types {
        let layouts = ConvLayouts {
            x: &x,
            weight: &weight,
            bias: Some((&vector, dtype)),
            scale_shift: Some([&vector, &vector]),
            residual: Some(&residual),
        };
        tune(&gpu, &ConvProblem::new(layouts, &options, Activation::Relu, dtype).unwrap());
    }
    let sums = QuantisedConvProblem::new(&geometry, [&x, &weight], DType::I8).unwrap();
    tune(&gpu, &sums.scaled(0.5).bias(&vector).unwrap().channel_scales(&vector).unwrap());
}

/// Distances are then much larger than the number of keys, and so are the scores that slopes make of them.
#[test]
fn candidates_of_attention_with_slopes_and_few_keys_have_right_results() {
    let Some(gpu) = without_files(Tuning::Off) else { return };
    let (q, k, slopes) = (flat(&[1, 4, 30_000, 8]), flat(&[1, 4, 16, 8]), flat(&[4]));
    let (bias, lengths, keep, slopes) = (None, None, None, Some(&slopes));
    let layouts = AttentionLayouts { q: &q, k: &k, v: &k, bias, lengths, keep, slopes };
    let (range, statistics) = (AttentionRange::default(), AttentionStatistics::LogSums);
    tune(&gpu, &AttentionProblem::new(layouts, range, statistics, DType::F32).unwrap());
}

#[test]
fn a_family_with_one_plan_has_nothing_to_try() {
    let Some(gpu) = without_files(Tuning::Remembered) else { return };
    let rows = flat(&[8, 64]);
    let softmax = SoftmaxProblem::new(SoftmaxFunction::Softmax, &rows, None, 1, DType::F32).unwrap();
    let tuned = gpu.tune(&softmax).unwrap();
    assert_eq!(tuned.tried.len(), 1);
    assert_eq!((tuned.tried[0].verdict, tuned.winner()), (TriedVerdict::Untried, None));
    assert_eq!(gpu.stats().launches, 0);
    assert!(gpu.tuned().is_empty());
}

#[test]
fn a_tuned_problem_has_the_winner_from_then_on_and_all_memory_returns() {
    let Some(gpu) = without_files(Tuning::Remembered) else { return };
    let of = problem(&gpu);
    gpu.wait().unwrap();
    let before = gpu.stats().bytes_in_use;
    let predicted = executed(&gpu).0;
    assert_eq!(predicted.time_source(), TimeSource::Predicted);
    let tuned = gpu.tune(&of).unwrap();
    assert_eq!(gpu.stats().bytes_in_use, before, "operands and temporaries are in the pool again");
    let winner = tuned.winner().unwrap();
    let (plan, result) = executed(&gpu);
    assert_eq!(plan.signature(), winner.signature);
    assert_eq!(plan.time_source(), TimeSource::Measured);
    assert!((plan.seconds() / winner.measured.unwrap() - 1.0).abs() < 1e-9, "{plan}");
    assert!(plan.to_string().contains("measured"), "{plan}");
    assert_eq!(result, result_of(&gpu, &winner.signature));
    let [a, b] = operands(&gpu);
    let explained = Gemm::new(&a, &b).plan().unwrap();
    assert_eq!(explained.signature(), winner.signature);
    let lines = explained.to_string();
    for tried in &tuned.tried {
        assert!(lines.contains(&format!("tried: {tried}")), "{lines}");
    }
    assert!(!lines.contains("slower here"), "{lines}");
    assert_eq!(gpu.tuned_for(&of).as_ref(), Some(&tuned));
    assert_eq!(gpu.tuned(), [tuned]);
    gpu.forget_tuning();
    assert!(gpu.tuned().is_empty() && gpu.tuned_for(&of).is_none());
}

#[test]
fn a_tuned_sketch_has_the_winner_and_shows_it() {
    let Some(gpu) = without_files(Tuning::Remembered) else { return };
    let x = gpu.random::<f32>([100, 40], tilewise::Fill::Uniform, 1).unwrap();
    let sketch = Sketch::new(SketchKind::Gaussian, [32, 100], 1).unwrap();
    let problem = DenseProblem::new(&sketch, Direction::Forward, x.layout(), 0, DType::F32).unwrap();
    let tuned = gpu.tune(&problem).unwrap();
    let winner = &tuned.winner().unwrap().signature;
    // Another operator of this shape has another seed and the same plan.
    let other = Sketch::new(SketchKind::Gaussian, [32, 100], 2).unwrap();
    let planned = other.plan(Direction::Forward, &x, 0).unwrap();
    assert_eq!((planned.time_source(), &planned.signature()), (TimeSource::Measured, winner));
    let (y, plans) = gpu.plans_of(|| other.apply(&x, 0).unwrap());
    assert!(plans.iter().any(|plan| &plan.signature() == winner), "{plans:?}");
    assert_eq!(y.shape(), [32, 40]);
    // What was measured is listed with the fastest first.
    let lines: Vec<String> =
        planned.reasons().iter().filter(|line| line.contains("tried: ")).cloned().collect();
    assert_eq!(lines.len(), tuned.tried.len());
    assert!(lines[0].contains("won"), "{lines:?}");
}

#[test]
fn results_stay_within_their_bounds() {
    let Some(gpu) = without_files(Tuning::Remembered) else { return };
    gpu.tune(&problem(&gpu)).unwrap();
    let (a, b) = (
        tilewise::Fill::Uniform.values::<f32>(64 * 64, 1),
        tilewise::Fill::Uniform.values::<f32>(64 * 64, 2),
    );
    let want = reference::gemm(&a, &b, [64; 3]);
    let (_, result) = executed(&gpu);
    let compared = result.iter().zip(want.value.iter().zip(&want.magnitude));
    let compared = compared.map(|(&c, (&value, &magnitude))| {
        (f64::from(c), value, reference::tolerance(64, magnitude, value, DType::F32))
    });
    assert!(reference::compare(compared).ok());
}

#[test]
fn a_device_that_is_opened_without_tuning_keeps_to_its_predictions() {
    let Some(gpu) = without_files(Tuning::Off) else { return };
    let before = executed(&gpu).0;
    let tuned = gpu.tune(&problem(&gpu)).unwrap();
    assert!(tuned.winner().is_some());
    assert_eq!(executed(&gpu).0, before);
    assert!(gpu.tuned().is_empty());
}

#[test]
fn nothing_is_tuned_where_nothing_may_be_submitted() {
    let Some(gpu) = without_files(Tuning::Remembered) else { return };
    let of = problem(&gpu);
    let [a, b] = operands(&gpu);
    let is_refused = |result: &Result<_, Error>, why: &str| match result {
        Err(error @ Error::Input { .. }) => {
            let text = error.to_string();
            assert!(text.contains("tune") && text.contains(why), "{text}");
        }
        other => panic!("{other:?}"),
    };
    let captured = gpu.capture(&[a.view()], || {
        is_refused(&gpu.tune(&of).map(drop), "capture");
        Gemm::new(&a, &b).run()
    });
    assert!(captured.is_ok());
    let timed = gpu.time(|| {
        is_refused(&gpu.tune(&of).map(drop), "timed");
        Gemm::new(&a, &b).run()
    });
    assert!(timed.is_ok());
    assert!(gpu.tuned().is_empty());
}
