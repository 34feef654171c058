//! One pass of a Hadamard transform: consecutive levels, in one launch.

use crate::caps::Caps;
use crate::gemm::SeedSource;
use crate::kernel::{AccessWidth, Kernel, Needs, OperandAccess, StorageFormat, shader_dims};
use crate::layout::DType;
use crate::plan::{Bound, Prediction};
use std::fmt;

shader_dims! {
    /// The uniform of `shaders/sketch/hadamard.wgsl`, in elements. In a problem, scale and the inverse of the row order are
    /// 0: a launch takes them as scalars. The words of the seed are also 0, or the offsets of the words in the seed's
    /// tensor.
    pub struct HadamardDims {
        /// inverse of the row order, the last round first: factors and summands; 0 if the kernel finds it
        undo: [[u32; 4]; 2] as InverseRounds,
        /// rows of the operand; its padded axis has 2^bits
        rows_in: u32,
        /// rows of the result
        rows_out: u32,
        /// first element of the operand in its binding, then its strides
        x_offset: u32,
        x_row: u32,
        x_column: u32,
        x_batch0: u32,
        x_batch1: u32,
        /// the same for the result
        y_offset: u32,
        y_row: u32,
        y_column: u32,
        y_batch0: u32,
        y_batch1: u32,
        columns: u32,
        /// extent of the inner batch axis
        batch0: u32,
        batches: u32,
        /// bits of the row index below those of the pass
        low_bits: u32,
        /// bits of the row index
        bits: u32,
        /// shift of the rounds of the row order
        shift: u32,
        scale: u32 as f32,
        /// the words of the seed, or their places in the tensor that holds it
        seed_low: u32,
        seed_high: u32,
        /// last word of the Philox counter of the signs
        tag: u32,
        /// neighbouring columns, the other lanes have other sets; a power of two, at most LINES
        column_lanes: u32,
        /// `low_bits` if the columns of all rows below the bits of the pass count as one long row; else 0
        folded_bits: u32,
    }
}

/// The input of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HadamardSource {
    /// The operand times the random signs.
    Signed,
    /// The operand, each row read from its position in the row order.
    Permuted,
    /// The scratch buffer that the previous pass wrote.
    Scratch,
}

/// The output of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HadamardTarget {
    /// The result, each row written to its position in the row order.
    Permuted,
    /// The result times the random signs.
    Signed,
    /// The scratch buffer that the next pass reads.
    Scratch,
}

/// The columns and sets of rows of a workgroup's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HadamardLayout {
    /// Columns of one set of rows.
    Columns,
    /// This number of columns, of several sets of rows.
    Sets(u32),
    /// This number of columns, if there are few: the columns of all rows below the bits of the pass count as one long
    /// row.
    Folded(u32),
}

/// The workgroup of a pass. A line is one column of a set of rows; the rows of a set differ only in the bits of the
/// pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HadamardTile {
    /// Number of levels: the bits of the pass.
    pub levels: u32,
    /// Binary logarithm of the number of rows that an invocation holds.
    pub radix_bits: u32,
    /// Number of lines.
    pub lines: u32,
    /// The arrangement of the lines.
    pub layout: HadamardLayout,
}

impl HadamardTile {
    /// Number of stages. Between two stages, invocations exchange rows through shared memory.
    pub(super) fn stages(&self) -> u32 {
        if self.radix_bits == 0 { 1 } else { self.levels.div_ceil(self.radix_bits) }
    }

    /// Number of invocations of a workgroup.
    #[must_use]
    pub fn invocations(&self) -> u32 {
        self.lines << (self.levels - self.radix_bits)
    }

    /// Number of columns of each set.
    pub(super) fn columns(&self) -> u32 {
        match self.layout {
            HadamardLayout::Columns => self.lines,
            HadamardLayout::Sets(columns) | HadamardLayout::Folded(columns) => columns,
        }
    }

    /// Number of elements that stages exchange.
    pub(super) fn exchanged(&self) -> u32 {
        if self.stages() == 1 { 1 } else { self.lines << self.levels }
    }
}

impl fmt::Display for HadamardTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { levels, radix_bits, lines, layout } = self;
        let (columns, sets) = (self.columns(), lines / self.columns());
        let folded = if matches!(layout, HadamardLayout::Folded(_)) { " folded" } else { "" };
        write!(f, "{sets} x 2^{levels} rows x {columns}{folded} columns, 2^{radix_bits} rows an invocation")
    }
}

/// A pass of a transform: the levels of the bits from `dims.low_bits` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HadamardPass {
    /// The uniform.
    pub dims: HadamardDims,
    /// Element type of the input.
    pub dtype: DType,
    /// The input.
    pub source: HadamardSource,
    /// The output.
    pub target: HadamardTarget,
    /// The workgroup.
    pub tile: HadamardTile,
    /// The source of the seed, if the kernel needs it. All passes do, except those in place.
    pub seed: SeedSource,
}

