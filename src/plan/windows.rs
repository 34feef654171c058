//! The choice of windows: an operation whose operands are too large to bind is cut along its axes.

use super::operands::{Form, Operand};
use crate::caps::Caps;
use crate::kernel;
use crate::layout::{ALIGNED_BYTES, Layout, WINDOW_ALIGNMENT};
use crate::{Error, Result};
use std::ops::Range;

/// The axes along which an operation can be cut, from the outermost one on.
#[derive(Clone, Debug)]
pub(crate) struct CutAxes {
    /// The extent of each.
    pub(crate) extents: Vec<usize>,
    /// The number of axes, counted from the last, that a part takes as a whole, because it joins windows along them
    /// itself.
    pub(crate) joined: usize,
    pub(crate) operands: Vec<Operand>,
    /// The axis of the caller's operand that cannot be cut, for errors. None: the longest axis of the window that is too large.
    pub(crate) whole: Option<usize>,
}

/// The extents of the windows along each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    extents: Vec<usize>,
    window: Vec<usize>,
}

/// The axes that may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// All axes. Windows of an operand that still span too many bytes are copied.
    All,
    /// All axes, and nothing is copied.
    AllOfViews,
    /// The axes along which a part joins windows itself.
    Joined,
}

impl Windows {
    /// The largest windows that fit. Each cut divides the longest axis of the operand that is too large.
    ///
    /// # Errors
    /// [`Error::Limit`] if there are none.
    pub(crate) fn new(op: &'static str, axes: &mut CutAxes, caps: &Caps, along: Along) -> Result<Self> {
        let first = if along == Along::Joined { axes.extents.len() - axes.joined } else { 0 };
        let whole = Self { extents: axes.extents.clone(), window: axes.extents.clone() };
        let mut windows = whole.clone();
        loop {
            let too_large = |operand: &Operand| windows.bytes(operand) > operand.allowed(caps);
            let Some(at) = axes.operands.iter().position(too_large) else { return Ok(windows) };
            let operand = &axes.operands[at];
            let (needed, allowed) = (windows.bytes(operand), operand.allowed(caps));
            if let Some(axis) = windows.widest(operand, first) {
                windows.window[axis] = windows.largest(operand, axis, allowed, axes);
            } else if operand.form == Form::View && along == Along::All {
                // Even its smallest windows span too many bytes.
                axes.operands[at].form = Form::Dense;
                windows = whole.clone();
            } else {
                let error = Error::Limit { op, what: kernel::WINDOW.into(), needed, allowed };
                let axis = axes.whole.or_else(|| windows.widest_axis_of(operand));
                return Err(match axis {
                    Some(axis) => kernel::slice_along(error, axis),
                    None => error,
                });
            }
        }
    }

    /// The axis along which an operand's window spans the most bytes.
    fn widest_axis_of(&self, operand: &Operand) -> Option<usize> {
        let ranges: Vec<Range<usize>> = self.window.iter().map(|&extent| 0..extent).collect();
        operand.narrowed(&ranges).ok().and_then(|layout| layout.widest_axis())
    }

    /// The longest axis of these windows in the caller's operand, for errors.
    pub(super) fn axis_left(&self, axes: &CutAxes) -> Option<usize> {
        let largest = || axes.operands.iter().max_by_key(|operand| self.bytes(operand));
        axes.whole.or_else(|| largest().and_then(|operand| self.widest_axis_of(operand)))
    }

    /// The axis, from `first` on, along which an operand spans the most bytes.
    fn widest(&self, operand: &Operand, first: usize) -> Option<usize> {
        let reach = |&axis: &usize| (self.window[axis] - 1).saturating_mul(operand.stride(axis).unwrap_or(0));
        (first..self.window.len()).max_by_key(reach).filter(|axis| reach(axis) > 0)
    }

    /// A smaller extent of the windows along an axis: the largest one with which the operand fits, if there is one. It
    /// keeps windows aligned if possible.
    fn largest(&self, operand: &Operand, axis: usize, allowed: u64, axes: &CutAxes) -> usize {
        let (now, unit) = (self.window[axis], axes.aligned_unit(axis));
        let bytes = |extent| Self { window: with(&self.window, axis, extent), ..self.clone() }.bytes(operand);
        let step = match operand.form {
            Form::View => (operand.stride(axis).unwrap_or(0) * operand.dtype.size()) as u64,
            Form::Dense | Form::Own | Form::Sum => bytes(1),
        };
        // Windows of whole units are aligned, so that they span no bytes before their first element.
        let least = if now > unit && bytes(unit) <= allowed { unit } else { 1 };
        let more = allowed.saturating_sub(bytes(least)) / step.max(1);
        let most = usize::try_from(more).map_or(now, |more| more.saturating_add(least)).min(now - 1);
        if most > unit { most / unit * unit } else { most }
    }

