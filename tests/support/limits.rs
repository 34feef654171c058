//! Checks that a plan is within a device's limits: its kernels' declarations, its bindings and its temporaries.

use super::laid::view;
use naga::AddressSpace;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use tilewise::planning::gemm::{BiasAxis, Epilogue, GemmProblem, LineScale, Previous, Scale};
use tilewise::planning::kernel::{Kernel, Needs};
use tilewise::planning::{Buffer, Plan, Problem};
use tilewise::{Caps, DType, Layout, Result};

/// A plan, or the error of planning.
pub struct Planned {
    /// The operation.
    pub what: &'static str,
    pub plan: Result<Plan>,
}

impl Planned {
    /// The plan of a problem on a device.
    pub fn of(what: &'static str, problem: &impl Problem, caps: &Caps) -> Self {
        Self { what, plan: problem.plan(caps) }
    }
}

/// Asserts that a plan is within the limits of a device, and that each step binds as many windows as its kernel declares, each
/// inside its buffer. `taken` returns a kernel's needs and its immediates in bytes.
pub fn assert_within(
    plan: &Plan,
    planned: &Planned,
    caps: &Caps,
    mut taken: impl FnMut(&Kernel) -> (Needs, u32),
) {
    let (what, limits) = (planned.what, &caps.limits);
    let allowed = limits.binding_bytes.min(limits.buffer_bytes);
    for &bytes in plan.temporaries() {
        assert!(bytes <= allowed, "{what}: {bytes} bytes between steps: {plan}\n{caps}");
    }
    for step in plan.steps() {
        let (needs, immediates) = taken(&step.kernel);
        assert_eq!(step.needs, needs, "{what}: what the plan says, and its text: {plan}");
        assert_eq!(step.args.len(), needs.bindings as usize, "{what}: what is bound: {plan}");
        let within = needs.bindings <= limits.storage_bindings
            && needs.invocations <= limits.workgroup_invocations
            && needs.workgroup_bytes <= limits.workgroup_bytes
            && immediates <= limits.immediate_bytes
            && step.grid.iter().all(|axis| (1..=limits.grid).contains(axis));
        assert!(within, "{what}: {needs:?}, {immediates} of {limits:?}: {plan}");
        assert!(step.seconds.is_finite() && step.seconds >= 0.0, "{what}: {plan}");
        for arg in &step.args {
            let bytes = arg.window.end - arg.window.start;
            assert!(bytes <= limits.binding_bytes, "{what}: {bytes} bytes are bound: {plan}\n{caps}");
            assert!(arg.window.start.is_multiple_of(256) && bytes.is_multiple_of(16), "{what}: {arg:?}");
            let end = end_of(plan, arg.buffer).max(1).next_multiple_of(16);
            assert!(arg.window.end <= end, "{what}: {arg:?} of {end} bytes: {plan}");
        }
    }
}

/// The end of the part of a buffer that a plan uses, in bytes. For an operand it counts from the start of the operand's window.
pub fn end_of(plan: &Plan, buffer: Buffer) -> u64 {
    match buffer {
        Buffer::Operand(index) => {
            let parameter = &plan.parameters()[index];
            (parameter.layout.span().end * parameter.dtype.size()) as u64
        }
        Buffer::Temporary(index) => plan.temporaries()[index],
        Buffer::Constant(index) => plan.constants()[index].bytes(),
    }
}

/// The needs of a kernel's text, and its immediates in bytes.
pub fn taken(module: &naga::Module) -> (Needs, u32) {
    // As in WebGPU, the size of each variable in shared memory is rounded up to a multiple of 16 bytes.
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

/// The capabilities for naga's validation: those that the device has.
pub fn capabilities(caps: &Caps) -> Capabilities {
    // Every device can pack pairs of f16: WebGPU requires it.
    let mut capabilities = Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    capabilities.set(Capabilities::IMMEDIATES, caps.limits.immediate_bytes > 0);
    capabilities.set(Capabilities::SHADER_FLOAT16, caps.f16);
    capabilities.set(Capabilities::SHADER_INT64, caps.int64);
    capabilities.set(Capabilities::SUBGROUP, caps.subgroups.is_some());
    capabilities.set(Capabilities::COOPERATIVE_MATRIX, caps.has_tensor_cores());
    capabilities
}

/// Parses and validates a shader. The error shows the place in the text.
pub fn validate(text: &str, capabilities: Capabilities) -> Result<naga::Module, String> {
    let module = naga::front::wgsl::parse_str(text).map_err(|error| error.emit_to_string(text))?;
    let validated = Validator::new(ValidationFlags::all(), capabilities).validate(&module);
    validated.map_err(|error| error.emit_to_string(text))?;
    Ok(module)
}

/// The length in elements of a view's window: from the aligned start to the view's last element.
pub fn window(layout: &Layout, dtype: DType) -> u64 {
    let ahead = layout.offset() % (256 / dtype.size());
    (ahead + layout.span().len()) as u64
}

/// The length in bytes of a view's window.
pub fn window_bytes(layout: &Layout, dtype: DType) -> u64 {
    window(layout, dtype) * dtype.size() as u64
}

/// Adds an epilogue with its operands to a product: a bias and a scale of the columns with stride `apart`, and a residual with C's
/// layout and type; of f32, if C is i8.
pub fn finished(problem: GemmProblem, epilogue: Epilogue, apart: u32) -> GemmProblem {
    let (types, c) = (problem.types(), problem.output());
    let alpha = if epilogue.scale == Scale::One { 1.0 } else { 2.0 };
    let beta = if epilogue.previous == Previous::Added { 1.0 } else { 0.0 };
    let mut finished = problem.alpha(alpha).beta(beta).activation(epilogue.activation);
    if let Some(dtype) = epilogue.bias {
        let columns = problem.dims().n as usize;
        let bias = view(&[columns], &[apart as usize], 0);
        finished = finished.bias(BiasAxis::Columns, &bias, dtype).expect("it has an element for each column");
    }
    if epilogue.residual.is_some() {
        let dtype = if types.c == DType::I8 { DType::F32 } else { types.c };
        finished = finished.residual(&c, &c, dtype).expect("it has the shape of C");
    }
    let (rows, columns) = match epilogue.line_scale {
        LineScale::None => (false, false),
        LineScale::Rows => (true, false),
        LineScale::Columns => (false, true),
        LineScale::RowsAndColumns => (true, true),
        LineScale::ColumnsAndShift => unreachable!("of products of windows alone"),
    };
    let d = problem.dims();
    for (axis, extent, step, is_there) in
        [(BiasAxis::Rows, d.m, 1, rows), (BiasAxis::Columns, d.n, apart, columns)]
    {
        if is_there {
            let scale = Layout::new("test", &[extent as usize], &[step as usize], 0, usize::MAX);
            finished = finished.line_scale(axis, &scale.expect("a scale")).expect("it has that length");
        }
    }
    let row = problem.dims().k.max(1) as usize;
    match epilogue.scale {
        Scale::One | Scale::Alpha => finished,
        Scale::Back => finished.scaled_back(row, false).expect("a short row"),
        Scale::BackWithCross => finished.scaled_back(row, true).expect("a short row"),
    }
}
