//! A part of a storage: the bytes that a launch reads or writes.

use super::positions::Positions;
use crate::layout::{DType, Layout};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a storage.
///
/// NOTE: every launch has one for each operand, so a part without gaps is stored without an allocation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    /// These bytes.
    Bytes(Range<u64>),
    /// The elements of a layout, which may have gaps.
    Elements(Arc<(Layout, DType)>),
    /// In a capture: the positions of a cache that each run determines. Before a run, all positions.
    Positions(Arc<Positions>),
}

/// Disjoint ranges of bytes that do not touch, from the first to the last.
pub(in crate::gpu) type Runs = Vec<Range<u64>>;

/// Maximum number of ranges of a part. A part with more counts as all bytes from its first to its last.
const MAX_RUNS: usize = 1 << 16;

impl Part {
    /// All bytes.
    pub(in crate::gpu) const WHOLE: Self = Self::Bytes(0..u64::MAX);

    /// At least the elements of this layout, for an operand that is read, or perhaps written.
    pub(in crate::gpu) fn of(layout: &Layout, dtype: DType) -> Self {
        Self::within(layout.bytes(dtype), layout, dtype)
    }

    /// As [`of`](Self::of), of a layout that spans these bytes.
    pub(in crate::gpu) fn within(bytes: Range<u64>, layout: &Layout, dtype: DType) -> Self {
        let has_gaps = (layout.len() as u64).saturating_mul(dtype.size() as u64) < bytes.end - bytes.start;
        if has_gaps { Self::Elements(Arc::new((*layout, dtype))) } else { Self::Bytes(bytes) }
    }

    /// Exactly the elements of this layout, for an operand all of whose elements are written.
    pub(in crate::gpu) fn exactly(layout: &Layout, dtype: DType) -> Self {
        if layout.is_contiguous() {
            Self::Bytes(layout.bytes(dtype))
        } else {
            Self::Elements(Arc::new((*layout, dtype)))
        }
    }

    /// Exactly the elements at these positions.
    pub(in crate::gpu) fn at(of: &Positions, range: Range<usize>) -> Self {
        Self::exactly(&of.layout_of(range), of.dtype)
    }

    /// Whether these are all bytes of a storage of this size.
    pub(in crate::gpu) fn is_whole(&self, len: u64) -> bool {
        matches!(self, Self::Bytes(bytes) if bytes.start == 0 && bytes.end >= len)
    }

    /// From the first byte to the last.
    pub(in crate::gpu) fn span(&self) -> Range<u64> {
        match self {
            Self::Bytes(bytes) => bytes.clone(),
            Self::Elements(of) => of.0.bytes(of.1),
            Self::Positions(of) => of.layout.bytes(of.dtype),
        }
    }

    /// A part that contains both.
    pub(in crate::gpu) fn with(&self, other: &Self) -> Self {
        if self == other {
            return self.clone();
        }
        let (a, b) = (self.span(), other.span());
        Self::Bytes(a.start.min(b.start)..a.end.max(b.end))
    }

    /// Its bytes; None if they are in too many pieces.
    pub(in crate::gpu) fn runs(&self) -> Option<Runs> {
        match self {
            Self::Bytes(bytes) if bytes.is_empty() => Some(Vec::new()),
            Self::Bytes(bytes) => Some(vec![bytes.clone()]),
            Self::Elements(of) => runs_of(&of.0, of.1),
            Self::Positions(of) => runs_of(&of.layout, of.dtype),
        }
    }

    /// Its bytes, or, if they are in too many pieces, all from the first to the last.
    pub(in crate::gpu) fn runs_at_least(&self) -> Runs {
        self.runs().unwrap_or_else(|| vec![self.span()])
    }
}

fn runs_of(layout: &Layout, dtype: DType) -> Option<Runs> {
    if layout.is_empty() {
        return Some(Vec::new());
    }
    let axes = layout.shape().iter().copied().zip(layout.strides().iter().copied());
    let mut axes: Vec<_> = axes.filter(|&(extent, stride)| extent > 1 && stride > 0).collect();
    axes.sort_unstable_by_key(|&(_, stride)| stride);
    // The innermost axes, as far as their elements are contiguous, form one run.
    let mut run = 1;
    let gapless = axes.iter().take_while(|&&(extent, stride)| {
        let joins = stride <= run;
        if joins {
            run += (extent - 1) * stride;
        }
        joins
    });
    let outer = gapless.count();
    let mut starts = vec![layout.offset()];
    for &(extent, stride) in &axes[outer..] {
        if starts.len().saturating_mul(extent) > MAX_RUNS {
            return None;
        }
        starts = (0..extent).flat_map(|at| starts.iter().map(move |start| start + at * stride)).collect();
    }
    let size = dtype.size() as u64;
    let runs = starts.into_iter().map(|start| start as u64 * size..(start + run) as u64 * size);
    Some(joined(runs.collect()))
}

