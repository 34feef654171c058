//! `NumPy`'s `.npy` files to tensors and back.

use super::npy_file::{self, Opened};
use crate::error::Named;
use crate::files::replace::replace;
use crate::layout::{DType, Element, Layout};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};
use half::f16;
use npyz::{AutoSerialize, WriteOptions, WriterBuilder};
use std::io::Cursor;
use std::path::Path;

/// The array of one `.npy` file, in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Npy {
    shape: Vec<usize>,
    order: Order,
    data: NpyData,
}

/// Which index runs fastest from one element of a file to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last one (row-major), as in C.
    C,
    /// The first one (column-major), as in Fortran.
    Fortran,
}

/// The elements of a file in the file's order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NpyData {
    /// `'<f4'` or `'>f4'`.
    F32(Vec<f32>),
    /// `'<f2'` or `'>f2'`.
    F16(Vec<f16>),
    /// `'|i1'`.
    I8(Vec<i8>),
    /// `'<i4'` or `'>i4'`.
    I32(Vec<i32>),
}

impl Npy {
    /// Reads the file at `path`: f32, f16, i8 or i32, of either byte order and either [`Order`].
    ///
    /// # Errors
    /// [`Error::Input`] if the file cannot be read, is no `.npy` file, holds elements of another type,
    /// has more than [`MAX_RANK`](crate::layout::MAX_RANK) axes, or fewer or more bytes than its shape needs.
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
        let read = Opened::at(path).and_then(npy_file::read);
        read.map_err(|why| Error::input(path.display().to_string(), why))
    }

    /// Reads a `.npy` file that is in memory, as a browser needs; otherwise as [`read`](Self::read).
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let read = Opened::new(Cursor::new(bytes), bytes.len() as u64).and_then(npy_file::read);
        read.map_err(|why| Error::input("Npy::from_bytes", why))
    }

    pub(super) fn new(shape: Vec<usize>, order: Order, data: NpyData) -> Self {
        Self { shape, order, data }
    }

    /// Extent of each axis, as `NumPy` shows it.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The order of the elements in [`data`](Self::data).
    #[must_use]
    pub fn order(&self) -> Order {
        self.order
    }

    /// The elements in the file's order.
    #[must_use]
    pub fn data(&self) -> &NpyData {
        &self.data
    }

    /// The type of the elements.
    #[must_use]
    pub fn dtype(&self) -> DType {
        match self.data {
            NpyData::F32(_) => DType::F32,
            NpyData::F16(_) => DType::F16,
            NpyData::I8(_) => DType::I8,
            NpyData::I32(_) => DType::I32,
        }
    }

    /// Uploads the array. A Fortran-ordered one is uploaded as it lies and becomes a transposed view.
    ///
    /// # Shapes
    /// The tensor has the shape of the file, in either order.
    ///
    /// # Errors
    /// [`Error::Input`] if `T` is not the type of the file's elements: nothing is converted silently.
    /// Otherwise as [`Gpu::tensor`].
    pub fn tensor<T: Element>(&self, gpu: &Gpu) -> Result<Tensor<T>> {
        let elements: &[T] = match &self.data {
            NpyData::F32(elements) if T::DTYPE == DType::F32 => bytemuck::cast_slice(elements),
            NpyData::F16(elements) if T::DTYPE == DType::F16 => bytemuck::cast_slice(elements),
            NpyData::I8(elements) if T::DTYPE == DType::I8 => bytemuck::cast_slice(elements),
            NpyData::I32(elements) if T::DTYPE == DType::I32 => bytemuck::cast_slice(elements),
            _ => {
                let (have, want) = (self.dtype(), T::DTYPE);
                let why = format!(
                    "the array holds {have}, not {want}: make it a Tensor<{have}>, then `cast` that to {want}"
                );
                return Err(Error::input("Npy::tensor", why));
            }
        };
        match self.order {
            Order::C => gpu.tensor(elements, &self.shape).named("Npy::tensor"),
            Order::Fortran => {
                let reversed: Vec<usize> = self.shape.iter().rev().copied().collect();
                let axes: Vec<usize> = (0..reversed.len()).rev().collect();
                let stored = gpu.tensor(elements, reversed);
                stored.and_then(|stored| stored.permute(&axes)).named("Npy::tensor")
            }
        }
    }
}

