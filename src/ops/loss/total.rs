//! The step that adds numbers in a fixed order: `shaders/ops/loss_total.wgsl`.

use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Kernel, Needs, shader_dims};
use crate::ops::subgroups::{shared_bytes, with_subgroups};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Region};

/// Invocations per workgroup of the kernels of losses, if the device allows them.
pub(super) const LANES: u32 = 256;

/// The kernel with its number of lanes, and the variant of the slot `row_lanes` by which they combine their values on the
/// device.
pub(super) fn row_lanes(kernel: Kernel, caps: &Caps) -> Kernel {
    with_subgroups(kernel.param("LANES", kernel::workgroup_size(LANES, caps)), caps, LANES)
}

shader_dims! {
    /// The uniform of `shaders/ops/loss_total.wgsl`, in elements.
    pub struct TotalDims {
        count: u32,
        /// LANES
        lanes: u32,
        factor: f32,
        /// first elements in their bindings
        target_offset: u32,
        weight_offset: u32,
        /// 0 if there are no weights
        weight_stride: u32,
        classes: u32,
        /// 1 if targets of the class `ignored` do not count
        ignores: u32,
        /// its bits
        ignored: u32,
        reserved0: u32,
        reserved1: u32,
        reserved2: u32,
    }
}

/// What is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Summands {
    /// Losses. The second operand has the number that divides their sum.
    Losses,
    /// The weights of targets. The second operand has the weights of classes.
    ClassWeights,
}

impl Summands {
    fn kernel(self, caps: &Caps) -> Kernel {
        let kernel = row_lanes(Kernel::new("ops/loss_total").dims::<TotalDims>(caps), caps);
        match self {
            Self::Losses => kernel,
            Self::ClassWeights => kernel.slot("summands", "class_weights"),
        }
    }
}

/// Adds a step to the plan that adds `dims.count` numbers. `dims` completes the uniform.
pub(super) fn total_step(
    draft: &mut Draft<'_>,
    summands: Summands,
    operands: [Region; 2],
    total: Region,
    dims: TotalDims,
    dims_of: impl FnOnce(Dims) -> Dims,
) -> Result<()> {
    let caps = draft.caps();
    let lanes = kernel::workgroup_size(LANES, caps);
    let [first, second] = operands;
    draft.step(NewStep {
        tile: format!("{lanes} invocations"),
        blocks: 1,
        dims: dims_of(Dims::of(&TotalDims { lanes, ..dims })),
        flops: Flops::of_f32(f64::from(dims.count)),
        ..NewStep::of(
            summands.kernel(caps),
            Needs::of(lanes, shared_bytes(caps, LANES, 4)),
            &[(first, Access::Read), (second, Access::Read), (total, Access::Write)],
        )
    })
}
