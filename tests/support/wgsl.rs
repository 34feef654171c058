//! What naga says about a specialised shader, and the problems whose plans take every one of them.

use super::operand::View;
use super::strided::Lay;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use tilewise::clifford::layer::{
    ConnectedBackProblem, ConnectedProblem, Gate, LayerProduct, plan_connected_back, plan_gates,
};
use tilewise::clifford::layer::{FeatureFunction, FeaturesProblem, plan_features};
use tilewise::clifford::{
    BladeAxis, Blades, Branch, CliffordProblem, Function, Placed, Product, Signature, Unary, plan_clifford,
};
use tilewise::gemm::{
    self, Entries, Epilogue, GemmKernel, GemmProblem, GemmTypes, Generated, Half, HalfSigns, HalvedAxis,
    Outer, Pin, Previous, Scale, Side, Split, Tile,
};
use tilewise::gpu::DeviceType;
use tilewise::kernel::Kernel;
use tilewise::ops::{Elementwise, ElementwiseProblem, Rows, RowsProblem, plan_elementwise, plan_rows};
use tilewise::sketch::{HadamardPass, HadamardProblem, Sketch, SketchKind, SparseProblem, Way, plan_sparse};
use tilewise::{Activation, Caps, DType, Layout};

/// What naga lets a shader use on this device: no more than the device has.
pub fn capabilities(caps: &Caps) -> Capabilities {
    // Packing f16 in pairs is everywhere: WebGPU demands it.
    let mut capabilities = Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    capabilities.set(Capabilities::IMMEDIATES, caps.limits.immediate_bytes > 0);
    capabilities.set(Capabilities::SHADER_FLOAT16, caps.f16);
    capabilities.set(Capabilities::SHADER_INT64, caps.int64);
    capabilities.set(Capabilities::SUBGROUP, caps.subgroups.is_some());
    capabilities.set(Capabilities::COOPERATIVE_MATRIX, caps.has_tensor_cores());
    capabilities
}

/// Parses and validates a shader; the error says where in its text.
pub fn validate(text: &str, capabilities: Capabilities) -> Result<naga::Module, String> {
    let module = naga::front::wgsl::parse_str(text).map_err(|error| error.emit_to_string(text))?;
    let validated = Validator::new(ValidationFlags::all(), capabilities).validate(&module);
    validated.map_err(|error| error.emit_to_string(text))?;
    Ok(module)
}

/// Every combination of types with a fraction.
pub const TYPES: [GemmTypes; 8] = [
    GemmTypes::new(DType::F32, DType::F32),
    GemmTypes::new(DType::F16, DType::F32),
    GemmTypes::new(DType::F16, DType::F16),
    GemmTypes::new(DType::F32, DType::F16),
    GemmTypes::new(DType::Bf16, DType::F32),
    GemmTypes::new(DType::Bf16, DType::Bf16),
    GemmTypes::new(DType::F16, DType::Bf16),
    GemmTypes::new(DType::F32, DType::Bf16),
];

/// The types with a fraction.
const REALS: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

/// The one combination of integers.
pub const I8: GemmTypes = GemmTypes::new(DType::I8, DType::I32);

/// A product whose operands and result lie in memory as `views` say.
pub fn problem([m, n, k]: [usize; 3], types: GemmTypes, views: [View; 3]) -> GemmProblem {
    let [a, b, c] = [([m, k], views[0]), ([k, n], views[1]), ([m, n], views[2])].map(|(shape, view)| {
        let (strides, offset) = view.strides(shape);
        Layout::new("test", &shape, &strides, offset, 1 << 40).expect("the view lies in the buffer")
    });
    GemmProblem::new(&a, &b, &c, types).expect("the shapes go together")
}

/// A product of matrices without gaps.
pub fn plain(shape: [usize; 3], types: GemmTypes) -> GemmProblem {
    problem(shape, types, [View::Plain; 3])
}

