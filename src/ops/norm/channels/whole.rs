//! Norms of channels in one step: a workgroup computes the statistics of whole units and normalises them
//! (`shaders/ops/channel_norm_whole.wgsl`).

use super::problem::{ChannelDims, ChannelPass, ChannelProblem, HELD_QUADS, LANES};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Kernel, Needs, StorageFormat};
use crate::ops::vectors::{Moves, per_vector};
use crate::ops::writer::Writer;
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Region};
use std::mem::offset_of;

/// Bytes of the operand that one workgroup reads in the time of two launches.
const SHORT_BYTES: u64 = 1 << 17;
/// Bytes of a row that a workgroup should have, so that it reads whole cache lines.
const LINE_BYTES: usize = 128;
/// Bytes of a row that a workgroup has at least, even if there are then few workgroups: the smallest transfer of device
/// memory.
const SECTOR_BYTES: usize = 32;
/// The largest number of channels of a unit that shares a workgroup with others, because an invocation adds up their
/// sums one after another.
const SHARED_CHANNELS: u32 = 64;

/// The work of a workgroup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    /// Its channels of one outer index: those of one or several units.
    span: u32,
    moves: Moves,
    workgroups: u64,
}

impl ChannelProblem {
    /// The work of a workgroup if one step suffices. That is so if there are enough workgroups to occupy the device, or
    /// each has so few elements that two launches would take longer. The device must also have enough bindings.
    pub(super) fn whole(&self, caps: &Caps) -> Option<Whole> {
        let whole = self.widest(caps);
        let bytes = u64::from(self.dims.inner) * u64::from(whole.span) * self.dtype.size() as u64;
        let is_busy = whole.workgroups >= u64::from(caps.machine.workgroups());
        let fits = self.bindings() <= caps.limits.storage_bindings;
        (fits && (is_busy || bytes <= SHORT_BYTES)).then_some(whole)
    }

    /// A workgroup takes units until they fill its invocations and a cache line, as long as there are enough workgroups to
    /// occupy the device.
    fn widest(&self, caps: &Caps) -> Whole {
        let d = &self.dims;
        let of_vector = per_vector(self.dtype);
        // Units of whole vectors: a power of two.
        let least = of_vector >> d.of_group.trailing_zeros().min(of_vector.trailing_zeros());
        let is_whole = d.channels.is_multiple_of(of_vector) && (least == 1 || d.of_group <= SHARED_CHANNELS);
        let (moves, least) = match self.moves() {
            Moves::Vectors if is_whole => (Moves::Vectors, least),
            _ => (Moves::Elements, 1),
        };
        let of = |units: u32| {
            let span = units.saturating_mul(d.of_group).min(d.channels);
            Whole { span, moves, workgroups: u64::from(d.outer) * u64::from(d.channels.div_ceil(span)) }
        };
        let mut units = least;
        while of(units).span < d.channels && d.of_group <= SHARED_CHANNELS {
            let (now, twice) = (of(units), of(2 * units));
            let bytes = now.span as usize * self.dtype.size();
            let is_idle = self.rows_at_once(now, caps) > d.inner;
            let is_narrow = bytes < LINE_BYTES || is_idle;
            let fits = twice.groups(self) <= kernel::workgroup_size(LANES, caps);
            let is_busy = twice.workgroups >= u64::from(caps.machine.workgroups()) || bytes < SECTOR_BYTES;
            if !(is_narrow && fits && is_busy) {
                break;
            }
            units *= 2;
        }
        of(units)
    }

    /// Adds the step. The arguments are A, gamma, beta, the result, the given running statistics, and the written
    /// statistics.
    pub(super) fn whole_step(
        &self,
        draft: &mut Draft<'_>,
        whole: Whole,
        args: &[(Region, Access)],
    ) -> Result<()> {
        let caps = draft.caps();
        let lanes = kernel::workgroup_size(LANES, caps);
        let d = ChannelDims {
            chunks: 1,
            each: self.dims.inner,
            lanes: whole.groups(self).min(lanes),
            span: whole.span,
            ..self.dims
        };
        let elements = f64::from(d.outer) * f64::from(d.inner) * f64::from(d.channels);
        let dims = Dims::of(&d).scalar(offset_of!(ChannelDims, eps), 0);
        draft.step(NewStep {
            tile: format!("{lanes} invocations, {} channels each, {}", d.span, self.dtype),
            blocks: whole.workgroups,
            dims: dims.scalar(offset_of!(ChannelDims, momentum), 1),
            flops: Flops::of_f32(8.0 * elements),
            ..NewStep::of(
                self.whole_kernel(whole, caps),
                Needs::of(lanes, 16 * lanes * whole.quads(self)),
                args,
            )
        })
    }

    fn whole_kernel(&self, whole: Whole, caps: &Caps) -> Kernel {
        let kernel = Kernel::new("ops/channel_norm_whole")
            .dims::<ChannelDims>(caps)
            .param("LANES", kernel::workgroup_size(LANES, caps))
            .param("QUADS", whole.quads(self))
            .param("TURN", HELD_QUADS / whole.quads(self))
            .param("RANGES", caps.machine.is_software())
            .param("WHOLE", whole.moves == Moves::Vectors)
            .param("EVEN", self.is_even(whole, caps));
        let mut to = Writer::new(kernel, whole.moves, StorageFormat::of(self.dtype, caps));
        to.read("a");
        self.write_weights(&mut to);
        to.write("y");
        self.store_statistics(&mut to);
        let value = to.loaded("a", "start", "dims.a.w");
        let head = "value(start: u32, group: u32, k: u32, length: u32) -> vec4<f32>";
        to.function(head, &format!("    return {value};\n"));
        to.function("shift_of(channel: u32) -> f32", &format!("    return {};\n", self.shift()));
        to.done(self.description("Whole"))
    }

    /// The storage bindings of the step.
    fn bindings(&self) -> u32 {
        let statistics = match self.pass {
            ChannelPass::Group => 2,
            ChannelPass::Training => 3,
            _ => 7,
        };
        2 + u32::from(self.has_gamma) + u32::from(self.has_beta) + statistics
    }

    /// Whether the rows are a multiple of those that the workgroup computes at once.
    fn is_even(&self, whole: Whole, caps: &Caps) -> bool {
        let lanes = kernel::workgroup_size(LANES, caps);
        let (groups, turn) = (whole.groups(self), HELD_QUADS / whole.quads(self));
        lanes.is_multiple_of(groups) && self.dims.inner.is_multiple_of(lanes / groups * turn)
    }

    /// The rows that a workgroup computes at once.
    fn rows_at_once(&self, whole: Whole, caps: &Caps) -> u32 {
        (kernel::workgroup_size(LANES, caps) / whole.groups(self)).max(1)
    }
}

impl Whole {
    /// The number of groups of channels that lanes load together.
    fn groups(self, of: &ChannelProblem) -> u32 {
        self.span.div_ceil(4 * self.quads(of))
    }

    fn quads(self, of: &ChannelProblem) -> u32 {
        self.moves.quads(of.dtype)
    }
}
