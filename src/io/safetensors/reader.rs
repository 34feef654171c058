//! Tensors from `.safetensors` files.

use crate::error::Named;
use crate::files::reported::ReportedFile;
use crate::io::fp8::Fp8;
use crate::io::number::{FileNumber, as_f64, converted};
use crate::layout::{DType, Element};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};
use ::safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};
use half::{bf16, f16};
use std::fmt::Display;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// A `.safetensors` file in memory: tensors by name, and metadata.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::io::{Safetensors, SafetensorsWriter};
///
/// # let path = std::env::temp_dir().join(format!("tilewise-doc-{}.safetensors", std::process::id()));
/// let weight = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// SafetensorsWriter::new().tensor("layer.weight", &weight)?.metadata("made", "here").write(&path)?;
///
/// let file = Safetensors::read(&path)?;
/// assert_eq!(file.names(), ["layer.weight"]);
/// assert_eq!(file.tensor::<f32>(&gpu, "layer.weight")?.to_vec()?, [1.0, 2.0, 3.0, 4.0]);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Safetensors {
    /// Name of the file, for errors.
    name: String,
    /// The elements of all tensors. Writers that copy tensors share them.
    pub(super) bytes: Arc<Vec<u8>>,
    header: Metadata,
}

impl Safetensors {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`Error::Input`] if the file cannot be read or is not a complete `.safetensors` file; [`Error::Cancelled`] in
    /// [`with_progress`](crate::with_progress).
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut file = ReportedFile::open("Safetensors::read", path)?;
        let mut bytes = Vec::new();
        let length = usize::try_from(file.length).unwrap_or(usize::MAX);
        let unread = |e: &dyn Display| format!("cannot be opened: {e}");
        bytes.try_reserve_exact(length).map_err(|e| file.error(unread(&e)))?;
        file.read_to_end(&mut bytes).map_err(|e| file.error(unread(&e)))?;
        file.end()?;
        Self::named(path.display().to_string(), bytes)
    }

    /// Reads a `.safetensors` file from memory, for example in a browser. Otherwise like [`read`](Self::read).
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::named("safetensors".into(), bytes).named("Safetensors::from_bytes")
    }

    fn named(name: String, mut bytes: Vec<u8>) -> Result<Self> {
        let wrong = |why: String| Error::input(name.clone(), why);
        // `deserialize` checks the header against the length of the file.
        SafeTensors::deserialize(&bytes).map_err(|e| wrong(format!("is not a .safetensors file: {e}")))?;
        let (length, header) = SafeTensors::read_metadata(&bytes)
            .map_err(|e| wrong(format!("is not a .safetensors file: {e}")))?;
        bytes.drain(..8 + length);
        Ok(Self { name, bytes: Arc::new(bytes), header })
    }

    /// The names of the tensors, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names = self.header.offset_keys();
        names.sort_unstable();
        names
    }

    /// The metadata entry with this key.
    #[must_use]
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.header.metadata().as_ref()?.get(key).map(String::as_str)
    }

    /// The keys of the metadata, sorted.
    #[must_use]
    pub fn metadata_keys(&self) -> Vec<&str> {
        let mut keys: Vec<&str> =
            self.header.metadata().iter().flatten().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        keys
    }

    /// The shape of a tensor.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no tensor of this name.
    pub fn shape(&self, name: &str) -> Result<&[usize]> {
        Ok(&self.info(name)?.shape)
    }

    /// The element type of a tensor. None if no [`Tensor`] has this type: [`tensor_as`](Self::tensor_as) converts it, and
    /// [`values`](Self::values) reads it.
    ///
    /// # Errors
    /// As for [`shape`](Self::shape).
    pub fn dtype(&self, name: &str) -> Result<Option<DType>> {
        let stored = self.info(name)?.dtype;
        Ok(DType::ALL.into_iter().find(|&dtype| dtype_of(dtype) == stored))
    }

    /// Uploads a tensor.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no tensor of this name, or if `T` is not its element type, because nothing is
    /// converted silently. Otherwise as for [`Gpu::tensor`].
    pub fn tensor<T: Element>(&self, gpu: &Gpu, name: &str) -> Result<Tensor<T>> {
        let info = self.info(name)?;
        if self.dtype(name)? != Some(T::DTYPE) {
            return Err(Error::input(&self.name, self.other_type::<T>(name, info)?));
        }
        let elements = bytemuck::pod_collect_to_vec::<u8, T>(self.elements(info));
        gpu.tensor(&elements, &info.shape).named("Safetensors::tensor")
    }

    /// The reason why a tensor cannot be loaded as a tensor of `T`, and the remedy.
    fn other_type<T: Element>(&self, name: &str, info: &TensorInfo) -> Result<String> {
        let (have, want) = (info.dtype, T::DTYPE);
        let remedy = match self.dtype(name)? {
            Some(own) => format!("load it with `tensor::<{}>`, then `cast` it to {want}", of_rust(own)),
            None if self.each(info, &mut |_| ()).is_some() => {
                format!("convert it with `tensor_as::<{want}>`, or read it as f64 with `values`")
            }
            None => "no tensor has this type; `bytes` has its bytes".into(),
        };
        Ok(format!("`{name}` has elements of {have}, not {want}: {remedy}"))
    }

    /// Uploads a tensor with its elements converted to `T`: rounded once to the nearest value for a floating-point type,
    /// unchanged for an integer type. `false` is 0 and `true` is 1.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no tensor of this name, or if its element type is not one of those of
    /// [`values`](Self::values). It names the first element that cannot be converted to `T`: a finite number that would
    /// become infinite, or, for an integer type, a number that is out of its range or not an integer. Otherwise as for
    /// [`Gpu::tensor`].
    ///
    /// # Example
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// # let header = r#"{"labels":{"dtype":"I64","shape":[2],"data_offsets":[0,16]}}"#;
    /// # let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    /// # bytes.extend(header.bytes().chain([3i64, 9].iter().flat_map(|label| label.to_le_bytes())));
    /// let file = tilewise::io::Safetensors::from_bytes(bytes)?;
    /// assert_eq!(file.dtype("labels")?, None); // 64-bit integers
    /// assert_eq!(file.tensor_as::<i32>(&gpu, "labels")?.to_vec()?, [3, 9]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tensor_as<T: Element>(&self, gpu: &Gpu, name: &str) -> Result<Tensor<T>> {
        let op = "Safetensors::tensor_as";
        let elements = self.numbers(name, |len, each| converted::<T>(op, len, each))?;
        gpu.tensor(&elements, self.shape(name)?).named(op)
    }

    /// The elements of a tensor as f64, row-major. 64-bit integers above $2^{53}$ are rounded; all other values are exact.
    /// The element type may be any float of 8, 16, 32 or 64 bits, any integer, or BOOL.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no tensor of this name, or if its element type is not supported.
    pub fn values(&self, name: &str) -> Result<Vec<f64>> {
        self.numbers(name, |len, each| as_f64("Safetensors::values", len, each))
    }

    /// What `read` makes of the number of a tensor's elements and of a function that supplies them. Its inner error is the
    /// reason why it fails.
    fn numbers<R>(
        &self,
        name: &str,
        read: impl FnOnce(usize, &mut dyn FnMut(&mut dyn FnMut(FileNumber))) -> Result<Result<R, String>>,
    ) -> Result<R> {
        let info = self.info(name)?;
        let mut is_known = true;
        let read = read(info.shape.iter().product(), &mut |take| is_known = self.each(info, take).is_some())?;
        let why = match read {
            _ if !is_known => format!(
                "`{name}` has elements of {}; supported are floats of 8 to 64 bits, integers and BOOL. `bytes` has its bytes",
                info.dtype
            ),
            Ok(read) => return Ok(read),
            Err(why) => format!("`{name}`: {why}"),
        };
        Err(Error::input(&self.name, why))
    }

    /// Passes the elements of a tensor to a function. None if their type is not supported.
    fn each(&self, info: &TensorInfo, take: &mut dyn FnMut(FileNumber)) -> Option<()> {
        fn all<const N: usize, X: Into<FileNumber>>(
            bytes: &[u8],
            of: impl Fn([u8; N]) -> X,
            take: &mut dyn FnMut(FileNumber),
        ) {
            let words = bytes.chunks_exact(N).map(|word| std::array::from_fn(|i| word[i]));
            words.for_each(|word| take(of(word).into()));
        }
        let bytes = self.elements(info);
        let fp8 = |format: Fp8| move |[byte]: [u8; 1]| format.to_f64(byte);
        match info.dtype {
            Dtype::F64 => all(bytes, f64::from_le_bytes, take),
            Dtype::F32 => all(bytes, f32::from_le_bytes, take),
            Dtype::F16 => all(bytes, f16::from_le_bytes, take),
            Dtype::BF16 => all(bytes, |word| bf16::from_le_bytes(word).to_f64(), take),
            Dtype::F8_E4M3 => all(bytes, fp8(Fp8::E4M3), take),
            Dtype::F8_E5M2 => all(bytes, fp8(Fp8::E5M2), take),
            Dtype::F8_E4M3FNUZ => all(bytes, fp8(Fp8::E4M3Fnuz), take),
            Dtype::F8_E5M2FNUZ => all(bytes, fp8(Fp8::E5M2Fnuz), take),
            Dtype::F8_E8M0 => all(bytes, fp8(Fp8::E8M0), take),
            Dtype::I64 => all(bytes, i64::from_le_bytes, take),
            Dtype::I32 => all(bytes, i32::from_le_bytes, take),
            Dtype::I16 => all(bytes, i16::from_le_bytes, take),
            Dtype::I8 => all(bytes, i8::from_le_bytes, take),
            Dtype::U64 => all(bytes, u64::from_le_bytes, take),
            Dtype::U32 => all(bytes, u32::from_le_bytes, take),
            Dtype::U16 => all(bytes, u16::from_le_bytes, take),
            Dtype::U8 => all(bytes, u8::from_le_bytes, take),
            Dtype::BOOL => all(bytes, |[byte]: [u8; 1]| byte != 0, take),
            _ => return None,
        }
        Some(())
    }

    /// The bytes of a tensor's elements, as stored in the file: row-major, little-endian.
    ///
    /// # Errors
    /// As for [`shape`](Self::shape).
    pub fn bytes(&self, name: &str) -> Result<&[u8]> {
        Ok(self.elements(self.info(name)?))
    }

    pub(super) fn info(&self, name: &str) -> Result<&TensorInfo> {
        self.header.info(name).ok_or_else(|| {
            Error::input(
                &self.name,
                format!("has no tensor `{name}`; it has {}", listed(name, &self.names())),
            )
        })
    }

    fn elements(&self, info: &TensorInfo) -> &[u8] {
        let (start, end) = info.data_offsets;
        &self.bytes[start..end]
    }
}

