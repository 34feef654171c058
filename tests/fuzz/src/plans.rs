//! Problems on devices: a plan that there is respects what the device allows, and its kernels are legal there.

use crate::caps::caps;
use arbitrary::{Error, Result, Unstructured};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::cell::RefCell;
use std::collections::HashMap;
use tilewise::clifford::layer::{
    FeatureFunction, FeaturesProblem, Gate, GradeNorm, LayerProduct, Pass, RowFunction, RowLayouts,
    RowProblem, plan_features,
};
use tilewise::clifford::{
    BladeAxis, CliffordProblem, Function, Placed, Product, Signature, Unary, layer, plan_clifford,
};
use tilewise::gemm::{
    Epilogue, GemmKernel, GemmProblem, GemmTypes, Pin, Previous, Scale, Split, product_shape,
};
use tilewise::kernel::Kernel;
use tilewise::ops::{
    CastProblem, Elementwise, ElementwiseProblem, Overflow, Rows, RowsProblem, plan_cast, plan_elementwise,
    plan_rows,
};
use tilewise::sketch::{Sketch, SketchKind, SparseProblem, Way, plan_sparse};
use tilewise::{Activation, Caps, DType, Layout, Plan, gemm};

const EXTENTS: [usize; 20] =
    [1, 1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 33, 64, 65, 100, 257, 1000, 4096, 65_537, 1 << 21];
const TYPES: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

/// A plan, and the operands that its launch binds: elements and their type.
type Planned = (tilewise::Result<Plan>, Vec<(u64, DType)>);

/// The bytes are a device and a problem.
pub(crate) fn plan(data: &[u8]) {
    let _ = outcome(data);
}

/// What comes of the bytes of a device and a problem.
///
/// # Panics
/// Where a plan is not legal.
#[must_use]
pub fn outcome(data: &[u8]) -> Outcome {
    // Too few bytes are no problem.
    problem(&mut Unstructured::new(data)).unwrap_or(Outcome::NoProblem)
}

/// What came of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A plan, which is legal.
    Planned,
    /// There is no way to compute it on this device.
    Refused,
    /// The bytes are no problem.
    NoProblem,
}

fn problem(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let caps = caps(u)?;
    let (plan, operands) = match u.int_in_range(0..=9)? {
        0..=3 => product(u, &caps)?,
        4 => elementwise(u, &caps)?,
        5 => along(u, &caps)?,
        6 => cast(u, &caps)?,
        7 => sparse(u, &caps)?,
        8 => multivectors(u, &caps)?,
        _ => of_layers(u, &caps)?,
    };
    let Ok(plan) = plan else { return Ok(Outcome::Refused) };
    for (elements, dtype) in operands {
        let bytes = elements * dtype.size() as u64;
        assert!(bytes <= caps.limits.binding_bytes, "{bytes} bytes are bound: {plan}\n{caps}");
    }
    let mut launch = Some(&plan);
    while let Some(plan) = launch {
        let limits = &caps.limits;
        assert!(plan.grid.iter().all(|axis| (1..=limits.grid).contains(axis)), "{plan}\n{caps}");
        assert!(plan.scratch <= limits.binding_bytes, "{plan}\n{caps}");
        assert!(plan.seconds.is_finite() && plan.seconds >= 0.0, "{plan}");
        assert!(!plan.to_string().is_empty());
        assert_legal(&plan.kernel, &caps);
        launch = plan.then.as_deref();
    }
    Ok(Outcome::Planned)
}

/// What a kernel asks of a device.
#[derive(Clone, Copy)]
struct Asked {
    invocations: u32,
    shared: u32,
    bindings: usize,
    immediates: u32,
}

thread_local! {
    /// What is known of kernels.
    static KNOWN: RefCell<HashMap<(Kernel, String), Asked>> = RefCell::default();
}

