//! Plans in words: what runs, what it moves, and why nothing else does.

use support::laid::flat;
use support::wgsl::{self, TYPES};
use tilewise::DType;
use tilewise::gemm::SplitK;
use tilewise::planning::Problem;
use tilewise::planning::fixtures;
use tilewise::planning::gemm::GemmTypes;
use tilewise::planning::sketch::DenseProblem;
use tilewise::sketch::{Direction, Sketch, SketchKind};

const F32: GemmTypes = TYPES[0];

#[test]
fn a_plan_prints_what_runs_and_why_nothing_else_does() {
    let plan = wgsl::plain([512; 3], F32).explain(&fixtures::lavapipe()).unwrap();
    let printed = plan.to_string();
    let lines: Vec<&str> = printed.lines().collect();
    let [what, step, tiled, why, gemv, _, coop, khr, nv2] = lines[..] else { panic!("{printed}") };
    assert!(what.starts_with("matmul: 1 step, predicted ") && what.contains(" ms: 268 MFLOP, "), "{printed}");
    assert!(what.ends_with("2.10 MB read, 1.05 MB written, bound by arithmetic"), "{printed}");
    assert!(step.starts_with(&format!("  gemm/broadcast {}, grid ", plan.steps()[0].tile)), "{printed}");
    assert!(step.contains(" x 1 x 1, ") && step.contains(" ms: 268 MFLOP; "), "{printed}");
    let moved = "reads A 1.05 MB, B 1.05 MB; writes the output 1.05 MB; bound by arithmetic";
    assert!(step.ends_with(moved), "{printed}");
    assert!(tiled.starts_with("  tiled: slower here, predicted ") && tiled.ends_with(" ms"), "{printed}");
    assert!(why.starts_with("  naive: slower here, predicted ") && why.ends_with(" ms"), "{printed}");
    assert_eq!(gemv, "  gemv: needs m or n of at most 8");
    assert_eq!(coop, "  coop: needs operands of f16, not f32");
    assert_eq!(khr, "  coop_khr: needs operands of f16, bf16, i8, e4m3 or e5m2, not f32");
    assert_eq!(nv2, "  coop_nv2: needs operands of f16, bf16 or i8, not f32");
    // Of several steps what lies between them, and what kernels read beside.
    let split = wgsl::plain([16, 16, 4096], F32).split_k(SplitK::Splits(3)).plan(&fixtures::h200()).unwrap();
    let printed = split.to_string();
    let lines: Vec<&str> = printed.lines().collect();
    let [what, product, reduce, between] = lines[..] else { panic!("{printed}") };
    assert!(what.starts_with("matmul: 2 steps, predicted ") && what.contains(" us: "), "{printed}");
    assert!(
        product.starts_with("  1. gemm/") && product.contains("; writes the temporary 3.07 kB; "),
        "{printed}"
    );
    assert!(reduce.starts_with("  2. gemm/reduce_splits 64 times 4 elements, grid 1 x 1 x 1, "), "{printed}");
    assert!(
        reduce.contains(": 768 FLOP; reads the temporary 3.07 kB; writes the output 1.02 kB; "),
        "{printed}"
    );
    assert_eq!(between, "  between steps: 3072 bytes, written by step 1, read by step 2");
}

/// A device that binds little makes a plan of many panels: its temporaries are counted, not listed.
#[test]
fn a_plan_of_many_temporaries_prints_in_a_moment() {
    let mut caps = fixtures::h200();
    caps.limits.binding_bytes = 4096;
    let plan = wgsl::plain([128, 64, 256], F32).plan(&caps).unwrap();
    let (steps, temporaries) = (plan.steps().len(), plan.temporaries().len());
    assert!(steps > 5000 && temporaries > 100, "{steps} steps, {temporaries} temporaries");
    let begun = std::time::Instant::now();
    let printed = plan.to_string();
    let seconds = begun.elapsed().as_secs_f64();
    assert!(seconds < 5.0, "{seconds} s");
    let bytes: u64 = plan.temporaries().iter().sum();
    let between = format!("  between steps: {temporaries} temporaries, {bytes} bytes in all");
    assert_eq!(printed.lines().filter(|line| line.starts_with("  between")).collect::<Vec<_>>(), [between]);
}

#[test]
fn a_dense_sketch_says_why_no_other_kernel_applies_it() {
    for kind in [SketchKind::Gaussian, SketchKind::Uniform, SketchKind::Sign] {
        let sketch = Sketch::new(kind, [16, 4096], 1).unwrap();
        for (direction, rows) in [(Direction::Forward, 4096), (Direction::Adjoint, 16)] {
            let x = flat(&[rows, 16]);
            let problem = DenseProblem::new(&sketch, direction, &x, 0, DType::F32).unwrap();
            let (plan, explained) =
                (problem.plan(&fixtures::h200()).unwrap(), problem.explain(&fixtures::h200()).unwrap());
            assert_eq!((plan.steps(), plan.reasons().len()), (explained.steps(), 0), "{plan}");
            let need = "both operands in memory";
            let others = ["naive", "gemv", "broadcast", "dot", "coop", "coop_khr", "coop_nv2"]
                .map(|kernel| format!("{kernel}: needs {need}"));
            assert_eq!(explained.reasons(), others, "{explained}");
        }
    }
}

/// Steps that are launched in pieces, panels that are alike, temporaries and a constant that several steps use.
#[test]
fn a_long_plan_prints_in_few_lines() {
    let caps = fixtures::apple_m2();
    let large = wgsl::plain([8192, 8192, 65_536], F32).split_k(SplitK::Splits(1)).plan(&caps).unwrap();
    let printed = large.to_string();
    let lines: Vec<&str> = printed.lines().collect();
    let [what, panels, reduce, more, again, first, second] = lines[..] else { panic!("{printed}") };
    assert!(what.starts_with("matmul: 6 steps in 10 launches, predicted "), "{printed}");
    assert!(panels.starts_with("  1 to 2, each: gemm/tiled "), "{printed}");
    assert!(
        panels.contains(", in 2 pieces of at most ") && panels.contains(" ms: 2.20 TFLOP; reads A "),
        "{printed}"
    );
    assert!(panels.contains("; writes temporary 1 134 MB; "), "{printed}");
    assert!(
        reduce.starts_with("  3. gemm/reduce_splits ") && reduce.contains("reads temporary 1 268 MB"),
        "{printed}"
    );
    assert!(more.starts_with("  4 to 5, each: ") && again.starts_with("  6. "), "{printed}");
    let between = "268435456 bytes, written by steps";
    assert_eq!(first, format!("  between steps, temporary 1: {between} 1 and 2, read by step 3"));
    assert_eq!(second, format!("  between steps, temporary 2: {between} 4 and 5, read by step 6"));
    // A sketch on integers and in f32; its table.
    let sketch = Sketch::new(SketchKind::Gaussian, [16, 4096], 1).unwrap();
    let x = flat(&[4096, 16]);
    let sketch = DenseProblem::new(&sketch, Direction::Forward, &x, 0, DType::F32).unwrap();
    let printed = sketch.plan(&caps).unwrap().to_string();
    assert!(printed.contains(" kop on integers; ") || printed.contains(" Mop on integers; "), "{printed}");
    assert!(
        printed.contains("the constant 4.10 kB") && printed.contains("\n  constant: 4100 bytes"),
        "{printed}"
    );
}
