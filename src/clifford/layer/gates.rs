//! The gates of both operands, multiplied: one plane in front of all blades' products.

use super::Gate;
use crate::gpu::{Caps, Problem};
use crate::kernel::{self, Kernel, Launch, Memory, Needs, Plan};
use crate::tensor::{DType, Layout, Real, Tensor, dim};
use crate::{Error, Result};

const OP: &str = "gates";
/// Invocations of one workgroup.
const LANES: u32 = 64;
/// Operations of a gate, about.
const FLOPS: f64 = 50.0;

/// The uniform of `shaders/gates.wgsl`, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct GatesDims {
    pub rows: u32,
    pub features: u32,
    pub units: u32,
    pub x_offset: u32,
    pub x_row: u32,
    pub x_feature: u32,
    pub y_offset: u32,
    pub y_row: u32,
    pub y_feature: u32,
    pub reserved0: u32,
    pub reserved1: u32,
    pub reserved2: u32,
}

/// The product of two operands' gates at every position, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GatesProblem {
    /// The sizes, as the shader has them.
    pub dims: GatesDims,
    /// The function.
    pub gate: Gate,
    /// The operands' type.
    pub dtype: DType,
}

impl GatesProblem {
    /// Of the planes of scalar parts (1, row, feature) of both operands, of one shape.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    ///
    /// # Panics
    /// If either has fewer than three axes.
    pub fn new(gate: Gate, [x, y]: [&Layout; 2], dtype: DType) -> Result<Self> {
        let features = dim(OP, x.shape()[2])?;
        let dims = GatesDims {
            rows: dim(OP, x.shape()[1])?,
            features,
            units: features.div_ceil(4),
            x_offset: x.offset_in_window(dtype),
            x_row: dim(OP, x.strides()[1])?,
            x_feature: dim(OP, x.strides()[2])?,
            y_offset: y.offset_in_window(dtype),
            y_row: dim(OP, y.strides()[1])?,
            y_feature: dim(OP, y.strides()[2])?,
            ..GatesDims::default()
        };
        Ok(Self { dims, gate, dtype })
    }

    /// How many elements each operand's binding must reach: its last index plus one.
    fn operand_elements(&self) -> [u64; 2] {
        let d = &self.dims;
        let step = |extent: u32, stride: u32| u64::from(extent.saturating_sub(1)) * u64::from(stride);
        [[d.x_offset, d.x_row, d.x_feature], [d.y_offset, d.y_row, d.y_feature]].map(
            |[offset, row, feature]| u64::from(offset) + step(d.rows, row) + step(d.features, feature) + 1,
        )
    }
}

impl Gate {
    /// The fragment for the slot `gate`: `fn gate(s: vec4<f32>) -> vec4<f32>`, and its `gate_slope`.
    pub(super) fn fragment(self) -> &'static str {
        match self {
            Self::None => "gate",
            Self::Gelu => "gate_gelu",
            Self::GeluTanh => "gate_gelu_tanh",
        }
    }
}

/// How to compute `problem` on a device: there is one kernel.
///
/// # Errors
/// [`Error::Limit`](crate::Error::Limit) if an operand is larger than the device can bind, or the launch needs more
/// workgroups than a grid may have.
pub fn plan_gates(problem: &GatesProblem, caps: &Caps) -> Result<Plan> {
    let GatesProblem { dims, gate, dtype } = problem;
    if dims.rows == 0 || dims.features == 0 {
        let shape = [dims.rows, dims.features].map(|n| n as usize);
        return Err(Error::shape(OP, "there must be something to compute", &shape));
    }
    for elements in problem.operand_elements() {
        kernel::check_binding(OP, caps, elements, *dtype)?;
    }
    kernel::check_binding(OP, caps, u64::from(dims.rows) * u64::from(dims.features), DType::F32)?;
    let memory = Memory::of(*dtype, caps);
    let kernel = Kernel::new("gates")
        .dims(caps, size_of::<GatesDims>())
        .param("x_unit", memory.scalar())
        .param("y_unit", memory.scalar())
        .param("LANES", format!("{LANES}u"))
        .slot("gate", gate.fragment());
    let kernel = match memory {
        Memory::Packed => kernel.slot("load_x", "load_x_packed").slot("load_y", "load_x_packed"),
        Memory::Bf16 => kernel.slot("load_x", "load_x_bf16").slot("load_y", "load_x_bf16"),
        _ => kernel,
    };
    let units = u64::from(dims.rows) * u64::from(dims.units);
    let positions = f64::from(dims.rows) * f64::from(dims.features);
    let bytes = positions * (2 * dtype.size() + DType::F32.size()) as f64;
    let flops = 2.0 * FLOPS * positions;
    let seconds = (bytes / caps.roofs.bytes).max(flops / caps.roofs.f32_flops);
    let tile = format!("{LANES} invocations of 4, {gate} of both operands, {dtype}");
    let needs = Needs { bindings: 3, invocations: LANES, workgroup_bytes: 0 };
    let launch = Launch { kernel, tile, needs, blocks: units.div_ceil(u64::from(LANES)), seconds };
    Ok(Plan::of_one_launch(OP, launch, caps)?.moving(OP, bytes, flops))
}

impl Problem for GatesProblem {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan_gates(self, caps)
    }
}

/// The plane of gates (row, feature) of operands' planes of scalars (1, row, feature), one launch.
pub(super) fn gates<T: Real>(problem: &GatesProblem, [x, y]: [Tensor<T>; 2]) -> Result<Tensor<f32>> {
    let gpu = x.gpu();
    let planned = gpu.planned(problem)?;
    let plane = gpu.empty(&x.shape()[1..])?;
    gpu.launch(&planned, bytemuck::bytes_of(&problem.dims), &[plane.bind(), x.bind(), y.bind()])?;
    Ok(plane)
}