fn assert_legal(kernel: &Kernel, caps: &Caps) {
    let mut allowed = Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    allowed.set(Capabilities::IMMEDIATES, caps.limits.immediate_bytes > 0);
    allowed.set(Capabilities::SHADER_FLOAT16, caps.f16);
    allowed.set(Capabilities::SHADER_INT64, caps.int64);
    allowed.set(Capabilities::SUBGROUP, caps.subgroups.is_some());
    allowed.set(Capabilities::COOPERATIVE_MATRIX, caps.has_tensor_cores());
    let key = (kernel.clone(), format!("{allowed:?}"));
    let asked = KNOWN.with_borrow_mut(|known| {
        if known.len() > 1000 {
            known.clear();
        }
        *known.entry(key).or_insert_with(|| asked(kernel, allowed))
    });
    let limits = &caps.limits;
    assert!(
        asked.invocations <= limits.workgroup_invocations,
        "{} invocations: {kernel}\n{caps}",
        asked.invocations
    );
    assert!(
        asked.shared <= limits.workgroup_bytes,
        "{} bytes of shared memory: {kernel}\n{caps}",
        asked.shared
    );
    assert!(
        asked.bindings <= limits.storage_bindings as usize,
        "{} bindings: {kernel}\n{caps}",
        asked.bindings
    );
    assert!(asked.immediates <= limits.immediate_bytes, "{} immediates: {kernel}\n{caps}", asked.immediates);
}

fn asked(kernel: &Kernel, allowed: Capabilities) -> Asked {
    let text = kernel.specialize().unwrap_or_else(|e| panic!("{kernel}: {e}"));
    let parsed = naga::front::wgsl::parse_str(&text);
    let module = parsed.unwrap_or_else(|e| panic!("{kernel}: {}", e.emit_to_string(&text)));
    let valid = Validator::new(ValidationFlags::all(), allowed).validate(&module);
    valid.unwrap_or_else(|e| panic!("{kernel}: {}", e.emit_to_string(&text)));
    let of = |space: fn(&naga::AddressSpace) -> bool| {
        let variables = module.global_variables.iter().filter(move |(_, v)| space(&v.space));
        variables.map(|(_, v)| module.types[v.ty].inner.size(module.to_ctx())).collect::<Vec<u32>>()
    };
    Asked {
        invocations: module.entry_points[0].workgroup_size.iter().product(),
        shared: of(|space| *space == naga::AddressSpace::WorkGroup).iter().sum(),
        bindings: of(|space| matches!(space, naga::AddressSpace::Storage { .. })).len(),
        immediates: of(|space| *space == naga::AddressSpace::Immediate).iter().sum(),
    }
}

fn extent(u: &mut Unstructured<'_>) -> Result<usize> {
    u.choose(&EXTENTS).copied()
}

fn real(u: &mut Unstructured<'_>) -> Result<DType> {
    u.choose(&TYPES).copied()
}

/// A view of this shape in a large buffer: axes in any order, with gaps and an offset, or none of that.
fn view(u: &mut Unstructured<'_>, shape: &[usize]) -> Result<Layout> {
    let mut axes: Vec<usize> = (0..shape.len()).rev().collect();
    if u.ratio(1, 3)? {
        for i in (1..axes.len()).rev() {
            axes.swap(i, u.int_in_range(0..=i)?);
        }
    }
    let mut strides = vec![0; shape.len()];
    let mut stride: usize = if u.ratio(1, 6)? { 2 } else { 1 };
    for axis in axes {
        strides[axis] = stride;
        let gap = if u.ratio(1, 6)? { u.int_in_range(1..=5)? } else { 0 };
        stride = stride.saturating_mul(shape[axis]).saturating_add(gap);
    }
    let offset = if u.ratio(1, 4)? { u.int_in_range(1..=9)? } else { 0 };
    // What reaches beyond any buffer is no view.
    Layout::new("fuzz", shape, &strides, offset, 1 << 40).map_err(|_| Error::IncorrectFormat)
}

/// Row-major without gaps.
fn dense(shape: &[usize]) -> Result<Layout> {
    Layout::contiguous("fuzz", shape).map_err(|_| Error::IncorrectFormat)
}

