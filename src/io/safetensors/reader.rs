//! Tensors from `.safetensors` files.

use crate::error::Named;
use crate::layout::{DType, Element};
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};
use ::safetensors::tensor::{Dtype, Metadata, SafeTensors, TensorInfo};
use half::{bf16, f16};
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
    /// [`Error::Input`] if the file cannot be read or is not a complete `.safetensors` file.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Self::named(name, bytes),
            Err(e) => Err(Error::input(name, format!("cannot be opened: {e}"))),
        }
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

    /// The element type of a tensor. None if no [`Tensor`] has this type; [`values`](Self::values) reads it.
    ///
    /// # Errors
    /// As for [`shape`](Self::shape).
    pub fn dtype(&self, name: &str) -> Result<Option<DType>> {
        Ok(match self.info(name)?.dtype {
            Dtype::F32 => Some(DType::F32),
            Dtype::F16 => Some(DType::F16),
            Dtype::BF16 => Some(DType::Bf16),
            Dtype::I8 => Some(DType::I8),
            Dtype::I32 => Some(DType::I32),
            _ => None,
        })
    }

    /// Uploads a tensor.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no tensor of this name, or if `T` is not its element type, because nothing is
    /// converted silently. Otherwise as for [`Gpu::tensor`].
    pub fn tensor<T: Element>(&self, gpu: &Gpu, name: &str) -> Result<Tensor<T>> {
        let info = self.info(name)?;
        if self.dtype(name)? != Some(T::DTYPE) {
            let why = format!(
                "`{name}` has elements of {}, not {}: load it with its own type, then `cast` it",
                info.dtype,
                T::DTYPE
            );
            return Err(Error::input(&self.name, why));
        }
        let elements = bytemuck::pod_collect_to_vec::<u8, T>(self.elements(info));
        gpu.tensor(&elements, &info.shape).named("Safetensors::tensor")
    }

    /// The elements of a tensor as f64, row-major. 64-bit integers above $2^{53}$ are rounded; all other values are
    /// exact.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no tensor of this name, or if its element type is not supported.
    pub fn values(&self, name: &str) -> Result<Vec<f64>> {
        let info = self.info(name)?;
        let bytes = self.elements(info);
        fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
            bytes.chunks_exact(N).map(|word| std::array::from_fn(|i| word[i]))
        }
        Ok(match info.dtype {
            Dtype::F64 => words(bytes).map(f64::from_le_bytes).collect(),
            Dtype::F32 => words(bytes).map(|word| f32::from_le_bytes(word).into()).collect(),
            Dtype::F16 => words(bytes).map(|word| f16::from_le_bytes(word).into()).collect(),
            Dtype::BF16 => words(bytes).map(|word| bf16::from_le_bytes(word).into()).collect(),
            Dtype::I64 => words(bytes).map(|word| i64::from_le_bytes(word) as f64).collect(),
            Dtype::I32 => words(bytes).map(|word| i32::from_le_bytes(word).into()).collect(),
            Dtype::I8 => words(bytes).map(|word| i8::from_le_bytes(word).into()).collect(),
            Dtype::U8 => bytes.iter().map(|&byte| byte.into()).collect(),
            other => {
                let why = format!(
                    "`{name}` has elements of {other}; supported are F64, F32, F16, BF16, I64, I32, I8 and U8"
                );
                return Err(Error::input(&self.name, why));
            }
        })
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
            let have = self.names().join(", ");
            Error::input(&self.name, format!("has no tensor `{name}`; it has {have}"))
        })
    }

    fn elements(&self, info: &TensorInfo) -> &[u8] {
        let (start, end) = info.data_offsets;
        &self.bytes[start..end]
    }
}