/// The same bytes as disjoint ranges that do not touch, in order.
pub(in crate::gpu) fn joined(mut runs: Vec<Range<u64>>) -> Runs {
    runs.sort_unstable_by_key(|run| run.start);
    let mut all: Runs = Vec::with_capacity(runs.len());
    for run in runs.into_iter().filter(|run| !run.is_empty()) {
        match all.last_mut() {
            Some(last) if run.start <= last.end => last.end = last.end.max(run.end),
            _ => all.push(run),
        }
    }
    all
}

/// Whether they have a byte in common.
pub(in crate::gpu) fn overlap(a: &Runs, b: &Runs) -> bool {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(one), Some(other)) = (a.peek(), b.peek()) {
        if one.start < other.end && other.start < one.end {
            return true;
        }
        if one.end <= other.end {
            a.next()
        } else {
            b.next()
        };
    }
    false
}

/// The bytes of `from` that are not in `taken`.
pub(in crate::gpu) fn without(from: &Runs, taken: &Runs) -> Runs {
    let (mut rest, mut taken) = (Vec::with_capacity(from.len()), taken.iter().peekable());
    for run in from {
        let mut start = run.start;
        while let Some(gone) = taken.peek().filter(|gone| gone.start < run.end) {
            if gone.start > start {
                rest.push(start..gone.start);
            }
            start = start.max(gone.end);
            if gone.end > run.end {
                break; // It may reach into the next run.
            }
            taken.next();
        }
        if start < run.end {
            rest.push(start..run.end);
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(shape: &[usize], strides: &[usize], offset: usize) -> Layout {
        Layout::new("test", shape, strides, offset, 1 << 30).unwrap()
    }

    /// The bytes of a layout of i8, one by one.
    fn bytes_of(layout: &Layout) -> Vec<u64> {
        let mut all = vec![layout.offset() as u64];
        for (&extent, &stride) in layout.shape().iter().zip(layout.strides()) {
            all = (0..extent).flat_map(|at| all.iter().map(move |b| b + (at * stride) as u64)).collect();
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    fn listed(runs: &Runs) -> Vec<u64> {
        runs.iter().cloned().flatten().collect()
    }

    #[test]
    fn runs_are_the_elements() {
        for (shape, strides, offset) in [
            (&[3, 4][..], &[4, 1][..], 5),
            (&[4, 3], &[1, 4], 0),
            (&[2, 3, 2, 4], &[60, 20, 4, 1], 7),
            (&[2, 3, 1, 4], &[60, 20, 4, 1], 8),
            (&[3, 3], &[1, 2], 0),
            (&[3, 3, 2], &[1, 1, 10], 3),
            (&[5, 2], &[0, 3], 1),
            (&[0, 2], &[2, 1], 0),
            (&[], &[], 9),
        ] {
            let layout = layout(shape, strides, offset);
            for part in [Part::exactly(&layout, DType::I8), Part::Elements(Arc::new((layout, DType::I8)))] {
                let runs = part.runs().unwrap();
                assert_eq!(listed(&runs), bytes_of(&layout), "{layout:?}");
                assert!(runs.windows(2).all(|two| two[0].end < two[1].start), "{runs:?}");
            }
            let read = listed(&Part::of(&layout, DType::I8).runs().unwrap());
            assert!(bytes_of(&layout).iter().all(|byte| read.contains(byte)), "{layout:?}");
        }
        let columns = layout(&[100_000], &[4], 0);
        assert_eq!(Part::of(&columns, DType::F32).runs(), None);
        let all = Part::of(&columns, DType::F32).runs_at_least();
        assert_eq!((all.len(), &all[0]), (1, &(0..1_599_988)));
    }

    #[test]
    fn sets_of_runs_agree_with_lists_of_bytes() {
        let mut state = 7u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..5000 {
            let mut some =
                || joined((0..random(5)).map(|_| random(40)).map(|at| at..at + 1 + at % 7).collect());
            let (a, b) = (some(), some());
            let (in_a, in_b) = (listed(&a), listed(&b));
            assert_eq!(overlap(&a, &b), in_a.iter().any(|byte| in_b.contains(byte)), "{a:?} {b:?}");
            let rest: Vec<_> = in_a.into_iter().filter(|byte| !in_b.contains(byte)).collect();
            assert_eq!(listed(&without(&a, &b)), rest, "{a:?} {b:?}");
        }
    }
}
