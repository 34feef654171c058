//! `NumPy`'s `.npy` files to tensors and back.
//!
//! A file comes from outside, so its header is believed only as far as the file's own length bears
//! it out: nothing is allocated that the file does not hold.

use crate::error::Named;
use crate::tensor::{DType, Element, Layout, MAX_RANK, Tensor};
use crate::{Error, Gpu, Result};
use bytemuck::Pod;
use half::f16;
use npyz::{AutoSerialize, DType as FileType, Endianness, NpyHeader, TypeChar, WriteOptions, WriterBuilder};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;

/// What every `.npy` file starts with; two bytes of version and the header's length follow.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is parsed, as in `NumPy`. An element type and six extents take a hundredth of it.
const MAX_HEADER: u64 = 10_000;

/// The element types that tensors have and `NumPy` knows: it has no bf16.
const READABLE: &str =
    "readable are '<f4' (f32), '<f2' (f16), '|i1' (i8) and '<i4' (i32), and '>f4', '>f2' and '>i4'";

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
    /// has more than [`MAX_RANK`] axes, or fewer or more bytes than its shape needs.
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
        read(path).map_err(|why| Error::input(path.display().to_string(), why))
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
                let why =
                    format!("holds {have}, not {want}: make it a Tensor<{have}>, then `cast` that to {want}");
                return Err(Error::input("npy array", why));
            }
        };
        match self.order {
            Order::C => gpu.tensor(elements, &self.shape).named("Npy::tensor"),
            Order::Fortran => {
                let reversed: Vec<usize> = self.shape.iter().rev().copied().collect();
                let axes: Vec<usize> = (0..reversed.len()).rev().collect();
                gpu.tensor(elements, reversed).named("Npy::tensor")?.permute(&axes)
            }
        }
    }
}

/// Writes a tensor to a `.npy` file at `path`, in C order whatever its strides; an existing file is replaced.
///
/// # Errors
/// [`Error::Input`] if the file cannot be written, or `T` is bf16, which `NumPy` does not have; otherwise as
/// [`Tensor::to_vec`].
pub fn write_npy<T: Element>(path: impl AsRef<Path>, tensor: &Tensor<T>) -> Result<()> {
    write_npy_slice(path, tensor.shape(), &tensor.to_vec().named("write_npy")?)
}

/// Writes elements in C order to a `.npy` file at `path`; an existing file is replaced.
///
/// # Shapes
/// `shape` has as many elements as `elements`, and at most [`MAX_RANK`] axes.
///
/// # Errors
/// [`Error::Shape`] if it has not; [`Error::Input`] if the file cannot be written, or `T` is bf16, which `NumPy` does
/// not have.
pub fn write_npy_slice<T: Element>(
    path: impl AsRef<Path>,
    shape: impl AsRef<[usize]>,
    elements: &[T],
) -> Result<()> {
    let (path, shape) = (path.as_ref(), shape.as_ref());
    if Layout::contiguous("write_npy", shape)?.len() != elements.len() {
        let rule = "the shape must have as many elements as there are";
        return Err(Error::shape("write_npy", rule, shape, &[elements.len()]));
    }
    let dtype = match T::DTYPE {
        DType::F32 => f32::default_dtype(), // the byte order of this machine
        DType::F16 => f16::default_dtype(),
        DType::I8 => i8::default_dtype(),
        DType::I32 => i32::default_dtype(),
        DType::Bf16 => {
            let why = "NumPy has no bf16: `cast` to f32 first, which is exact";
            return Err(Error::input(path.display().to_string(), why));
        }
    };
    let extents: Vec<u64> = shape.iter().map(|&extent| extent as u64).collect();
    let header = WriteOptions::new_header_only().dtype(dtype).shape(&extents).writer(Vec::new());
    let write = || {
        let header = header.write_header_only()?;
        let mut file = File::create(path)?;
        file.write_all(&header)?;
        file.write_all(bytemuck::cast_slice(elements))
    };
    write().map_err(|e: std::io::Error| {
        Error::input(path.display().to_string(), format!("cannot be written: {e}"))
    })
}