/// Epilogues that take every fragment of theirs: with operands of each type, all activations, ways of scaling.
pub fn epilogues() -> Vec<Epilogue> {
    let mut epilogues = vec![
        Epilogue { scale: Scale::Back, ..Epilogue::default() },
        Epilogue { scale: Scale::BackWithCross, bias: Some(DType::F32), ..Epilogue::default() },
        Epilogue { previous: Previous::Added, residual: Some(DType::F32), ..Epilogue::default() },
    ];
    for (i, activation) in Activation::ALL.into_iter().enumerate() {
        let dtype = [DType::F32, DType::F16, DType::Bf16][i % 3];
        let previous = if i % 2 == 0 { Previous::Added } else { Previous::Overwritten };
        epilogues.push(Epilogue {
            scale: Scale::Alpha,
            previous,
            bias: Some(dtype),
            residual: (i % 3 > 0).then_some(dtype),
            activation,
        });
    }
    epilogues
}

/// Kernels of products in every form: with each epilogue, and in parts of k, whose sums another kernel brings together.
pub fn form_kernels(caps: &Caps) -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> = Vec::new();
    let smallest = GemmKernel::ALL.iter().filter_map(|kernel| kernel.tiles().last());
    for tile in smallest {
        for types in TYPES {
            for (i, epilogue) in epilogues().into_iter().enumerate() {
                for (view, parts) in [(View::Plain, 1), (View::Gaps, 1), (View::Plain, 2), (View::Gaps, 2)] {
                    let thin = problem([4, 128, 128], types, [View::Plain, View::Plain, view]);
                    let problem =
                        GemmProblem { epilogue, ..thin }.pinned(Pin::Tile(*tile)).split(Split::Parts(parts));
                    // What a device cannot run is other tests' matter; one type of result is enough of each epilogue.
                    let Ok(plan) = gemm::plan(&problem, caps) else { continue };
                    if i > 2 && types.c != TYPES[i % TYPES.len()].c {
                        continue;
                    }
                    kernels.extend(plan.then.map(|then| then.kernel));
                    kernels.push(plan.kernel);
                }
            }
        }
    }
    kernels.sort_by_key(ToString::to_string);
    kernels.dedup();
    kernels
}

/// Every kernel that a function of elements, or an operation along an axis, may take on a device: all functions, types
/// and ways of storing.
pub fn elementwise_kernels(caps: &Caps) -> Vec<Kernel> {
    let view = |shape: [usize; 2]| {
        let strides = [shape[1] + 1, 1];
        Layout::new("test", &shape, &strides, 0, 1 << 20).expect("the view lies in the buffer")
    };
    let mut kernels = Vec::new();
    for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_real()) {
        // Rows that begin at even places, and rows that do not.
        for view in [view([3, 5]), view([3, 4])] {
            for function in Elementwise::all() {
                let operands = vec![&view; function.operands()];
                let problem =
                    ElementwiseProblem::new(function, &operands, &view, dtype).expect("a small view");
                kernels.push(plan_elementwise(&problem, caps).expect("it fits").kernel);
            }
            for function in Rows::ALL {
                let problem = RowsProblem::new(function, &view, 1, dtype).expect("a small view");
                kernels.push(plan_rows(&problem, caps).expect("it fits").kernel);
            }
        }
    }
    kernels
}

/// Every pass that a Hadamard operator may take on a device: all types, both ways, lengths of one pass and of several,
/// few columns and many; and those that other devices would choose.
pub fn hadamard_passes(caps: &Caps) -> Vec<HadamardPass> {
    let mut chosen = Vec::new();
    for device_type in [DeviceType::Software, DeviceType::Discrete] {
        let mut like = caps.clone();
        like.device_type = device_type;
        for (n, columns) in [(1usize, 3), (3, 100), (40, 1), (500, 9), (4096, 1), (5000, 100), (1 << 21, 2)] {
            for (way, dtype) in [Way::Forward, Way::Adjoint]
                .into_iter()
                .flat_map(|way| DType::ALL.map(|dtype| (way, dtype)))
                .filter(|(_, dtype)| dtype.is_real())
            {
                let s = Sketch::new(SketchKind::Hadamard, [n.div_ceil(3), n], 1).expect("a small operator");
                let rows = if way == Way::Forward { n } else { n.div_ceil(3) };
                let x = Layout::contiguous("test", &[rows, columns]).expect("a small shape");
                let problem = HadamardProblem::new(&s, way, &x, 0, dtype).expect("a small view");
                chosen.extend(problem.passes(&like));
            }
        }
    }
    chosen
}

