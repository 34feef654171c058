//! Parses `.npy` files, from the disk or in memory.
//!
//! Files are not trusted: sizes in the header are checked against the length of the file before memory is allocated for
//! them.

use super::elements::{MemoryOrder, NpyData};
use crate::layout::{DType, MAX_RANK};
use bytemuck::Pod;
use half::f16;
use npyz::{DType as FileType, Endianness, NpyHeader, TypeChar};
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

/// The first bytes of a `.npy` file. Two bytes of version and the length of the header follow.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Largest length of a header. `NumPy` has the same limit. A header with six extents has about a hundredth of it.
const MAX_HEADER: u64 = 10_000;

/// The element types that tensors and `NumPy` share. `NumPy` has no bf16.
const READABLE: &str =
    "supported are '<f4' (f32), '<f2' (f16), '|i1' (i8) and '<i4' (i32), and '>f4', '>f2' and '>i4'";

/// A file whose header has been read.
pub(super) struct Opened<R> {
    file: R,
    header: NpyHeader,
    /// Bytes of elements in the file.
    element_bytes: u64,
}

impl Opened<File> {
    /// The file at `path`.
    pub(super) fn at(path: &Path) -> Result<Self, String> {
        let file = File::open(path).map_err(|e| format!("cannot be opened: {e}"))?;
        let length = file.metadata().map_err(|e| format!("cannot be opened: {e}"))?.len();
        Self::new(file, length)
    }
}

impl<R: Read + Seek> Opened<R> {
    /// A file of `length` bytes.
    pub(super) fn new(mut file: R, length: u64) -> Result<Self, String> {
        let (preamble, header) = read_preamble(&mut file, length)?;
        let header = NpyHeader::from_reader(&preamble[..])
            .map_err(|e| format!("has an invalid header ({e}): {header}"))?;
        Ok(Self { file, header, element_bytes: length - preamble.len() as u64 })
    }

