//! Whether a plan is within every limit of a device: what its kernels declare, what they bind, what lies between them.

use naga::AddressSpace;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use tilewise::clifford::layer::{self, RowFunction, RowProblem, RowStep, RowTile};
use tilewise::gemm::{self, Epilogue, GemmDims, GemmProblem, HalvesProblem, Scale};
use tilewise::kernel::{Kernel, Needs};
use tilewise::{Caps, DType, Layout, Plan, Result};

/// A plan or why there is none, and what there is to bind for it.
pub struct Planned {
    /// The operation.
    pub what: &'static str,
    pub plan: Result<Plan>,
    /// Bytes of each window that its launches bind of what the caller has.
    pub bound: Vec<u64>,
    /// Bytes of each buffer that they leave each other.
    pub between: Vec<u64>,
}

impl Planned {
    /// A plan that leaves nothing between launches, or one buffer.
    pub fn new(what: &'static str, plan: Result<Plan>, bound: impl Into<Vec<u64>>) -> Self {
        let between = plan.iter().map(|plan| plan.scratch).filter(|&bytes| bytes > 0).collect();
        Self { what, plan, bound: bound.into(), between }
    }
}

/// Asserts that a plan is within the limits of a device, of what `taken` says that a kernel takes: what it declares, and
/// bytes of immediates.
pub fn assert_within(
    plan: &Plan,
    planned: &Planned,
    caps: &Caps,
    mut taken: impl FnMut(&Kernel) -> (Needs, u32),
) {
    let (what, limits) = (planned.what, &caps.limits);
    for bytes in &planned.bound {
        assert!(*bytes <= limits.binding_bytes, "{what}: {bytes} bytes are bound: {plan}\n{caps}");
    }
    for bytes in &planned.between {
        let allowed = limits.binding_bytes.min(limits.buffer_bytes);
        assert!(*bytes <= allowed, "{what}: {bytes} bytes between launches: {plan}\n{caps}");
    }
    assert_eq!(planned.between.iter().sum::<u64>(), plan.scratch, "{what}: bytes between launches: {plan}");
    let mut launch = Some(plan);
    while let Some(plan) = launch {
        let (needs, immediates) = taken(&plan.kernel);
        assert_eq!(plan.needs, needs, "{what}: what the plan says, and its text: {plan}");
        let within = needs.bindings <= limits.storage_bindings
            && needs.invocations <= limits.workgroup_invocations
            && needs.workgroup_bytes <= limits.workgroup_bytes
            && immediates <= limits.immediate_bytes
            && plan.grid.iter().all(|axis| (1..=limits.grid).contains(axis));
        assert!(within, "{what}: {needs:?}, {immediates} of {limits:?}: {plan}");
        assert!(plan.seconds.is_finite() && plan.seconds >= 0.0, "{what}: {plan}");
        launch = plan.then.as_deref();
    }
}

/// What a kernel's text takes of a device, and its immediates in bytes.
pub fn taken(module: &naga::Module) -> (Needs, u32) {
    // As WebGPU counts shared memory: each variable in whole units of 16 bytes.
    let bytes = |space: AddressSpace, unit: u32| -> u32 {
        let of_space = module.global_variables.iter().filter(|(_, variable)| variable.space == space);
        let sizes = of_space.map(|(_, variable)| module.types[variable.ty].inner.size(module.to_ctx()));
        sizes.map(|size| size.next_multiple_of(unit)).sum()
    };
    let is_bound = |variable: &naga::GlobalVariable| matches!(variable.space, AddressSpace::Storage { .. });
    let bound = module.global_variables.iter().filter(|(_, variable)| is_bound(variable)).count();
    let needs = Needs {
        bindings: u32::try_from(bound).expect("a few"),
        invocations: module.entry_points[0].workgroup_size.iter().product(),
        workgroup_bytes: bytes(AddressSpace::WorkGroup, 16),
    };
    (needs, bytes(AddressSpace::Immediate, 4))
}

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

