//! The kernel of depthwise convolutions that goes down a column of pixels, `shaders/conv/depthwise.wgsl`: its tile on a device, and its
//! text.

use super::channel_reads::{ChannelReads, moves, read_quads};
use super::direct::{AxisTile, epilogue};
use super::problem::{ConvDims, ConvProblem};
use crate::caps::Caps;
use crate::kernel::{self, Kernel, StorageFormat};
use crate::layout::{DType, known};
use crate::ops::vectors::Moves;
use crate::ops::writer::Writer;
use std::fmt;

/// Invocations of a workgroup, if the device allows them.
const LANES: u32 = 64;
/// Pixels of an invocation down a column, at most. A page of memory is shorter than a row of many images, and the processor keeps the
/// addresses of few pages that are written: with 28 rows, 56 x 56 x 128 took up to 1.3 times as long on lavapipe.
const ROWS: u32 = 14;
/// The largest number of taps whose weights an invocation holds.
const HELD_TAPS: usize = 49;
/// The largest number of rows of sums that are open at a time.
const OPEN: u32 = 7;
/// The largest number of columns of the images for the pixels of an invocation.
const WIDE: u32 = 16;

/// The pixels and the taps of an invocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct DepthwiseTile {
    pub(super) lanes: u32,
    down: AxisTile,
    across: AxisTile,
    /// Whether there are no pixels past the end.
    is_even: [bool; 2],
    /// The columns that are inside of the image in every tile.
    inside: [u32; 2],
}

impl DepthwiseTile {
    /// The tile of a problem on a software device, which has no registers to run out of. Other devices, and other kernels, have the
    /// direct kernel.
    pub(super) fn of(problem: &ConvProblem, caps: &Caps) -> Option<Self> {
        let geometry = &problem.geometry;
        let [_, height, width] = &geometry.axes;
        let is_held = height.taps * width.taps <= HELD_TAPS;
        let is_depthwise = ChannelReads::of(geometry) == ChannelReads::Depthwise;
        if !(is_depthwise && is_held && caps.machine.is_software()) {
            return None;
        }
        let lanes = kernel::workgroup_size(LANES, caps);
        // Elements of 16 bits are converted: the fewer of them are read twice, the better.
        let columns = if problem.dtype == DType::F32 { 4 } else { 8 };
        let columns = columns.min(caps.machine.max_unrolled / known(height.taps * width.taps));
        if columns < 4 {
            return None;
        }
        let across = (1..=columns)
            .rev()
            .filter_map(|columns| AxisTile::even(width, columns, HELD_TAPS))
            .find(|across| across.reach() <= WIDE)?;
        // At least a workgroup for each core.
        let mut rows = ROWS;
        let tile = loop {
            let down = AxisTile::even(height, rows, HELD_TAPS)?;
            let tile = Self::with(lanes, [down, across], problem);
            if rows <= 4 || tile.blocks(problem) >= u64::from(caps.machine.cores) {
                break tile;
            }
            rows /= 2;
        };
        (tile.open() <= OPEN).then_some(tile)
    }

    fn with(lanes: u32, [down, across]: [AxisTile; 2], problem: &ConvProblem) -> Self {
        let [_, height, width] = &problem.geometry.axes;
        let is_even = [
            height.output.is_multiple_of(down.pixels as usize),
            width.output.is_multiple_of(across.pixels as usize),
        ];
        let inside = if is_even[1] { across.inside(width) } else { [0; 2] };
        Self { lanes, down, across, is_even, inside }
    }

    /// The rows of sums that are open at a time.
    fn open(self) -> u32 {
        (self.down.taps - 1) * self.down.gap / self.down.hop + 1
    }

    /// Workgroups.
    pub(super) fn blocks(self, problem: &ConvProblem) -> u64 {
        let geometry = &problem.geometry;
        let [_, height, width] = &geometry.axes;
        let units = [
            geometry.batch,
            geometry.outputs.div_ceil(4),
            height.output.div_ceil(self.down.pixels as usize),
            width.output.div_ceil(self.across.pixels as usize),
        ];
        units.iter().map(|&of| of as u64).product::<u64>().div_ceil(self.lanes.into())
    }

    /// The uniform.
    pub(super) fn dims(self, dims: ConvDims) -> ConvDims {
        ConvDims { pace: [self.down.pace, self.across.pace], ..dims }
    }

    /// The kernel.
    pub(super) fn kernel(self, problem: &ConvProblem, d: &ConvDims, caps: &Caps) -> Kernel {
        let Self { down, across, is_even, inside, .. } = self;
        let kernel = Kernel::new("conv/depthwise")
            .dims::<ConvDims>(caps)
            .param("LANES", self.lanes)
            .param("ROWS", down.pixels)
            .param("COLUMNS", across.pixels)
            .param("TAPS_DOWN", down.taps)
            .param("TAPS_ACROSS", across.taps)
            .param("HOP_DOWN", down.hop)
            .param("HOP_ACROSS", across.hop)
            .param("GAP_DOWN", down.gap)
            .param("GAP_ACROSS", across.gap)
            .param("FRESH", down.hop.min((down.taps - 1) * down.gap + 1))
            .param("EVEN_DOWN", is_even[0])
            .param("EVEN_ACROSS", is_even[1])
            .param("FIRST_INSIDE", inside[0])
            .param("END_INSIDE", inside[1])
            .slot("activation", problem.activation.variant());
        let weight_moves = weight_moves(d, down.taps, across.taps);
        let kernel = match weight_moves {
            Moves::Elements => kernel,
            Moves::Vectors => kernel.slot("held_taps", "quads"),
        };
        let format = StorageFormat::of(problem.dtype, caps);
        let mut to = Writer::new(kernel, Moves::Elements, format);
        read_quads(&mut to, "x", (d.along[0], "dims.along.x"), d.x, d.outputs);
        to.moves = weight_moves;
        to.read_words("weight");
        let words = epilogue(&mut to, problem, d, caps);
        (to.format, to.moves) = (format, moves(1, [d.outputs; 4], d.outputs));
        to.write_words("y");
        to.done(format!("depthwise of {}{words}", problem.dtype))
    }
}

/// How the weights are read: in quads if the taps of all channels follow each other.
fn weight_moves(d: &ConvDims, down: u32, across: u32) -> Moves {
    let [first, channel, row, column] = d.weight;
    let follow = channel == down * across && (down == 1 || row == across) && (across == 1 || column == 1);
    if follow && first.is_multiple_of(4) && d.outputs.is_multiple_of(4) {
        Moves::Vectors
    } else {
        Moves::Elements
    }
}

impl fmt::Display for DepthwiseTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lanes, down, across, .. } = self;
        write!(f, "{lanes} invocations, {} x {} pixels of four channels each", down.pixels, across.pixels)
    }
}
