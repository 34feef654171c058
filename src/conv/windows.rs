//! The windows of a convolution's operands, as products read them.

use super::geometry::{ConvAxis, ConvGeometry, gcd};
use super::problem::OP;
use crate::Result;
use crate::gemm::{ImageWindows, WindowB};
use crate::layout::dim;

fn of(axes: [usize; 3]) -> Result<[u32; 3]> {
    Ok([dim(OP, axes[0])?, dim(OP, axes[1])?, dim(OP, axes[2])?])
}

/// Paddings and kernels with their dilation are below $2^{30}$.
fn signed(axes: [usize; 3]) -> Result<[i32; 3]> {
    Ok(of(axes)?.map(u32::cast_signed))
}

/// The windows of the images of a convolution, one for each pixel of its result, as the rows of an operand.
pub(super) fn of_images(geometry: &ConvGeometry<3>, b: WindowB) -> Result<ImageWindows> {
    let axes = geometry.axes;
    Ok(ImageWindows {
        b,
        groups: dim(OP, geometry.groups)?,
        windows: of(axes.map(|axis| axis.output))?,
        taps: of(axes.map(|axis| axis.taps))?,
        steps: of(axes.map(|axis| axis.stride))?,
        dilation: signed(axes.map(|axis| axis.dilation))?,
        before: signed(axes.map(|axis| axis.before))?,
    })
}

/// The pixels along an axis of the images that the same taps read: every stride from the first on. All but the extents are 0 and 1 with a
/// stride of 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct StridePhase {
    pub(super) first: usize,
    pub(super) pixels: usize,
    pub(super) first_tap: usize,
    pub(super) taps: usize,
    /// From a tap to the next.
    pub(super) step: usize,
    /// Pixels of the gradient from the one that the first tap meets at the first pixel to the start; and, by the next tap, back.
    before: i32,
    back: i32,
}

impl StridePhase {
    /// The phases of an axis that taps read. If there are fewer than [`phases`], no tap reads the other pixels.
    pub(super) fn all(axis: &ConvAxis) -> Result<Vec<Self>> {
        let &ConvAxis { input, taps, stride, dilation, before, .. } = axis;
        let step = stride / gcd(stride, dilation);
        // The first `step` taps read pixels of different phases, and the others those of one of them.
        let of_tap = |tap: usize| (tap * dilation % stride + stride - before % stride) % stride;
        let mut first_taps: Vec<(usize, usize)> = (0..taps.min(step)).map(|tap| (of_tap(tap), tap)).collect();
        first_taps.retain(|(first, _)| *first < input);
        first_taps.sort_unstable();
        let phase = |(first, first_tap): (usize, usize)| {
            let taps = (taps - first_tap).div_ceil(step);
            let next = if taps == 1 { 0 } else { step * dilation };
            let [ahead, behind, next] = signed([first + before, first_tap * dilation, next])?;
            let stride_of = dim(OP, stride)?.cast_signed();
            Ok(Self {
                first,
                pixels: (input - first).div_ceil(stride),
                first_tap,
                taps,
                step,
                before: (behind - ahead) / stride_of,
                back: -next / stride_of,
            })
        };
        first_taps.into_iter().map(phase).collect()
    }

    /// One of the pixels of a phase of this axis.
    pub(super) fn pixel(self, axis: &ConvAxis, pixel: usize) -> Result<Self> {
        let before = self.before - dim(OP, pixel)?.cast_signed();
        Ok(Self { first: self.first + pixel * axis.stride, pixels: 1, before, ..self })
    }
}

/// The number of phases of an axis.
pub(super) fn phases(axis: &ConvAxis) -> usize {
    axis.stride.min(axis.input)
}

/// The windows of the gradient of the result of a convolution, one for each pixel of these phases, as the rows of A. Their taps go up
/// and to the left: the next tap read a pixel for one that is before.
pub(super) fn of_gradient(phases: [StridePhase; 3], groups: usize) -> Result<ImageWindows> {
    let taps = of(phases.map(|phase| phase.taps))?;
    Ok(ImageWindows {
        // The outputs of a single tap are a line.
        b: if groups == 1 && taps == [1; 3] { WindowB::Lines } else { WindowB::Taps },
        groups: dim(OP, groups)?,
        windows: of(phases.map(|phase| phase.pixels))?,
        taps,
        steps: [1; 3],
        dilation: phases.map(|phase| phase.back),
        before: phases.map(|phase| phase.before),
    })
}