    /// The bytes that a window of an operand spans.
    fn bytes(&self, operand: &Operand) -> u64 {
        let size = operand.dtype.size() as u64;
        let mut shape = operand.layout.shape().to_vec();
        let mut is_aligned = true;
        for axis in 0..self.window.len() {
            let Some(own) = operand.axis(axis) else { continue };
            shape[own] = shape[own].min(self.window[axis]);
            let step = (self.window[axis] as u64).saturating_mul(operand.layout.strides()[own] as u64 * size);
            // With another extent, windows of an operand may begin at other offsets.
            let is_same = operand.layout.shape()[own] == self.extents[axis];
            let is_whole = self.window[axis] == self.extents[axis];
            is_aligned &= is_whole || (is_same && step.is_multiple_of(WINDOW_ALIGNMENT));
        }
        if operand.form != Form::View {
            let extents = shape.iter().zip(operand.layout.strides()).filter(|&(_, &stride)| stride > 0);
            return extents.fold(size, |bytes, (&extent, _)| bytes.saturating_mul(extent as u64));
        }
        let steps = shape.iter().zip(operand.layout.strides());
        let reach = steps.map(|(&extent, &stride)| extent.saturating_sub(1).saturating_mul(stride));
        let elements = reach.fold(1, usize::saturating_add) as u64;
        let ahead = if is_aligned {
            u64::from(operand.layout.offset_in_window(operand.dtype)) * size
        } else {
            WINDOW_ALIGNMENT - size
        };
        elements.saturating_mul(size).saturating_add(ahead)
    }

    /// The same with smaller windows, along the longest axis that is not joined.
    pub(super) fn smaller(&self, axes: &CutAxes) -> Option<Self> {
        let kept = self.window.len() - axes.joined;
        let axis = (0..kept).filter(|&axis| self.window[axis] > 1).max_by_key(|&axis| self.window[axis])?;
        let (half, unit) = (self.window[axis].div_ceil(2), axes.aligned_unit(axis));
        let half = if half > unit { half / unit * unit } else { half };
        Some(Self { window: with(&self.window, axis, half), ..self.clone() })
    }

    /// The same with whole axes where parts join windows themselves.
    pub(super) fn kept(&self, axes: &CutAxes) -> Self {
        let kept = self.window.len() - axes.joined;
        let window = [&self.window[..kept], &self.extents[kept..]].concat();
        Self { window, extents: self.extents.clone() }
    }

    /// The number of windows.
    pub(crate) fn count(&self) -> usize {
        let each = self.extents.iter().zip(&self.window);
        each.map(|(extent, window)| extent.div_ceil(*window)).fold(1, usize::saturating_mul)
    }

    /// The ranges along each axis, of one window after another.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Vec<Range<usize>>> + use<> {
        let Self { extents, window } = self.clone();
        (0..self.count()).map(move |index| {
            let mut rest = index;
            let mut ranges = vec![0..0; extents.len()];
            for axis in (0..extents.len()).rev() {
                let count = extents[axis].div_ceil(window[axis]);
                let start = rest % count * window[axis];
                ranges[axis] = start..(start + window[axis]).min(extents[axis]);
                rest /= count;
            }
            ranges
        })
    }
}

fn with(window: &[usize], axis: usize, extent: usize) -> Vec<usize> {
    let mut window = window.to_vec();
    window[axis] = extent;
    window
}

impl CutAxes {
    /// Axes of these extents, along all of which these operands can be cut.
    pub(crate) fn of(extents: &[usize], operands: impl IntoIterator<Item = Operand>) -> Self {
        let operands = operands.into_iter().collect();
        Self { extents: extents.to_vec(), joined: 0, operands, whole: None }
    }

    /// All axes of a shape except one, along which the operation is computed as a whole. The axes of the operands are those of
    /// the shape.
    pub(crate) fn except(axis: usize, shape: &[usize], operands: impl IntoIterator<Item = Operand>) -> Self {
        let others: Vec<usize> = (0..shape.len()).filter(|&other| other != axis).collect();
        let extents: Vec<usize> = others.iter().map(|&other| shape[other]).collect();
        let operands = operands.into_iter().map(|operand| operand.along_these(&others));
        Self { whole: Some(axis), ..Self::of(&extents, operands) }
    }

    /// The smallest extent along an axis such that each multiple of it is an aligned step in every operand.
    fn aligned_unit(&self, axis: usize) -> usize {
        let is_aligned = |unit: &usize| {
            self.operands.iter().all(|operand| {
                let bytes = operand.stride(axis).unwrap_or(0).saturating_mul(operand.dtype.size());
                bytes.saturating_mul(*unit).is_multiple_of(ALIGNED_BYTES)
            })
        };
        (0..8).map(|log| 1 << log).find(is_aligned).unwrap_or(ALIGNED_BYTES)
    }
}

impl Operand {
    /// The stride along an axis of the operation, if the operand has it.
    fn stride(&self, axis: usize) -> Option<usize> {
        self.axis(axis).map(|own| self.layout.strides()[own])
    }

    /// The largest number of bytes that the device can bind.
    fn allowed(&self, caps: &Caps) -> u64 {
        match self.form {
            Form::View => caps.limits.binding_bytes,
            Form::Dense | Form::Own | Form::Sum => kernel::max_buffer_bytes(caps),
        }
    }

    /// The layout, narrowed to these ranges of the axes.
    pub(crate) fn narrowed(&self, ranges: &[Range<usize>]) -> Result<Layout> {
        let axes = self.axes.iter().zip(ranges).filter_map(|(own, range)| own.map(|own| (own, range)));
        axes.into_iter().try_fold(self.layout, |layout, (own, range)| layout.slice(own, range.clone()))
    }
}
