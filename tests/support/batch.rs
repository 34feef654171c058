//! Batches of matrices in several memory layouts. Every other element of their buffers is NaN.

use tilewise::{Gpu, Real, Tensor};

/// The memory layout of a batch of matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// Row-major without gaps.
    Plain,
    /// With gaps between rows and matrices, and an odd offset.
    Gaps,
    /// With rows and columns exchanged, and gaps between matrices.
    Transposed,
    /// With the batch's axes innermost: neighbours in memory belong to different matrices.
    Interleaved,
    /// With rows, matrices and the offset at multiples of eight elements.
    Aligned,
}

impl Stack {
    pub const ALL: [Self; 5] = [Self::Plain, Self::Gaps, Self::Transposed, Self::Interleaved, Self::Aligned];
    /// The layouts that an output may have.
    pub const OUTPUTS: [Self; 3] = [Self::Plain, Self::Gaps, Self::Aligned];

    /// The strides and the offset of a tensor of this shape.
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

/// A tensor on the device, and a copy of its whole buffer as uploaded.
pub struct Stacked<T: Real> {
    pub tensor: Tensor<T>,
    pub buffer: Vec<T>,
    places: Vec<usize>,
}

impl<T: Real> Stacked<T> {
    /// Uploads `data` (row-major) in this layout, with NaN in the gaps.
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

    /// The tensor's elements, after checking that everything else in the buffer is unchanged.
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
        assert_eq!(bits(&now), bits(&expected), "something outside the tensor was written");
        self.places.iter().map(|&place| now[place]).collect()
    }
}
