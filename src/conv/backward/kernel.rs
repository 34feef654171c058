//! The kernels of gradients, `shaders/conv/input_gradient.wgsl` and `weight_gradient.wgsl`.

use super::problem::{ConvBackward, ConvBackwardDims, ConvGradientOf};
use crate::caps::Caps;
use crate::conv::channel_reads::{ChannelReads, moves, read_weight};
use crate::conv::direct::FAR;
use crate::kernel::{self, Kernel, StorageFormat};
use crate::ops::vectors::Moves;
use crate::ops::writer::Writer;

/// Invocations of a workgroup, if the device allows them.
const LANES: u32 = 64;
/// Pixels of an invocation, for the gradient of the images.
const COLUMNS: u32 = 4;
/// How much slower the sums over many channels are than arithmetic at the peak, for the gradients of images and of weights. On lavapipe
/// gradients of convolutions of 3 x 3 with 64 channels took 2.5 and 9 times as long as the kernel of products that runs there, which is
/// predicted at 3.1 times the arithmetic. No GPU was measured.
const OF_PRODUCTS: [f64; 2] = [8.0, 28.0];

/// The largest number of sums of parts: together they take less than a mebibyte.
pub(super) const MOST_SUMS: usize = (1 << 18) - 1;

impl ConvBackward {
    fn reads(&self) -> ChannelReads {
        ChannelReads::of(&self.geometry)
    }

    /// The factor by which multiply-adds are slower than at the peak.
    pub(super) fn slowness(&self) -> f64 {
        match (self.reads(), self.of) {
            (ChannelReads::Depthwise, _) => 4.0,
            (_, ConvGradientOf::Input) => OF_PRODUCTS[0],
            (_, ConvGradientOf::Weight) => OF_PRODUCTS[1],
        }
    }

    /// Invocations of a workgroup on a device.
    pub(super) fn lanes(caps: &Caps) -> u32 {
        kernel::workgroup_size(LANES, caps)
    }

    /// Pixels of an invocation, for the gradient of the images.
    pub(super) fn columns(&self) -> u32 {
        let is_far = self.geometry.axes.iter().any(|axis| axis.stride > FAR || axis.dilation > FAR);
        if is_far { 1 } else { COLUMNS }
    }

    /// Invocations of a part of the gradient of the weight.
    fn units_of_part(&self) -> usize {
        let geometry = &self.geometry;
        let step = if self.reads() == ChannelReads::Quads { 4 } else { 1 };
        let taps = geometry.terms() / geometry.group_channels();
        geometry.group_channels() / step * geometry.outputs.div_ceil(4) * taps
    }

    /// The number of parts of the gradient of the weight: enough to occupy the device, if there are as many rows.
    pub(super) fn parts(&self, caps: &Caps) -> usize {
        let geometry = &self.geometry;
        let machine = &caps.machine;
        let wanted = u64::from(machine.cores) * u64::from(machine.workgroups_per_core) * u64::from(LANES);
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX).div_ceil(self.units_of_part());
        let room = MOST_SUMS / (geometry.outputs * geometry.terms());
        wanted.min(room).min(geometry.batch * geometry.axes[1].output).max(1)
    }

    /// Workgroups.
    pub(super) fn blocks(&self, d: &ConvBackwardDims, caps: &Caps) -> u64 {
        let units = match self.of {
            ConvGradientOf::Input => {
                let phases = d.stride[1].min(d.input[1]);
                let across = d.input[1].div_ceil(d.stride[1]).div_ceil(self.columns());
                let units = [d.channels.div_ceil(4), phases, across, d.input[0], d.batch];
                units.into_iter().map(u64::from).product()
            }
            ConvGradientOf::Weight => self.units_of_part() as u64 * u64::from(d.parts),
        };
        units.div_ceil(Self::lanes(caps).into())
    }

    /// The kernel.
    pub(super) fn kernel(&self, d: &ConvBackwardDims, caps: &Caps) -> Kernel {
        match self.of {
            ConvGradientOf::Input => self.input_kernel(d, caps),
            ConvGradientOf::Weight => self.weight_kernel(d, caps),
        }
    }

    fn input_kernel(&self, d: &ConvBackwardDims, caps: &Caps) -> Kernel {
        let (reads, geometry) = (self.reads(), &self.geometry);
        let kernel = Kernel::new("conv/input_gradient")
            .dims::<ConvBackwardDims>(caps)
            .param("LANES", Self::lanes(caps))
            .param("COLUMNS", self.columns());
        let kernel = reads.bind(kernel, &["gradient_taps"], geometry, geometry.group_channels());
        let mut to = Writer::new(kernel, Moves::Elements, StorageFormat::of(self.dtype, caps));
        let outputs = if reads == ChannelReads::Depthwise { d.channels } else { d.group_outputs };
        reads.read(&mut to, "grad", (d.along[2], "dims.along.z"), d.grad, outputs);
        read_weight(reads, &mut to, (d.along[1], "dims.along.y"), d.weight, d.group_channels);
        let mut bias = "vec4<f32>(0.0)";
        if self.bias.is_some() {
            to.moves = Moves::Elements;
            to.read("bias");
            bias = "load_quad_bias(dims.bias.x + 4u * group * dims.bias.y, dims.bias.y, dims.channels - 4u * group)";
        }
        to.function("bias_of(group: u32) -> vec4<f32>", &format!("    return {bias};\n"));
        to.moves = moves(1, [d.channels; 4], d.channels);
        to.write("y");
        let bias = if self.bias.is_some() { " bias" } else { "" };
        to.done(format!("{reads:?} of {}{bias}", self.dtype))
    }

    fn weight_kernel(&self, d: &ConvBackwardDims, caps: &Caps) -> Kernel {
        let (reads, geometry) = (self.reads(), &self.geometry);
        let kernel = Kernel::new("conv/weight_gradient")
            .dims::<ConvBackwardDims>(caps)
            .param("LANES", Self::lanes(caps));
        let kernel = reads.bind(kernel, &["channels"], geometry, geometry.group_outputs());
        let kernel = if reads == ChannelReads::Quads { kernel.slot("weight_sums", "quads") } else { kernel };
        let mut to = Writer::new(kernel, Moves::Elements, StorageFormat::of(self.dtype, caps));
        // The quad of output channels is read as one whatever the groups are.
        ChannelReads::Quads.read(&mut to, "grad", (d.along[2], "dims.along.z"), d.grad, d.outputs);
        let channels = if reads == ChannelReads::Depthwise { d.outputs } else { d.group_channels };
        reads.read(&mut to, "x", (d.along[0], "dims.along.x"), d.x, channels);
        to.array("parts", "read_write", "f32");
        to.done(format!("{reads:?} of {}", self.dtype))
    }
}