    /// The shape and the number of elements of `size` bytes each, checked against the length of the file.
    fn shape(&self, dtype: &str, size: u64) -> Result<(Vec<usize>, usize), String> {
        let (header, held) = (&self.header, self.element_bytes);
        if header.shape().len() > MAX_RANK {
            return Err(format!("has {} axes; a tensor has at most {MAX_RANK}", header.shape().len()));
        }
        let count: u64 = header.shape().iter().product(); // does not overflow: `is_plain` has checked it
        let needed = count * size;
        if held != needed {
            return Err(format!(
                "has {held} bytes of elements ({} of {dtype}), but its shape {:?} needs {needed} ({count} of {dtype})",
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

/// Reads shape, order and elements. The error is only the reason, without the name of the file.
pub(super) fn read(
    mut opened: Opened<impl Read + Seek>,
) -> Result<(Vec<usize>, MemoryOrder, NpyData), String> {
    let (dtype, byte_order) = element_type(&opened.header.dtype())?;
    let (shape, count) = opened.shape(&dtype.to_string(), dtype.size() as u64)?;
    let order = match opened.header.order() {
        npyz::Order::C => MemoryOrder::C,
        npyz::Order::Fortran => MemoryOrder::Fortran,
    };
    let file = &mut opened.file;
    let data = match dtype {
        DType::F32 => read_elements(file, count, byte_order).map(NpyData::F32),
        DType::F16 => read_elements(file, count, byte_order).map(NpyData::F16),
        DType::I8 => read_elements(file, count, byte_order).map(NpyData::I8),
        DType::I32 => read_elements(file, count, byte_order).map(NpyData::I32),
        DType::Bf16 => return Err(format!("has elements of type {dtype}; {READABLE}")),
    };
    Ok((shape, order, data.map_err(|e| format!("cannot be read: {e}"))?))
}

/// Reads shape and values in C order. The error is only the reason, without the name of the file.
pub(super) fn read_f64(mut opened: Opened<impl Read + Seek>) -> Result<(Vec<usize>, Vec<f64>), String> {
    let other =
        format!("has elements of type {}; supported are f64, f32 and f16", opened.header.dtype().descr());
    let FileType::Plain(plain) = opened.header.dtype() else { return Err(other) };
    let size = match (plain.type_char(), plain.size_field()) {
        (TypeChar::Float, size @ (2 | 4 | 8)) => size,
        _ => return Err(other),
    };
    let (shape, count) = opened.shape(&format!("f{}", 8 * size), size)?;
    let (file, byte_order) = (&mut opened.file, plain.endianness());
    let values = match size {
        8 => read_elements::<f64>(file, count, byte_order),
        4 => read_elements::<f32>(file, count, byte_order)
            .and_then(|x| collected(x.into_iter().map(f64::from))),
        _ => read_elements::<f16>(file, count, byte_order)
            .and_then(|x| collected(x.into_iter().map(f64::from))),
    };
    let cannot = |e| format!("cannot be read: {e}");
    let values: Vec<f64> = values.map_err(cannot)?;
    if opened.header.order() == npyz::Order::C {
        return Ok((shape, values));
    }
    // Where the file, whose first index runs fastest, has each element of an array whose last index runs fastest.
    let place = |mut at: usize| {
        let index = shape.iter().rev().map(|&extent| {
            let i = at % extent;
            at /= extent;
            (i, extent)
        });
        let index: Vec<(usize, usize)> = index.collect();
        index.iter().fold(0, |place, (i, extent)| place * extent + i)
    };
    let values = collected((0..count).map(|at| values[place(at)])).map_err(cannot)?;
    Ok((shape, values))
}

/// The bytes of the file before its first element (magic, version, length of the header, header), and the header as
/// text.
fn read_preamble(file: &mut (impl Read + Seek), length: u64) -> Result<(Vec<u8>, String), String> {
    let mut preamble = Vec::new();
    file.by_ref().take(12).read_to_end(&mut preamble).map_err(|e| format!("cannot be read: {e}"))?;
    if !preamble.starts_with(MAGIC) {
        let found = preamble[..preamble.len().min(MAGIC.len())].escape_ascii();
        return Err(format!(
            "is not a .npy file: it starts with \"{found}\" instead of \"{}\"",
            MAGIC.escape_ascii()
        ));
    }
    // The length of the header has two bytes in version 1 and four in later versions.
    let (start, header) = match preamble[MAGIC.len()..] {
        [1, _, a, b, ..] => (10, u16::from_le_bytes([a, b]).into()),
        [2 | 3, _, a, b, c, d] => (12, u32::from_le_bytes([a, b, c, d])),
        [major, minor, _, _, ..] if major != 2 && major != 3 => {
            return Err(format!("has version {major}.{minor}; supported are 1.0, 2.0 and 3.0"));
        }
        _ => return Err(format!("ends within its header, after {length} bytes")),
    };
    let end = start as u64 + u64::from(header);
    if end > length {
        return Err(format!("ends within its header, after {length} of {end} bytes"));
    }
    if end > MAX_HEADER {
        return Err(format!(
            "has a header of {end} bytes; an array of plain numbers needs at most {MAX_HEADER}"
        ));
    }
    preamble.clear();
    let read = file.rewind().and_then(|()| file.by_ref().take(end).read_to_end(&mut preamble));
    read.map_err(|e| format!("cannot be read: {e}"))?;
    let header = String::from_utf8_lossy(preamble.get(start..).unwrap_or_default()).trim().to_owned();
    if header.contains('[') {
        return Err(format!("has structured elements: {header}; {READABLE}"));
    }
    if is_plain(&header) {
        Ok((preamble, header))
    } else {
        Err(format!("has a header that no known writer produces: {header}"))
    }
}

/// Whether a header is one dict with at most one tuple, the shape, and the product of all its numbers is a size in
/// bytes that fits in u64.
///
/// NOTE: npyz multiplies extents unchecked and takes time exponential in nested brackets, so this check comes first.
/// Zeros count as ones, because strides are products of the other extents. Sums and numbers that are not decimal are
/// rejected.
fn is_plain(header: &str) -> bool {
    let words = header.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut numbers = words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let bytes = |product: u64, number: &str| product.checked_mul(number.parse::<u64>().ok()?.max(1));
    let fits = numbers.try_fold(8, bytes).is_some(); // no element is larger than 8 bytes
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

fn read_elements<T: Pod>(
    file: &mut impl Read,
    count: usize,
    byte_order: Endianness,
) -> std::io::Result<Vec<T>> {
    let mut elements = room(count)?;
    elements.resize(count, T::zeroed());
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut elements);
    file.read_exact(bytes)?;
    if byte_order != Endianness::of_machine() {
        bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
    Ok(elements)
}

/// Collects values in a vector, without aborting if memory runs out.
fn collected(values: impl ExactSizeIterator<Item = f64>) -> std::io::Result<Vec<f64>> {
    let mut all = room(values.len())?;
    all.extend(values);
    Ok(all)
}

/// An empty vector with this capacity. NOTE: a sparse file may be larger than the memory of this machine.
fn room<T>(count: usize) -> std::io::Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(count)?;
    Ok(values)
}
