//! [`PlaneAxis`]: one axis of images, and the axis of a result whose positions depend on it.

use super::options::{Corners, Interpolation, PoolRounding};
use crate::layout::{dim, known};
use crate::{Error, Result};

/// The largest least common multiple of two extents with which kernels compute.
const MAX_MULTIPLE: u64 = 1 << 29;

/// The windows of a pooling along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AxisWindows {
    /// The number of taps of a window.
    pub kernel: usize,
    /// From the begin of a window to that of the next.
    pub stride: usize,
    /// From a tap to the next.
    pub dilation: usize,
    /// The elements of padding before and after the axis.
    pub padding: (usize, usize),
    /// Whether the last elements have a window.
    pub rounding: PoolRounding,
}

/// An axis of images, and the axis of a result whose positions depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlaneAxis {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    rule: AxisRule,
}

/// How positions of the result depend on the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum AxisRule {
    Windows(AxisWindows),
    /// Windows that divide the axis into equal parts, or the nearest element.
    Parts,
    Sampled(Corners),
}

impl AxisWindows {
    /// Windows next to each other.
    pub(super) fn new(kernel: usize) -> Self {
        Self { kernel, stride: kernel, dilation: 1, padding: (0, 0), rounding: PoolRounding::Floor }
    }
}

impl PlaneAxis {
    /// Axis `axis` of images of this shape, in windows.
    ///
    /// # Errors
    /// [`Error::Input`] if the kernel, the stride or the dilation is 0, or the padding on a side is more than half of the kernel;
    /// [`Error::Shape`] if the axis is empty, or the kernel longer than the padded axis; [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn windows(op: &'static str, shape: &[usize], axis: usize, mut of: AxisWindows) -> Result<Self> {
        for (name, number) in [("kernel", of.kernel), ("stride", of.stride), ("dilation", of.dilation)] {
            if number == 0 {
                return Err(Error::input(
                    format!("{op}: the {name}"),
                    "it must be at least 1 along each axis",
                ));
            }
        }
        let inputs = elements(op, shape, axis)?;
        let reach = (of.kernel - 1).saturating_mul(of.dilation);
        let (length, (before, after)) = (reach.saturating_add(1), of.padding);
        if before.max(after) > length / 2 {
            let why = format!(
                "{} elements on a side are more than half of the kernel, which spans {length}; ops::pad admits any number",
                before.max(after)
            );
            return Err(Error::input(format!("{op}: the padding"), why));
        }
        let padded = inputs.saturating_add(before + after);
        // Rounded up, the first window may end behind the padded axis, as others may.
        let slack = if of.rounding == PoolRounding::Ceil { of.stride - 1 } else { 0 };
        if length > padded.saturating_add(slack) {
            let rule = format!(
                "the kernel spans {length} elements, but the padded axis {axis} has {padded}; ops::pad makes x larger"
            );
            return Err(Error::shape(op, rule, shape));
        }
        dim(op, padded)?;
        dim(op, of.stride)?;
        dim(op, length)?;
        if of.kernel == 1 {
            of.dilation = 1;
        }
        let fitting = (padded + slack - length) / of.stride + 1;
        let outputs = match of.rounding {
            PoolRounding::Floor => fitting,
            // The last window begins within the elements or the padding before them.
            PoolRounding::Ceil => fitting.min((inputs + before).div_ceil(of.stride)),
        };
        Ok(Self { inputs, outputs, rule: AxisRule::Windows(of) })
    }

    /// Axis `axis` of images of this shape, in `outputs` windows that divide it into equal parts: window i has the elements from
    /// $\lfloor i m / n \rfloor$ to before $\lceil (i + 1) m / n \rceil$.
    ///
    /// # Errors
    /// [`Error::Shape`] if the axis is empty; [`Error::Input`] if there are no windows; [`Error::Limit`] if the least common multiple
    /// of both numbers is too large.
    pub fn adaptive(op: &'static str, shape: &[usize], axis: usize, outputs: usize) -> Result<Self> {
        Self::between(op, shape, axis, outputs, AxisRule::Parts)
    }

    /// Axis `axis` of images of this shape, with `outputs` elements in its place.
    ///
    /// # Errors
    /// As [`adaptive`](Self::adaptive).
    pub fn sampled(
        op: &'static str,
        shape: &[usize],
        axis: usize,
        outputs: usize,
        by: Interpolation,
    ) -> Result<Self> {
        let rule = match by {
            Interpolation::Nearest => AxisRule::Parts,
            Interpolation::Bilinear(corners) => AxisRule::Sampled(corners),
        };
        Self::between(op, shape, axis, outputs, rule)
    }

    fn between(
        op: &'static str,
        shape: &[usize],
        axis: usize,
        outputs: usize,
        rule: AxisRule,
    ) -> Result<Self> {
        let inputs = elements(op, shape, axis)?;
        if outputs == 0 {
            return Err(Error::input(format!("{op}: the size"), "it must be at least 1 along each axis"));
        }
        let of = Self { inputs, outputs, rule };
        let (part, whole) = of.ratio();
        let multiple =
            (inputs as u64).saturating_mul(whole as u64).max((outputs as u64).saturating_mul(part as u64));
        let what = "the least common multiple of the old and the new extent of an axis";
        Error::check_limit(op, what, multiple, MAX_MULTIPLE)?;
        Ok(of)
    }

    /// The distance of two positions of the result, in elements of the axis, as a fraction.
    fn ratio(&self) -> (usize, usize) {
        match self.rule {
            AxisRule::Sampled(Corners::Aligned) if self.inputs == 1 || self.outputs == 1 => (1, self.outputs),
            AxisRule::Sampled(Corners::Aligned) => reduced(self.inputs - 1, self.outputs - 1),
            _ => reduced(self.inputs, self.outputs),
        }
    }

    /// The most elements of the axis on which a position of the result depends.
    pub(super) fn taps(&self) -> usize {
        match self.rule {
            AxisRule::Windows(of) => of.kernel,
            AxisRule::Parts => self.inputs.div_ceil(self.outputs) + 1,
            AxisRule::Sampled(_) => 2,
        }
    }

    /// The most taps of a window, or with `is_backward` the most windows of an element, if a kernel has a text for each. Taps must be
    /// neighbours, so that every window has an element.
    pub(super) fn unrolled(&self, is_backward: bool) -> Option<usize> {
        match self.rule {
            AxisRule::Windows(of) if is_backward => Some((of.kernel - 1) * of.dilation / of.stride + 1),
            AxisRule::Windows(of) => Some(of.kernel).filter(|_| of.dilation == 1),
            AxisRule::Parts | AxisRule::Sampled(_) => None,
        }
    }

    /// Whether it is in windows at equal distances.
    pub(super) fn is_in_windows(&self) -> bool {
        matches!(self.rule, AxisRule::Windows(_))
    }

    /// The numbers of the axis, as the shaders describe them.
    pub(super) fn numbers(&self) -> [[u32; 4]; 2] {
        let (inputs, outputs) = (known(self.inputs), known(self.outputs));
        let of_two = |[a, b]: [usize; 2], more: [usize; 2]| {
            [[inputs, outputs, known(a), known(b)], [known(more[0]), known(more[1]), 0, 0]]
        };
        let (part, whole) = self.ratio();
        match self.rule {
            AxisRule::Windows(AxisWindows { kernel, stride, dilation, padding: (before, after), .. }) => {
                let end = known(self.inputs + before + after);
                [
                    [inputs, outputs, known(kernel), known(stride)],
                    [known(before), known(dilation), end, known((kernel - 1) * dilation)],
                ]
            }
            AxisRule::Parts => of_two([part, whole], [0, 0]),
            AxisRule::Sampled(Corners::Aligned) => of_two([part, whole], [0, 0]),
            // (i + 1/2) part / whole - 1/2, in units of 1 / (2 whole).
            AxisRule::Sampled(Corners::HalfPixel) => {
                let more = [part.saturating_sub(whole), whole.saturating_sub(part)];
                of_two([2 * part, 2 * whole], more)
            }
        }
    }
}

/// The extent of an axis, if it has an element.
fn elements(op: &'static str, shape: &[usize], axis: usize) -> Result<usize> {
    match shape[axis] {
        0 => Err(Error::shape(op, format!("axis {axis} must have an element"), shape)),
        extent => Ok(extent),
    }
}

/// A fraction in lowest terms.
fn reduced(a: usize, b: usize) -> (usize, usize) {
    let (mut greatest, mut rest) = (a, b);
    while rest > 0 {
        (greatest, rest) = (rest, greatest % rest);
    }
    (a / greatest, b / greatest)
}