/// The type of the file for elements of this type.
pub(super) fn dtype_of(dtype: DType) -> Dtype {
    match dtype {
        DType::F32 => Dtype::F32,
        DType::F16 => Dtype::F16,
        DType::Bf16 => Dtype::BF16,
        DType::I8 => Dtype::I8,
        DType::I32 => Dtype::I32,
        DType::F8E4M3 => Dtype::F8_E4M3,
        DType::F8E5M2 => Dtype::F8_E5M2,
    }
}

/// The name of a type in Rust.
fn of_rust(dtype: DType) -> String {
    match dtype {
        DType::F8E4M3 | DType::F8E5M2 => format!("{dtype:?}"),
        _ => dtype.to_string(),
    }
}

/// The names in an error about the missing tensor `name`: those that end or begin with it, because nesting modules changes
/// prefixes; otherwise the first names of the file.
fn listed(name: &str, all: &[String]) -> String {
    const MOST: usize = 12;
    let is_nested = |have: &&String| {
        let parts = |long: &str, short: &str| {
            !short.is_empty()
                && (long.strip_suffix(short).is_some_and(|rest| rest.ends_with('.'))
                    || long.strip_prefix(short).is_some_and(|rest| rest.starts_with('.')))
        };
        parts(have, name) || parts(name, have)
    };
    let mut shown: Vec<&String> = all.iter().filter(is_nested).collect();
    if shown.is_empty() {
        shown.extend(all);
    }
    shown.truncate(MOST);
    let text: Vec<String> = shown.iter().map(|name| format!("`{name}`")).collect();
    match all.len() - shown.len() {
        _ if all.is_empty() => "none".into(),
        0 => text.join(", "),
        more => format!("{} and {more} more", text.join(", ")),
    }
}
