//! [`Axes`]: the axes along which several operands step together.
//!
//! A kernel computes the offset of an element with one division for each axis, so fewer axes are faster. Neighbouring axes are
//! merged if one stride per operand covers both.

use super::strided::{Layout, MAX_RANK};
use super::window::{dim, known};
use crate::Result;
use std::ops::Range;

/// An axis: its extent, and the stride of each operand along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Axis<const N: usize> {
    pub(crate) extent: usize,
    pub(crate) strides: [usize; N],
}

/// The axes of `N` operands, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Axes<const N: usize>(Vec<Axis<N>>);

impl<const N: usize> Axis<N> {
    /// An axis of one index.
    const ONE: Self = Self { extent: 1, strides: [0; N] };

    /// Whether this axis and `outer` can be merged: in every operand, one stride covers both.
    fn continues(&self, outer: &Self) -> bool {
        outer.strides == self.strides.map(|stride| stride.saturating_mul(self.extent))
    }
}

impl<const N: usize> Axes<N> {
    /// These axes, innermost first, without those of one index. Neighbours are one axis if, in every operand, the outer stride
    /// is the extent times the inner stride.
    pub(crate) fn merged(axes: impl IntoIterator<Item = Axis<N>>) -> Self {
        let mut merged: Vec<Axis<N>> = Vec::with_capacity(MAX_RANK);
        for axis in axes.into_iter().filter(|axis| axis.extent > 1) {
            match merged.last_mut() {
                Some(inner) if inner.continues(&axis) => inner.extent *= axis.extent,
                _ => merged.push(axis),
            }
        }
        Self(merged)
    }

    /// The axes of a shape, merged, with the strides that the operands have along each.
    pub(crate) fn of(shape: &[usize], strides: impl Fn(usize) -> [usize; N]) -> Self {
        let of_axis = |axis: usize| Axis { extent: shape[axis], strides: strides(axis) };
        Self::merged((0..shape.len()).rev().map(of_axis))
    }

    /// The same, with an axis of one index if there are none.
    pub(crate) fn at_least_one(mut self) -> Self {
        if self.0.is_empty() {
            self.0.push(Axis::ONE);
        }
        self
    }

    /// These axes within `outer` ones. Neighbours stay apart.
    pub(crate) fn within(mut self, outer: Self) -> Self {
        self.0.extend(outer.0);
        self
    }

    /// An axis, counted from the innermost, or one of one index if there are fewer.
    pub(crate) fn get(&self, at: usize) -> Axis<N> {
        self.0.get(at).copied().unwrap_or(Axis::ONE)
    }

    /// The axes, innermost first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Axis<N>> + Clone {
        self.0.iter()
    }

    /// The number of axes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes out the innermost axis, or one of one index if there are none.
    pub(crate) fn take_first(&mut self) -> Axis<N> {
        if self.0.is_empty() { Axis::ONE } else { self.0.remove(0) }
    }

    /// Makes the axis along which an operand steps least the innermost, if that step is less than `along`. Axes along which
    /// it repeats its elements do not count. Returns whether there is such an axis.
    pub(crate) fn bring_nearest(&mut self, operand: usize, along: usize) -> bool {
        let step = |at: &usize| self.0[*at].strides[operand];
        let nearest = (0..self.0.len()).filter(|at| step(at) > 0).min_by_key(step);
        let nearest = nearest.filter(|at| step(at) < along);
        if let Some(at) = nearest {
            self.0[..=at].rotate_right(1);
        }
        nearest.is_some()
    }

    /// The axes as a uniform has them: each extent, followed by the strides.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a number is $2^{31}$ or more.
    pub(crate) fn sizes(&self, op: &'static str) -> Result<Vec<[u32; 4]>> {
        let size = |axis: &Axis<N>| {
            let mut sizes = [dim(op, axis.extent)?, 0, 0, 0];
            for (to, &stride) in sizes[1..].iter_mut().zip(&axis.strides) {
                *to = dim(op, stride)?;
            }
            Ok(sizes)
        };
        self.0.iter().map(size).collect()
    }

    /// Puts axes whose numbers have been checked into a uniform and returns their number.
    pub(crate) fn put_known(&self, to: &mut [[u32; 4]]) -> u32 {
        for (to, axis) in to.iter_mut().zip(&self.0) {
            *to = [known(axis.extent), 0, 0, 0];
            to[1..].iter_mut().zip(axis.strides).for_each(|(to, stride)| *to = known(stride));
        }
        known(self.0.len())
    }

    /// Puts the axes into a uniform and returns their number.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a number is $2^{31}$ or more.
    pub(crate) fn put(&self, op: &'static str, to: &mut [[u32; 4]]) -> Result<u32> {
        let sizes = self.sizes(op)?;
        to[..sizes.len()].copy_from_slice(&sizes);
        dim(op, sizes.len())
    }
}

