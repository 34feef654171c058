//! Functions of multivectors, their norms and activations, and functions of their rows, as large as they may be.

use super::gemm::{WINDOW, caps, is_full};
use super::launch::{Launch, Operand};
use tilewise::clifford::layer::{
    FeatureFunction, FeaturesProblem, Gate, GradeNorm, LayerProduct, RowFunction, RowLayouts, RowProblem,
    RowStep, RowTile, plan_features, plan_rows,
};
use tilewise::clifford::{BladeAxis, CliffordProblem, Function, Placed, Product, Signature, plan_clifford};
use tilewise::gpu::DeviceType;
use tilewise::{Caps, DType, Layout};

const TYPES: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

/// Multivectors (blade, row, feature) of so many blades, which span so many elements.
pub(crate) fn layouts(blades: usize, elements: usize) -> Vec<Layout> {
    let plane = elements / blades;
    let of = |shape: [usize; 3], strides: [usize; 3], offset| {
        Layout::new("test", &shape, &strides, offset, 1 << 40).expect("a view of a large buffer")
    };
    let plain =
        |rows: usize, features: usize| of([blades, rows, features], [rows * features, features, 1], 0);
    let edge = plane.isqrt();
    vec![
        plain(plane / 5, 5),
        plain(3, plane / 3 / 4 * 4),
        plain(edge, edge),
        of([blades, edge, edge - 1], [1, blades, blades * edge], 63),
        of([blades, 3, 6], [plane, plane / 3, plane / 24], 6),
        of([blades, 1000, 40], [(elements - 50_000) / (blades - 1), 41, 1], 0),
    ]
}

fn bound(layout: &Layout, dtype: DType) -> Operand {
    let ahead = layout.offset() % (256 / dtype.size());
    Operand::of((ahead + layout.span().len()) as u64, dtype.size())
}

fn dense(shape: &[usize], dtype: DType) -> Operand {
    Operand::of(shape.iter().product::<usize>() as u64, dtype.size())
}

pub(crate) fn launches() -> Vec<Launch> {
    let mut launches = Vec::new();
    let mut gpu = caps();
    gpu.device_type = DeviceType::Discrete;
    let devices = [caps(), gpu];
    let six = Signature::new(3, 3, 0).expect("six vectors");
    let mut case = 0;
    for signature in [Signature::CL2, Signature::CL3, six] {
        for (i, dtype) in TYPES.into_iter().enumerate() {
            for (j, x) in layouts(signature.blades().len(), WINDOW / dtype.size()).into_iter().enumerate() {
                case += 1;
                if !is_full() && (i + j) % 3 != 0 {
                    continue;
                }
                let caps = &devices[case % 2];
                functions(caps, signature, &x, dtype, case, &mut launches);
                if signature != six {
                    features(caps, signature, &x, dtype, &mut launches);
                    rows(caps, signature, &x, dtype, case, &mut launches);
                }
            }
        }
    }
    launches
}

fn functions(
    caps: &Caps,
    signature: Signature,
    x: &Layout,
    dtype: DType,
    case: usize,
    launches: &mut Vec<Launch>,
) {
    let blades = signature.blades();
    let c = Layout::contiguous("test", x.shape()).expect("no more than the view");
    for (function, c) in [
        (Function::Product(Product::Geometric), &c),
        (Function::Inverse, &c),
        ([Function::InverseBackward, Function::NormBackward][case % 2], x),
    ] {
        let placed = |layout| Placed { layout, blades: &blades };
        let operands = vec![placed(x); function.operands()];
        let Ok(problem) = CliffordProblem::new(function, &operands, placed(c), BladeAxis::First, dtype)
        else {
            continue;
        };
        let Ok(plan) = plan_clifford(&problem, caps) else { continue };
        let mut operands = vec![bound(c, dtype)];
        operands.extend(vec![bound(x, dtype); function.operands()]);
        if !plan.table.is_empty() {
            operands.push(Operand::table(&plan.table));
        }
        let what = format!("{function:?} of {signature}, {dtype} {x:?}");
        launches.push(Launch::new(what, &plan, bytemuck::bytes_of(&problem.dims_of(&plan, caps)), operands));
    }
}

fn features(caps: &Caps, signature: Signature, x: &Layout, dtype: DType, launches: &mut Vec<Launch>) {
    let blades = signature.blades();
    for function in FeatureFunction::ALL {
        let shape = [x.shape()[2], function.parts(&blades)];
        let parameter = Layout::contiguous("test", &shape).expect("few axes");
        for g in [None, Some(x)] {
            let parameters = vec![&parameter; function.parameters()];
            let Ok(problem) = FeaturesProblem::new(function, &blades, x, g, &parameters, dtype) else {
                continue;
            };
            let Ok(plan) = plan_features(&problem, caps) else { continue };
            let mut operands = vec![dense(x.shape(), dtype), bound(x, dtype)];
            operands.extend(g.map(|g| bound(g, dtype)));
            operands.extend(vec![bound(&parameter, dtype); parameters.len()]);
            if g.is_some() {
                // A row at a time, where all of its features are met.
                let of_strip =
                    if function == FeatureFunction::LayerNorm { 1 } else { problem.dims.strip as usize };
                let strips = x.shape()[1].div_ceil(of_strip);
                operands.push(dense(&[strips, shape[0], shape[1] * parameters.len()], DType::F32));
            }
            let what = format!("{problem}, {dtype} {x:?}");
            launches.push(Launch::new(what, &plan, bytemuck::bytes_of(&problem.dims), operands));
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
    let w = Layout::contiguous("test", &[x.shape()[2], paths]).expect("few axes");
    for (i, function) in functions.into_iter().enumerate() {
        let norm = GradeNorm::ALL[if function == RowFunction::Normalize { 1 } else { (i + case) % 3 }];
        let product = LayerProduct::new(signature).norm(norm).gate(Gate::ALL[case % 3]);
        let layouts = RowLayouts { x, y: Some(x), g: Some(x), w: Some(&w) };
        let Ok(problem) = RowProblem::new(function, product, &blades, layouts, dtype) else { continue };
        let Ok(plan) = plan_rows(&problem, caps) else { continue };
        let (first, last) = (problem.step(RowStep::Sums), problem.behind());
        let (stages, parts) = match plan.then.as_deref() {
            None => (vec![(&problem, &plan)], 1),
            Some(then) => (vec![(&first, &plan), (&last, then)], RowTile::of(&first, caps).blocks),
        };
        for (stage, plan) in stages {
            let tile = RowTile::of(stage, caps);
            let mut dims = tile.dims(stage);
            dims.parts = parts;
            // Between two launches lies a product that is not rounded.
            let between = function == RowFunction::Steerable && stage.step == RowStep::Results;
            let sums = [problem.sums(), x.shape()[1], parts as usize];
            let c = dense(x.shape(), stage.out);
            let named = vec![
                ("c", c.clone()),
                ("d", c),
                ("x", if between { dense(x.shape(), DType::F32) } else { bound(x, dtype) }),
                ("y", bound(x, dtype)),
                ("g", bound(x, dtype)),
                ("w", bound(&w, dtype)),
                ("slab", dense(&[tile.slots() as usize, x.shape()[2], paths], DType::F32)),
                ("sums", dense(&sums, DType::F32)),
            ];
            let what = format!("{function:?} {:?} of {signature}, {dtype} {x:?}", stage.step);
            let launch = Launch::new(what, plan, bytemuck::bytes_of(&dims), Vec::new());
            launches.push(Launch { named, subgroup: 8, ..launch });
        }
    }
}
