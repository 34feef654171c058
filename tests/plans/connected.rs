//! How the matrix products of fully connected layers are planned for devices as they are.

use tilewise::clifford::Signature;
use tilewise::clifford::layer::{
    ConnectedBackProblem, ConnectedProblem, Gate, LayerProduct, Tabled, plan_connected, plan_connected_back,
    plan_gates,
};
use tilewise::gemm::{GemmKernel, Pin};
use tilewise::gpu::fixtures;
use tilewise::{Caps, DType, Layout, Plan};

const ROWS: usize = 4096;
const INPUTS: usize = 512;
const OUTPUTS: usize = 256;

/// Pairs of a blade of Cl(3) and a path into its grade, and its paths.
const PAIRS: usize = 44;
const PATHS: usize = 20;

fn layout(shape: &[usize]) -> Layout {
    Layout::contiguous("test", shape).unwrap()
}

fn problem(gate: Gate, dtype: DType) -> ConnectedProblem {
    let product = LayerProduct::new(Signature::CL3).gate(gate);
    let x = layout(&[8, ROWS, INPUTS]);
    ConnectedProblem::new(product, &product.blades(), [&x, &x], &layout(&[PATHS, INPUTS, OUTPUTS]), dtype)
        .unwrap()
}

/// The product, the gradient of the weight, and what comes back through the weight.
fn products(problem: &ConnectedProblem) -> [Tabled; 3] {
    let g = layout(&[8, ROWS, OUTPUTS]);
    [problem.forward(), problem.of_weight(&g), problem.through(&g)].map(Result::unwrap)
}

fn plan(product: &Tabled, caps: &Caps) -> Plan {
    plan_connected(product, Pin::Free, caps).unwrap()
}

#[test]
fn f16_goes_to_tensor_cores_and_f32_does_not_unless_it_may_be_rounded() {
    let strict = problem(Gate::Gelu, DType::F32);
    let kinds = [strict.in_halves().unwrap(), problem(Gate::Gelu, DType::F16), strict];
    for caps in [fixtures::h200(), fixtures::rtx_4090(), fixtures::apple_m2(), fixtures::radv_rdna3()] {
        for (i, problem) in kinds.iter().enumerate() {
            let kernel = if i < 2 && caps.has_tensor_cores() { GemmKernel::Coop } else { GemmKernel::Tiled };
            for product in products(problem) {
                let plan = plan(&product, &caps);
                assert_eq!(
                    plan.kernel.shader(),
                    kernel.shader(),
                    "{} on {}: {plan}",
                    problem.dtype,
                    caps.adapter
                );
            }
        }
    }
    assert!(fixtures::h200().has_tensor_cores() && fixtures::apple_m2().has_tensor_cores());
    assert!(!fixtures::radv_rdna3().has_tensor_cores());
}

#[test]
fn blocks_are_chosen_by_shape_and_by_device() {
    let tile = |outputs: usize, rows: usize, caps: &Caps| {
        let product = LayerProduct::new(Signature::CL3);
        let x = layout(&[8, rows, 64]);
        let weight = layout(&[PATHS, 64, outputs]);
        let problem = ConnectedProblem::new(product, &product.blades(), [&x, &x], &weight, DType::F16);
        plan(&problem.unwrap().forward().unwrap(), caps).tile
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
        for (product, bytes) in products(&problem).into_iter().zip(bytes) {
            assert_eq!([product.bytes, product.flops], [bytes as u64, flops]);
            let plan = plan(&product, &caps);
            let said = format!("matrix products: {bytes} bytes, {flops} flops");
            assert_eq!(plan.reasons[0], said, "{plan}");
            assert_eq!(plan.reasons.len(), GemmKernel::ALL.len(), "a reason for every other kernel: {plan}");
            // Not faster than the device, and not slower by far.
            let roof = if dtype == DType::F16 { caps.roofs.coop_flops } else { caps.roofs.f32_flops };
            let floor = (flops as f64 / roof).max(bytes as f64 / caps.roofs.bytes);
            assert!(
                (0.95..5.0).contains(&(plan.seconds / floor)),
                "{} of the floor: {plan}",
                plan.seconds / floor
            );
        }
    }
    let of_f32 = problem(Gate::Gelu, DType::F32);
    let gates = plan_gates(&of_f32.gates().unwrap().unwrap(), &caps).unwrap();
    assert!(gates.reasons[0].starts_with(&format!("gates: {} bytes, ", 12 * ROWS * INPUTS)), "{gates}");
    let back = ConnectedBackProblem::new(&of_f32, [0, ROWS]).unwrap();
    let back = plan_connected_back(&back, &caps).unwrap();
    let bytes = 4 * (4 * 8 + PAIRS) * ROWS * INPUTS;
    assert!(back.reasons[0].starts_with(&format!("gradients: {bytes} bytes, ")), "{back}");
}