/// Axes that stay as they are.
impl<const N: usize> FromIterator<Axis<N>> for Axes<N> {
    fn from_iter<I: IntoIterator<Item = Axis<N>>>(axes: I) -> Self {
        Self(axes.into_iter().collect())
    }
}

/// Layouts of one shape, in which neighbours among these axes are merged if every layout allows it, and those of one index are
/// gone.
pub(crate) fn merged_together<const N: usize>(layouts: [Layout; N], axes: Range<usize>) -> [Layout; N] {
    let Some(first) = layouts.first() else { return layouts };
    let merged = Axes::of(&first.shape()[axes.clone()], |axis| layouts.map(|of| of.step(axes.start + axis)));
    std::array::from_fn(|which| {
        let of = &layouts[which];
        let own = |axis: usize| (of.shape()[axis], of.strides()[axis]);
        let inner = merged.iter().rev().map(|axis| (axis.extent, axis.strides[which]));
        let all = (0..axes.start).map(own).chain(inner).chain((axes.end..of.rank()).map(own));
        let (mut shape, mut strides, mut rank) = ([0; MAX_RANK], [0; MAX_RANK], 0);
        for (extent, stride) in all {
            (shape[rank], strides[rank]) = (extent, stride);
            rank += 1;
        }
        of.with_axes(&shape[..rank], &strides[..rank])
    })
}

impl Layout {
    /// The same elements with these neighbouring axes as one, if one stride covers them.
    pub(crate) fn joined(&self, axes: Range<usize>) -> Option<Self> {
        if axes.len() == 1 {
            return Some(*self);
        }
        let within = &self.shape()[axes.clone()];
        let merged = Axes::of(within, |axis| [self.strides()[axes.start + axis]]);
        let (extent, stride) = match *merged.0 {
            _ if within.contains(&0) => (0, 1),
            // No step is taken along it; in a row-major tensor without gaps it would be the extent of the inner axis.
            [] => (1, self.shape().get(axes.end).map_or(1, |within| within * self.strides()[axes.end])),
            [Axis { extent, strides: [stride] }] => (extent, stride),
            _ => return None,
        };
        let of = |all: &[usize], one: usize| [&all[..axes.start], &[one], &all[axes.end..]].concat();
        let (shape, strides) = (of(self.shape(), extent), of(self.strides(), stride));
        (shape.len() <= MAX_RANK).then(|| self.with_axes(&shape, &strides))
    }
}

#[cfg(test)]
mod tests {
    use super::{Axes, Axis, Layout, known};
    use crate::layout::philox;

    /// Random shapes of up to six axes, with strides of two operands that repeat, step over gaps, and merge.
    fn cases() -> impl Iterator<Item = (Vec<usize>, Vec<[usize; 2]>)> {
        (0..2000u64).map(|case| {
            let words = |index: usize| philox(case, [known(index), 0, 0, 0]).map(|word| word as usize);
            let rank = words(100)[0] % 7;
            let shape: Vec<usize> = (0..rank).map(|axis| 1 + words(axis)[0] % 4).collect();
            let mut strides = vec![[0; 2]; rank];
            let mut next = [1; 2];
            for axis in (0..rank).rev() {
                for (operand, (stride, next)) in strides[axis].iter_mut().zip(&mut next).enumerate() {
                    let [_, kind, gap, _] = words(10 * (operand + 1) + axis);
                    *stride = if kind % 8 == 0 { 0 } else { *next };
                    *next *= shape[axis] + if gap % 4 == 0 { 1 } else { 0 };
                }
            }
            (shape, strides)
        })
    }

    /// The index of each axis, outermost first, of the element `at` in row-major order.
    fn indices(shape: &[usize], mut at: usize) -> Vec<usize> {
        let mut indices = vec![0; shape.len()];
        for (index, extent) in indices.iter_mut().zip(shape).rev() {
            (*index, at) = (at % extent, at / extent);
        }
        indices
    }

