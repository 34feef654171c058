//! How the matrix products of fully connected layers are planned for devices as they are.

use crate::choice::taken;
use support::laid::flat;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{Gate, LayerProduct};
use tilewise::gemm::GemmKernel;
use tilewise::gpu::CoopRow;
use tilewise::planning::clifford_layer::ConnectedProblem;
use tilewise::planning::fixtures;
use tilewise::planning::gemm::SegmentedProblem;
use tilewise::planning::{Flops, Plan, Problem};
use tilewise::{Caps, DType};

const ROWS: usize = 4096;
const INPUTS: usize = 512;
const OUTPUTS: usize = 256;

/// Pairs of a blade of Cl(3) and a path into its grade, and its paths.
const PAIRS: usize = 44;
const PATHS: usize = 20;
/// Terms of its geometric product.
const TERMS: usize = 64;

fn problem(gate: Gate, dtype: DType) -> ConnectedProblem {
    let product = LayerProduct::new(Signature::CL3).gate(gate);
    let x = flat(&[8, ROWS, INPUTS]);
    ConnectedProblem::new(product, &product.blades(), [&x, &x], &flat(&[PATHS, INPUTS, OUTPUTS]), dtype)
        .unwrap()
}

/// The product, the gradient of the weight, and what comes back through the weight.
fn products(problem: &ConnectedProblem) -> [SegmentedProblem; 3] {
    let g = flat(&[8, ROWS, OUTPUTS]);
    [problem.forward(), problem.weight_gradient(&g), problem.path_gradients(&g)].map(Result::unwrap)
}

fn plan(product: &SegmentedProblem, caps: &Caps) -> Plan {
    product.explain(caps).unwrap()
}

#[test]
fn f16_goes_to_tensor_cores_and_f32_does_not_unless_it_may_be_rounded() {
    let strict = problem(Gate::Gelu, DType::F32);
    let kinds = [strict.rounded_to_f16().unwrap(), problem(Gate::Gelu, DType::F16), strict];
    for caps in [fixtures::h200(), fixtures::rtx_4090(), fixtures::radv_rdna3(), fixtures::intel_xe2()] {
        for (i, problem) in kinds.iter().enumerate() {
            let kernel = match (i < 2, caps.rows.iter().any(CoopRow::is_spelled_in_wgsl)) {
                (true, true) => GemmKernel::Coop,
                (true, false) => GemmKernel::CoopKhr,
                (false, _) => GemmKernel::Tiled,
            };
            for product in products(problem) {
                let plan = plan(&product, &caps);
                let found = GemmKernel::of_step(&plan.steps()[0]);
                assert_eq!(found, Some(kernel), "{} on {}: {plan}", problem.dtype(), caps.adapter);
            }
        }
    }
    assert!(fixtures::h200().has_tensor_cores() && fixtures::radv_rdna3().has_tensor_cores());
    assert!(!fixtures::intel_xe2().rows.iter().any(CoopRow::is_spelled_in_wgsl));
}

#[test]
fn blocks_are_chosen_by_shape_and_by_device() {
    let tile = |outputs: usize, rows: usize, caps: &Caps| {
        let product = LayerProduct::new(Signature::CL3);
        let x = flat(&[8, rows, 64]);
        let weight = flat(&[PATHS, 64, outputs]);
        let problem = ConnectedProblem::new(product, &product.blades(), [&x, &x], &weight, DType::F16);
        plan(&problem.unwrap().forward().unwrap(), caps).steps()[0].tile.clone()
    };
    let (h200, m2) = (fixtures::h200(), fixtures::apple_m2());
    assert_ne!(tile(512, 8192, &h200), tile(16, 64, &h200));
    assert_ne!(tile(512, 8192, &h200), tile(512, 8192, &m2));
}

#[test]
fn plans_say_what_they_move_and_compute() {
    let caps = fixtures::h200();
    let flops = (2 * PAIRS * ROWS * INPUTS * OUTPUTS) as u64;
    let [x, o, weight] = [8 * ROWS * INPUTS, 8 * ROWS * OUTPUTS, PATHS * INPUTS * OUTPUTS];
    for (dtype, size, gate, gates) in
        [(DType::F32, 4, Gate::None, 0), (DType::F16, 2, Gate::Gelu, 4 * ROWS * INPUTS)]
    {
        let problem = problem(gate, dtype);
        let bytes = [
            size * (2 * x + weight + o) + gates,
            size * (2 * x + o) + 4 * weight + gates,
            size * (o + weight) + 4 * PAIRS * ROWS * INPUTS,
        ];
        for (i, (product, bytes)) in products(&problem).into_iter().zip(bytes).enumerate() {
            let plan = plan(&product, &caps);
            // Where it is in parts, of the first step; C is then the sums of all.
            let parts = plan.steps().len() - 1;
            let work = &plan.steps()[0].work;
            let sums: u64 = plan.temporaries().iter().sum();
            let result = plan.steps()[parts].work.written.iter().sum::<u64>();
            let bytes = if parts == 0 { bytes as u64 } else { bytes as u64 - result + sums };
            let table = 4 * product.table().len() as u64;
            assert_eq!(work.bytes(), bytes + table, "{plan}");
            // What forms A, once for each column of blocks: a sign and a multiply-add for each term, and the gate.
            let columns = OUTPUTS.div_ceil(taken(&plan).bn as usize);
            let formed = if i == 2 { 0 } else { 3 * TERMS + if gate == Gate::None { 0 } else { PAIRS } };
            let formed = (formed * ROWS * INPUTS * columns) as f64;
            let [matrix, f32] =
                if dtype == DType::F16 { [flops as f64, formed] } else { [0.0, flops as f64 + formed] };
            let Flops { f16, integer, .. } = work.flops;
            assert_eq!([work.flops.matrix, work.flops.f32, f16, integer], [matrix, f32, 0.0, 0.0], "{plan}");
            assert_eq!(
                plan.reasons().len(),
                GemmKernel::ALL.len() - 1,
                "a reason for every other kernel: {plan}"
            );
            // Not faster than the device, and not slower by far.
            let peak = if dtype == DType::F16 { caps.machine.matrix_flops } else { caps.machine.f32_flops };
            let floor = (flops as f64 / peak).max(bytes as f64 / caps.machine.memory_bandwidth);
            assert!(
                (0.95..5.0).contains(&(plan.seconds() / floor)),
                "{} of the floor: {plan}",
                plan.seconds() / floor
            );
        }
    }
    let of_f32 = problem(Gate::Gelu, DType::F32);
    let gates = of_f32.gates().unwrap().unwrap().plan(&caps).unwrap();
    assert_eq!(gates.work().bytes(), 12 * (ROWS * INPUTS) as u64, "{gates}");
    let back = of_f32.operand_gradients([0, ROWS]).unwrap();
    let back = back.plan(&caps).unwrap();
    assert_eq!(back.work().bytes(), 4 * ((4 * 8 + PAIRS) * ROWS * INPUTS) as u64, "{back}");
}
