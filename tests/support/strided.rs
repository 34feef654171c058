//! Tensors of any rank in every memory layout. Every other element of their buffers is NaN, and 101 of integers.

use super::operand::read_bytes;
use tilewise::{Element, Gpu, Tensor};

/// The memory layout of a tensor of any rank.
#[derive(Clone, Copy, Debug)]
pub enum Lay {
    /// Row-major without gaps.
    Plain,
    /// With the first axis innermost.
    Reversed,
    /// Row-major, with gaps after every axis, every second element, and an odd offset.
    Gaps,
    /// Row-major, with all axes at even strides, so that rows of any length begin at even indices.
    Even,
    /// Row-major without gaps, with an odd offset.
    Odd,
    /// Row-major, with all axes at multiples of eight, so that rows of any length begin at whole vectors of 16 bytes. Not in
    /// [`ALL`](Self::ALL).
    Vectors,
}

impl Lay {
    pub const ALL: [Self; 5] = [Self::Plain, Self::Reversed, Self::Gaps, Self::Even, Self::Odd];

    pub fn strides(self, shape: &[usize]) -> (Vec<usize>, usize) {
        let mut strides = vec![0; shape.len()];
        let mut next = if matches!(self, Self::Gaps) { 2 } else { 1 };
        let mut axes: Vec<usize> = (0..shape.len()).rev().collect();
        if matches!(self, Self::Reversed) {
            axes.reverse();
        }
        for axis in axes {
            strides[axis] = next;
            next *= shape[axis].max(1);
            match self {
                Self::Gaps => next += 3,
                Self::Even => next = (next + 1).next_multiple_of(2),
                Self::Vectors => next = next.next_multiple_of(8),
                Self::Plain | Self::Reversed | Self::Odd => {}
            }
        }
        let offset = match self {
            Self::Plain | Self::Reversed => 0,
            Self::Gaps | Self::Odd => 13,
            Self::Even => 6,
            Self::Vectors => 24,
        };
        (strides, offset)
    }
}

/// A tensor whose buffer has NaN everywhere else, or 101.
pub struct Placed<T: Element> {
    pub tensor: Tensor<T>,
    buffer: Vec<T>,
    places: Vec<usize>,
}

impl<T: Element> Placed<T> {
    pub fn new(gpu: &Gpu, data: &[T], shape: &[usize], lay: Lay) -> Self {
        let (strides, offset) = lay.strides(shape);
        let places: Vec<usize> = indices(shape)
            .iter()
            .map(|index| offset + index.iter().zip(&strides).map(|(i, stride)| i * stride).sum::<usize>())
            .collect();
        let len = places.iter().max().map_or(offset, |last| last + 1) + 5;
        let nan = T::from_f64(f64::NAN);
        let mut buffer = vec![if nan.to_f64().is_nan() { nan } else { T::from_f64(101.0) }; len];
        for (&place, &value) in places.iter().zip(data) {
            buffer[place] = value;
        }
        let tensor = gpu.tensor(&buffer, [len]).unwrap().as_strided(shape, &strides, offset).unwrap();
        Self { tensor, buffer, places }
    }

    /// The elements, after checking that nothing else in the buffer has changed.
    pub fn read(&self) -> Vec<T> {
        let (buffer, _) = self.tensor.buffer().unwrap();
        let mut bytes = read_bytes(self.tensor.gpu(), buffer);
        bytes.truncate(self.buffer.len() * size_of::<T>());
        let now: Vec<T> = bytemuck::pod_collect_to_vec(&bytes);
        let mut expected = self.buffer.clone();
        self.places.iter().for_each(|&place| expected[place] = now[place]);
        let bits = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
        assert_eq!(bits(&now), bits(&expected), "{:?}: something outside it was written", self.tensor);
        self.places.iter().map(|&place| now[place]).collect()
    }
}

/// Every index of a shape, row-major.
pub fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![vec![]], |all, &extent| {
        all.iter().flat_map(|index| (0..extent).map(move |i| [&index[..], &[i]].concat())).collect()
    })
}

/// The elements of `data` broadcast to a shape, as in `NumPy`.
pub fn repeated<T: Element>(data: &[T], shape: &[usize], to: &[usize]) -> Vec<T> {
    let missing = to.len() - shape.len();
    let at = |index: &Vec<usize>| {
        shape.iter().zip(&index[missing..]).fold(0, |at, (&n, &i)| at * n + if n == 1 { 0 } else { i })
    };
    indices(to).iter().map(|index| data[at(index)]).collect()
}
