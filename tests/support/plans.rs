//! Plans of every operation on a device, and what the text of a kernel takes of one.

use super::operand::View;
use super::strided::Lay;
use super::wgsl::{self, I8, REALS, TYPES};
use super::wgsl_clifford::{self as clifford, connected_problem};
use tilewise::clifford::layer::{
    ConnectedBackProblem, Gate, plan_connected, plan_connected_back, plan_features, plan_gates,
    plan_rows as plan_layer_rows,
};
use tilewise::clifford::{Signature, plan_clifford};
use tilewise::gemm::{
    self, Entries, Epilogue, GemmKernel, GemmProblem, GemmTypes, Generated, HalvesProblem, Outer, Pin, Side,
    Split,
};
use tilewise::kernel::{Kernel, Needs, Plan};
use tilewise::ops::{CastProblem, Overflow, plan_cast, plan_elementwise, plan_rows};
use tilewise::sketch::{plan_hadamard, plan_sparse};
use tilewise::{Caps, DType, Layout, Precision, Result};

/// A plan or why there is none, and the operation.
pub type Planned = (&'static str, Result<Plan>);

/// The plans of all operations on a device, in every form that changes a kernel.
pub fn every(caps: &Caps) -> Vec<Planned> {
    let mut plans = Vec::new();
    plans.extend(products(caps).into_iter().map(|plan| ("product", plan)));
    plans.extend(made_products(caps).into_iter().map(|plan| ("product of what is made", plan)));
    plans.extend(connected(caps));
    plans.extend(others(caps));
    plans
}

/// Products: free and of every tile, with every epilogue, whole and in splits, of each combination of types.
fn products(caps: &Caps) -> Vec<Result<Plan>> {
    let epilogues: Vec<Epilogue> = wgsl::epilogues().into_iter().chain([Epilogue::default()]).collect();
    let tiles = GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles());
    let pins = tiles.map(|tile| Pin::Tile(*tile)).chain([Pin::Free]);
    let mut plans = Vec::new();
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
                let problem = GemmProblem { epilogue: *epilogue, ..thin };
                plans.push(gemm::plan(&problem.pinned(pin).split(split), caps));
            }
        }
    }
    plans
}

/// Products an operand of which is made, the whole of it or a half.
fn made_products(caps: &Caps) -> Vec<Result<Plan>> {
    let mut plans = Vec::new();
    for (i, (side, entries)) in [Side::A, Side::B]
        .into_iter()
        .flat_map(|side| [Entries::Normal, Entries::Uniform, Entries::Sign].map(|e| (side, e)))
        .enumerate()
    {
        let generated = Generated { side, entries, outer: [Outer::Rows, Outer::Columns][i % 2], tag: 1 };
        let types = GemmTypes::new(REALS[i % 3], DType::F32);
        plans.push(gemm::plan(&wgsl::plain([64, 65, 66], types).generated(generated, [1, 2]), caps));
    }
    for (i, signs) in wgsl::half_signs().enumerate() {
        let whole = wgsl::plain([64, 66, 70], TYPES[i % TYPES.len()]);
        let problem = wgsl::halved(whole, signs, [View::Plain, View::Transposed][i % 2]);
        for epilogue in [Epilogue::default(), wgsl::epilogues()[4]] {
            plans.push(gemm::plan(&GemmProblem { epilogue, ..problem }, caps));
        }
    }
    plans
}

/// What fully connected layers of multivectors launch, forward and backward.
fn connected(caps: &Caps) -> Vec<Planned> {
    let mut plans = Vec::new();
    for (dtype, gate) in REALS.into_iter().flat_map(|dtype| Gate::ALL.map(|gate| (dtype, gate))) {
        let (problem, g) = connected_problem(Signature::CL2, gate, dtype, [Lay::Plain; 3]);
        for product in [problem.forward(), problem.of_weight(&g), problem.through(&g)] {
            let product = product.expect("small sizes");
            plans.push(("connected", plan_connected(&product, Pin::Free, caps)));
        }
        let gates = problem.gates().expect("small sizes");
        plans.extend(gates.map(|gates| ("gates", plan_gates(&gates, caps))));
        let back = ConnectedBackProblem::new(&problem, [8, 16]).expect("small sizes");
        plans.push(("connected, backward", plan_connected_back(&back, caps)));
    }
    plans
}