/// The array of a `.npy` file of f64, f32 or f16, as shape and values in C order: for work on the host, as no tensor holds
/// f64.
///
/// # Errors
/// As [`Npy::read`], but that f64 is readable and integers are not.
pub fn read_npy_f64(path: impl AsRef<Path>) -> Result<(Vec<usize>, Vec<f64>)> {
    let path = path.as_ref();
    read_f64(path).map_err(|why| Error::input(path.display().to_string(), why))
}

/// A file behind its header.
struct Opened {
    file: File,
    header: NpyHeader,
    /// Bytes of elements.
    held: u64,
}

impl Opened {
    fn new(path: &Path) -> Result<Self, String> {
        let mut file = File::open(path).map_err(|e| format!("cannot be opened: {e}"))?;
        let length = file.metadata().map_err(|e| format!("cannot be opened: {e}"))?.len();
        let (preamble, header) = read_preamble(&mut file, length)?;
        let header = NpyHeader::from_reader(&preamble[..])
            .map_err(|e| format!("has a header that makes no sense ({e}): {header}"))?;
        Ok(Self { file, header, held: length - preamble.len() as u64 })
    }

    /// The shape and how many elements it has, each of so many bytes: as many as the file holds.
    fn shape(&self, dtype: &str, size: u64) -> Result<(Vec<usize>, usize), String> {
        let (header, held) = (&self.header, self.held);
        if header.shape().len() > MAX_RANK {
            return Err(format!("has {} axes; a tensor has at most {MAX_RANK}", header.shape().len()));
        }
        let count: u64 = header.shape().iter().product(); // fits: the header is plain
        let needed = count * size;
        if held != needed {
            return Err(format!(
                "holds {held} bytes of elements ({} of {dtype}), but its shape {:?} needs {needed} ({count} of {dtype})",
                held / size,
                header.shape(),
            ));
        }
        let on_this_machine = |n: u64| {
            usize::try_from(n).map_err(|_| format!("is too large for this machine: {:?}", header.shape()))
        };
        let shape = header.shape().iter().map(|&extent| on_this_machine(extent)).collect::<Result<_, _>>()?;
        Ok((shape, on_this_machine(count)?))
    }
}

/// As [`Npy::read`]; the error is only its reason.
fn read(path: &Path) -> Result<Npy, String> {
    let mut opened = Opened::new(path)?;
    let (dtype, byte_order) = element_type(&opened.header.dtype())?;
    let (shape, count) = opened.shape(&dtype.to_string(), dtype.size() as u64)?;
    let order = match opened.header.order() {
        npyz::Order::C => Order::C,
        npyz::Order::Fortran => Order::Fortran,
    };
    let file = &mut opened.file;
    let data = match dtype {
        DType::F32 => read_elements(file, count, byte_order).map(NpyData::F32),
        DType::F16 => read_elements(file, count, byte_order).map(NpyData::F16),
        DType::I8 => read_elements(file, count, byte_order).map(NpyData::I8),
        DType::I32 => read_elements(file, count, byte_order).map(NpyData::I32),
        DType::Bf16 => return Err(format!("has elements of type {dtype}; {READABLE}")),
    };
    Ok(Npy { shape, order, data: data.map_err(|e| format!("cannot be read: {e}"))? })
}

/// As [`read_npy_f64`]; the error is only its reason.
fn read_f64(path: &Path) -> Result<(Vec<usize>, Vec<f64>), String> {
    let mut opened = Opened::new(path)?;
    let other =
        format!("has elements of type {}; readable are f64, f32 and f16", opened.header.dtype().descr());
    let FileType::Plain(plain) = opened.header.dtype() else { return Err(other) };
    let size = match (plain.type_char(), plain.size_field()) {
        (TypeChar::Float, size @ (2 | 4 | 8)) => size,
        _ => return Err(other),
    };
    let (shape, count) = opened.shape(&format!("f{}", 8 * size), size)?;
    let (file, byte_order) = (&mut opened.file, plain.endianness());
    let values = match size {
        8 => read_elements::<f64>(file, count, byte_order),
        4 => read_elements::<f32>(file, count, byte_order).map(|x| x.into_iter().map(f64::from).collect()),
        _ => read_elements::<f16>(file, count, byte_order).map(|x| x.into_iter().map(f64::from).collect()),
    };
    let values: Vec<f64> = values.map_err(|e| format!("cannot be read: {e}"))?;
    if opened.header.order() == npyz::Order::C {
        return Ok((shape, values));
    }
    // The place of each element, the last index fastest, in a file where the first is.
    let place = |mut at: usize| {
        let index = shape.iter().rev().map(|&extent| {
            let i = at % extent;
            at /= extent;
            (i, extent)
        });
        let index: Vec<(usize, usize)> = index.collect();
        index.iter().fold(0, |place, (i, extent)| place * extent + i)
    };
    let values = (0..count).map(|at| values[place(at)]).collect();
    Ok((shape, values))
}