/// Writes a tensor to a `.npy` file at `path`, in C order whatever its strides, as a whole or not at all: the file appears,
/// or replaces an existing one, once all of it is on the disk. (A device or a pipe is written to as it is.) Not in a browser:
/// [`npy_bytes`].
///
/// # Errors
/// [`Error::Input`] if the file cannot be written, or `T` is bf16, which `NumPy` does not have; otherwise as
/// [`Tensor::to_vec`].
#[cfg(not(target_arch = "wasm32"))]
pub fn write_npy<T: Element>(path: impl AsRef<Path>, tensor: &Tensor<T>) -> Result<()> {
    let op = "write_npy";
    write(op, path.as_ref(), tensor.shape(), &tensor.to_vec().named(op)?)
}

/// As [`write_npy`](crate::io::write_npy), without blocking the thread while it waits for the device. Writing to the disk blocks.
///
/// # Errors
/// As `write_npy`.
pub async fn write_npy_async<T: Element>(path: impl AsRef<Path>, tensor: &Tensor<T>) -> Result<()> {
    let op = "write_npy_async";
    let elements = tensor.read().await.named(op)?;
    write(op, path.as_ref(), tensor.shape(), &elements)
}

/// Writes elements in C order to a `.npy` file at `path`, as a whole or not at all, as
/// [`write_npy`](crate::io::write_npy) does.
///
/// # Shapes
/// `shape` has as many elements as `elements`, and at most [`MAX_RANK`](crate::layout::MAX_RANK) axes.
///
/// # Errors
/// [`Error::Shape`] if it has not; [`Error::Input`] if the file cannot be written, or `T` is bf16, which `NumPy` does
/// not have.
pub fn write_npy_slice<T: Element>(
    path: impl AsRef<Path>,
    shape: impl AsRef<[usize]>,
    elements: &[T],
) -> Result<()> {
    write("write_npy_slice", path.as_ref(), shape.as_ref(), elements)
}

fn write<T: Element>(op: &'static str, path: &Path, shape: &[usize], elements: &[T]) -> Result<()> {
    let name = || path.display().to_string();
    let header = header(op, name, shape, elements)?;
    let written = replace(path, None, |file| {
        file.write_all(&header)?;
        file.write_all(bytemuck::cast_slice(elements))
    });
    written.map_err(|e| Error::input(name(), format!("cannot be written: {e}")))
}

/// The bytes of a `.npy` file that holds these elements in C order.
///
/// # Shapes
/// As of [`write_npy_slice`].
///
/// # Errors
/// As [`write_npy_slice`], but nothing is written.
/// ```
/// use tilewise::io::{Npy, npy_bytes};
///
/// # fn main() -> tilewise::Result<()> {
/// let file = npy_bytes([2, 2], &[1i8, 2, 3, 4])?;
/// assert_eq!(Npy::from_bytes(&file)?.shape(), [2, 2]);
/// # Ok(())
/// # }
/// ```
pub fn npy_bytes<T: Element>(shape: impl AsRef<[usize]>, elements: &[T]) -> Result<Vec<u8>> {
    let mut file = header("npy_bytes", || "npy_bytes".into(), shape.as_ref(), elements)?;
    file.extend_from_slice(bytemuck::cast_slice(elements));
    Ok(file)
}

/// The bytes of the file before its elements. Errors about the file name it `name`.
fn header<T: Element>(
    op: &'static str,
    name: impl Fn() -> String,
    shape: &[usize],
    elements: &[T],
) -> Result<Vec<u8>> {
    if Layout::contiguous(op, shape)?.len() != elements.len() {
        let rule = "the shape must have as many elements as there are";
        return Err(Error::shapes(op, rule, shape, &[elements.len()]));
    }
    let dtype = match T::DTYPE {
        DType::F32 => f32::default_dtype(), // the byte order of this machine
        DType::F16 => f16::default_dtype(),
        DType::I8 => i8::default_dtype(),
        DType::I32 => i32::default_dtype(),
        DType::Bf16 => {
            let why = "NumPy has no bf16: `cast` to f32 first, which is exact";
            return Err(Error::input(name(), why));
        }
    };
    let extents: Vec<u64> = shape.iter().map(|&extent| extent as u64).collect();
    let header = WriteOptions::new_header_only().dtype(dtype).shape(&extents).writer(Vec::new());
    header.write_header_only().map_err(|e| Error::input(name(), format!("cannot be written: {e}")))
}

/// The array of a `.npy` file of f64, f32 or f16, as shape and values in C order: for work on the host, as no tensor holds
/// f64.
///
/// # Errors
/// As [`Npy::read`], but that f64 is readable and integers are not.
pub fn read_npy_f64(path: impl AsRef<Path>) -> Result<(Vec<usize>, Vec<f64>)> {
    let path = path.as_ref();
    let read = Opened::at(path).and_then(npy_file::read_f64);
    read.map_err(|why| Error::input(path.display().to_string(), why))
}
