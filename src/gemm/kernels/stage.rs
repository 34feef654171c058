//! How kernels load the operands that they stage.

use crate::gemm::problem::{GemmProblem, MatrixLayout, WindowB};
use crate::kernel::AccessWidth;

/// An axis of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OperandAxis {
    K = 0,
    /// m of A, n of B.
    Outer = 1,
}

/// An operand's extents and strides along the outer axis and along k, and what adds up to the start of a line.
#[derive(Clone, Copy)]
pub(super) struct OperandLines {
    extents: [u32; 2],
    pub(super) strides: [u32; 2],
    starts: [u32; 6],
    /// Whether the operand is always loaded along its outer axis: along k, its elements are no line.
    is_along_outer: bool,
}

impl OperandLines {
    /// The lines of A and of B.
    pub(super) fn of(problem: &GemmProblem) -> [Self; 2] {
        let (a, b) = (&problem.layouts.a, &problem.layouts.b);
        let (m, n, k) = (problem.m(), problem.n(), problem.k());
        let groups = problem.groups();
        let [images, planes] = problem.volumes().map_or([0; 2], |of| [of.images[1], of.planes_of_b[1]]);
        let of_a = match problem.window_b() {
            Some(WindowB::Lines | WindowB::Taps) => Self::of_windows(a, images, groups, k),
            Some(WindowB::Windows) | None => Self::within(a, [2, 3], m, problem),
        };
        let stored = Self::within(b, [3, 2], n, problem);
        let of_b = match problem.window_b() {
            None | Some(WindowB::Lines) => stored,
            Some(WindowB::Taps) => {
                let [offset, line, column, ..] = stored.starts;
                let starts = [offset, line, column, planes, problem.group_stride(), 0];
                Self { starts, is_along_outer: true, ..stored }
            }
            Some(WindowB::Windows) => Self::of_windows(b, images, groups, n).turned(),
        };
        [of_a, of_b]
    }

    /// The same along the other axis alone.
    fn turned(self) -> Self {
        let [extents, strides] = [self.extents, self.strides].map(|[outer, along_k]| [along_k, outer]);
        Self { extents, strides, is_along_outer: true, ..self }
    }

    /// The lines of windows of this image with groups of channels, of this length: the channels of its elements. The next window is not
    /// at a constant distance. `images` is the stride of volumes.
    fn of_windows(image: &MatrixLayout, images: u32, groups: u32, length: u32) -> Self {
        let [of_image, of_line, of_column, of_channel] = image.strides;
        let channels = image.shape[3] / groups;
        Self {
            extents: [u32::MAX, length],
            strides: [0, of_channel],
            starts: [image.offset, images, of_image, of_line, of_column, channels],
            is_along_outer: false,
        }
    }

    /// The lines of the right factor of A's products, if A is generated.
    pub(super) fn of_y(problem: &GemmProblem) -> Option<Self> {
        let y = problem.segments().and_then(|segments| segments.y);
        y.map(|y| Self::within(&y, [2, 3], problem.m(), problem))
    }

    fn within(of: &MatrixLayout, axes: [usize; 2], outer: u32, problem: &GemmProblem) -> Self {
        Self {
            extents: [outer, problem.k()],
            strides: axes.map(|axis| of.strides[axis]),
            starts: [of.offset, of.strides[0], of.strides[1], 0, 0, 0],
            is_along_outer: false,
        }
    }

    /// Whether the elements along an axis are neighbours, or there is only one.
    pub(super) fn is_contiguous(&self, axis: OperandAxis) -> bool {
        let at = usize::from(axis == OperandAxis::K);
        self.extents[at] <= 1 || self.strides[at] == 1
    }

    /// Whether the lines along an axis start at multiples of this number of elements.
    pub(super) fn start_at(&self, multiple: u32, axis: OperandAxis) -> bool {
        let apart = self.strides[usize::from(axis == OperandAxis::Outer)];
        self.starts.iter().chain(&[apart]).all(|start| start.is_multiple_of(multiple))
    }

    /// Units of this number of elements if an axis is contiguous and every line along it starts at a multiple of it, otherwise
    /// elements. Lines may end anywhere: elements of the last unit beyond the end are masked. An axis of one element counts as
    /// contiguous, so that a single row or column is computed by the same kernel as several.
    pub(super) fn loads(&self, unit: u32) -> (OperandAxis, LoadSize) {
        let has_units = |axis| self.is_contiguous(axis) && self.start_at(unit, axis);
        if self.is_along_outer {
            let by = if has_units(OperandAxis::Outer) { LoadSize::Units } else { LoadSize::Elements };
            return (OperandAxis::Outer, by);
        }
        match [OperandAxis::K, OperandAxis::Outer].into_iter().find(|axis| has_units(*axis)) {
            Some(axis) => (axis, LoadSize::Units),
            None if self.is_contiguous(OperandAxis::Outer) && self.strides[1] != 1 => {
                (OperandAxis::Outer, LoadSize::Elements)
            }
            None => (OperandAxis::K, LoadSize::Elements),
        }
    }
}

/// How the tiled kernel loads an operand: the constants `STAGE_...` of `gemm/tiled.wgsl`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TiledStage {
    /// Element by element; consecutive lanes read along k.
    ScalarK = 0,
    /// Element by element; consecutive lanes read along the outer axis.
    ScalarOuter = 1,
    /// Vectors of four elements along the outer axis.
    VectorOuter = 2,
    /// Squares of four vectors along k, transposed in registers: shared memory stores four elements along the outer axis
    /// together.
    Squares = 3,
}

impl TiledStage {
    /// The widest load for an operand. Vectors along the outer axis must be aligned and lie within it. Vectors along k must be
    /// aligned; they may extend past its end, beyond which they are zeroed.
    pub(super) fn of(lines: &OperandLines) -> Self {
        match lines.strides {
            [1, _] if lines.extents[0].is_multiple_of(4) && lines.start_at(4, OperandAxis::Outer) => {
                Self::VectorOuter
            }
            [1, _] => Self::ScalarOuter,
            [_, 1] if !lines.is_along_outer && lines.start_at(4, OperandAxis::K) => Self::Squares,
            _ => Self::ScalarK,
        }
    }

    /// The number of elements per load.
    pub(super) fn width(self) -> AccessWidth {
        match self {
            Self::VectorOuter | Self::Squares => AccessWidth::Four,
            Self::ScalarK | Self::ScalarOuter => AccessWidth::One,
        }
    }
}

/// The size of one load.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LoadSize {
    /// A unit of several elements; of the coop kernel, eight f16, 16 bytes.
    Units,
    /// One element.
    Elements,
}

impl LoadSize {
    /// The element type of the operand's binding in the coop kernel.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Units => "Unit",
            Self::Elements => "f16",
        }
    }
}