/// Every kernel with a generated operand on a device: either side, either way, all entries.
pub fn generated_kernels(caps: &Caps) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for side in [Side::A, Side::B] {
        for outer in [Outer::Rows, Outer::Columns] {
            for entries in [Entries::Normal, Entries::Uniform, Entries::Sign] {
                let generated = Generated { side, entries, outer, tag: 1 };
                let problem =
                    plain([64, 65, 66], GemmTypes::new(DType::F16, DType::F32)).generated(generated, [1, 2]);
                kernels.push(gemm::plan(&problem, caps).expect("the tiled kernel is everywhere").kernel);
            }
        }
    }
    kernels
}

/// An operand B half of which is signs, in every way.
pub fn half_signs() -> impl Iterator<Item = HalfSigns> {
    (0..8).map(|i| HalfSigns {
        axis: [HalvedAxis::Outer, HalvedAxis::K][i % 2],
        half: [Half::First, Half::Second][i / 2 % 2],
        outer: [Outer::Rows, Outer::Columns][i / 4],
        tag: 3,
    })
}

/// The product of a problem that [`problem`] makes, half of whose B is made and half lies in memory as `view` says.
pub fn halved(whole: GemmProblem, signs: HalfSigns, view: View) -> GemmProblem {
    let [k, n] = [whole.dims.k, whole.dims.n].map(|extent| extent as usize);
    let shape = if signs.axis == HalvedAxis::Outer { [k, n / 2] } else { [k / 2, n] };
    let (strides, offset) = view.strides(shape);
    let half = Layout::new("test", &shape, &strides, offset, 1 << 40).expect("the view lies in the buffer");
    whole.half_signs(signs, &half, [1, 2]).expect("it is half of B")
}

/// Kernels with an operand half of which is made on a device, and their tiles: every tile, way of staging and of making,
/// and type.
pub fn half_kernels(caps: &Caps) -> Vec<(Tile, GemmProblem, Kernel)> {
    let mut kernels = Vec::new();
    for (i, tile) in
        [GemmKernel::Tiled, GemmKernel::Coop].iter().flat_map(|kernel| kernel.tiles()).enumerate()
    {
        // The smallest patches in every way, others in two that have nothing in common.
        let taken = |&(j, _): &(usize, _)| [tile.tm, tile.tn] == [4, 4] || j == i % 4 || j == 7 - i % 4;
        for (j, signs) in half_signs().enumerate().filter(taken) {
            let view = [View::Plain, View::Transposed][(i + j) % 2];
            let types = if tile.kernel == GemmKernel::Coop { TYPES[1 + j % 2] } else { TYPES[(i + j) % 8] };
            let problem = halved(plain([64, 66, 70], types), signs, view);
            // What a device cannot run is other tests' matter.
            let Ok(plan) = gemm::plan(&problem.pinned(Pin::Tile(*tile)), caps) else { continue };
            kernels.push((*tile, problem, plan.kernel));
        }
    }
    kernels
}

