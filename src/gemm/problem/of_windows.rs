//! A product whose rows of A are windows of an image.

use super::gemm::GemmProblem;
use super::generated::{Generated, ImageWindows, MAX_WINDOW};
use super::layouts::{Layouts, MatrixLayout};
use super::types::{GemmTypes, OP};
use crate::layout::Layout;
use crate::{Error, Result};

impl GemmProblem {
    /// The product of the `windows` of an `image` (image, line, column, channel) of any strides, in the order of image, down, across,
    /// and `b` (window, n), stored in `c` (m, n).
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
        let k: u64 = windows.taps.into_iter().chain([image.shape[3]]).map(u64::from).product();
        Error::check_limit(OP, "elements of a window", k, MAX_WINDOW)?;
        let b = MatrixLayout::of(b, types.ab, 2)?;
        let layouts = Layouts { a: image, b, c: MatrixLayout::of_output(c, types.c)?, extras: [None; 4] };
        Ok(Self::of(layouts, types, Some(Generated::Windows(windows))))
    }

    /// The windows of the image, if A's rows are windows.
    pub(in crate::gemm) fn windows(&self) -> Option<ImageWindows> {
        match self.generated {
            Some(Generated::Windows(windows)) => Some(windows),
            _ => None,
        }
    }
}