fn product(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    let types = if u.ratio(1, 8)? {
        GemmTypes::new(DType::I8, DType::I32)
    } else {
        let ab = real(u)?;
        GemmTypes::new(ab, if u.arbitrary()? { DType::F32 } else { ab })
    };
    let [m, n, k] = [extent(u)?, extent(u)?, extent(u)?];
    let batch: Vec<usize> =
        (0..u.int_in_range(0..=2)?).map(|_| u.int_in_range(1..=5)).collect::<Result<_>>()?;
    let [a, b] = [view(u, &[&batch[..], &[m, k]].concat())?, view(u, &[&batch[..], &[k, n]].concat())?];
    let c = dense(&product_shape(&a, &b).map_err(|_| Error::IncorrectFormat)?)?;
    let Ok(mut problem) = GemmProblem::new(&a, &b, &c, types) else { return Err(Error::IncorrectFormat) };
    if types.ab.is_real() && u.ratio(1, 3)? {
        problem.epilogue = Epilogue {
            scale: *u.choose(&[Scale::One, Scale::Alpha])?,
            previous: *u.choose(&[Previous::Overwritten, Previous::Added])?,
            bias: if u.arbitrary()? { Some(real(u)?) } else { None },
            residual: if u.arbitrary()? { Some(real(u)?) } else { None },
            activation: *u.choose(&Activation::ALL)?,
        };
    }
    problem = match u.int_in_range(0..=5)? {
        0 => problem.pinned(Pin::Kernel(*u.choose(&GemmKernel::ALL)?)),
        1 => {
            let kernel = *u.choose(&GemmKernel::ALL)?;
            problem.pinned(Pin::Tile(*u.choose(kernel.tiles())?))
        }
        _ => problem,
    };
    if u.ratio(1, 4)? {
        problem = problem.split(Split::Parts(*u.choose(&[0, 1, 2, 7, 1000, u32::MAX])?));
    }
    let [of_a, of_b, of_c] = problem.binding_elements();
    Ok((gemm::plan(&problem, caps), vec![(of_a, types.ab), (of_b, types.ab), (of_c, types.c)]))
}

fn shape(u: &mut Unstructured<'_>) -> Result<Vec<usize>> {
    (0..u.int_in_range(1..=6)?).map(|i| if i < 3 { extent(u) } else { u.int_in_range(1..=4) }).collect()
}

fn elementwise(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    let (dtype, shape) = (real(u)?, shape(u)?);
    let function = *u.choose(&Elementwise::all())?;
    let (a, b, c) = (view(u, &shape)?, view(u, &shape)?, view(u, &shape)?);
    let operands = &[&a, &b][..function.operands().min(2)];
    let problem =
        ElementwiseProblem::new(function, operands, &c, dtype).map_err(|_| Error::IncorrectFormat)?;
    let bound = problem.binding_elements().map(|elements| (elements, dtype));
    Ok((plan_elementwise(&problem, caps), bound[..=function.operands()].to_vec()))
}

fn along(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    let (dtype, shape) = (real(u)?, shape(u)?);
    let (a, axis) = (view(u, &shape)?, u.int_in_range(0..=shape.len() - 1)?);
    let problem =
        RowsProblem::new(*u.choose(&Rows::ALL)?, &a, axis, dtype).map_err(|_| Error::IncorrectFormat)?;
    let bound = problem.binding_elements().map(|elements| (elements, dtype));
    Ok((plan_rows(&problem, caps), bound.to_vec()))
}

fn cast(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    let shape = shape(u)?;
    let [from, to] = [*u.choose(&DType::ALL)?, *u.choose(&DType::ALL)?];
    let overflow = *u.choose(&[Overflow::Rust, Overflow::Saturate])?;
    let problem =
        CastProblem::new(&view(u, &shape)?, from, to, overflow).map_err(|_| Error::IncorrectFormat)?;
    let elements = u64::from(problem.dims.count);
    Ok((plan_cast(&problem, caps), vec![(elements, to)]))
}

