//! The array of a `.npy` file, and its upload.

use super::elements::{MemoryOrder, NpyData};
use super::parse::{self, Opened};
use crate::error::Named;
use crate::layout::{DType, Element};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};
use std::io::Cursor;
use std::path::Path;

/// The array of one `.npy` file, in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Npy {
    shape: Vec<usize>,
    order: MemoryOrder,
    data: NpyData,
}

impl Npy {
    /// Reads the file at `path`. Elements may be f32, f16, i8 or i32, in either byte order and either [`MemoryOrder`].
    ///
    /// # Errors
    /// [`Error::Input`] if the file cannot be read, is not a `.npy` file, has elements of another type or more than
    /// [`MAX_RANK`](crate::layout::MAX_RANK) axes, or has fewer or more bytes than its shape needs.
    ///
    /// # Example
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let path = std::env::temp_dir().join(format!("tilewise-doc-{}.npy", std::process::id()));
    /// tilewise::io::write_npy_slice(&path, [2, 2], &[1.0f32, 2.0, 3.0, 4.0])?;
    /// let array = tilewise::io::Npy::read(&path)?;
    /// assert_eq!(array.shape(), [2, 2]);
    /// # std::fs::remove_file(&path).unwrap();
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let a = array.tensor::<f32>(&gpu)?;
    /// # assert_eq!(a.to_vec()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let contents = Opened::at(path).and_then(parse::read);
        contents.map(Self::new).map_err(|why| Error::input(path.display().to_string(), why))
    }

    /// Reads a `.npy` file from memory, for example in a browser. Otherwise like [`read`](Self::read).
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let contents = Opened::new(Cursor::new(bytes), bytes.len() as u64).and_then(parse::read);
        contents.map(Self::new).map_err(|why| Error::input("Npy::from_bytes", why))
    }

    fn new((shape, order, data): (Vec<usize>, MemoryOrder, NpyData)) -> Self {
        Self { shape, order, data }
    }

    /// The extents of the axes, as `NumPy` shows them.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The order of the elements in [`data`](Self::data).
    #[must_use]
    pub fn order(&self) -> MemoryOrder {
        self.order
    }

    /// The elements, in the order of the file.
    #[must_use]
    pub fn data(&self) -> &NpyData {
        &self.data
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.data.dtype()
    }

    /// Uploads the array. An array in Fortran order is uploaded unchanged and returned as a transposed view.
    ///
    /// # Shapes
    /// The tensor has the shape of the file, in either order.
    ///
    /// # Errors
    /// [`Error::Input`] if `T` is not the element type of the file, because nothing is converted silently. Otherwise as
    /// for [`Gpu::tensor`].
    pub fn tensor<T: Element>(&self, gpu: &Gpu) -> Result<Tensor<T>> {
        let elements: &[T] = match &self.data {
            NpyData::F32(elements) if T::DTYPE == DType::F32 => bytemuck::cast_slice(elements),
            NpyData::F16(elements) if T::DTYPE == DType::F16 => bytemuck::cast_slice(elements),
            NpyData::I8(elements) if T::DTYPE == DType::I8 => bytemuck::cast_slice(elements),
            NpyData::I32(elements) if T::DTYPE == DType::I32 => bytemuck::cast_slice(elements),
            _ => {
                let (have, want) = (self.dtype(), T::DTYPE);
                let why = format!(
                    "the array has elements of {have}, not {want}: load a Tensor<{have}>, then `cast` it to {want}"
                );
                return Err(Error::input("Npy::tensor", why));
            }
        };
        match self.order {
            MemoryOrder::C => gpu.tensor(elements, &self.shape).named("Npy::tensor"),
            MemoryOrder::Fortran => {
                let reversed: Vec<usize> = self.shape.iter().rev().copied().collect();
                let axes: Vec<usize> = (0..reversed.len()).rev().collect();
                let stored = gpu.tensor(elements, reversed);
                stored.and_then(|stored| stored.permute(&axes)).named("Npy::tensor")
            }
        }
    }
}

/// Reads a `.npy` file of f64, f32 or f16 as a shape and its values in C order. This is for work on the host, because
/// tensors have no f64.
///
/// # Errors
/// As for [`Npy::read`](Npy::read), except that f64 is accepted and integers are not.
pub fn read_npy_f64(path: impl AsRef<Path>) -> Result<(Vec<usize>, Vec<f64>)> {
    let path = path.as_ref();
    let read = Opened::at(path).and_then(parse::read_f64);
    read.map_err(|why| Error::input(path.display().to_string(), why))
}