/// The file up to its first element: magic, version, length of the header, header; and the header as text.
fn read_preamble(file: &mut File, length: u64) -> Result<(Vec<u8>, String), String> {
    let mut preamble = Vec::new();
    file.take(12).read_to_end(&mut preamble).map_err(|e| format!("cannot be read: {e}"))?;
    if !preamble.starts_with(MAGIC) {
        let found = preamble[..preamble.len().min(MAGIC.len())].escape_ascii();
        return Err(format!(
            "is no .npy file: it starts with \"{found}\", not with \"{}\"",
            MAGIC.escape_ascii()
        ));
    }
    // The header's length has two bytes in version 1 and four since.
    let (start, header) = match preamble[MAGIC.len()..] {
        [1, _, a, b, ..] => (10, u16::from_le_bytes([a, b]).into()),
        [2 | 3, _, a, b, c, d] => (12, u32::from_le_bytes([a, b, c, d])),
        [major, minor, _, _, ..] if major != 2 && major != 3 => {
            return Err(format!("has version {major}.{minor}; known are 1.0, 2.0 and 3.0"));
        }
        _ => return Err(format!("ends within its header, after {length} bytes")),
    };
    let end = start as u64 + u64::from(header);
    if end > length {
        return Err(format!("ends within its header, after {length} of {end} bytes"));
    }
    if end > MAX_HEADER {
        return Err(format!(
            "has a header of {end} bytes; that of an array of plain numbers takes at most {MAX_HEADER}"
        ));
    }
    preamble.clear();
    let read = file.rewind().and_then(|()| file.take(end).read_to_end(&mut preamble));
    read.map_err(|e| format!("cannot be read: {e}"))?;
    let header = String::from_utf8_lossy(preamble.get(start..).unwrap_or_default()).trim().to_owned();
    if header.contains('[') {
        return Err(format!("has structured elements: {header}; {READABLE}"));
    }
    if is_plain(&header) {
        Ok((preamble, header))
    } else {
        Err(format!("has a header that no writer makes: {header}"))
    }
}

/// Whether a header is one dict with at most one tuple, the shape, and numbers that multiply to a size in
/// bytes that fits in u64.
///
/// NOTE: npyz multiplies extents unchecked and takes time exponential in nested brackets, so this stands
/// before it. Zeros count as ones, for strides are products of the other extents; sums and other
/// notations than decimal do not pass.
fn is_plain(header: &str) -> bool {
    let words = header.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut numbers = words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let bytes = |product: u64, number: &str| product.checked_mul(number.parse::<u64>().ok()?.max(1));
    let fits = numbers.try_fold(8, bytes).is_some(); // 8 bytes are more than one element
    fits && !header.contains(['+', '-']) && header.matches(['{', '(']).count() <= 2
}

fn element_type(file: &FileType) -> Result<(DType, Endianness), String> {
    let other = || format!("has elements of type {}; {READABLE}", file.descr());
    let FileType::Plain(plain) = file else { return Err(other()) };
    match (plain.type_char(), plain.size_field()) {
        (TypeChar::Float, 4) => Ok((DType::F32, plain.endianness())),
        (TypeChar::Float, 2) => Ok((DType::F16, plain.endianness())),
        (TypeChar::Int, 1) => Ok((DType::I8, plain.endianness())),
        (TypeChar::Int, 4) => Ok((DType::I32, plain.endianness())),
        _ => Err(other()),
    }
}

fn read_elements<T: Pod>(file: &mut File, count: usize, byte_order: Endianness) -> std::io::Result<Vec<T>> {
    let mut elements = vec![T::zeroed(); count];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut elements);
    file.read_exact(bytes)?;
    if byte_order != Endianness::of_machine() {
        bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
    Ok(elements)
}