    #[test]
    fn merged_axes_lead_to_the_places_of_all_elements_and_are_as_few_as_can_be() {
        let mut seen = [0; 7];
        for (shape, strides) in cases() {
            let axes = Axes::of(&shape, |axis| strides[axis]);
            seen[axes.len()] += 1;
            for at in 0..shape.iter().product() {
                let naive = indices(&shape, at).iter().zip(&strides).fold([0; 2], |places, (i, strides)| {
                    [places[0] + i * strides[0], places[1] + i * strides[1]]
                });
                let mut rest = at;
                let merged = axes.iter().fold([0; 2], |places, Axis { extent, strides }| {
                    let index = rest % extent;
                    rest /= extent;
                    [places[0] + index * strides[0], places[1] + index * strides[1]]
                });
                assert_eq!((merged, rest), (naive, 0), "{shape:?} {strides:?} {at}");
            }
            let neighbours = axes.0.windows(2);
            assert!(neighbours.into_iter().all(|pair| !pair[0].continues(&pair[1])), "{axes:?}");
            assert!(axes.iter().all(|axis| axis.extent > 1), "{axes:?}");
        }
        assert!(seen[..6].iter().all(|&count| count > 20), "{seen:?}");
    }

    #[test]
    fn the_nearest_axis_comes_first_and_the_others_keep_their_order() {
        let axis = |extent, stride| Axis { extent, strides: [0, stride] };
        let axes = Axes(vec![axis(2, 0), axis(3, 40), axis(4, 8), axis(5, 300)]);
        let mut first = axes.clone();
        assert!(first.bring_nearest(1, 9));
        assert_eq!(first, Axes(vec![axis(4, 8), axis(2, 0), axis(3, 40), axis(5, 300)]));
        let mut none = axes.clone();
        assert!(!none.bring_nearest(1, 8) && !none.bring_nearest(0, 8));
        assert_eq!(none, axes);
    }

    #[test]
    fn a_uniform_has_extents_and_strides_or_the_number_that_is_too_large() {
        let axes = Axes::merged([
            Axis { extent: 3, strides: [1, 0] },
            Axis { extent: 1, strides: [7, 7] },
            Axis { extent: 2, strides: [5, 1] },
        ]);
        let mut to = [[9; 4]; 3];
        assert_eq!(axes.put("test", &mut to).unwrap(), 2);
        assert_eq!(to, [[3, 1, 0, 0], [2, 5, 1, 0], [9; 4]]);
        assert_eq!(Axes::<2>::default().at_least_one().sizes("test").unwrap(), [[1, 0, 0, 0]]);
        let large = Axes::merged([Axis { extent: 2, strides: [1 << 31] }]);
        assert!(large.sizes("test").unwrap_err().to_string().contains("2147483648"));
    }

    #[test]
    fn joined_axes_have_the_same_elements_in_the_same_order() {
        let (mut joined, mut apart) = (0, 0);
        for (shape, strides) in cases().filter(|(shape, _)| !shape.is_empty()) {
            let strides: Vec<usize> = strides.iter().map(|strides| strides[0]).collect();
            let layout = Layout::new("test", &shape, &strides, 3, 1 << 20).unwrap();
            let places = |layout: &Layout| -> Vec<usize> {
                let of =
                    |at| indices(layout.shape(), at).iter().zip(layout.strides()).map(|(i, s)| i * s).sum();
                (0..layout.len()).map(of).collect()
            };
            let range = shape.len() / 3..shape.len();
            match layout.joined(range.clone()) {
                Some(one) => {
                    joined += 1;
                    assert_eq!((one.rank(), one.offset()), (range.start + 1, 3));
                    assert_eq!(places(&one), places(&layout), "{layout:?}");
                }
                None => {
                    apart += 1;
                    let steps: Vec<usize> =
                        places(&layout).windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
                    let within: usize = shape[range].iter().product();
                    assert!(steps[..within - 1].windows(2).any(|pair| pair[0] != pair[1]), "{layout:?}");
                }
            }
        }
        assert!(joined > 200 && apart > 200, "{joined} {apart}");
        let empty = Layout::contiguous("test", &[2, 0, 3]).unwrap();
        assert_eq!(empty.joined(1..3).unwrap().shape(), [2, 0]);
    }
}