impl HadamardPass {
    /// Whether the pass reads and writes the same elements.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        (self.source, self.target) == (HadamardSource::Scratch, HadamardTarget::Scratch)
    }

    fn has_signs(&self) -> bool {
        self.source == HadamardSource::Signed || self.target == HadamardTarget::Signed
    }

    /// Number of sign vectors of a workgroup, of 128 signs each, and the number of vectors for each row of a set. The
    /// second is 0 if the vectors cover consecutive rows.
    pub(super) fn signs(&self) -> [u32; 2] {
        let (low, HadamardTile { levels, lines, layout, .. }) = (self.dims.low_bits, self.tile);
        match layout {
            _ if !self.has_signs() => [0, 0],
            HadamardLayout::Columns if low < 7 => [((1 << (low + levels)) / 128).max(1), 0],
            HadamardLayout::Columns => [1 << levels, 1],
            // The largest number for any number of sets, so that all use the same kernel.
            _ if low < 7 => [((lines.max(1 << low) << levels) / 128).max(1), 0],
            // At most 128 neighbouring rows lie in two neighbouring vectors.
            _ => [2 << levels, 2],
        }
    }

    /// Whether the kernel computes the row order from the seed.
    pub(super) fn finds_row_order(&self) -> bool {
        let is_permuted = self.source == HadamardSource::Permuted || self.target == HadamardTarget::Permuted;
        is_permuted && self.seed != SeedSource::Scalars
    }

    /// Bytes of shared memory for the signs and the row order.
    fn drawn_bytes(&self) -> u32 {
        16 * self.signs()[0] + if self.finds_row_order() { 32 } else { 0 }
    }

    /// Bytes of shared memory that the kernel declares.
    #[must_use]
    pub fn workgroup_bytes(&self) -> u32 {
        4 * self.tile.exchanged() + self.drawn_bytes()
    }

    /// The limits that a workgroup needs.
    pub(super) fn needs(&self) -> Needs {
        let workgroup_bytes = (4 * self.tile.exchanged()).next_multiple_of(16) + self.drawn_bytes();
        let bindings = if self.is_in_place() { 1 } else { 2 + self.seed.bindings() };
        Needs { bindings, invocations: self.tile.invocations(), workgroup_bytes }
    }

    /// Whether a workgroup fits in the limits of a device.
    pub(super) fn fits(&self, caps: &Caps) -> bool {
        self.needs().fit(caps).is_ok()
    }

    /// The number of workgroups.
    pub(super) fn blocks(&self) -> u64 {
        let (d, tile) = (&self.dims, &self.tile);
        let columns = u64::from(d.columns) << d.folded_bits;
        let sets = u64::from(d.batches) << (d.bits - tile.levels - d.folded_bits);
        columns.div_ceil(tile.columns().into()) * sets.div_ceil((tile.lines / tile.columns()).into())
    }

    /// Predicted seconds, with the launch.
    pub(super) fn seconds(&self, caps: &Caps) -> f64 {
        self.prediction(caps).seconds + caps.machine.launch_seconds
    }

    /// The predicted time without the launch: the memory traffic in whole sectors, plus the exchange between stages.
    pub(super) fn prediction(&self, caps: &Caps) -> Prediction {
        let (d, tile) = (&self.dims, &self.tile);
        let lines = f64::from(d.columns) * f64::from(d.batches);
        let sectors = |stride: u32, run: u32, bytes: u32| {
            let run = if stride == 1 { run * bytes } else { bytes };
            f64::from(bytes) * f64::max(caps.machine.sector_bytes / f64::from(run), 1.0)
        };
        let run = if d.low_bits == 0 { 1 << tile.levels } else { 1 };
        let size = u32::try_from(self.dtype.size()).unwrap_or(u32::MAX);
        let read = sectors(d.x_column, tile.columns(), size).min(sectors(d.x_row, run, size));
        let write = sectors(d.y_column, tile.columns(), 4).min(match self.target {
            HadamardTarget::Permuted => f64::INFINITY,
            _ => sectors(d.y_row, run, 4),
        });
        let moved = lines * (f64::from(d.rows_in) * read + f64::from(d.rows_out) * write);
        let exchanged = lines * f64::from(1u32 << d.bits) * 8.0 * f64::from(tile.stages() - 1);
        let terms = [
            (moved / caps.machine.memory_bandwidth, Bound::Memory),
            (exchanged / caps.machine.shared_bandwidth, Bound::Memory),
        ];
        let [memory, shared] = terms.map(|(seconds, _)| seconds);
        Prediction { seconds: memory + shared, ..Prediction::longest(&terms) }
    }

    /// The kernel of the pass on a device.
    #[must_use]
    pub fn kernel(&self, caps: &Caps) -> Kernel {
        let HadamardTile { levels, radix_bits, lines, layout } = self.tile;
        let first = levels - radix_bits * (self.tile.stages() - 1);
        let mut kernel = Kernel::new("sketch/hadamard")
            .dims::<HadamardDims>(caps)
            .param("RADIX", 1u32 << radix_bits)
            .param("RADIX_BITS", radix_bits)
            .param("FIRST", 1u32 << first)
            .param("FIRST_BITS", first)
            .param("STAGES", self.tile.stages())
            .param("LINES", lines)
            .param("WIDE", u32::from(layout == HadamardLayout::Columns));
        kernel = match self.signs() {
            [0, _] => kernel.slot("hadamard_signs", "none"),
            [slots, span] => kernel.param("SLOTS", slots).param("SPAN", span),
        };
        if self.is_in_place() {
            return kernel.slot("hadamard_operands", "in_place");
        }
        kernel = self.seed.bind(kernel, 2);
        if self.finds_row_order() {
            kernel = kernel.slot("row_order", "found");
        }
        kernel =
            kernel.operand("a", OperandAccess::read(StorageFormat::of(self.dtype, caps), AccessWidth::One));
        kernel = match self.source {
            HadamardSource::Signed => kernel.slot("hadamard_read", "signed"),
            HadamardSource::Permuted => kernel.slot("hadamard_read", "permuted"),
            HadamardSource::Scratch => kernel,
        };
        match self.target {
            HadamardTarget::Permuted => kernel.slot("hadamard_write", "permuted"),
            HadamardTarget::Signed => kernel.slot("hadamard_write", "signed"),
            HadamardTarget::Scratch => kernel,
        }
    }
}