/// Every kernel that a sparse operator may take on a device: both ways, all types, axes and numbers of nonzeros; of few
/// columns in parts.
pub fn sparse_kernels(caps: &Caps) -> Vec<Kernel> {
    let mut discrete = caps.clone();
    discrete.device_type = DeviceType::Discrete;
    let mut kernels = Vec::new();
    for caps in [caps.clone(), discrete] {
        for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_real()) {
            for nonzeros in [1, 3, 64] {
                for (axis, shape) in [(0, [4096, 3]), (0, [4096, 300]), (1, [300, 4096])] {
                    let sketch =
                        Sketch::new(SketchKind::Sjlt { nonzeros }, [4096; 2], 1).expect("a small operator");
                    let x = Layout::contiguous("test", &shape).expect("a small shape");
                    for way in [Way::Forward, Way::Adjoint] {
                        let problem =
                            SparseProblem::new(&sketch, way, &x, axis, dtype).expect("they go together");
                        let plan = plan_sparse(&problem, &caps).expect("it fits");
                        kernels.extend(plan.then.map(|then| then.kernel));
                        kernels.push(plan.kernel);
                    }
                }
            }
        }
    }
    kernels.sort_by_key(ToString::to_string);
    kernels.dedup();
    kernels
}

/// Functions of rows of multivectors: whole, and in two launches.
fn row_kernels(caps: &Caps) -> Vec<Kernel> {
    use tilewise::clifford::layer::{
        Gate, GradeNorm, LayerProduct, RowFunction, RowLayouts, RowProblem, plan_rows,
    };
    let mut discrete = caps.clone();
    discrete.device_type = DeviceType::Discrete;
    let contiguous = |shape: &[usize]| Layout::contiguous("test", shape).expect("a small shape");
    let mut kernels = Vec::new();
    for (caps, dtype) in [caps, &discrete].into_iter().flat_map(|caps| DType::ALL.map(|dtype| (caps, dtype)))
    {
        if !dtype.is_real() {
            continue;
        }
        let functions = [
            RowFunction::Steerable,
            RowFunction::SteerableBackward,
            RowFunction::Normalize,
            RowFunction::NormalizeBackward,
        ];
        for (i, function) in functions.into_iter().enumerate() {
            for (j, features) in [8, 5, 40_000].into_iter().enumerate() {
                let signature = [Signature::CL2, Signature::CL3, Signature::PGA2D][(i + j) % 3];
                let norm =
                    GradeNorm::ALL[if function == RowFunction::Normalize { 1 } else { (i + 2 * j) % 3 }];
                let product = LayerProduct::new(signature).norm(norm).gate(Gate::ALL[j]);
                let blades = product.blades();
                let x = contiguous(&[blades.len(), 3, features]);
                let w = contiguous(&[features, signature.paths().len()]);
                let layouts = RowLayouts { x: &x, y: Some(&x), g: Some(&x), w: Some(&w) };
                let problem = RowProblem::new(function, product, &blades, layouts, dtype);
                let mut plan = Some(plan_rows(&problem.expect("a small shape"), caps).expect("it fits"));
                while let Some(launch) = plan {
                    kernels.push(launch.kernel);
                    plan = launch.then.map(|then| *then);
                }
            }
        }
    }
    kernels
}

