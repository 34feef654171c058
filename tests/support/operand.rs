//! Matrices in every memory layout. Every other element of their buffers is poison: NaN, or 77 for integers.

use tilewise::{Element, Gpu, Tensor};

/// The memory layout of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Row-major without gaps.
    Plain,
    /// Column-major without gaps.
    Transposed,
    /// Row-major, with three elements between rows and an odd offset.
    Gaps,
    /// Column-major, with five elements between columns and an odd offset.
    TransposedGaps,
    /// Row-major, with rows and the offset at multiples of four, so that rows begin with whole vectors.
    Aligned,
    /// Row-major, with rows and the offset at multiples of eight for any number of columns: units of 16 bytes in f16.
    Padded,
    /// Column-major, with columns and the offset at multiples of eight.
    TransposedPadded,
    /// Every second element of every second row.
    Steps,
}

impl View {
    pub const ALL: [Self; 8] = [
        Self::Plain,
        Self::Transposed,
        Self::Gaps,
        Self::TransposedGaps,
        Self::Aligned,
        Self::Padded,
        Self::TransposedPadded,
        Self::Steps,
    ];
    /// The layouts that an output may have.
    pub const OUTPUTS: [Self; 3] = [Self::Plain, Self::Gaps, Self::Aligned];

    /// The strides and the offset of a matrix of this shape.
    pub fn strides(self, [rows, cols]: [usize; 2]) -> ([usize; 2], usize) {
        match self {
            Self::Plain => ([cols, 1], 0),
            Self::Transposed => ([1, rows], 0),
            Self::Gaps => ([cols + 3, 1], 7),
            Self::TransposedGaps => ([1, rows + 5], 131),
            Self::Aligned => ([(cols + 4).next_multiple_of(4), 1], 12),
            Self::Padded => ([cols.next_multiple_of(8) + 8, 1], 16),
            Self::TransposedPadded => ([1, rows.next_multiple_of(8) + 8], 40),
            Self::Steps => ([4 * cols + 2, 2], 1),
        }
    }
}

/// A matrix on the device, and a copy of its whole buffer as uploaded.
pub struct Placed<T: Element> {
    pub tensor: Tensor<T>,
    pub buffer: Vec<T>,
    places: Vec<usize>,
}

impl<T: Element> Placed<T> {
    /// Uploads `data` (row-major) in the layout `view`, with poison in the gaps.
    pub fn new(gpu: &Gpu, data: &[T], shape: [usize; 2], view: View) -> Self {
        let ([row, col], offset) = view.strides(shape);
        let places: Vec<usize> =
            (0..data.len()).map(|i| offset + i / shape[1] * row + i % shape[1] * col).collect();
        let len = places.iter().max().map_or(offset, |last| last + 1) + 9;
        let mut buffer = vec![poison(); len];
        for (&place, &value) in places.iter().zip(data) {
            buffer[place] = value;
        }
        let flat = gpu.tensor(&buffer, [len]).expect("the operand fits");
        let tensor = flat.as_strided(&shape, &[row, col], offset).expect("the view lies in the buffer");
        Self { tensor, buffer, places }
    }

    /// The expected buffer if the matrix holds `data` and everything else is unchanged.
    pub fn expected(&self, data: &[T]) -> Vec<T> {
        let mut buffer = self.buffer.clone();
        for (&place, &value) in self.places.iter().zip(data) {
            buffer[place] = value;
        }
        buffer
    }

    /// The elements of the matrix, from a copy of the whole buffer.
    pub fn elements(&self, buffer: &[T]) -> Vec<T> {
        self.places.iter().map(|&place| buffer[place]).collect()
    }

    /// The current contents of the whole buffer.
    pub fn read_buffer(&self) -> Vec<T> {
        let (buffer, _) = self.tensor.buffer().unwrap();
        let mut values = read_bytes(self.tensor.gpu(), buffer);
        values.truncate(self.buffer.len() * size_of::<T>());
        bytemuck::pod_collect_to_vec(&values)
    }
}

/// The value around operands, and in results before they are computed.
pub fn poison<T: Element>() -> T {
    T::from_f64(if T::DTYPE.is_float() { f64::NAN } else { 77.0 })
}

/// Reads a whole buffer with wgpu alone, as an application would, after the library's work.
pub fn read_bytes(gpu: &Gpu, buffer: &wgpu::Buffer) -> Vec<u8> {
    gpu.flush().expect("nothing failed before");
    let staging = super::app::buffer(
        gpu.device(),
        buffer.size(),
        wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
    );
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
    gpu.queue().submit([encoder.finish()]);
    staging.slice(..).map_async(wgpu::MapMode::Read, |mapped| mapped.expect("the buffer maps"));
    gpu.device().poll(wgpu::PollType::wait_indefinitely()).expect("the device is there");
    let view = staging.slice(..).get_mapped_range().expect("the buffer is mapped");
    view.to_vec()
}

/// The bits of a tensor's elements.
pub fn bits<T: Element>(tensor: &Tensor<T>) -> Vec<u8> {
    bytemuck::cast_slice(&tensor.to_vec().unwrap()).to_vec()
}
