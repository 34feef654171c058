//! Operands that are not stored: kernels generate their elements while they stage blocks.

use super::seed::SeedSource;
use super::segments::Segments;
use super::types::{OP, Side};
use crate::layout::Layout;
use crate::{Error, Result};

/// The generated part of a product's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Generated {
    /// A whole operand, from a seed.
    Operand(GeneratedOperand),
    /// Half of B, from a seed.
    SignHalf(SignHalf),
    /// The operands are looked up in a table for each segment of k, and A may be generated from two stored operands.
    Segments(Segments),
    /// The rows of an operand are windows of an image.
    Windows(PlacedWindows),
}

/// An operand that is generated from a seed. These fields change the code of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GeneratedOperand {
    /// The generated operand.
    pub side: Side,
    /// Distribution of the entries.
    pub entries: Distribution,
    /// Axis of the random matrix that is the operand's outer axis.
    pub outer: OuterAxis,
    /// Last word of the Philox counters.
    pub tag: u32,
    /// Where the kernel finds the seed.
    pub seed: SeedSource,
}

/// The distribution of generated entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distribution {
    /// Standard normal.
    Normal,
    /// Uniform between -1 and 1.
    Uniform,
    /// 1 or -1.
    Sign,
}

/// The axis of a random matrix that is the operand's outer axis, m of A or n of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OuterAxis {
    /// Its rows: the matrix is on the left, or its transpose on the right.
    Rows,
    /// Its columns: the transpose is on the left, or the matrix on the right.
    Columns,
}

impl Distribution {
    /// Length, in words, of the table that the entries are computed from.
    pub(crate) const fn table_words(self) -> u64 {
        match self {
            Self::Normal => 1025,
            Self::Uniform | Self::Sign => 1,
        }
    }
}

/// An operand B (k, n) with two equal halves along one axis. One half is stored, the other consists of signs that are generated
/// from a seed. These fields change the code of the kernel; the seed itself is a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignHalf {
    /// Axis of B that has the two halves.
    pub axis: HalfAxis,
    /// Position of the generated half.
    pub half: HalfPosition,
    /// Axis of the matrix of signs that is B's outer axis. The matrix begins where its half begins.
    pub outer: OuterAxis,
    /// Last word of the Philox counters.
    pub tag: u32,
}

/// An axis of operand B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HalfAxis {
    /// The outer axis: its columns.
    Outer = 0,
    /// The inner axis: its rows.
    K = 1,
}

/// The position of a half along its axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HalfPosition {
    /// The first half.
    First = 0,
    /// The second half.
    Second = 1,
}

impl SignHalf {
    /// The shape (k, n) of the whole operand, from the layout of its stored half.
    pub(super) fn shape(&self, stored: &Layout) -> Result<[usize; 2]> {
        let &[k, n] = stored.shape() else {
            let rule = "the stored half of B must be a matrix";
            return Err(Error::shape(OP, rule, stored.shape()));
        };
        Ok(match self.axis {
            HalfAxis::Outer => [k, 2 * n],
            HalfAxis::K => [2 * k, n],
        })
    }

    /// A contiguous layout of the whole operand, from the layout of its stored half.
    ///
    /// # Errors
    /// [`Error::Shape`] if the stored half is not a matrix.
    pub(in crate::gemm) fn whole(&self, stored: &Layout) -> Result<Layout> {
        Layout::contiguous(OP, &self.shape(stored)?)
    }
}

/// The largest number of elements of a window: kernels divide their indices in f32, exactly.
pub(super) const MAX_WINDOW: u64 = 1 << 21;
/// The largest number of lines of taps of a window of a volume: their reciprocal is computed by kernels, with a larger error.
pub(super) const MAX_TAP_LINES: u64 = 1 << 20;
/// The largest number of planes from a window of a volume to the next, and from a tap to the next: they share a word.
pub(super) const MAX_PLANES_APART: u64 = (1 << 15) - 1;
/// The largest number of windows that are rows of B: kernels divide their indices in f32, and correct the quotients by one.
pub(super) const MAX_ROWS_OF_B: u64 = 1 << 24;

/// The windows of an image (image, plane, line, column, channel), of which each is a row of A or of B. The elements of a window are in the
/// order tap plane, tap line, tap column, channel. Elements outside of the image are zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ImageWindows {
    /// The operand whose rows are windows, and how B is read.
    pub(crate) b: WindowB,
    /// The groups of the image's channels, of which each matrix along the second axis of the batch reads one.
    pub(crate) groups: u32,
    /// Windows along the depth of an image, down and across it.
    pub(crate) windows: [u32; 3],
    /// Taps of a window, likewise.
    pub(crate) taps: [u32; 3],
    /// Planes, lines and columns from a window to the next.
    pub(crate) steps: [u32; 3],
    /// Planes, lines and columns from a tap to the next; negative if taps go back, up and to the left.
    pub(crate) dilation: [i32; 3],
    /// Planes ahead of the image, lines above it and columns before it at which the first window begins; negative within the image.
    pub(crate) before: [i32; 3],
}

/// The windows of a product, as its kernels read them. The image's layout is in the place of the operand's: (image, line, column,
/// channel), or that of one volume, (plane, line, column, channel).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PlacedWindows {
    pub(crate) of: ImageWindows,
    /// None if an image has one plane, which every window reads.
    pub(crate) volumes: Option<Volumes>,
}

/// The axes of volumes that the layouts of operands do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Volumes {
    /// The volumes: their number and stride.
    pub(crate) images: [u32; 2],
    /// The planes of taps of a B whose rows are taps with strides of their own. One without stride in every other B.
    pub(crate) planes_of_b: [u32; 2],
}

/// How the operand B of a product with windows is read: the constants of `gemm_coop_khr.comp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WindowB {
    /// Its elements along k are a line. The rows of A are windows.
    Lines = 0,
    /// Its rows are taps and channels of windows, with strides of their own. The rows of A are windows.
    Taps = 1,
    /// Its rows are windows. A is stored.
    Windows = 2,
}

impl ImageWindows {
    /// The operand whose rows are windows.
    pub(in crate::gemm) fn side(&self) -> Side {
        if self.b == WindowB::Windows { Side::B } else { Side::A }
    }

    /// The elements of a window of an image of this many channels.
    pub(super) fn elements(&self, channels: u32) -> u32 {
        self.taps.iter().product::<u32>() * (channels / self.groups)
    }

    /// Whether images have one plane, which every window reads.
    pub(super) fn are_flat(&self, planes: usize) -> bool {
        planes == 1 && [self.taps[0], self.windows[0]] == [1; 2] && self.before[0] == 0
    }
}
