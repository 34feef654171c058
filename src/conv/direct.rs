//! The direct kernel of convolutions, `shaders/conv/direct.wgsl`: its tile on a device, and its text.

use super::channel_reads::{ChannelReads, moves, quads, read_weight};
use super::geometry::{ConvAxis, gcd};
use super::problem::{ConvDims, ConvProblem};
use crate::caps::Caps;
use crate::kernel::{self, Kernel, StorageFormat};
use crate::layout::{DType, known};
use crate::ops::vectors::Moves;
use crate::ops::writer::Writer;
use std::fmt;

/// Invocations of a workgroup, if the device allows them.
const LANES: u32 = 64;
/// Pixels of an invocation along a row.
const COLUMNS: u32 = 4;
/// The largest number of taps of a depthwise kernel whose weights an invocation holds.
const HELD_TAPS: usize = 9;
/// Strides and dilations up to this one have tiles of several pixels: sums of a few of them are below $2^{31}$.
pub(super) const FAR: usize = 1 << 20;

/// How much slower the sums over many channels are than arithmetic at the peak. On lavapipe a convolution of 3 x 3 with 64 channels took
/// 4.4 times as long as the kernel of products that runs there, which is predicted at 3.1 times the arithmetic. No GPU was measured.
const OF_PRODUCTS: f64 = 14.0;

/// The pixels and the taps of an invocation along an axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct AxisTile {
    pub(super) pixels: u32,
    /// Taps that are summed together: all, or one.
    pub(super) taps: u32,
    /// Steps from pixel to pixel, and from tap to tap, in indices of the input that an invocation reads.
    pub(super) hop: u32,
    pub(super) gap: u32,
    /// The distance of these indices.
    pub(super) pace: u32,
}

/// The pixels and the taps of an invocation on a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConvTile {
    pub(super) lanes: u32,
    reads: ChannelReads,
    down: AxisTile,
    across: AxisTile,
}

impl AxisTile {
    /// At most this number of pixels. All taps are summed together if there are at most `taps` of them, and if the pixels of an
    /// invocation then read at most `reach` indices.
    fn of(axis: &ConvAxis, pixels: u32, taps: usize, reach: u32) -> Self {
        let ConvAxis { stride, dilation, .. } = *axis;
        if stride > FAR || dilation > FAR {
            return Self { pixels: 1, taps: 1, hop: 1, gap: 1, pace: 1 };
        }
        Self::with(axis, pixels.min(known(axis.output).next_power_of_two()), taps, reach)
    }

    fn with(axis: &ConvAxis, pixels: u32, taps: usize, reach: u32) -> Self {
        let ConvAxis { stride, dilation, .. } = *axis;
        let single = Self { pixels, taps: 1, hop: 1, gap: 1, pace: known(stride) };
        if axis.taps > taps {
            return single;
        }
        let pace = if axis.taps > 1 { gcd(stride, dilation) } else { stride };
        let (hop, gap) = (known(stride / pace), known(dilation / pace).max(1));
        let whole = Self { pixels, taps: known(axis.taps), hop, gap, pace: known(pace) };
        if whole.reach() <= reach { whole } else { single }
    }

    /// All taps of at most this number of pixels, so that tiles differ little in their pixels. None if there are more than `taps`, or if
    /// pixels are far apart.
    pub(super) fn even(axis: &ConvAxis, pixels: u32, taps: usize) -> Option<Self> {
        if axis.stride > FAR || axis.dilation > FAR || axis.taps > taps {
            return None;
        }
        let output = known(axis.output);
        Some(Self::with(axis, output.div_ceil(output.div_ceil(pixels)), taps, u32::MAX))
    }

    /// The range of indices that are inside of the input in every tile, if tiles have no pixels past the end.
    pub(super) fn inside(self, axis: &ConvAxis) -> [u32; 2] {
        let ConvAxis { input, output, stride, before, .. } = *axis;
        let last = (output - self.pixels as usize) * stride;
        let of = |index: usize| index.div_ceil(self.pace as usize).min(self.reach() as usize);
        let [first, end] = [before, (before + input).saturating_sub(last)].map(|index| known(of(index)));
        [first, end.max(first)]
    }

    /// The indices of the input that an invocation reads.
    pub(super) fn reach(self) -> u32 {
        (self.pixels - 1) * self.hop + (self.taps - 1) * self.gap + 1
    }
}

impl ConvTile {
    /// The tile of a problem on a device.
    pub(super) fn of(problem: &ConvProblem, caps: &Caps) -> Self {
        let geometry = &problem.geometry;
        let [_, height, width] = &geometry.axes;
        let reads = ChannelReads::of(geometry);
        let [down, across] = match reads {
            // Software devices have no registers to run out of.
            ChannelReads::Depthwise if height.taps * width.taps <= HELD_TAPS => {
                let rows = if caps.machine.is_software() { 4 } else { 2 };
                [AxisTile::of(height, rows, HELD_TAPS, 8), AxisTile::of(width, COLUMNS, HELD_TAPS, 12)]
            }
            ChannelReads::Depthwise | ChannelReads::Elements => {
                [AxisTile::of(height, 1, 1, 1), AxisTile::of(width, COLUMNS, 7, 16)]
            }
            ChannelReads::Quads => [AxisTile::of(height, 1, 1, 1), AxisTile::of(width, COLUMNS, 3, 9)],
        };
        let products = if reads == ChannelReads::Quads { 4 } else { 1 };
        let unrolled = products * down.pixels * down.taps * across.pixels * across.taps;
        let [down, across] = if unrolled <= caps.machine.max_unrolled {
            [down, across]
        } else {
            [AxisTile::of(height, 1, 1, 1), AxisTile::of(width, COLUMNS, 1, 1)]
        };
        Self { lanes: kernel::workgroup_size(LANES, caps), reads, down, across }
    }