/// Kernels of functions of multivectors on a device: every walk, way of loading and storing, and type, and the tables of
/// large algebras; as GPUs take them, too.
pub fn clifford_kernels(caps: &Caps) -> Vec<Kernel> {
    let mut discrete = caps.clone();
    discrete.device_type = DeviceType::Discrete;
    let contiguous = |shape: &[usize]| Layout::contiguous("test", shape).expect("a small shape");
    let mut kernels = Vec::new();
    for (caps, dtype) in [caps, &discrete].into_iter().flat_map(|caps| DType::ALL.map(|dtype| (caps, dtype)))
    {
        if !dtype.is_real() {
            continue;
        }
        let six = Signature::new(3, 3, 0).expect("six vectors");
        for blades in
            [Signature::CL2.blades(), Signature::CL3.blades(), Signature::CL3.vectors(), six.blades()]
        {
            for (axis, features) in [(BladeAxis::First, 8), (BladeAxis::First, 5), (BladeAxis::Last, 5)] {
                let shape = |features| match axis {
                    BladeAxis::First => [blades.len(), 3, features],
                    BladeAxis::Last => [3, features, blades.len()],
                };
                let (whole, one) = (contiguous(&shape(features)), contiguous(&shape(1)));
                let placed = |layout| Placed { layout, blades: &blades };
                for second in [&whole, &one] {
                    let operands = [placed(&whole), placed(second)];
                    let function = Function::Product(Product::Geometric);
                    let problem = CliffordProblem::new(function, &operands, placed(&whole), axis, dtype);
                    kernels.push(
                        plan_clifford(&problem.expect("shapes go together"), caps).expect("it fits").kernel,
                    );
                }
                for function in [
                    Function::Unary(Unary::Reverse),
                    Function::Inverse,
                    Function::InverseBackward,
                    Function::NormBackward,
                ] {
                    let operands = vec![placed(&whole); function.operands()];
                    let problem = CliffordProblem::new(function, &operands, placed(&whole), axis, dtype);
                    // What is too much to be written out is other tests' matter.
                    if let Ok(plan) = plan_clifford(&problem.expect("shapes go together"), caps) {
                        kernels.push(plan.kernel);
                    }
                }
            }
        }
    }
    kernels.extend(versor_kernels(caps));
    kernels.extend(row_kernels(caps));
    kernels.extend(features_kernels(caps));
    kernels
}

/// Kernels of norms and activations of layers, and of their gradients: of one algebra in every type, of the others in f32.
fn features_kernels(caps: &Caps) -> Vec<Kernel> {
    let layout = |shape: &[usize]| Layout::contiguous("test", shape).expect("a small shape");
    let real = DType::ALL.into_iter().filter(|dtype| dtype.is_real());
    let others = [Signature::CL2, Signature::PGA3D, Signature::SPACETIME, Signature::CGA3D];
    let mut cases: Vec<_> = real.map(|dtype| (Signature::CL3, dtype, 65)).collect();
    cases.extend(others.map(|algebra| (algebra, DType::F32, 5)));
    let mut kernels = Vec::new();
    for ((algebra, dtype, features), function) in
        cases.into_iter().flat_map(|case| FeatureFunction::ALL.map(|function| (case, function)))
    {
        let blades = algebra.blades();
        let x = layout(&[blades.len(), 3, features]);
        let parameter = layout(&[features, function.parts(&blades)]);
        for g in [None, Some(&x)] {
            let parameters = vec![&parameter; function.parameters()];
            let problem = FeaturesProblem::new(function, &blades, &x, g, &parameters, dtype);
            let plan = plan_features(&problem.expect("shapes go together"), caps);
            kernels.push(plan.expect("it is small").kernel);
        }
    }
    kernels
}

/// Kernels of versors: closed forms in every algebra that has them, and sandwiches of versors for each position and for all.
fn versor_kernels(caps: &Caps) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    let rigid = [Signature::CL2, Signature::CL3, Signature::PGA2D, Signature::PGA3D];
    for algebra in rigid.into_iter().chain([Signature::PGA3D.null_first(), Signature::SPACETIME]) {
        let (even, turns) = (algebra.even(), algebra.bivectors());
        let mut functions = vec![(Function::Normalize, vec![&even], &even)];
        if algebra != Signature::SPACETIME {
            functions.push((Function::Exp, vec![&turns], &even));
            functions.push((Function::Log(Branch::Whole), vec![&even], &turns));
            functions.push((Function::Log(Branch::Shorter), vec![&even], &turns));
            functions.push((Function::Way, vec![&even, &even], &turns));
        }
        let [odd, vectors, points, all] =
            [algebra.odd(), algebra.vectors(), algebra.points(), algebra.blades()];
        for x in [&vectors, &points, &all] {
            functions.push((Function::Sandwich, vec![&even, x], x));
            functions.push((Function::Sandwich, vec![&odd, x], x));
        }
        for (function, operands, out) in functions {
            for features in [1, 8] {
                let layout = |blades: &Blades, features| {
                    Layout::contiguous("test", &[blades.len(), 3, features]).expect("a small shape")
                };
                let mut layouts: Vec<Layout> = operands.iter().map(|blades| layout(blades, 8)).collect();
                layouts[0] = layout(operands[0], if operands.len() == 2 { features } else { 8 });
                let placed: Vec<Placed<'_>> =
                    layouts.iter().zip(&operands).map(|(layout, blades)| Placed { layout, blades }).collect();
                let c = layout(out, 8);
                let c = Placed { layout: &c, blades: out };
                let problem = CliffordProblem::new(function, &placed, c, BladeAxis::First, DType::F32);
                let plan = plan_clifford(&problem.expect("shapes go together"), caps);
                kernels.push(plan.expect("it is short").kernel);
            }
        }
    }
    kernels
}

