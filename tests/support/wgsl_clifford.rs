//! Problems whose plans need every kernel of Clifford algebras and their layers.

use super::laid::{flat, view};
use super::strided::Lay;
use super::wgsl::{REALS, kernels_of, kernels_of_all, planned};
use tilewise::clifford::layer::{FeatureFunction, Gate, GradeNorm, LayerProduct};
use tilewise::clifford::{BladeAxis, Blades, Product, Signature, Unary};
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::gpu::DeviceType;
use tilewise::planning::Problem;
use tilewise::planning::clifford::{CliffordProblem, Function, LogBranch, MvLayout};
use tilewise::planning::clifford_layer::{
    ConnectedProblem, FeaturesProblem, RowFunction, RowOperandLayouts, RowProblem,
};
use tilewise::planning::gemm::{GemmProblem, Pin};
use tilewise::planning::kernel::Kernel;
use tilewise::{Caps, DType, Layout};

/// Functions of rows of multivectors in this type, with rows that fit a workgroup and rows that do not.
pub fn row_problems(dtype: DType) -> Vec<RowProblem> {
    let functions = [
        RowFunction::Steerable,
        RowFunction::SteerableBackward,
        RowFunction::Normalize,
        RowFunction::NormalizeBackward,
    ];
    let mut problems = Vec::new();
    for (i, function) in functions.into_iter().enumerate() {
        for (j, features) in [8, 5, 40_000].into_iter().enumerate() {
            let signature = [Signature::CL2, Signature::CL3, Signature::PGA2D][(i + j) % 3];
            let norm = GradeNorm::ALL[if function == RowFunction::Normalize { 1 } else { (i + 2 * j) % 3 }];
            let product = LayerProduct::new(signature).norm(norm).gate(Gate::ALL[j]);
            let blades = product.blades();
            let x = flat(&[blades.len(), 3, features]);
            let w = flat(&[features, signature.paths().len()]);
            let layouts = RowOperandLayouts { x: &x, y: Some(&x), g: Some(&x), w: Some(&w) };
            let problem = RowProblem::new(function, product, &blades, layouts, dtype);
            problems.push(problem.expect("a small shape"));
        }
    }
    problems
}

/// Kernels of functions of rows of multivectors, in one launch and in two.
fn row_kernels(caps: &Caps) -> Vec<Kernel> {
    let discrete = caps.clone().planned_for(DeviceType::Discrete);
    let devices = [caps, &discrete].into_iter().flat_map(|caps| REALS.map(|dtype| (caps, dtype)));
    kernels_of_all(devices.flat_map(|(caps, dtype)| planned(row_problems(dtype), caps)))
}

/// Functions of multivectors in this type: every layout of the loop, every method of loading and storing, and the tables of large
/// algebras. Some functions have too many terms to be written out.
pub fn clifford_problems(dtype: DType) -> Vec<CliffordProblem> {
    let six = Signature::new(3, 3, 0).expect("six vectors");
    let mut problems = Vec::new();
    for blades in [Signature::CL2.blades(), Signature::CL3.blades(), Signature::CL3.vectors(), six.blades()] {
        for (axis, features) in [(BladeAxis::First, 8), (BladeAxis::First, 5), (BladeAxis::Last, 5)] {
            let shape = |features| match axis {
                BladeAxis::First => [blades.len(), 3, features],
                BladeAxis::Last => [3, features, blades.len()],
            };
            let (whole, one) = (flat(&shape(features)), flat(&shape(1)));
            let placed = |layout| MvLayout { layout, blades: &blades };
            let mut push = |function: Function, operands: &[MvLayout<'_>]| {
                let problem = CliffordProblem::new(function, operands, placed(&whole), axis, dtype);
                problems.push(problem.expect("shapes go together"));
            };
            for second in [&whole, &one] {
                push(Function::Product(Product::Geometric), &[placed(&whole), placed(second)]);
            }
            for function in [
                Function::Unary(Unary::Reverse),
                Function::Inverse,
                Function::InverseBackward,
                Function::NormBackward,
            ] {
                push(function, &vec![placed(&whole); function.operands()]);
            }
        }
    }
    problems
}