/// Everything that is no matrix product.
fn others(caps: &Caps) -> Vec<Planned> {
    let mut plans: Vec<Planned> = Vec::new();
    let (of_elements, of_rows) = wgsl::elementwise_problems();
    plans.extend(of_elements.iter().map(|problem| ("elementwise", plan_elementwise(problem, caps))));
    plans.extend(of_rows.iter().map(|problem| ("rows", plan_rows(problem, caps))));
    let view = Layout::contiguous("test", &[3, 5]).expect("a small shape");
    for (from, to) in DType::ALL.into_iter().flat_map(|from| DType::ALL.map(|to| (from, to))) {
        let problem = CastProblem::new(&view, from, to, Overflow::Saturate).expect("a small view");
        plans.push(("cast", plan_cast(&problem, caps)));
    }
    for precision in [Precision::Fast, Precision::Split] {
        for side in [Side::A, Side::B] {
            let problem = HalvesProblem::new(&view, side, precision).expect("a small view");
            plans.push(("halves", gemm::plan_halves(&problem, caps)));
        }
    }
    plans.extend(wgsl::hadamard_passes(caps).iter().map(|pass| ("hadamard", plan_hadamard(pass, caps))));
    plans.extend(wgsl::sparse_problems().iter().map(|problem| ("sparse", plan_sparse(problem, caps))));
    for dtype in REALS {
        // The type changes nothing of an algebra's: all in f32, of the others every fourth.
        let of_dtype = clifford::clifford_problems(dtype);
        let of_dtype: Vec<_> = of_dtype.iter().step_by(if dtype == DType::F32 { 1 } else { 5 }).collect();
        plans.extend(of_dtype.iter().map(|problem| ("clifford", plan_clifford(problem, caps))));
        let of_rows = clifford::row_problems(dtype);
        plans.extend(of_rows.iter().map(|problem| ("layer rows", plan_layer_rows(problem, caps))));
    }
    let versors = clifford::versor_problems();
    plans.extend(versors.iter().step_by(3).map(|problem| ("versors", plan_clifford(problem, caps))));
    let features = clifford::features_problems();
    plans.extend(features.iter().map(|problem| ("features", plan_features(problem, caps))));
    plans
}

/// What a kernel's text takes of a device, and its immediates in bytes.
pub fn taken(kernel: &Kernel) -> (Needs, u32) {
    let text = kernel.specialize().unwrap_or_else(|error| panic!("{kernel}: {error}"));
    let parsed = naga::front::wgsl::parse_str(&text);
    let module = parsed.unwrap_or_else(|error| panic!("{kernel}: {}", error.emit_to_string(&text)));
    // As WebGPU counts shared memory: each variable in whole units of 16 bytes.
    let bytes = |space: naga::AddressSpace, unit: u32| -> u32 {
        let of_space = module.global_variables.iter().filter(|(_, variable)| variable.space == space);
        let sizes = of_space.map(|(_, variable)| module.types[variable.ty].inner.size(module.to_ctx()));
        sizes.map(|size| size.next_multiple_of(unit)).sum()
    };
    let is_bound =
        |variable: &naga::GlobalVariable| matches!(variable.space, naga::AddressSpace::Storage { .. });
    let bound = module.global_variables.iter().filter(|(_, variable)| is_bound(variable)).count();
    let needs = Needs {
        bindings: u32::try_from(bound).expect("a few"),
        invocations: module.entry_points[0].workgroup_size.iter().product(),
        workgroup_bytes: bytes(naga::AddressSpace::WorkGroup, 16),
    };
    (needs, bytes(naga::AddressSpace::Immediate, 4))
}