/// A fully connected product of these operands, each (blade, row, in) in its own layout.
fn connected_problem(
    signature: Signature,
    gate: Gate,
    dtype: DType,
    lays: [Lay; 3],
) -> (ConnectedProblem, Layout) {
    let blades = signature.blades();
    let placed = |shape: [usize; 3], lay: Lay| {
        let (strides, offset) = lay.strides(&shape);
        Layout::new("test", &shape, &strides, offset, 1 << 30).expect("the view lies in the buffer")
    };
    let operand = |lay| placed([blades.len(), 36, 72], lay);
    let weight = placed([signature.paths().len(), 72, 40], lays[2]);
    let product = LayerProduct::new(signature).gate(gate);
    let operands = [&operand(lays[0]), &operand(lays[1])];
    let problem =
        ConnectedProblem::new(product, &blades, operands, &weight, dtype).expect("shapes go together");
    (problem, placed([blades.len(), 36, 40], lays[0]))
}

/// The matrix products of fully connected layers on a device, and their tiles: forward and backward, of every tile, with
/// and without gates, in every type and way of staging.
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
        // The smallest patches in every way, others in one.
        let taken = |&(j, _): &(usize, _)| [tile.tm, tile.tn] == [4, 4] || tile.bm == 32 || j == i % 4;
        for (j, lays) in LAYS.into_iter().enumerate().filter(taken) {
            let dtype = if tile.kernel == GemmKernel::Coop { DType::F16 } else { REALS[(i + j) % 3] };
            let gate = [Gate::Gelu, Gate::None][j / 2];
            let (problem, g) = connected_problem(Signature::CL2, gate, dtype, lays);
            for product in [problem.forward(), problem.of_weight(&g), problem.through(&g)] {
                let product = product.expect("small sizes").problem.pinned(Pin::Tile(*tile));
                // What a device cannot run is other tests' matter, and so is what brings parts together.
                let product = product.split(Split::Parts(1));
                let Ok(plan) = gemm::plan(&product, caps) else { continue };
                kernels.push((*tile, product, plan.kernel));
            }
        }
    }
    kernels
}

/// What is launched around the matrix products of fully connected layers on a device: every algebra, type and gate.
pub fn connected_kernels(caps: &Caps) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for dtype in REALS {
        for gate in Gate::ALL {
            // The algebra changes nothing but how much of the same there is.
            let signatures = [Signature::CL2, Signature::CGA3D];
            for signature in signatures.into_iter().take(if gate == Gate::None { 2 } else { 1 }) {
                let (problem, _) = connected_problem(signature, gate, dtype, [Lay::Plain; 3]);
                let gates = problem.gates().expect("small sizes");
                kernels.extend(gates.map(|gates| plan_gates(&gates, caps).expect("it fits").kernel));
                let back = ConnectedBackProblem::new(&problem, [8, 16]).expect("small sizes");
                kernels.push(plan_connected_back(&back, caps).expect("it fits").kernel);
            }
        }
    }
    kernels
}
