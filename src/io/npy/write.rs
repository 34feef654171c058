//! Tensors and elements to `.npy` files.

use crate::error::Named;
use crate::files::replace::replace;
use crate::files::reported::{write_error, write_reported};
use crate::layout::{DType, Element, Layout};
use crate::tensor::Tensor;
use crate::{Error, Result};
use half::f16;
use npyz::{AutoSerialize, WriteOptions, WriterBuilder};
use std::path::Path;

/// Writes a tensor of any strides to a `.npy` file at `path`, in C order.
///
/// The write is atomic: the file appears, or replaces an existing one, when all of it is on the disk. (A device or a
/// pipe is written to directly.) Not available in a browser: use [`npy_bytes`].
///
/// # Errors
/// [`Error::Input`] if the file cannot be written, or if `T` is bf16 or has 8 bits and a fraction: `NumPy` has no such
/// types. Otherwise as for [`Tensor::to_vec`].
#[cfg(not(target_arch = "wasm32"))]
pub fn write_npy<T: Element>(path: impl AsRef<Path>, tensor: &Tensor<T>) -> Result<()> {
    let op = "write_npy";
    write(op, path.as_ref(), tensor.shape(), &tensor.to_vec().named(op)?)
}

/// Like [`write_npy`](crate::io::write_npy), but does not block the thread while it waits for the device. Writing to
/// the disk blocks.
///
/// # Errors
/// As for `write_npy`.
pub async fn write_npy_async<T: Element>(path: impl AsRef<Path>, tensor: &Tensor<T>) -> Result<()> {
    let op = "write_npy_async";
    let elements = tensor.read().await.named(op)?;
    write(op, path.as_ref(), tensor.shape(), &elements)
}

/// Writes elements in C order to a `.npy` file at `path`. The write is atomic, like that of
/// [`write_npy`](crate::io::write_npy).
///
/// # Shapes
/// `shape` has as many elements as `elements`, and at most [`MAX_RANK`](crate::Layout::MAX_RANK) axes.
///
/// # Errors
/// [`Error::Shape`] if `shape` breaks these rules; [`Error::Input`] if the file cannot be written, or if `T` is bf16
/// or has 8 bits and a fraction: `NumPy` has no such types.
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
        let parts = [&header[..], bytemuck::cast_slice(elements)];
        write_reported((op, &name()), parts.into_iter(), file)
    });
    written.map_err(|e| write_error(name(), e))
}

/// The bytes of a `.npy` file with these elements in C order.
///
/// # Shapes
/// As for [`write_npy_slice`].
///
/// # Errors
/// As for [`write_npy_slice`], but nothing is written.
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

/// The bytes of the file before its elements. Errors call the file `name`.
fn header<T: Element>(
    op: &'static str,
    name: impl Fn() -> String,
    shape: &[usize],
    elements: &[T],
) -> Result<Vec<u8>> {
    if Layout::contiguous(op, shape)?.len() != elements.len() {
        let rule = "the shape must have as many elements as are given";
        return Err(Error::shapes(op, rule, shape, &[elements.len()]));
    }
    let dtype = match T::DTYPE {
        DType::F32 => f32::default_dtype(), // the byte order of this machine
        DType::F16 => f16::default_dtype(),
        DType::I8 => i8::default_dtype(),
        DType::I32 => i32::default_dtype(),
        none @ (DType::Bf16 | DType::F8E4M3 | DType::F8E5M2) => {
            let why = format!("NumPy has no {none}: `cast` the tensor to f32 first, which is exact");
            return Err(Error::input(name(), why));
        }
    };
    let extents: Vec<u64> = shape.iter().map(|&extent| extent as u64).collect();
    let header = WriteOptions::new_header_only().dtype(dtype).shape(&extents).writer(Vec::new());
    header.write_header_only().map_err(|e| Error::input(name(), format!("cannot be written: {e}")))
}
