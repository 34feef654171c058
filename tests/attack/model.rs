//! What a tensor holds, on the host: integers, row-major, with every operation as a plain loop.

use crate::random::Random;
use tilewise::DType;

/// Integers of a shape. Each type of tensor holds those up to [`largest_of`] exactly, and so do sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<i32>,
}

/// The largest integer up to which a type holds every one.
pub(crate) fn largest_of(dtype: DType) -> i64 {
    match dtype {
        DType::F32 => 1 << 24,
        DType::F16 => 1 << 11,
        DType::I8 => 127,
        DType::I32 => 1 << 30,
        _ => 1 << 8,
    }
}

impl Model {
    pub(crate) fn random(random: &mut Random, shape: &[usize]) -> Self {
        Self::of(shape, |_| random.digit())
    }

    fn of(shape: &[usize], value: impl FnMut(usize) -> i32) -> Self {
        let len = shape.iter().product();
        Self { shape: shape.to_vec(), values: (0..len).map(value).collect() }
    }

    /// The largest magnitude.
    pub(crate) fn largest(&self) -> i64 {
        self.values.iter().map(|&v| i64::from(v).abs()).max().unwrap_or(0)
    }

    pub(crate) fn permute(&self, axes: &[usize]) -> Self {
        let strides = self.strides();
        let shape: Vec<usize> = axes.iter().map(|&axis| self.shape[axis]).collect();
        Self::of(&shape, |at| {
            let from =
                indices(&shape, at).iter().zip(axes).map(|(&i, &axis)| i * strides[axis]).sum::<usize>();
            self.values[from]
        })
    }

    /// The last two axes exchanged.
    pub(crate) fn t(&self) -> Self {
        let mut axes: Vec<usize> = (0..self.shape.len()).collect();
        if let [.., a, b] = &mut axes[..] {
            std::mem::swap(a, b);
        }
        self.permute(&axes)
    }

    pub(crate) fn slice(&self, axis: usize, range: std::ops::Range<usize>) -> Self {
        let mut shape = self.shape.clone();
        shape[axis] = range.len();
        let strides = self.strides();
        Self::of(&shape, |at| {
            let from =
                indices(&shape, at).iter().zip(&strides).map(|(&i, &stride)| i * stride).sum::<usize>();
            self.values[from + range.start * strides[axis]]
        })
    }

    pub(crate) fn reshape(&self, shape: &[usize]) -> Self {
        Self { shape: shape.to_vec(), values: self.values.clone() }
    }

    /// The product of two matrices; None if a sum on its way could pass `limit`.
    pub(crate) fn matmul(&self, b: &Self, limit: i64) -> Option<Self> {
        let (&[m, k], &[_, n]) = (&self.shape[..], &b.shape[..]) else { return None };
        if i64::try_from(k).ok()? * self.largest() * b.largest() > limit {
            return None;
        }
        let sum = |i: usize, j: usize| (0..k).map(|l| self.values[i * k + l] * b.values[l * n + j]).sum();
        Some(Self::of(&[m, n], |at| sum(at / n, at % n)))
    }

    /// `f` of elements of the same place, or of a row `b` that is repeated; None if a result passes `limit`.
    pub(crate) fn with(&self, b: &Self, f: impl Fn(i64, i64) -> i64, limit: i64) -> Option<Self> {
        let value = |at: usize| f(self.values[at].into(), b.values[at % b.values.len()].into());
        let values: Vec<i64> = (0..self.values.len()).map(value).collect();
        self.checked(&self.shape, &values, limit)
    }

    /// The sums along an axis; None if one could pass `limit`.
    pub(crate) fn sum(&self, axis: usize, limit: i64) -> Option<Self> {
        let most = i64::try_from(self.shape[axis]).ok()? * self.largest();
        (most <= limit).then(|| self.joined(axis, |line| line.sum()))
    }

    /// The largest elements along an axis; None if it is empty.
    pub(crate) fn max(&self, axis: usize) -> Option<Self> {
        (self.shape[axis] > 0).then(|| self.joined(axis, |line| line.max().unwrap_or(0)))
    }

    /// What a function makes of every line along an axis.
    fn joined(&self, axis: usize, join: impl Fn(&mut dyn Iterator<Item = i32>) -> i32) -> Self {
        let mut shape = self.shape.clone();
        let extent = shape.remove(axis);
        let inner: usize = self.shape[axis + 1..].iter().product();
        let at = |i: usize| i / inner * inner * extent + i % inner;
        Self::of(&shape, |i| join(&mut (0..extent).map(|l| self.values[at(i) + l * inner])))
    }

    /// Cumulative sums along an axis, if none can exceed the limit.
    pub(crate) fn cumsum(&self, axis: usize, limit: i64) -> Option<Self> {
        let extent = self.shape[axis];
        if i64::try_from(extent).ok()? * self.largest() > limit {
            return None;
        }
        let inner: usize = self.shape[axis + 1..].iter().product();
        let sum = |i: usize| (0..=i / inner % extent).map(|l| self.values[i - l * inner]).sum();
        Some(Self::of(&self.shape, sum))
    }

    fn checked(&self, shape: &[usize], values: &[i64], limit: i64) -> Option<Self> {
        let values: Option<Vec<i32>> =
            values.iter().map(|&v| i32::try_from(v).ok().filter(|_| v.abs() <= limit)).collect();
        Some(Self { shape: shape.to_vec(), values: values? })
    }

    fn strides(&self) -> Vec<usize> {
        (0..self.shape.len()).map(|axis| self.shape[axis + 1..].iter().product()).collect()
    }
}

/// The index along each axis of the element at this place of a row-major shape.
fn indices(shape: &[usize], mut at: usize) -> Vec<usize> {
    let mut indices = vec![0; shape.len()];
    for (index, extent) in indices.iter_mut().zip(shape).rev() {
        *index = at % extent;
        at /= extent;
    }
    indices
}

#[test]
fn the_model_is_right_on_small_cases() {
    let a = Model { shape: vec![2, 3], values: vec![1, 2, 3, 4, 5, 6] };
    assert_eq!(a.t(), Model { shape: vec![3, 2], values: vec![1, 4, 2, 5, 3, 6] });
    assert_eq!(a.slice(1, 1..3), Model { shape: vec![2, 2], values: vec![2, 3, 5, 6] });
    assert_eq!(a.matmul(&a.t(), 108).unwrap().values, [14, 32, 32, 77]);
    assert_eq!(a.matmul(&a.t(), 107), None, "3 * 6 * 6 is more");
    assert_eq!(a.sum(0, 99).unwrap().values, [5, 7, 9]);
    assert_eq!(a.sum(1, 99).unwrap().values, [6, 15]);
    let row = Model { shape: vec![1, 3], values: vec![1, 0, -1] };
    assert_eq!(a.with(&row, |x, y| x + y, 99).unwrap().values, [2, 2, 2, 5, 5, 5]);
    let cube = Model { shape: vec![2, 1, 3], ..a.clone() };
    assert_eq!(cube.permute(&[2, 0, 1]), Model { shape: vec![3, 2, 1], ..a.t() });
}