/// A function whose positions are adjacent in memory only in the result, few enough for four per invocation.
fn problem_with_gaps(dtype: DType) -> CliffordProblem {
    let blades = Signature::CL2.blades();
    let layout = |strides: &[usize; 3]| view(&[4, 3, 8], strides, 0);
    let [gaps, whole] = [layout(&[48, 16, 2]), layout(&[24, 8, 1])];
    let [x, c] = [&gaps, &whole].map(|layout| MvLayout { layout, blades: &blades });
    let function = Function::Unary(Unary::Reverse);
    CliffordProblem::new(function, &[x], c, BladeAxis::First, dtype).expect("shapes go together")
}

/// Kernels of functions of multivectors on a device, including those that GPUs would choose.
pub fn clifford_kernels(caps: &Caps) -> Vec<Kernel> {
    let discrete = caps.clone().planned_for(DeviceType::Discrete);
    let mut kernels = Vec::new();
    for (caps, dtype) in [caps, &discrete].into_iter().flat_map(|caps| REALS.map(|dtype| (caps, dtype))) {
        kernels.extend(kernels_of(&problem_with_gaps(dtype).plan(caps).expect("it is small")));
        for problem in clifford_problems(dtype) {
            match (problem.plan(caps), problem.function()) {
                (Ok(plan), _) => kernels.extend(kernels_of(&plan)),
                (Err(error), Function::Product(_)) => panic!("{error}"),
                // Other tests cover functions with too many terms to be written out.
                (Err(_), _) => {}
            }
        }
    }
    let others = [planned(versor_problems(), caps), planned(features_problems(), caps)].concat();
    kernels.into_iter().chain(row_kernels(caps)).chain(kernels_of_all(others)).collect()
}

/// Norms and activations of layers, and their gradients: one algebra in every type, the others in f32.
pub fn features_problems() -> Vec<FeaturesProblem> {
    let real = DType::ALL.into_iter().filter(|dtype| dtype.is_real());
    let others = [Signature::CL2, Signature::PGA3D, Signature::SPACETIME, Signature::CGA3D];
    let mut cases: Vec<_> = real.map(|dtype| (Signature::CL3, dtype, 65)).collect();
    cases.extend(others.map(|algebra| (algebra, DType::F32, 5)));
    let mut problems = Vec::new();
    for ((algebra, dtype, features), function) in
        cases.into_iter().flat_map(|case| FeatureFunction::ALL.map(|function| (case, function)))
    {
        let blades = algebra.blades();
        let x = flat(&[blades.len(), 3, features]);
        let parameter = flat(&[features, function.parts(&blades)]);
        for g in [None, Some(&x)] {
            let parameters = vec![&parameter; function.parameters()];
            let problem = FeaturesProblem::new(function, &blades, &x, g, &parameters, dtype);
            problems.push(problem.expect("shapes go together"));
        }
    }
    problems
}

/// Functions of versors: closed forms in every algebra that has them, and sandwiches with a versor for each position or one for
/// all.
pub fn versor_problems() -> Vec<CliffordProblem> {
    let mut problems = Vec::new();
    let rigid = [Signature::CL2, Signature::CL3, Signature::PGA2D, Signature::PGA3D];
    for algebra in rigid.into_iter().chain([Signature::PGA3D.null_first(), Signature::SPACETIME]) {
        let (even, turns) = (algebra.even(), algebra.bivectors());
        let mut functions = vec![(Function::Normalize, vec![&even], &even)];
        if algebra != Signature::SPACETIME {
            functions.push((Function::Exp, vec![&turns], &even));
            functions.push((Function::Log(LogBranch::OfMotor), vec![&even], &turns));
            functions.push((Function::Log(LogBranch::Shortest), vec![&even], &turns));
            functions.push((Function::LogBetween, vec![&even, &even], &turns));
        }
        let [odd, vectors, points, all] =
            [algebra.odd(), algebra.vectors(), algebra.points(), algebra.blades()];
        for x in [&vectors, &points, &all] {
            functions.push((Function::Sandwich, vec![&even, x], x));
            functions.push((Function::Sandwich, vec![&odd, x], x));
        }
        for (function, operands, out) in functions {
            for features in [1, 8] {
                let layout = |blades: &Blades, features| flat(&[blades.len(), 3, features]);
                let mut layouts: Vec<Layout> = operands.iter().map(|blades| layout(blades, 8)).collect();
                layouts[0] = layout(operands[0], if operands.len() == 2 { features } else { 8 });
                let placed: Vec<MvLayout<'_>> = layouts
                    .iter()
                    .zip(&operands)
                    .map(|(layout, blades)| MvLayout { layout, blades })
                    .collect();
                let c = layout(out, 8);
                let c = MvLayout { layout: &c, blades: out };
                let problem = CliffordProblem::new(function, &placed, c, BladeAxis::First, DType::F32);
                problems.push(problem.expect("shapes go together"));
            }
        }
    }
    problems
}

