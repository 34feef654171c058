//! Operand A of a convolution: its rows are the windows of an image, which is stored only once.

/// The largest inner size: kernels divide indices along k in f32, exactly.
pub(super) const MAX_WINDOW: u64 = 1 << 21;

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

impl ImageWindows {
    /// The inner size of the product with windows of an image of this many channels.
    pub(super) fn k(&self, channels: u32) -> u32 {
        self.taps[0] * self.taps[1] * channels
    }
}
