//! Functions of multivectors, their norms and activations, and functions of their rows, as large as they may be.

use super::gemm::{WINDOW, bare, caps};
use super::launch::Launch;
use support::is_full_sweep;
use support::laid::{flat, view};
use tilewise::clifford::layer::{FeatureFunction, Gate, GradeNorm, LayerProduct};
use tilewise::clifford::{BladeAxis, Blades, Product, Signature, Unary};
use tilewise::gpu::DeviceType;
use tilewise::planning::Problem;
use tilewise::planning::clifford::{CliffordProblem, Function, LogBranch, MvLayout};
use tilewise::planning::clifford_layer::{FeaturesProblem, RowFunction, RowOperandLayouts, RowProblem};
use tilewise::{Caps, DType, Layout};

const TYPES: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

/// Multivectors (blade, row, feature) of so many blades, which span so many elements.
pub(crate) fn layouts(blades: usize, elements: usize) -> Vec<Layout> {
    let plane = elements / blades;
    let of = |shape: [usize; 3], strides: [usize; 3], offset| view(&shape, &strides, offset);
    let plain =
        |rows: usize, features: usize| of([blades, rows, features], [rows * features, features, 1], 0);
    let edge = plane.isqrt();
    vec![
        plain(plane / 5, 5),
        plain(3, plane / 3 / 4 * 4),
        plain(edge, edge),
        plain(plane / 64, 64),
        of([blades, plane / 8, 8], [1, 8 * blades, blades], 0),
        of([blades, edge, edge - 1], [1, blades, blades * edge], 63),
        of([blades, 3, 6], [plane, plane / 3, plane / 24], 6),
        of([blades, 1000, 40], [(elements - 50_000) / (blades - 1), 41, 1], 0),
    ]
}

pub(crate) fn launches() -> Vec<Launch> {
    let mut launches = Vec::new();
    let gpu = caps().planned_for(DeviceType::Discrete);
    let devices = [gpu, caps(), bare()];
    let six = Signature::new(3, 3, 0).expect("six vectors");
    let mut case = 0;
    for (s, signature) in [Signature::CL2, Signature::CL3, six].into_iter().enumerate() {
        for (i, dtype) in TYPES.into_iter().enumerate() {
            for (j, x) in layouts(signature.blades().len(), WINDOW / dtype.size()).into_iter().enumerate() {
                case += 1;
                if !is_full_sweep() && (i + j + s) % 3 != 0 {
                    continue;
                }
                // Functions and rows of the same layout are of different devices: more pairs of both.
                let at = (i + j / 3 + s) % 3;
                let (caps, of_rows) = (&devices[at], &devices[[1, 0, 2][at]]);
                functions(caps, signature, &x, dtype, case, &mut launches);
                if signature != six {
                    features(caps, signature, &x, dtype, &mut launches);
                    rows(of_rows, signature, &x, dtype, case, &mut launches);
                }
            }
        }
    }
    if !is_full_sweep() {
        // Results of two positions at once, which none of those above stores.
        let x = &layouts(Signature::CL3.blades().len(), WINDOW / DType::F32.size())[1];
        functions(&devices[0], Signature::CL3, x, DType::F32, 1, &mut launches);
    }
    launches
}

/// The same elements with the axis of blades last.
fn blades_last(x: &Layout) -> Layout {
    let last = |of: &[usize]| [of[1], of[2], of[0]];
    view(&last(x.shape()), &last(x.strides()), x.offset())
}

/// The first blades of `x`, as many as these are.
fn first(x: &Layout, blades: &Blades) -> Layout {
    let [_, rows, features] = *x.shape() else { panic!("multivectors have three axes") };
    view(&[blades.len(), rows, features], x.strides(), x.offset())
}

