//! Tensors of matrices in several memory layouts, with NaN around every element that is theirs.

use tilewise::{Gpu, Real, Tensor};

/// How a batch of matrices lies in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// Row-major without gaps.
    Plain,
    /// Gaps between rows and matrices, from an odd offset.
    Gaps,
    /// Rows and columns exchanged, gaps between matrices.
    Transposed,
    /// The batch's axes are the innermost ones: neighbours in memory belong to different matrices.
    Interleaved,
    /// Rows, matrices and offset at multiples of eight elements.
    Aligned,
}

impl Stack {
    pub const ALL: [Self; 5] = [Self::Plain, Self::Gaps, Self::Transposed, Self::Interleaved, Self::Aligned];
    /// The layouts that an output may have.
    pub const OUTPUTS: [Self; 3] = [Self::Plain, Self::Gaps, Self::Aligned];

    /// Strides and offset of a tensor of this shape.
    fn strides(self, shape: &[usize]) -> (Vec<usize>, usize) {
        let rank = shape.len();
        let order: Vec<usize> = match self {
            Self::Transposed => (0..rank - 2).chain([rank - 1, rank - 2]).collect(),
            Self::Interleaved => [rank - 2, rank - 1].into_iter().chain(0..rank - 2).collect(),
            _ => (0..rank).collect(),
        };
        let (gap, unit, offset) = match self {
            Self::Plain => (0, 1, 0),
            Self::Aligned => (8, 8, 16),
            _ => (3, 1, 7),
        };
        let mut strides = vec![0; rank];
        let mut stride = 1;
        for &axis in order.iter().rev() {
            strides[axis] = stride;
            stride = (stride * shape[axis] + gap).next_multiple_of(unit);
        }
        (strides, offset)
    }
}

/// A tensor on the device, and the whole buffer behind it as it was uploaded.
pub struct Stacked<T: Real> {
    pub tensor: Tensor<T>,
    pub buffer: Vec<T>,
    places: Vec<usize>,
}

impl<T: Real> Stacked<T> {
    /// Lays `data` (row-major) out, NaN in between.
    pub fn new(gpu: &Gpu, data: &[T], shape: &[usize], stack: Stack) -> Self {
        let (strides, offset) = stack.strides(shape);
        let place = |mut i: usize| {
            let mut at = offset;
            for (extent, stride) in shape.iter().zip(&strides).rev() {
                at += i % extent * stride;
                i /= extent;
            }
            at
        };
        let places: Vec<usize> = (0..data.len()).map(place).collect();
        let len = places.iter().max().map_or(offset, |last| last + 1) + 9;
        let mut buffer = vec![T::from_f64(f64::NAN); len];
        for (&place, &value) in places.iter().zip(data) {
            buffer[place] = value;
        }
        let flat = gpu.tensor(&buffer, [len]).expect("the operand fits");
        let tensor = flat.as_strided(shape, &strides, offset).expect("the view lies in the buffer");
        Self { tensor, buffer, places }
    }

    /// The tensor's elements, once everything else in the buffer has been found as it was.
    pub fn read(&self) -> Vec<T> {
        let (buffer, _) = self.tensor.buffer().unwrap();
        let mut bytes = super::operand::read_bytes(self.tensor.gpu(), buffer);
        bytes.truncate(self.buffer.len() * size_of::<T>());
        let now: Vec<T> = bytemuck::pod_collect_to_vec(&bytes);
        let mut expected = self.buffer.clone();
        for &place in &self.places {
            expected[place] = now[place];
        }
        let bits = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
        assert_eq!(bits(&now), bits(&expected), "something beside the tensor was written");
        self.places.iter().map(|&place| now[place]).collect()
    }
}
