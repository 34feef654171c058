//! A product whose rows of A are windows of an image.

use super::gemm::GemmProblem;
use super::generated::{Generated, ImageWindows, MAX_WINDOW};
use super::layouts::{Layouts, MatrixLayout};
use super::types::{GemmTypes, OP};
use crate::layout::Layout;
use crate::{Error, Result};

impl GemmProblem {
    /// The products of the `windows` of an `image` (image, line, column, channel) of any strides, in the order of image, down, across,
    /// and `b` (group, window, n), stored in `c` (group, m, n). Each group has as many channels, one group after another. Vectors of
    /// the epilogue have an element for each column of all groups.
    ///
    /// # Errors
    /// [`Error::Limit`] if a size is $2^{31}$ or more, or a window has more than [`MAX_WINDOW`] elements.
    pub(crate) fn of_windows(
        image: &Layout,
        windows: ImageWindows,
        b: &Layout,
        c: &Layout,
        types: GemmTypes,
    ) -> Result<Self> {
        let image = MatrixLayout::of(image, types.ab, 0)?;
        let b = MatrixLayout::of(b, types.ab, 2)?;
        Error::check_limit(OP, "elements of a window", b.shape[2].into(), MAX_WINDOW)?;
        let layouts = Layouts { a: image, b, c: MatrixLayout::of_output(c, types.c)?, extras: [None; 4] };
        Ok(Self::of(layouts, types, Some(Generated::Windows(windows))))
    }

    /// Whether the matrices of the batch are groups of a convolution's channels: the image and the vectors of the epilogue go on
    /// from one to the next.
    pub(in crate::gemm) fn has_groups(&self) -> bool {
        self.windows().is_some() && self.batches() > 1
    }

    /// The elements of a vector of the epilogue along the columns.
    pub(super) fn columns(&self) -> u32 {
        if self.has_groups() { self.n() * self.batches() } else { self.n() }
    }

    /// The windows of the image, if A's rows are windows.
    pub(in crate::gemm) fn windows(&self) -> Option<ImageWindows> {
        match self.generated {
            Some(Generated::Windows(windows)) => Some(windows),
            _ => None,
        }
    }
}
