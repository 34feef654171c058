//! How norms and activations of multivectors are planned for devices as they are.

use support::laid::flat;
use tilewise::DType;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::FeatureFunction;
use tilewise::planning::Problem;
use tilewise::planning::clifford_layer::FeaturesProblem;
use tilewise::planning::fixtures;

fn problem(function: FeatureFunction, [rows, features]: [usize; 2], backward: bool) -> FeaturesProblem {
    let blades = Signature::CL3.blades();
    let x = flat(&[blades.len(), rows, features]);
    let parameter = flat(&[features, function.parts(&blades)]);
    let parameters = vec![&parameter; function.parameters()];
    FeaturesProblem::new(function, &blades, &x, backward.then_some(&x), &parameters, DType::F32).unwrap()
}

#[test]
fn every_position_has_an_invocation_or_its_row_a_workgroup() {
    let devices = [fixtures::h200(), fixtures::apple_m2(), fixtures::lavapipe(), fixtures::bare_webgpu()];
    for (caps, function) in
        devices.iter().flat_map(|caps| FeatureFunction::ALL.map(|function| (caps, function)))
    {
        for shape in [[1, 1], [3, 65], [4096, 64], [70_000, 2]] {
            for backward in [false, true] {
                let problem = problem(function, shape, backward);
                let plan = problem.plan(caps).unwrap();
                let groups: usize = plan.steps()[0].grid.iter().map(|n| *n as usize).product();
                let [rows, features] = shape;
                let strip = problem.dims().strip as usize;
                match function {
                    FeatureFunction::LayerNorm => assert!(groups >= rows, "{plan}"),
                    _ => assert!(groups * 64 >= rows.div_ceil(strip) * features, "{plan}"),
                }
                assert!(strip == 1 || backward, "only sums of gradients go through rows: {plan}");
                assert!(plan.steps()[0].grid.iter().all(|n| *n <= caps.limits.grid), "{plan}");
            }
        }
    }
}

#[test]
fn plans_say_what_they_move() {
    let caps = fixtures::h200();
    for function in FeatureFunction::ALL {
        for (backward, tensors) in [(false, 2_u64), (true, 3)] {
            let plan = problem(function, [4096, 512], backward).plan(&caps).unwrap();
            let parameters =
                4 * 512 * (function.parameters() * function.parts(&Signature::CL3.blades())) as u64;
            let sums = plan.temporaries().first().copied().unwrap_or_default();
            let bytes = tensors * 8 * 4096 * 512 * 4 + parameters + sums;
            let step = &plan.steps()[0];
            assert_eq!((step.work.bytes(), sums > 0), (bytes, backward), "{plan}");
            assert!(
                ((step.seconds - caps.machine.launch_seconds) * caps.machine.memory_bandwidth / bytes as f64
                    - 1.0)
                    .abs()
                    < 1e-9,
                "{plan}"
            );
        }
    }
}