/// Functions with the blades of their operands and of their result: each time three that are made for every algebra, and
/// two of the others.
fn chosen(signature: Signature, case: usize) -> Vec<(Function, Vec<Blades>, Blades)> {
    let (all, even) = (signature.blades(), signature.even());
    let (scalars, turns) = (signature.scalars(), signature.bivectors());
    let same = |function: Function| (function, vec![all.clone(); function.operands()], all.clone());
    let one = |function, x: &Blades, c: &Blades| (function, vec![x.clone()], c.clone());
    let versor = |x: &Blades| (Function::Sandwich, vec![even.clone(), x.clone()], x.clone());
    let mut others = vec![
        same(Function::Unary(Unary::Reverse)),
        one(Function::Select, &all, &even),
        one(Function::Norm, &all, &scalars),
        same(Function::Negate([u64::MAX; 4])),
        versor(&signature.vectors()),
        (Function::BackwardX(Product::Geometric), vec![all.clone(); 2], all.clone()),
        (Function::BackwardY(Product::Geometric), vec![all.clone(); 2], all.clone()),
    ];
    if signature.dimension() <= 3 {
        others.push(one(Function::Normalize, &even, &even));
        others.push(one(Function::Exp, &turns, &even));
        others.push(one(Function::Log(LogBranch::OfMotor), &even, &turns));
        others.push(one(Function::Log(LogBranch::Shortest), &even, &turns));
        others.push((Function::LogBetween, vec![even.clone(); 2], turns));
    }
    let mut chosen = vec![
        same(Function::Product(Product::Geometric)),
        same(Function::Inverse),
        (Function::NormBackward, vec![all.clone(), scalars], all.clone()),
    ];
    if case.is_multiple_of(2) {
        chosen[2] = same(Function::InverseBackward);
    }
    let count = others.len();
    chosen.extend([2 * case, 2 * case + 1].map(|at| others[at % count].clone()));
    chosen
}

fn functions(
    caps: &Caps,
    signature: Signature,
    x: &Layout,
    dtype: DType,
    case: usize,
    launches: &mut Vec<Launch>,
) {
    for (at, (function, blades, out)) in chosen(signature, case).into_iter().enumerate() {
        // Every third time last.
        let axis = if (case + at).is_multiple_of(3) { BladeAxis::Last } else { BladeAxis::First };
        let placed = |layout: Layout| if axis == BladeAxis::Last { blades_last(&layout) } else { layout };
        let operands: Vec<Layout> = blades.iter().map(|blades| placed(first(x, blades))).collect();
        // Gradients lie as what they are of.
        let is_gradient = matches!(function, Function::InverseBackward | Function::NormBackward);
        let c = placed(first(x, &out));
        let c = if is_gradient { c } else { flat(c.shape()) };
        let of: Vec<MvLayout<'_>> =
            operands.iter().zip(&blades).map(|(layout, blades)| MvLayout { layout, blades }).collect();
        let problem = CliffordProblem::new(function, &of, MvLayout { layout: &c, blades: &out }, axis, dtype);
        let plan = problem.and_then(|problem| problem.plan(caps));
        let what = format!("{function:?} of {signature}, {dtype} {x:?}, {axis:?}");
        launches.extend(Launch::planned(&what, plan));
    }
}

fn features(caps: &Caps, signature: Signature, x: &Layout, dtype: DType, launches: &mut Vec<Launch>) {
    let blades = signature.blades();
    for function in FeatureFunction::ALL {
        let shape = [x.shape()[2], function.parts(&blades)];
        let parameter = flat(&shape);
        for g in [None, Some(x)] {
            let parameters = vec![&parameter; function.parameters()];
            let Ok(problem) = FeaturesProblem::new(function, &blades, x, g, &parameters, dtype) else {
                continue;
            };
            let what = format!("{problem}, {dtype} {x:?}");
            launches.extend(Launch::planned(&what, problem.plan(caps)));
        }
    }
}

fn rows(
    caps: &Caps,
    signature: Signature,
    x: &Layout,
    dtype: DType,
    case: usize,
    launches: &mut Vec<Launch>,
) {
    let blades = signature.blades();
    let paths = signature.paths().len();
    let functions = [
        RowFunction::Steerable,
        RowFunction::SteerableBackward,
        RowFunction::Normalize,
        RowFunction::NormalizeBackward,
    ];
    let w = flat(&[x.shape()[2], paths]);
    for (i, function) in functions.into_iter().enumerate() {
        let norm = GradeNorm::ALL[if function == RowFunction::Normalize { 1 } else { (i + case) % 3 }];
        let product = LayerProduct::new(signature).norm(norm).gate(Gate::ALL[case % 3]);
        let layouts = RowOperandLayouts { x, y: Some(x), g: Some(x), w: Some(&w) };
        let plan = RowProblem::new(function, product, &blades, layouts, dtype)
            .and_then(|problem| problem.plan(caps));
        launches.extend(Launch::planned(&format!("{function:?} of {signature}, {dtype} {x:?}"), plan));
    }
}
