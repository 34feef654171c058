//! Parses `.npy` files, from the disk or in memory.
//!
//! Files are not trusted: sizes in the header are checked against the length of the file before memory is allocated for
//! them.

use super::elements::{MemoryOrder, NpyData};
use crate::io::number::room;
use crate::layout::MAX_RANK;
use bytemuck::Pod;
use npyz::{DType as FileType, Endianness, NpyHeader, TypeChar, TypeStr};
use std::io::{Read, Seek};

/// The first bytes of a `.npy` file. Two bytes of version and the length of the header follow.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Largest length of a header. `NumPy` has the same limit. A header with six extents has about a hundredth of it.
const MAX_HEADER: u64 = 10_000;

/// The element types that can be read.
const READABLE: &str =
    "supported are floats of 2, 4 or 8 bytes, integers of 1, 2, 4 or 8 bytes, and bool, in either byte order";

/// The remedy for elements without a type of `NumPy`, among them bf16 and fp8 of other packages.
const NAMELESS: &str = "NumPy stores types that it does not have, such as bfloat16 and float8, as bytes without a name: \
    save `x.astype('float32')` instead, which has the same values";

/// A file whose header has been read.
pub(super) struct OpenedNpy<R> {
    file: R,
    header: NpyHeader,
    /// Bytes of elements in the file.
    element_bytes: u64,
}

impl<R: Read + Seek> OpenedNpy<R> {
    /// A file of `length` bytes.
    pub(super) fn new(mut file: R, length: u64) -> Result<Self, String> {
        let (preamble, header) = read_preamble(&mut file, length)?;
        // NumPy 2.4 writes this for float8_e5m2, and does not read it.
        if ["'<f1'", "'>f1'", "'|f1'"].iter().any(|descr| header.contains(descr)) {
            return Err(format!("has elements of type 'f1': {NAMELESS}"));
        }
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
    mut opened: OpenedNpy<impl Read + Seek>,
) -> Result<(Vec<usize>, MemoryOrder, NpyData), String> {
    let plain = element_type(&opened.header.dtype())?;
    let (char, size, byte_order) = (plain.type_char(), plain.size_field(), plain.endianness());
    let (shape, count) = opened.shape(&name(char, size), size)?;
    let order = match opened.header.order() {
        npyz::Order::C => MemoryOrder::C,
        npyz::Order::Fortran => MemoryOrder::Fortran,
    };
    let file = &mut opened.file;
    let data = match (char, size) {
        (TypeChar::Float, 8) => NpyData::F64(read_elements(file, count, byte_order)?),
        (TypeChar::Float, 4) => NpyData::F32(read_elements(file, count, byte_order)?),
        (TypeChar::Float, _) => NpyData::F16(read_elements(file, count, byte_order)?),
        (TypeChar::Int, 8) => NpyData::I64(read_elements(file, count, byte_order)?),
        (TypeChar::Int, 4) => NpyData::I32(read_elements(file, count, byte_order)?),
        (TypeChar::Int, 2) => NpyData::I16(read_elements(file, count, byte_order)?),
        (TypeChar::Int, _) => NpyData::I8(read_elements(file, count, byte_order)?),
        (TypeChar::Uint, 8) => NpyData::U64(read_elements(file, count, byte_order)?),
        (TypeChar::Uint, 4) => NpyData::U32(read_elements(file, count, byte_order)?),
        (TypeChar::Uint, 2) => NpyData::U16(read_elements(file, count, byte_order)?),
        (TypeChar::Uint, _) => NpyData::U8(read_elements(file, count, byte_order)?),
        _ => NpyData::Bool(bools(&read_elements(file, count, byte_order)?)?),
    };
    Ok((shape, order, data))
}

/// The elements of a file of bool: as NumPy reads them, every byte but 0 is true.
fn bools(bytes: &[u8]) -> Result<Vec<bool>, String> {
    let mut values = room(bytes.len())?;
    values.extend(bytes.iter().map(|&byte| byte != 0));
    Ok(values)
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
        return Err(format!(
            "has structured elements: {header}; {READABLE}. Save each field as an array of its own"
        ));
    }
    let plain = of_today(&header);
    if is_plain(&plain) {
        // Only the length of the header matters from here on, so replaced parts that became shorter are padded.
        if plain != header {
            let whole = preamble.len();
            preamble.truncate(start);
            preamble.extend_from_slice(plain.as_bytes());
            preamble.resize(whole, b' ');
        }
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

/// A header as `NumPy` writes it today. Python 2 marks long integers with an L (on Windows extents are long integers). `=`
/// stands for the byte order of the reading machine.
fn of_today(header: &str) -> String {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let shorter = |part: &str| {
        let word = part.trim_end_matches(|c| !is_of_word(c));
        let is_number = |digits: &&str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        match word.strip_suffix('L').filter(is_number) {
            Some(digits) => format!("{digits}{}", &part[word.len()..]),
            None => part.to_owned(),
        }
    };
    let shorter: String = header.split_inclusive(|c| !is_of_word(c)).map(shorter).collect();
    shorter.replace("'=", &format!("'{}", Endianness::of_machine().to_str()))
}

/// The element type of a file, if it can be read.
fn element_type(file: &FileType) -> Result<TypeStr, String> {
    let FileType::Plain(plain) = file else {
        return Err(format!("has elements of type {}; {READABLE}", file.descr()));
    };
    match (plain.type_char(), plain.size_field()) {
        (TypeChar::Float, 2 | 4 | 8) | (TypeChar::Int | TypeChar::Uint, _) | (TypeChar::Bool, _) => {
            Ok(plain.clone())
        }
        (TypeChar::RawData, _) => Err(format!("has elements of type {}: {NAMELESS}", file.descr())),
        _ => Err(format!("has elements of type {}; {READABLE}", file.descr())),
    }
}

/// The name of a readable type whose elements have `size` bytes.
fn name(char: TypeChar, size: u64) -> String {
    let letter = match char {
        TypeChar::Float => "f",
        TypeChar::Int => "i",
        TypeChar::Uint => "u",
        _ => return "bool".into(),
    };
    format!("{letter}{}", 8 * size)
}

fn read_elements<T: Pod>(
    file: &mut impl Read,
    count: usize,
    byte_order: Endianness,
) -> Result<Vec<T>, String> {
    let mut elements = room(count)?;
    elements.resize(count, T::zeroed());
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut elements);
    file.read_exact(bytes).map_err(|e| format!("cannot be read: {e}"))?;
    if byte_order != Endianness::of_machine() {
        bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
    Ok(elements)
}
