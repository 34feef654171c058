//! The array of a `.npy` file, and its upload.

use super::elements::{MemoryOrder, NpyData};
use super::parse::{self, OpenedNpy};
use crate::error::Named;
use crate::files::reported::ReportedFile;
use crate::io::number::{as_f64, converted, room};
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
    /// Reads the file at `path`. Elements may be floats of 2, 4 or 8 bytes, integers of 1, 2, 4 or 8 bytes, or bool, in
    /// either byte order and either [`MemoryOrder`]. [`tensor`](Self::tensor) uploads those that are f32, f16, i8 or i32;
    /// [`tensor_as`](Self::tensor_as) converts all others.
    ///
    /// # Errors
    /// [`Error::Input`] if the file cannot be read, is not a `.npy` file, has elements of another type or more than
    /// [`MAX_RANK`](crate::Layout::MAX_RANK) axes, or has fewer or more bytes than its shape needs; [`Error::Cancelled`] in
    /// [`with_progress`](crate::with_progress).
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
        Self::read_for("Npy::read", path.as_ref())
    }

    /// Reads the file at `path` for the function `call`.
    fn read_for(call: &'static str, path: &Path) -> Result<Self> {
        let mut file = ReportedFile::open(call, path)?;
        let length = file.length;
        let contents = OpenedNpy::new(&mut file, length).and_then(parse::read);
        let contents = contents.map_err(|why| file.error(why))?;
        file.end()?;
        Ok(Self::new(contents))
    }

    /// Reads a `.npy` file from memory, for example in a browser. Otherwise like [`read`](Self::read).
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let contents = OpenedNpy::new(Cursor::new(bytes), bytes.len() as u64).and_then(parse::read);
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

    /// The element type. None if no [`Tensor`] has this type: [`tensor_as`](Self::tensor_as) converts it, and
    /// [`values`](Self::values) has it as f64.
    #[must_use]
    pub fn dtype(&self) -> Option<DType> {
        self.data.dtype()
    }

    /// The elements as f64, in C order. 64-bit integers above $2^{53}$ are rounded; all other values are exact.
    ///
    /// # Errors
    /// [`Error::Input`] if memory runs out.
    ///
    /// # Example
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// let file = tilewise::io::npy_bytes([2], &[1.5f32, -2.0])?;
    /// assert_eq!(tilewise::io::Npy::from_bytes(&file)?.values()?, [1.5, -2.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn values(&self) -> Result<Vec<f64>> {
        let op = "Npy::values";
        let stored = as_f64(op, self.len(), |take| self.data.each(take))?;
        let stored = stored.map_err(|why| Error::input(op, why))?;
        self.in_c_order(stored).map_err(|why| Error::input(op, why))
    }

    /// The number of elements.
    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Reorders values from the order of the file to C order.
    fn in_c_order(&self, stored: Vec<f64>) -> Result<Vec<f64>, String> {
        if self.order == MemoryOrder::C {
            return Ok(stored);
        }
        // For each element in C order, its index in a file in Fortran order.
        let place = |mut at: usize| {
            let index = self.shape.iter().rev().map(|&extent| {
                let i = at % extent;
                at /= extent;
                (i, extent)
            });
            let index: Vec<(usize, usize)> = index.collect();
            index.iter().fold(0, |place, (i, extent)| place * extent + i)
        };
        let mut values = room(stored.len())?;
        values.extend((0..stored.len()).map(|at| stored[place(at)]));
        Ok(values)
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
            _ => return Err(Error::input("Npy::tensor", self.other_type(T::DTYPE))),
        };
        self.upload(gpu, elements).named("Npy::tensor")
    }

    /// Uploads the array with its elements converted to `T`: rounded once to the nearest value for a floating-point type,
    /// unchanged for an integer type. `false` is 0 and `true` is 1.
    ///
    /// # Shapes
    /// As for [`tensor`](Self::tensor).
    ///
    /// # Errors
    /// [`Error::Input`] names the first element that cannot be converted to `T`: a finite number that would become
    /// infinite, or, for an integer type, a number that is out of its range or not an integer. Otherwise as for
    /// [`Gpu::tensor`].
    ///
    /// # Example
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// # let mut labels = b"\x93NUMPY\x01\x00\x44\x00{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }          \n".to_vec();
    /// # labels.extend([3i64, 9].iter().flat_map(|label| label.to_le_bytes()));
    /// // NumPy's integers have 64 bits unless another type is asked for.
    /// let labels = tilewise::io::Npy::from_bytes(&labels)?.tensor_as::<i32>(&gpu)?;
    /// assert_eq!(labels.to_vec()?, [3, 9]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tensor_as<T: Element>(&self, gpu: &Gpu) -> Result<Tensor<T>> {
        let op = "Npy::tensor_as";
        let elements = converted::<T>(op, self.len(), |take| self.data.each(take))?;
        self.upload(gpu, &elements.map_err(|why| Error::input(op, why))?).named(op)
    }

    /// Elements in the order of the file as a tensor.
    fn upload<T: Element>(&self, gpu: &Gpu, elements: &[T]) -> Result<Tensor<T>> {
        match self.order {
            MemoryOrder::C => gpu.tensor(elements, &self.shape),
            MemoryOrder::Fortran => {
                let reversed: Vec<usize> = self.shape.iter().rev().copied().collect();
                let axes: Vec<usize> = (0..reversed.len()).rev().collect();
                gpu.tensor(elements, reversed)?.permute(&axes)
            }
        }
    }

    /// The reason why the elements cannot become a tensor of this type, and the remedy.
    fn other_type(&self, want: DType) -> String {
        match self.dtype() {
            Some(have) => format!(
                "the array has elements of {have}, not {want}: load a Tensor<{have}>, then `cast` it to {want}"
            ),
            None => format!(
                "the array has elements of {}, which no tensor has: convert them with `tensor_as::<{want}>`, or read them \
                 as f64 with `values` or `read_npy_f64`",
                self.data.type_name()
            ),
        }
    }
}

/// Reads a `.npy` file as its shape and its values as f64, in C order. This is for work on the host, because tensors have
/// no f64. 64-bit integers above $2^{53}$ are rounded; all other values are exact.
///
/// # Errors
/// As for [`Npy::read`](Npy::read).
pub fn read_npy_f64(path: impl AsRef<Path>) -> Result<(Vec<usize>, Vec<f64>)> {
    let path = path.as_ref();
    let (op, wrong) = ("read_npy_f64", |why| Error::input(path.display().to_string(), why));
    match Npy::read_for(op, path)? {
        // NOTE: the file may take most of the memory, so its elements are not copied.
        Npy { shape, order: MemoryOrder::C, data: NpyData::F64(values) } => Ok((shape, values)),
        array => {
            let values = as_f64(op, array.len(), |take| array.data.each(take))?;
            let values = values.and_then(|stored| array.in_c_order(stored)).map_err(wrong)?;
            Ok((array.shape, values))
        }
    }
}
