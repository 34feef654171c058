//! Plans of every operation on a device, and what they bind there.

use super::limits::{self, Planned, window_bytes};
use super::operand::View;
use super::strided::Lay;
use super::wgsl::{self, I8, REALS, TYPES};
use super::wgsl_clifford::{self as clifford, connected_problem};
use tilewise::clifford::layer::{
    ConnectedBackProblem, Gate, plan_connected, plan_connected_back, plan_features, plan_gates,
};
use tilewise::clifford::{CliffordProblem, Signature, plan_clifford};
use tilewise::gemm::{
    Entries, Epilogue, GemmKernel, GemmProblem, GemmTypes, Generated, HalvesProblem, Outer, Pin, Side, Split,
};
use tilewise::ops::{CastProblem, Overflow, plan_cast, plan_elementwise, plan_rows};
use tilewise::sketch::{HadamardSource, HadamardTarget, plan_hadamard, plan_sparse};
use tilewise::{Caps, DType, Layout, Precision};

/// The plans of all operations on a device, in every form that changes a kernel.
pub fn every(caps: &Caps) -> Vec<Planned> {
    let mut plans = Vec::new();
    plans.extend(products().iter().map(|problem| limits::of_product("product", problem, caps)));
    plans.extend(
        made_products().iter().map(|problem| limits::of_product("product of what is made", problem, caps)),
    );
    plans.extend(connected(caps));
    plans.extend(of_elements(caps));
    plans.extend(sketches(caps));
    plans.extend(multivectors(caps));
    plans.extend(of_layers(caps));
    plans
}

/// Products: free and of every tile, with every epilogue, whole and in splits, of each combination of types.
fn products() -> Vec<GemmProblem> {
    let epilogues: Vec<Epilogue> = wgsl::epilogues().into_iter().chain([Epilogue::default()]).collect();
    let tiles = GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles());
    let pins = tiles.map(|tile| Pin::Tile(*tile)).chain([Pin::Free]);
    let mut problems = Vec::new();
    for (i, pin) in pins.enumerate() {
        // A tile takes a quarter of them, the free choice all.
        let taken = |&(j, _): &(usize, _)| pin == Pin::Free || (i + j) % 4 == 0;
        for (j, epilogue) in epilogues.iter().enumerate().filter(taken) {
            let types = if matches!(pin, Pin::Tile(tile) if tile.kernel == GemmKernel::Dot) {
                I8
            } else {
                TYPES[(i + j / 4) % TYPES.len()]
            };
            if types == I8 && !epilogue.is_plain() {
                continue; // integers have none
            }
            for (view, split) in [(View::Plain, Split::Parts(1)), (View::Gaps, Split::Parts(3))] {
                let thin = wgsl::problem([4, 128, 128], types, [View::Plain, View::Plain, view]);
                problems.push(limits::finished(thin, *epilogue, 1).pinned(pin).split(split));
            }
        }
    }
    problems
}

/// Products an operand of which is made, the whole of it or a half.
fn made_products() -> Vec<GemmProblem> {
    let mut problems = Vec::new();
    for (i, (side, entries)) in [Side::A, Side::B]
        .into_iter()
        .flat_map(|side| [Entries::Normal, Entries::Uniform, Entries::Sign].map(|e| (side, e)))
        .enumerate()
    {
        let generated = Generated { side, entries, outer: [Outer::Rows, Outer::Columns][i % 2], tag: 1 };
        let types = GemmTypes::new(REALS[i % 3], DType::F32);
        problems.push(wgsl::plain([64, 65, 66], types).generated(generated, [1, 2]));
    }
    for (i, signs) in wgsl::half_signs().enumerate() {
        let whole = wgsl::plain([64, 66, 70], TYPES[i % TYPES.len()]);
        let problem = wgsl::halved(whole, signs, [View::Plain, View::Transposed][i % 2]);
        for epilogue in [Epilogue::default(), wgsl::epilogues()[4]] {
            problems.push(limits::finished(problem, epilogue, 1));
        }
    }
    problems
}

/// What fully connected layers of multivectors launch, forward and backward.
fn connected(caps: &Caps) -> Vec<Planned> {
    let mut plans = Vec::new();
    for (dtype, gate) in REALS.into_iter().flat_map(|dtype| Gate::ALL.map(|gate| (dtype, gate))) {
        let (problem, g) = connected_problem(Signature::CL2, gate, dtype, [Lay::Plain; 3]);
        let [blades, rows, features] = [Signature::CL2.blades().len(), 36, 72];
        let x = (blades * rows * features * dtype.size()) as u64;
        let gates_of = 4 * (rows * features) as u64;
        for (product, formed) in
            [(problem.forward(), true), (problem.of_weight(&g), true), (problem.through(&g), false)]
        {
            let product = product.expect("small sizes");
            let mut bound = limits::bytes_of_product(&product.problem);
            bound.push(4 * product.table.len() as u64);
            bound.extend(if formed { vec![x, gates_of] } else { Vec::new() });
            plans.push(Planned::new("connected", plan_connected(&product, Pin::Free, caps), bound));
        }
        let gates = problem.gates().expect("small sizes");
        let scalars = (rows * features * dtype.size()) as u64;
        plans.extend(
            gates.map(|gates| Planned::new("gates", plan_gates(&gates, caps), [gates_of, scalars, scalars])),
        );
        let back = ConnectedBackProblem::new(&problem, [8, 16]).expect("small sizes");
        plans.push(Planned::new("connected, backward", plan_connected_back(&back, caps), [x; 4]));
    }
    plans
}

