//! Plans of every operation for a device.

use super::laid;
use super::laid::flat;
use super::limits::{self, Planned};
use super::operand::View;
use super::strided::Lay;
use super::wgsl::{self, COMPUTED, I8, REALS, TYPES};
use super::wgsl_clifford::{self as clifford, connected_problem};
use super::wgsl_losses::cross_entropies;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{Gate, GradeNorm};
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::ops::Overflow;
use tilewise::planning::clifford_layer::{ConnectedBackward, ConnectedForward, OperandRounding};
use tilewise::planning::gemm::{
    Distribution, Epilogue, F16SplitProblem, GemmProblem, GemmTypes, GeneratedOperand, OuterAxis, Pin, Side,
};
use tilewise::planning::ops::{CastProblem, CopyProblem, Longer};
use tilewise::{Caps, DType, Layout, Precision};

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
    plans.extend(of_elements(caps));
    plans.extend(cross_entropies().iter().map(|problem| Planned::of("cross-entropy", problem, caps)));
    plans.extend(sketches(caps));
    plans.extend(multivectors(caps));
    plans.extend(of_layers(caps));
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
    for (i, (side, entries)) in [Side::A, Side::B]
        .into_iter()
        .flat_map(|side| [Distribution::Normal, Distribution::Uniform, Distribution::Sign].map(|e| (side, e)))
        .enumerate()
    {
        let outer = [OuterAxis::Rows, OuterAxis::Columns][i % 2];
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

/// A view with gaps between its rows.
fn padded(shape: &[usize; 2]) -> Layout {
    laid::view(shape, &[shape[1] + 5, 1], 8)
}

/// Elementwise operations, operations along an axis, conversions, copies and the f16 split.
fn of_elements(caps: &Caps) -> Vec<Planned> {
    let mut plans: Vec<Planned> = Vec::new();
    let of_elements = wgsl::elementwise_problems();
    plans.extend(of_elements.iter().map(|problem| Planned::of("elementwise", problem, caps)));
    plans.extend(wgsl::softmax_problems().iter().map(|problem| Planned::of("rows", problem, caps)));
    plans.extend(wgsl::cumsum_problems().iter().map(|problem| Planned::of("rows", problem, caps)));
    plans.extend(wgsl::rotary_problems().iter().map(|problem| Planned::of("rows", problem, caps)));
    plans.extend(wgsl::reduce_problems().iter().map(|problem| Planned::of("rows", problem, caps)));
    let view = flat(&[3, 5]);
    let types = COMPUTED.into_iter().flat_map(|from| COMPUTED.map(|to| (from, to)));
    // Each function of 8 bits with a fraction, next to some of the others.
    let of_fp8 = [
        (DType::F32, DType::F8E4M3),
        (DType::F8E4M3, DType::F16),
        (DType::F16, DType::F8E5M2),
        (DType::F8E5M2, DType::F32),
        (DType::F8E4M3, DType::F8E5M2),
        (DType::I8, DType::F8E4M3),
    ];
    for (i, (from, to)) in types.chain(of_fp8).enumerate() {
        // Contiguous, and not.
        let view = if i % 2 == 0 { view } else { view.t() };
        let problem = CastProblem::new(&view, from, to, Overflow::Saturate).expect("a small view");
        plans.push(Planned::of("cast", &problem, caps));
    }
    for dtype in COMPUTED {
        for (a, c) in [(&view, &view), (&view.t(), &view.t()), (&view.t(), &padded(&[5, 3]))] {
            let problem = CopyProblem::new(a, c, dtype).expect("views of one shape");
            plans.push(Planned::of("copy", &problem, caps));
        }
        let row = flat(&[3, 1]);
        for (longer, operands) in [(Longer::C, [&row, &view]), (Longer::A, [&view, &row])] {
            let at = flat(&[1]);
            let problem = CopyProblem::at_position(longer, operands, 1, &at, dtype).expect("one is longer");
            plans.push(Planned::of("copy at a position", &problem, caps));
        }
    }
    plans.extend(wgsl::shape_plans(caps).into_iter().map(|(what, plan)| Planned { what, plan }));
    plans.extend(wgsl::image_problems().iter().map(|problem| Planned::of("image", problem, caps)));
    for precision in [Precision::Fast, Precision::Split] {
        for side in [Side::A, Side::B] {
            let problem = F16SplitProblem::new(&view, side, precision).expect("a small view");
            plans.push(Planned::of("f16_split", &problem, caps));
        }
    }
    plans
}

/// Hadamard transforms and sparse operators.
fn sketches(caps: &Caps) -> Vec<Planned> {
    let hadamard = wgsl::hadamard_problems();
    let hadamard = hadamard.iter().map(|problem| Planned::of("hadamard", problem, caps));
    let sparse = wgsl::sparse_problems();
    hadamard.chain(sparse.iter().map(|problem| Planned::of("sparse", problem, caps))).collect()
}

/// Functions of multivectors and of versors.
fn multivectors(caps: &Caps) -> Vec<Planned> {
    let mut plans = Vec::new();
    for dtype in REALS {
        // The types share their algebra, so all functions are planned in f32 and every fifth in the other types.
        let problems = clifford::clifford_problems(dtype);
        let step = if dtype == DType::F32 { 1 } else { 5 };
        plans.extend(problems.iter().step_by(step).map(|problem| Planned::of("clifford", problem, caps)));
    }
    let versors = clifford::versor_problems();
    plans.extend(versors.iter().step_by(3).map(|problem| Planned::of("versors", problem, caps)));
    plans
}

/// Functions of layers: of rows, and those that have parameters for each feature.
fn of_layers(caps: &Caps) -> Vec<Planned> {
    let rows = REALS.into_iter().flat_map(clifford::row_problems);
    let rows = rows.map(|problem| Planned::of("layer rows", &problem, caps));
    let features = clifford::features_problems();
    rows.chain(features.iter().map(|problem| Planned::of("features", problem, caps))).collect()
}