fn sparse(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    let (rows, cols, beside) = (extent(u)?, extent(u)?, extent(u)?);
    let kind = match u.int_in_range(0..=1)? {
        0 => SketchKind::CountSketch,
        _ => SketchKind::Sjlt { nonzeros: u.int_in_range(1..=16)? },
    };
    let sketch = Sketch::new(kind, [rows, cols], 1).map_err(|_| Error::IncorrectFormat)?;
    let way = *u.choose(&[Way::Forward, Way::Adjoint])?;
    let from = if way == Way::Forward { cols } else { rows };
    let axis = u.int_in_range(0..=1)?;
    let x = view(u, &if axis == 0 { [from, beside] } else { [beside, from] })?;
    let problem = SparseProblem::new(&sketch, way, &x, axis, real(u)?).map_err(|_| Error::IncorrectFormat)?;
    Ok((plan_sparse(&problem, caps), Vec::new()))
}

const ALGEBRAS: [Signature; 4] = [Signature::CL2, Signature::CL3, Signature::PGA2D, Signature::SPACETIME];

fn multivectors(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    let blades = u.choose(&ALGEBRAS)?.blades();
    let axis = *u.choose(&[BladeAxis::First, BladeAxis::Last])?;
    let (rows, features) = (extent(u)?, extent(u)?);
    let shape = match axis {
        BladeAxis::First => [blades.len(), rows, features],
        BladeAxis::Last => [rows, features, blades.len()],
    };
    let function = match u.int_in_range(0..=4)? {
        0 => Function::Norm,
        1 => Function::Inverse,
        2 => Function::Unary(Unary::Reverse),
        3 => Function::Sandwich,
        _ => Function::Product(*u.choose(&Product::ALL)?),
    };
    let (x, y, c) = (view(u, &shape)?, view(u, &shape)?, dense(&shape)?);
    let placed = |layout| Placed { layout, blades: &blades };
    let operands = &[placed(&x), placed(&y)][..function.operands()];
    let problem = CliffordProblem::new(function, operands, placed(&c), axis, real(u)?);
    let Ok(problem) = problem else { return Err(Error::IncorrectFormat) };
    Ok((plan_clifford(&problem, caps), Vec::new()))
}

fn of_layers(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    let signature = *u.choose(&ALGEBRAS)?;
    let (rows, features, dtype) = (extent(u)?, extent(u)?, real(u)?);
    let blades = signature.blades();
    let shape = [blades.len(), rows, features];
    if u.ratio(1, 3)? {
        let function = *u.choose(&FeatureFunction::ALL)?;
        let pass = *u.choose(&[Pass::Forward, Pass::Backward])?;
        let x = view(u, &shape)?;
        let parameters = dense(&[features, function.parts(&blades)])?;
        let of: Vec<&Layout> = vec![&parameters; function.parameters()];
        let g = if pass == Pass::Backward { Some(dense(&shape)?) } else { None };
        let problem = FeaturesProblem::new(function, &blades, &x, g.as_ref(), &of, dtype);
        let Ok(problem) = problem else { return Err(Error::IncorrectFormat) };
        return Ok((plan_features(&problem, caps), Vec::new()));
    }
    let functions = [
        RowFunction::Steerable,
        RowFunction::SteerableBackward,
        RowFunction::Normalize,
        RowFunction::NormalizeBackward,
    ];
    let function = *u.choose(&functions)?;
    let norms = if function.name().contains("norm") { &GradeNorm::ALL[1..] } else { &GradeNorm::ALL[..] };
    let product = LayerProduct::new(signature).norm(*u.choose(norms)?).gate(*u.choose(&Gate::ALL)?);
    let (x, y, g) = (view(u, &shape)?, view(u, &shape)?, view(u, &shape)?);
    let w = view(u, &[features, signature.paths().len()])?;
    let layouts = RowLayouts { x: &x, y: Some(&y), g: Some(&g), w: Some(&w) };
    let problem = RowProblem::new(function, product, &blades, layouts, dtype);
    let Ok(problem) = problem else { return Err(Error::IncorrectFormat) };
    Ok((layer::plan_rows(&problem, caps), Vec::new()))
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    crate::noise(256)
}