    /// Workgroups.
    pub(super) fn blocks(self, d: &ConvDims) -> u64 {
        let tiles = [d.output[0].div_ceil(self.down.pixels), d.output[1].div_ceil(self.across.pixels)];
        let units = [d.batch, d.outputs.div_ceil(4), tiles[0], tiles[1]].map(u64::from);
        units.iter().product::<u64>().div_ceil(self.lanes.into())
    }

    /// The factor by which multiply-adds are slower than at the peak, because each loads its operands through the caches.
    pub(super) fn slowness(self) -> f64 {
        match self.reads {
            ChannelReads::Depthwise => 1.0,
            ChannelReads::Elements | ChannelReads::Quads => OF_PRODUCTS,
        }
    }

    /// The uniform.
    pub(super) fn dims(self, dims: ConvDims) -> ConvDims {
        ConvDims { pace: [self.down.pace, self.across.pace], ..dims }
    }

    /// The kernel.
    pub(super) fn kernel(self, problem: &ConvProblem, d: &ConvDims, caps: &Caps) -> Kernel {
        let kernel = Kernel::new("conv/direct")
            .dims::<ConvDims>(caps)
            .param("LANES", self.lanes)
            .param("ROWS", self.down.pixels)
            .param("COLUMNS", self.across.pixels)
            .param("TAPS_DOWN", self.down.taps)
            .param("TAPS_ACROSS", self.across.taps)
            .param("HOP_DOWN", self.down.hop)
            .param("HOP_ACROSS", self.across.hop)
            .param("GAP_DOWN", self.down.gap)
            .param("GAP_ACROSS", self.across.gap)
            .slot("activation", problem.activation.variant());
        let geometry = &problem.geometry;
        let kernel = self.reads.bind(kernel, &["channels", "taps"], geometry, geometry.group_outputs());
        let format = StorageFormat::of(problem.dtype, caps);
        let mut to = Writer::new(kernel, Moves::Elements, format);
        let channels = if self.reads == ChannelReads::Depthwise { d.outputs } else { d.group_channels };
        self.reads.read(&mut to, "x", (d.along[0], "dims.along.x"), d.x, channels);
        read_weight(self.reads, &mut to, (d.along[1], "dims.along.y"), d.weight, channels);
        let words = epilogue(&mut to, problem, d, caps);
        (to.format, to.moves) = (format, moves(1, [d.outputs; 4], d.outputs));
        to.write("y");
        to.done(format!("{:?} of {}{words}", self.reads, problem.dtype))
    }
}

impl fmt::Display for ConvTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lanes, down, across, .. } = self;
        write!(f, "{lanes} invocations, {} x {} pixels of four channels each", down.pixels, across.pixels)
    }
}

/// The operands of the epilogue, and the functions that apply it. Returns what there is, in words.
pub(super) fn epilogue(to: &mut Writer, problem: &ConvProblem, d: &ConvDims, caps: &Caps) -> String {
    let of_channel = |name: &str| {
        format!(
            "load_quad_{name}(dims.{name}.x + first * dims.{name}.y, dims.{name}.y, dims.outputs - first)"
        )
    };
    let mut terms = ["vec4<f32>(0.0)", "vec4<f32>(1.0)", "vec4<f32>(0.0)"].map(str::to_owned);
    let mut body = "    var v = sums;\n".to_owned();
    to.moves = Moves::Elements;
    if let Some((_, dtype)) = problem.bias {
        to.format = StorageFormat::of(dtype, caps);
        to.read("bias");
        terms[0] = of_channel("bias");
        body += "    v += terms.bias;\n";
    }
    if problem.scale_shift.is_some() {
        to.format = StorageFormat::of(DType::F32, caps);
        for (term, name) in terms[1..].iter_mut().zip(["scale", "shift"]) {
            to.read(name);
            *term = of_channel(name);
        }
        body += "    v = v * terms.scale + terms.shift;\n";
    }
    body += "    v = activate(v);\n";
    if problem.residual.is_some() {
        to.format = StorageFormat::of(problem.dtype, caps);
        to.moves = moves(d.along[2], d.residual, d.outputs);
        to.read("residual");
        quads(to, "residual", "dims.along.z");
        body += "    let start = dims.residual.x + image * dims.residual.y + row * dims.residual.z + column * dims.residual.w;\n    \
                 v += residual_quad(start, group, dims.outputs);\n";
    }
    let [bias, scale, shift] = terms;
    to.function(
        "terms_of(group: u32) -> ChannelTerms",
        &format!("    let first = 4u * group;\n    return ChannelTerms({bias}, {scale}, {shift});\n"),
    );
    let head = "finished(image: u32, row: u32, column: u32, group: u32, terms: ChannelTerms, sums: vec4<f32>) -> vec4<f32>";
    to.function(head, &format!("{body}    return v;\n"));
    let words = [
        (problem.bias.is_some(), " bias"),
        (problem.scale_shift.is_some(), " scale shift"),
        (problem.residual.is_some(), " residual"),
    ];
    words.iter().filter_map(|&(is_there, word)| is_there.then_some(word)).collect()
}
