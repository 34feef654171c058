//! Plans of every operation for a device.

use super::families::Of;
use super::laid::flat;
use super::limits::{self, Planned};
use super::on_view::{self, COMPUTED};
use super::operand::View;
use super::operations::shapes::in_every_type;
use super::strided::Lay;
use super::wgsl::{self, I8, REALS, TYPES};
use super::wgsl_clifford::connected_problem;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{Gate, GradeNorm};
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::gpu::CoopScalar;
use tilewise::planning::clifford_layer::{ConnectedBackward, ConnectedForward, OperandRounding};
use tilewise::planning::gemm::{
    Distribution, Epilogue, GemmProblem, GemmTypes, GeneratedOperand, OuterAxis, Pin, Side,
};
use tilewise::planning::ops::{GatherProblem, ReduceFunction, ReduceProblem, Taken};
use tilewise::planning::peak::{MatrixPeakProblem, PeakNumber, PeakProblem};
use tilewise::planning::{Plan, Problem};
use tilewise::{Caps, DType, Result};

/// Plans of all operations for a device, in every variant that changes a kernel.
pub fn every(caps: &Caps) -> Vec<Planned> {
    let mut plans = Vec::new();
    plans.extend(products().iter().map(|problem| Planned::of("product", problem, caps)));
    plans.extend(
        generated_products()
            .iter()
            .map(|problem| Planned::of("product with a generated operand", problem, caps)),
    );
    plans.extend(connected(caps));
    plans.extend(on_view::small(caps));
    plans.extend(others(caps).into_iter().map(|(what, plan)| Planned { what, plan }));
    plans
}

/// Products of each combination of types, with every epilogue, pinned to every tile or not, with and without split-k.
fn products() -> Vec<GemmProblem> {
    let epilogues: Vec<Epilogue> = wgsl::epilogues().into_iter().chain([Epilogue::default()]).collect();
    let tiles = GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles());
    let pins = tiles.map(|tile| Pin::Tile(*tile)).chain([Pin::Free]);
    let mut problems = wgsl::quantised_products();
    for (i, pin) in pins.enumerate() {
        // Each pinned tile has a quarter of the products, the free choice has all.
        let taken = |&(j, _): &(usize, _)| pin == Pin::Free || (i + j) % 4 == 0;
        for (j, epilogue) in epilogues.iter().enumerate().filter(taken) {
            let types = if matches!(pin, Pin::Tile(tile) if tile.kernel == GemmKernel::Dot || tile.bk == 64) {
                I8
            } else {
                TYPES[(i + j / 4) % TYPES.len()]
            };
            if types == I8 && !epilogue.is_plain() {
                continue; // the sums alone are i32
            }
            for (view, split) in [(View::Plain, SplitK::Splits(1)), (View::Gaps, SplitK::Splits(3))] {
                let thin = wgsl::problem([4, 128, 128], types, [View::Plain, View::Plain, view]);
                problems.push(limits::finished(thin, *epilogue, 1).pinned(pin).split_k(split));
            }
        }
    }
    problems
}

/// Products with a generated operand, or with an operand of which one half is generated.
fn generated_products() -> Vec<GemmProblem> {
    let mut problems = Vec::new();
    let entries = [Distribution::Normal, Distribution::Uniform, Distribution::Sign];
    let outer = [OuterAxis::Rows, OuterAxis::Columns];
    for (i, (side, entries, outer)) in [Side::A, Side::B]
        .into_iter()
        .flat_map(|side| entries.into_iter().flat_map(move |of| outer.map(|outer| (side, of, outer))))
        .enumerate()
    {
        let types = GemmTypes::new(REALS[i % 3], DType::F32);
        for seed in wgsl::SEEDS {
            let generated = GeneratedOperand { side, entries, outer, tag: 1, seed };
            problems.push(wgsl::plain([64, 65, 66], types).generated(generated));
        }
    }
    for (i, signs) in wgsl::sign_half().enumerate() {
        let whole = wgsl::plain([64, 66, 70], TYPES[i % TYPES.len()]);
        let problem = wgsl::halved(whole, signs, [View::Plain, View::Transposed][i % 2]);
        for epilogue in [Epilogue::default(), wgsl::epilogues()[4]] {
            problems.push(limits::finished(problem, epilogue, 1));
        }
    }
    problems
}

/// The problems of fully connected layers of multivectors, forward and backward: each matrix product alone, and all steps.
fn connected(caps: &Caps) -> Vec<Planned> {
    let mut plans = Vec::new();
    for (dtype, gate) in REALS.into_iter().flat_map(|dtype| Gate::ALL.map(|gate| (dtype, gate))) {
        let (problem, g) = connected_problem(Signature::CL2, gate, dtype, [Lay::Plain; 3]);
        for product in [problem.forward(), problem.weight_gradient(&g), problem.path_gradients(&g)] {
            plans.push(Planned::of("connected", &product.expect("small sizes"), caps));
        }
        let gates = problem.gates().expect("small sizes");
        plans.extend(gates.map(|gates| Planned::of("gates", &gates, caps)));
        let back = problem.operand_gradients([8, 16]).expect("small sizes");
        plans.push(Planned::of("connected, backward", &back, caps));
        for (norm, multiplied) in
            [(GradeNorm::None, OperandRounding::None), (GradeNorm::Rms, OperandRounding::F16)]
        {
            if multiplied == OperandRounding::F16 && dtype != DType::F32 {
                continue; // f16 operands are not rounded to f16
            }
            let product = problem.clone().norm(norm);
            let forward = ConnectedForward::new(product, multiplied, Pin::Free).expect("of f32");
            plans.push(Planned::of("connected layer", &forward, caps));
            let backward = ConnectedBackward::new(forward, &g).expect("of the result's shape");
            plans.push(Planned::of("connected layer, backward", &backward, caps));
        }
    }
    plans
}

/// The problems of the rows of operations, operands in windows, and multiply-adds to time.
fn others(caps: &Caps) -> Vec<(&'static str, Result<Plan>)> {
    let mut plans = in_every_type(|dtype| Of::small(caps).of_type(dtype));
    plans.extend(in_every_type(|dtype| Of::small(caps).of_type(dtype).with_gaps()));
    let mut small = caps.clone();
    small.limits.binding_bytes = 4096;
    for &dtype in COMPUTED {
        let table = GatherProblem::new(Taken::Rows, &flat(&[256, 64]), &flat(&[7]), dtype);
        plans.push(("gather", table.and_then(|problem| problem.plan(&small))));
        for function in [ReduceFunction::ArgMax, ReduceFunction::Variance { correction: 1 }] {
            if function.takes(dtype) {
                let problem = ReduceProblem::new(function, &flat(&[1 << 14]), &[0], dtype);
                plans.push(("reduction", problem.and_then(|problem| problem.plan(&small))));
            }
        }
    }
    let f16 = caps.f16.then_some(PeakNumber::F16);
    for number in [PeakNumber::F32, PeakNumber::I8].into_iter().chain(f16) {
        plans.push(("multiply-adds", PeakProblem::new(number, 1000, 3).plan(caps)));
    }
    for size in [8, 16] {
        if caps.coop(size, CoopScalar::F16, CoopScalar::F32).is_ok() {
            plans.push(("multiply-adds", MatrixPeakProblem::new(size, 100, 3).plan(caps)));
        }
    }
    plans
}
