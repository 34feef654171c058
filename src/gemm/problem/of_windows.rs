//! A product with windows of an image as the rows of A, or of B.

use super::gemm::GemmProblem;
use super::generated::{Generated, ImageWindows, MAX_ROWS_OF_B, MAX_WINDOW};
use super::layouts::{Layouts, MatrixLayout};
use super::types::{GemmTypes, OP, Side};
use crate::layout::Layout;
use crate::{Error, Result};

impl GemmProblem {
    /// The product of `windows` of an image (image, line, column, channel) of any strides, in the order of image, down, across, and a
    /// matrix, stored in `c`. The image is the operand on the windows' side: `a` or `b`.
    ///
    /// If the rows of A are windows of one group, `b` has the axes (element of a window, n), or (tap line, tap column, channel, n) if its
    /// taps have strides of their own. If those of B are, `a` has the axes (m, window). `c` has the axes (m, n), or (batch, batch, m, n),
    /// whose matrices have one window after another.
    ///
    /// With groups of channels, `b` has the axes (group, element of a window, n), with all columns of all groups at the same distance, and
    /// `c` (group, m, n). Vectors of the epilogue have an element for each column of all groups.
    ///
    /// # Errors
    /// [`Error::Limit`] if a size is $2^{31}$ or more, a window has more than [`MAX_WINDOW`] elements, or B more than
    /// [`MAX_ROWS_OF_B`] rows that are windows.
    pub(crate) fn of_windows(
        [a, b]: [&Layout; 2],
        windows: ImageWindows,
        c: &Layout,
        types: GemmTypes,
    ) -> Result<Self> {
        let image = if windows.side == Side::A { a } else { b };
        let elements: u64 = windows.taps.into_iter().map(u64::from).product();
        let elements = elements.saturating_mul((image.shape()[3] / windows.groups as usize) as u64);
        Error::check_limit(OP, "elements of a window", elements, MAX_WINDOW)?;
        if windows.side == Side::B {
            Error::check_limit(OP, "windows along k", a.shape()[1] as u64, MAX_ROWS_OF_B)?;
        }
        // An operand of four axes has no batch: all of its indices count.
        let [a, b] = [a, b].map(|of| MatrixLayout::of(of, types.ab, if of.rank() == 4 { 0 } else { 2 }));
        let layouts = Layouts { a: a?, b: b?, c: MatrixLayout::of_output(c, types.c)?, extras: [None; 4] };
        Ok(Self::of(layouts, types, Some(Generated::Windows(windows))))
    }

    /// The groups of channels, of which each matrix of the batch has one; 1 if there are none.
    pub(in crate::gemm) fn groups(&self) -> u32 {
        self.windows().map_or(1, |windows| windows.groups)
    }

    /// Whether the matrices of the batch are groups of a convolution's channels: the image and the vectors of the epilogue go on
    /// from one to the next.
    pub(in crate::gemm) fn has_groups(&self) -> bool {
        self.groups() > 1
    }

    /// The elements of a vector of the epilogue along the columns.
    pub(super) fn columns(&self) -> u32 {
        self.n() * self.groups()
    }

    /// The windows of the image, if the rows of an operand are windows.
    pub(in crate::gemm) fn windows(&self) -> Option<ImageWindows> {
        match self.generated {
            Some(Generated::Windows(windows)) => Some(windows),
            _ => None,
        }
    }

    /// How the operand B of a product with windows is read. None if there are no windows.
    pub(in crate::gemm) fn window_b(&self) -> Option<WindowB> {
        self.windows().map(|windows| match windows.side {
            Side::A if windows.groups > 1 || self.layouts.b.shape[..2] == [1; 2] => WindowB::Lines,
            Side::A => WindowB::Taps,
            Side::B => WindowB::Windows,
        })
    }
}

/// How the operand B of a product with windows is read: the constants of `gemm_coop_khr.comp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gemm) enum WindowB {
    /// Its elements along k are a line. The rows of A are windows.
    Lines = 0,
    /// Its rows are taps and channels of windows, with strides of their own. The rows of A are windows.
    Taps = 1,
    /// Its rows are windows. A is stored.
    Windows = 2,
}
