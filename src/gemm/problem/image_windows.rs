//! Operand A of a convolution: its rows are the windows of an image, which is stored only once.

use super::gemm::GemmProblem;
use super::generated::Generated;
use super::layouts::{Layouts, MatrixLayout};
use super::types::{GemmTypes, OP};
use crate::layout::Layout;
use crate::{Error, Result};

/// The largest inner size: kernels divide indices along k in f32, exactly.
const MAX_WINDOW: u64 = 1 << 21;

/// The windows of an image (image, line, column, channel), of which each is a row of A. The elements of a window are in the order tap
/// line, tap column, channel. Elements outside of the image are zeros. The image's layout is in the place of A's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ImageWindows {
    /// Windows down and across an image.
    pub(crate) windows: [u32; 2],
    /// Taps down and across a window.
    pub(crate) taps: [u32; 2],
    /// Lines and columns from a window to the next.
    pub(crate) steps: [u32; 2],
    /// Lines and columns from a tap to the next.
    pub(crate) dilation: [u32; 2],
    /// Lines above the image and columns before it at which the first window begins; negative within the image.
    pub(crate) before: [i32; 2],
}

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

impl ImageWindows {
    /// The inner size of the product with windows of an image of this many channels.
    pub(super) fn k(&self, channels: u32) -> u32 {
        self.taps[0] * self.taps[1] * channels
    }
}