/// A fully connected product of operands (blade, row, in), each with its own layout.
pub fn connected_problem(
    signature: Signature,
    gate: Gate,
    dtype: DType,
    lays: [Lay; 3],
) -> (ConnectedProblem, Layout) {
    let blades = signature.blades();
    let placed = |shape: [usize; 3], lay: Lay| {
        let (strides, offset) = lay.strides(&shape);
        view(&shape, &strides, offset)
    };
    let operand = |lay| placed([blades.len(), 36, 72], lay);
    let weight = placed([signature.paths().len(), 72, 40], lays[2]);
    let product = LayerProduct::new(signature).gate(gate);
    let operands = [&operand(lays[0]), &operand(lays[1])];
    let problem =
        ConnectedProblem::new(product, &blades, operands, &weight, dtype).expect("shapes go together");
    (problem, placed([blades.len(), 36, 40], lays[0]))
}

/// The matrix products of fully connected layers on a device, and their tiles: forward and backward, with every tile, with and
/// without gates, in every type and method of staging.
pub fn connected_products(caps: &Caps) -> Vec<(Tile, GemmProblem, Kernel)> {
    const LAYS: [[Lay; 3]; 4] = [
        [Lay::Plain; 3],
        [Lay::Reversed, Lay::Reversed, Lay::Plain],
        [Lay::Plain, Lay::Gaps, Lay::Reversed],
        [Lay::Gaps, Lay::Reversed, Lay::Odd],
    ];
    let mut kernels = Vec::new();
    let tiles = [GemmKernel::Tiled, GemmKernel::Coop].iter().flat_map(|kernel| kernel.tiles());
    for (i, tile) in tiles.enumerate() {
        // The smallest register tiles with every layout, others with one.
        let taken = |&(j, _): &(usize, _)| [tile.tm, tile.tn] == [4, 4] || tile.bm == 32 || j == i % 4;
        for (j, lays) in LAYS.into_iter().enumerate().filter(taken) {
            let dtype = if tile.kernel == GemmKernel::Coop { DType::F16 } else { REALS[(i + j) % 3] };
            let gate = [Gate::Gelu, Gate::None][j / 2];
            let (problem, g) = connected_problem(Signature::CL2, gate, dtype, lays);
            for product in [problem.forward(), problem.weight_gradient(&g), problem.path_gradients(&g)] {
                let product = product.expect("small sizes").pinned(Pin::Tile(*tile));
                // Other tests cover problems that a device cannot run, and the reductions of split-k.
                let product = product.split_k(SplitK::Splits(1));
                let Ok(plan) = product.plan(caps) else { continue };
                kernels.push((*tile, *product.product(), plan.steps()[0].kernel.clone()));
            }
        }
    }
    kernels
}

/// The other kernels of fully connected layers on a device: every algebra, type and gate.
pub fn connected_kernels(caps: &Caps) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for dtype in REALS {
        for gate in Gate::ALL {
            // The algebra only changes the number of similar terms, so two are enough.
            let signatures = [Signature::CL2, Signature::CGA3D];
            for signature in signatures.into_iter().take(if gate == Gate::None { 2 } else { 1 }) {
                let (problem, _) = connected_problem(signature, gate, dtype, [Lay::Plain; 3]);
                let (gaps, _) = connected_problem(signature, gate, dtype, [Lay::Gaps, Lay::Odd, Lay::Plain]);
                for gates in [&problem, &gaps].into_iter().filter_map(|p| p.gates().expect("small sizes")) {
                    kernels.extend(kernels_of(&gates.plan(caps).expect("it fits")));
                }
                let back = problem.operand_gradients([8, 16]).expect("small sizes");
                kernels.extend(kernels_of(&back.plan(caps).expect("it fits")));
            }
        }
    }
    kernels
}
