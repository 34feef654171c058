//! The gates of both operands, multiplied: one plane in front of all blades' products.

use super::Gate;
use crate::gpu::Caps;
use crate::kernel::{Kernel, Memory, Needs};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};
use crate::tensor::{DType, Layout, dim};
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

    /// Where the planes of scalars lie, (row, feature).
    fn layouts(&self) -> Result<[Layout; 2]> {
        let d = &self.dims;
        let shape = [d.rows, d.features].map(|extent| extent as usize);
        let plane = |[offset, row, feature]: [u32; 3]| {
            Layout::new(OP, &shape, &[row as usize, feature as usize], offset as usize, usize::MAX)
        };
        Ok([plane([d.x_offset, d.x_row, d.x_feature])?, plane([d.y_offset, d.y_row, d.y_feature])?])
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

impl Problem for GatesProblem {
    /// There is one kernel.
    ///
    /// Operands: the plane of gates (row, feature) in f32, and the planes of both operands' scalars.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let Self { dims, gate, dtype } = self;
        let shape = [dims.rows, dims.features].map(|n| n as usize);
        if shape.contains(&0) {
            return Err(Error::shape(OP, "there must be something to compute", &shape));
        }
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
        let mut draft = Draft::new(OP, &[], caps);
        let plane = Layout::contiguous(OP, &shape)?;
        let plane = draft.operand("the gates", DType::F32, plane, Access::Write);
        let [x, y] = self.layouts()?;
        let x = draft.operand("the scalars of x", *dtype, x, Access::Read);
        let y = draft.operand("the scalars of y", *dtype, y, Access::Read);
        let units = u64::from(dims.rows) * u64::from(dims.units);
        draft.step(NewStep {
            kernel,
            tile: format!("{LANES} invocations of 4, {gate} of both operands, {dtype}"),
            needs: Needs { bindings: 3, invocations: LANES, workgroup_bytes: 0 },
            blocks: units.div_ceil(u64::from(LANES)),
            dims: Dims::of(dims),
            args: &[(plane, Access::Write), (x, Access::Read), (y, Access::Read)],
            flops: Flops::of_f32(2.0 * FLOPS * f64::from(dims.rows) * f64::from(dims.features)),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}
