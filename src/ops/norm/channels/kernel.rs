//! The kernels of norms of channels: `shaders/ops/channel_*.wgsl`.

use super::problem::{ChannelDims, ChannelPass, ChannelProblem, LANES};
use crate::caps::Caps;
use crate::kernel::{self, Kernel, StorageFormat};
use crate::ops::writer::Writer;

/// Invocations of a workgroup, for kernels with one invocation per unit.
pub(super) const UNIT_LANES: u32 = 64;

/// A kernel of a norm of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelKernel {
    /// The moments of channels in chunks of rows.
    Moments,
    /// The statistics of units.
    Statistics,
    /// The norm.
    Norm,
    /// The sums for the gradients of gamma and beta.
    Sums,
    /// The means that a backward pass subtracts.
    Means,
    /// The gradient of the operand.
    Backward,
}

impl ChannelKernel {
    fn shader(self) -> &'static str {
        match self {
            Self::Moments => "ops/channel_moments",
            Self::Statistics => "ops/channel_statistics",
            Self::Norm => "ops/channel_norm",
            Self::Sums => "ops/channel_sums",
            Self::Means => "ops/channel_means",
            Self::Backward => "ops/channel_norm_backward",
        }
    }

    /// Whether an invocation computes a whole unit instead of channels of rows.
    pub(super) fn is_of_units(self) -> bool {
        matches!(self, Self::Statistics | Self::Means)
    }
}

impl ChannelProblem {
    /// A kernel on a device.
    pub(super) fn kernel(&self, which: ChannelKernel, caps: &Caps) -> Kernel {
        let kernel = Kernel::new(which.shader()).dims::<ChannelDims>(caps);
        let kernel = if which.is_of_units() {
            kernel.param("LANES", UNIT_LANES)
        } else {
            kernel
                .param("LANES", kernel::workgroup_size(LANES, caps))
                .param("QUADS", self.quads())
                .param("TURN", self.turn())
                .param("RANGES", caps.machine.is_software())
                .param("EVEN", self.dims.inner.is_multiple_of(self.rows_in_turn(caps)))
        };
        let mut to = Writer::new(kernel, self.moves(), StorageFormat::of(self.dtype, caps));
        match which {
            ChannelKernel::Moments => {
                to.read("a");
                to.f32s("moments", "read_write");
                loads(&mut to, "value", "a");
            }
            ChannelKernel::Statistics => {
                to.f32s("moments", "read_write");
                self.store_statistics(&mut to);
            }
            ChannelKernel::Norm => self.norm(&mut to),
            ChannelKernel::Sums => {
                ["a", "b"].into_iter().for_each(|name| to.read(name));
                self.given_statistics(&mut to);
                to.f32s("sums", "read_write");
                loads(&mut to, "value", "a");
                loads(&mut to, "gradient", "b");
            }
            ChannelKernel::Means => self.means(&mut to),
            ChannelKernel::Backward => self.of_operand(&mut to),
        }
        to.done(self.description(&format!("{which:?}")))
    }

    /// The facts on which the generated text depends.
    pub(super) fn description(&self, which: &str) -> String {
        let names = [(self.has_gamma, " gamma"), (self.has_beta, " beta")];
        let names: String =
            names.into_iter().filter_map(|(is_there, name)| is_there.then_some(name)).collect();
        format!("{which} of {:?}{names}", self.pass)
    }

    /// Whether a unit has all elements of a channel. The sums of units are then gradients.
    pub(super) fn has_whole_channels(&self) -> bool {
        self.dims.outer == 1 && self.dims.of_group == 1
    }

    /// Whether the kernel `Means` corrects the sums from which gradients are computed.
    pub(super) fn corrects_sums(&self) -> bool {
        self.pass.has_gradients() && !self.has_whole_channels()
    }

    /// The statistics that a kernel writes, and `store_statistics`.
    pub(super) fn store_statistics(&self, to: &mut Writer) {
        let has_running = self.pass == ChannelPass::TrainingWithRunning;
        if has_running {
            to.f32s("running_means", "read");
            to.f32s("running_variances", "read");
        }
        to.f32s("means", "read_write");
        let mut body =
            "    means[unit] = mean;\n    rstds[unit] = inverseSqrt(squares / count + dims.eps);\n"
                .to_owned();
        if self.pass != ChannelPass::Group {
            to.f32s("variances", "read_write");
            body += "    variances[unit] = squares / count;\n";
        }
        to.f32s("rstds", "read_write");
        if has_running {
            to.f32s("new_means", "read_write");
            to.f32s("new_variances", "read_write");
            body += "    let old = 1.0 - dims.momentum;\n    \
                     new_means[unit] = old * running_means[unit] + dims.momentum * mean;\n    \
                     let unbiased = squares / (count - 1.0);\n    \
                     new_variances[unit] = old * running_variances[unit] + dims.momentum * unbiased;\n";
        }
        to.function("store_statistics(unit: u32, mean: f32, squares: f32, count: f32)", &body);
    }