/// Elements of the window of a view: from where a window may begin to behind the last element that is used.
pub fn window(layout: &Layout, dtype: DType) -> u64 {
    let ahead = layout.offset() % (256 / dtype.size());
    (ahead + layout.span().len()) as u64
}

/// Bytes of the window of a view.
pub fn window_bytes(layout: &Layout, dtype: DType) -> u64 {
    window(layout, dtype) * dtype.size() as u64
}

/// A product of reals with an epilogue whose operands are there: a bias of each column, its elements so far apart, and a
/// residual that lies as C does, and so is of C's type.
pub fn finished(problem: GemmProblem, mut epilogue: Epilogue, apart: u32) -> GemmProblem {
    let d = problem.dims;
    epilogue.residual = epilogue.residual.map(|_| problem.types.c);
    let dims = GemmDims {
        bias_col: if epilogue.bias.is_some() { apart } else { 0 },
        residual_row: d.ldc,
        residual_col: 1,
        residual_offset: d.c_offset,
        residual_batch0: d.c_batch0,
        residual_batch1: d.c_batch1,
        scaled_row: d.k.max(1),
        ..d
    };
    GemmProblem { dims, epilogue, ..problem }
}

/// Bytes of all that a product binds: its operands, and what [`finished`] says that it is stored with.
pub fn bytes_of_product(problem: &GemmProblem) -> Vec<u64> {
    let (d, epilogue, elements) = (&problem.dims, &problem.epilogue, problem.binding_elements());
    let of = |elements: u64, dtype: DType| elements * dtype.size() as u64;
    let types = problem.types.of_operands();
    let mut bytes: Vec<u64> = elements.iter().zip(types).map(|(&n, dtype)| of(n, dtype)).collect();
    let bias = u64::from(d.n.saturating_sub(1)) * u64::from(d.bias_col) + 1;
    bytes.extend(epilogue.bias.map(|dtype| of(bias, dtype)));
    bytes.extend(epilogue.residual.map(|dtype| of(elements[2], dtype)));
    if matches!(epilogue.scale, Scale::Back | Scale::BackWithCross) {
        bytes.extend([d.m, d.n].map(|lines| of(lines.into(), DType::I32)));
    }
    if epilogue.scale == Scale::BackWithCross {
        bytes.push([d.batches, d.m, d.n, 4].into_iter().map(u64::from).product());
    }
    bytes
}

/// A product, with what [`finished`] has given it.
pub fn of_product(what: &'static str, problem: &GemmProblem, caps: &Caps) -> Planned {
    Planned::new(what, gemm::plan(problem, caps), bytes_of_product(problem))
}

/// The f16 halves of an operand of f32.
pub fn of_halves(problem: &HalvesProblem, x: &Layout, caps: &Caps) -> Planned {
    let [rows, length] = problem.shape().map(|extent| extent as u64);
    let bound = [window_bytes(x, DType::F32), 2 * rows * length, 4 * rows];
    Planned::new("halves", gemm::plan_halves(problem, caps), bound)
}

/// A function of rows, which binds this; of rows that are long, sums lie between its launches, and a product that is not
/// normalised yet.
pub fn of_rows(problem: &RowProblem, caps: &Caps, bound: impl Into<Vec<u64>>) -> Planned {
    let planned = Planned::new("layer rows", layer::plan_rows(problem, caps), bound);
    if planned.plan.as_ref().map_or(true, |plan| plan.then.is_none()) {
        return planned;
    }
    let blocks = RowTile::of(&problem.step(RowStep::Sums), caps).blocks;
    let sums = problem.sums() as u64 * u64::from(problem.dims.rows) * u64::from(blocks);
    let is_product = problem.function == RowFunction::Steerable;
    let product = if is_product { problem.blade_count() as u64 * u64::from(problem.dims.plane) } else { 0 };
    Planned { between: vec![4 * sums, 4 * product], ..planned }
}