/// Elementwise operations, operations along an axis, conversions and the f16 split.
fn of_elements(caps: &Caps) -> Vec<Planned> {
    let mut plans: Vec<Planned> = Vec::new();
    let (of_elements, of_rows) = wgsl::elementwise_problems();
    plans.extend(of_elements.iter().map(|problem| {
        let bound = problem.binding_elements().map(|elements| elements * problem.dtype.size() as u64);
        let operands = problem.function.operands();
        Planned::new("elementwise", plan_elementwise(problem, caps), &bound[..=operands])
    }));
    plans.extend(of_rows.iter().map(|problem| {
        let bound = problem.binding_elements().map(|elements| elements * problem.dtype.size() as u64);
        Planned::new("rows", plan_rows(problem, caps), bound)
    }));
    let view = Layout::contiguous("test", &[3, 5]).expect("a small shape");
    for (from, to) in DType::ALL.into_iter().flat_map(|from| DType::ALL.map(|to| (from, to))) {
        let problem = CastProblem::new(&view, from, to, Overflow::Saturate).expect("a small view");
        let bound = [window_bytes(&view, from), window_bytes(&view, to)];
        plans.push(Planned::new("cast", plan_cast(&problem, caps), bound));
    }
    for precision in [Precision::Fast, Precision::Split] {
        for side in [Side::A, Side::B] {
            let problem = HalvesProblem::new(&view, side, precision).expect("a small view");
            plans.push(limits::of_halves(&problem, &view, caps));
        }
    }
    plans
}

/// Hadamard transforms and sparse operators.
fn sketches(caps: &Caps) -> Vec<Planned> {
    let mut plans: Vec<Planned> = Vec::new();
    for problem in wgsl::hadamard_problems() {
        let pieces = match problem.pieces(caps) {
            Ok(pieces) => pieces,
            Err(error) => {
                plans.push(Planned::new("hadamard", Err(error), []));
                continue;
            }
        };
        for piece in pieces {
            plans.extend(piece.passes(caps).iter().map(|pass| {
                let [x, y] = problem.binding_elements();
                let [x, y, between] = [x * problem.dtype.size() as u64, 4 * y, 4 * piece.scratch_elements()];
                let from = if pass.source == HadamardSource::Pass { between } else { x };
                let to = if pass.target == HadamardTarget::Pass { between } else { y };
                Planned::new("hadamard", plan_hadamard(pass, caps), [from, to])
            }));
        }
    }
    plans.extend(wgsl::sparse_problems().iter().map(|problem| {
        let x = problem.operand_elements() * problem.dtype.size() as u64;
        Planned::new("sparse", plan_sparse(problem, caps), [x, 4 * problem.elements()])
    }));
    plans
}

/// Functions of multivectors and of versors.
fn multivectors(caps: &Caps) -> Vec<Planned> {
    let of = |what, problem: &CliffordProblem| {
        let plan = plan_clifford(problem, caps);
        let elements = &problem.binding_elements()[..=problem.function.operands()];
        let mut bound: Vec<u64> = elements.iter().map(|n| n * problem.dtype.size() as u64).collect();
        bound.extend(plan.iter().map(|plan| 4 * plan.table.len() as u64));
        Planned::new(what, plan, bound)
    };
    let mut plans = Vec::new();
    for dtype in REALS {
        // The type changes nothing of an algebra's: all in f32, of the others every fifth.
        let problems = clifford::clifford_problems(dtype);
        let step = if dtype == DType::F32 { 1 } else { 5 };
        plans.extend(problems.iter().step_by(step).map(|problem| of("clifford", problem)));
    }
    plans.extend(clifford::versor_problems().iter().step_by(3).map(|problem| of("versors", problem)));
    plans
}

/// Functions of layers: of rows, and those that have parameters for each feature.
fn of_layers(caps: &Caps) -> Vec<Planned> {
    let mut plans = Vec::new();
    for problem in REALS.into_iter().flat_map(clifford::row_problems) {
        let size = problem.dtype.size() as u64;
        let x = problem.blade_count() as u64 * u64::from(problem.dims.plane);
        // A weight for each path lies behind each feature.
        let weights = u64::from(problem.dims.features) * u64::from(problem.dims.w[1]);
        plans.push(limits::of_rows(&problem, caps, [size * x, size * weights]));
    }
    for problem in clifford::features_problems() {
        let x = problem.blades.len() * (problem.dims.rows * problem.dims.features) as usize;
        let parameters = problem.dims.features as usize * problem.function.parts(&problem.blades);
        let bound = [x, parameters].map(|elements| (elements * problem.dtype.size()) as u64);
        plans.push(Planned::new("features", plan_features(&problem, caps), bound));
    }
    plans
}