    fn norm(&self, to: &mut Writer) {
        to.read("a");
        self.write_weights(to);
        let (mean, rstd) = if self.pass.is_evaluation() {
            self.given_statistics(to);
            ("vec2<f32>(channel_stats.x, 0.0)", "channel_stats.y")
        } else {
            to.f32s("moments", "read");
            to.f32s("rstds", "read");
            ("vec2<f32>(moments[first], moments[first + dims.channels])", "rstds[unit]")
        };
        to.write("y");
        loads(to, "value", "a");
        let of_channel = if self.pass.is_evaluation() {
            "    let channel_stats = statistics(unit, channel);\n"
        } else {
            "    let outer = unit / (dims.channels / dims.of_group);\n    \
             let first = outer * dims.chunks * 3u * dims.channels + channel - channel % dims.of_group;\n"
        };
        let factor = if self.has_gamma { format!("{rstd} * weight_of(channel)") } else { rstd.to_owned() };
        let shift = self.shift();
        let body = format!("{of_channel}    return vec4<f32>({mean}, {factor}, {shift});\n");
        to.function("scale_of(unit: u32, channel: u32) -> vec4<f32>", &body);
    }

    /// The expression that is added to a channel.
    pub(super) fn shift(&self) -> &'static str {
        if self.has_beta { "load_beta(dims.beta_offset + channel)" } else { "0.0" }
    }

    fn means(&self, to: &mut Writer) {
        to.f32s("sums", if self.corrects_sums() { "read_write" } else { "read" });
        self.write_weights(to);
        to.f32s("shifts", "read_write");
        let body = match (self.pass.has_gradients(), self.has_whole_channels()) {
            (false, _) => "",
            (true, false) => "    if less != 0.0 { sums[at] -= less; }\n",
            (true, true) => {
                to.f32s("gradients", "read_write");
                "    gradients[channel] = own.x;\n    gradients[dims.channels + channel] = own.y;\n"
            }
        };
        to.function("store_gradients(at: u32, channel: u32, own: vec2<f32>, less: f32)", body);
    }

    /// The gradient of the operand.
    fn of_operand(&self, to: &mut Writer) {
        ["a", "b"].into_iter().for_each(|name| to.read(name));
        self.write_weights(to);
        self.given_statistics(to);
        let shifts = if self.pass.is_evaluation() {
            "vec3<f32>(0.0)"
        } else {
            to.f32s("shifts", "read");
            "vec3<f32>(shifts[3u * unit], shifts[3u * unit + 1u], shifts[3u * unit + 2u])"
        };
        to.write("y");
        loads(to, "value", "a");
        loads(to, "gradient", "b");
        to.function("shifts_of(unit: u32) -> vec3<f32>", &format!("    return {shifts};\n"));
    }

    /// Gamma and beta, and `weight_of`.
    pub(super) fn write_weights(&self, to: &mut Writer) {
        for (name, is_there) in [("gamma", self.has_gamma), ("beta", self.has_beta)] {
            if is_there {
                to.read_elements(name);
            }
        }
        let weight = if self.has_gamma { "load_gamma(dims.gamma_offset + channel)" } else { "1.0" };
        to.function("weight_of(channel: u32) -> f32", &format!("    return {weight};\n"));
    }

    /// The statistics that a kernel reads, and `statistics`: the mean and rstd of a unit, or of a channel in evaluation.
    fn given_statistics(&self, to: &mut Writer) {
        to.f32s("means", "read");
        let body = if self.pass.is_evaluation() {
            to.f32s("variances", "read");
            "    return vec2<f32>(means[channel], inverseSqrt(variances[channel] + dims.eps));\n"
        } else {
            to.f32s("rstds", "read");
            "    return vec2<f32>(means[unit], rstds[unit]);\n"
        };
        to.function("statistics(unit: u32, channel: u32) -> vec2<f32>", body);
    }
}

/// The function that loads a quad of an operand.
fn loads(to: &mut Writer, function: &str, name: &str) {
    let head = format!("{function}(outer: u32, row: u32, group: u32, k: u32, length: u32) -> vec4<f32>");
    let place = format!("    let start = dims.{name}.x + outer * dims.{name}.y + row * dims.{name}.z;\n");
    let value = to.loaded(name, "start", &format!("dims.{name}.w"));
    to.function(&head, &format!("{place}    return {value};\n"));
}
