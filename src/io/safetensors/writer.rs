//! Tensors to `.safetensors` files.

use super::reader::{Safetensors, dtype_of};
use crate::error::Named;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::call;
use crate::files::replace::replace;
use crate::files::reported::{write_error, write_reported};
use crate::layout::Element;
use crate::progress::unreported;
use crate::tensor::Tensor;
use crate::{Error, Result};
use ::safetensors::tensor::Dtype;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Longest header that readers accept.
const MAX_HEADER: usize = 100_000_000;

/// The header's name for the metadata. No tensor may have it.
const METADATA: &str = "__metadata__";

/// Builds a `.safetensors` file. The same tensors and metadata always give the same bytes.
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is written before `write`"]
pub struct SafetensorsWriter {
    tensors: BTreeMap<String, Entry>,
    metadata: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
struct Entry {
    dtype: Dtype,
    shape: Vec<usize>,
    /// The buffer that holds the elements, and their range in it.
    bytes: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl SafetensorsWriter {
    /// An empty file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tensor of any strides, in row-major order. Not available in a browser: use
    /// [`tensor_async`](Self::tensor_async).
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor of this name, or if the name is `__metadata__`; otherwise as
    /// for [`Tensor::to_vec`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn tensor<T: Element>(self, name: impl Into<String>, tensor: &Tensor<T>) -> Result<Self> {
        call("SafetensorsWriter::tensor", || {
            let name = name.into();
            self.vacant(&name)?;
            self.values(name, tensor.shape(), &tensor.to_vec()?)
        })
    }

    /// Like `tensor`, without blocking: it waits for the device as [`Tensor::read`] does.
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor of this name, or if the name is `__metadata__`; otherwise as
    /// for [`Tensor::read`].
    pub async fn tensor_async<T: Element>(self, name: impl Into<String>, tensor: &Tensor<T>) -> Result<Self> {
        let (op, name) = ("SafetensorsWriter::tensor_async", name.into());
        self.vacant(&name).named(op)?;
        let elements = tensor.read().await.named(op)?;
        self.values(name, tensor.shape(), &elements).named(op)
    }

    /// Adds tensors, with `prefix` before their names.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn tensors<'a, T: Element>(
        self,
        prefix: &str,
        tensors: impl IntoIterator<Item = (String, &'a Tensor<T>)>,
    ) -> Result<Self> {
        let mut tensors = tensors.into_iter();
        tensors.try_fold(self, |file, (name, tensor)| file.tensor(format!("{prefix}{name}"), tensor))
    }

    /// As `tensors`, without blocking.
    pub(crate) async fn tensors_async<'a, T: Element>(
        mut self,
        prefix: &str,
        tensors: impl IntoIterator<Item = (String, &'a Tensor<T>)>,
    ) -> Result<Self> {
        for (name, tensor) in tensors {
            self = self.tensor_async(format!("{prefix}{name}"), tensor).await?;
        }
        Ok(self)
    }

    /// Copies a tensor of another file under the same name, byte for byte. It may have any type.
    ///
    /// # Errors
    /// [`Error::Input`] if the other file has no tensor of this name, if this file already has one, or if the name is
    /// `__metadata__`.
    pub fn copied(self, file: &Safetensors, name: &str) -> Result<Self> {
        let info = file.info(name)?;
        let range = info.data_offsets.0..info.data_offsets.1;
        let bytes = Arc::clone(&file.bytes);
        let entry = Entry { dtype: info.dtype, shape: info.shape.clone(), bytes, range };
        self.entry(name.into(), entry).named("SafetensorsWriter::copied")
    }

    /// Adds values from the host.
    pub(crate) fn values<T: Element>(self, name: String, shape: &[usize], values: &[T]) -> Result<Self> {
        self.owned(name, dtype_of(T::DTYPE), shape, bytemuck::cast_slice(values).to_vec())
    }

    /// Adds f64 values. Tensors cannot have this type.
    #[cfg(all(feature = "factorisations", not(target_arch = "wasm32")))]
    pub(crate) fn doubles(self, name: String, shape: &[usize], values: &[f64]) -> Result<Self> {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.owned(name, Dtype::F64, shape, bytes)
    }

    /// Adds one 64-bit integer. Tensors cannot have this type.
    pub(crate) fn integer(self, name: String, value: i64) -> Result<Self> {
        self.owned(name, Dtype::I64, &[], value.to_le_bytes().to_vec())
    }

    fn owned(self, name: String, dtype: Dtype, shape: &[usize], bytes: Vec<u8>) -> Result<Self> {
        let range = 0..bytes.len();
        self.entry(name, Entry { dtype, shape: shape.to_vec(), bytes: Arc::new(bytes), range })
    }

    fn entry(mut self, name: String, entry: Entry) -> Result<Self> {
        self.vacant(&name)?;
        self.tensors.insert(name, entry);
        Ok(self)
    }

    fn vacant(&self, name: &str) -> Result<()> {
        if name == METADATA {
            let why = format!(
                "`{METADATA}` is reserved for the metadata of the file: choose another name for the tensor"
            );
            return Err(Error::input("safetensors", why));
        }
        if self.tensors.contains_key(name) {
            return Err(Error::input("safetensors", format!("there is already a tensor `{name}`")));
        }
        Ok(())
    }

    /// Adds an entry to the metadata.
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Writes the file. The write is atomic: the file appears, or replaces an existing one, when all of it is on the
    /// disk. (A device or a pipe is written to directly.)
    ///
    /// # Errors
    /// [`Error::Input`] if the file cannot be written, or if it would replace a read-only file; [`Error::Cancelled`] in
    /// [`with_progress`](crate::with_progress). An existing file is then unchanged, and no part of the new one remains.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        self.write_draft_in(path.as_ref(), None, || Ok(()))
    }

    /// The bytes of the file, for example for a browser, which has no disk.
    ///
    /// # Errors
    /// [`Error::Input`] if names and metadata are longer than the header of a file may be.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let written = unreported(|| self.write_to("the file", &mut bytes));
        let wrong =
            |e| Error::input("SafetensorsWriter::to_bytes", format!("the file cannot be written: {e}"));
        written.map_err(wrong)?;
        Ok(bytes)
    }

    /// Like [`write`](Self::write), but writes the draft in a folder that a later run clears if this process is killed.
    /// `end` is called before the draft replaces the file. If it fails, the file is unchanged.
    pub(crate) fn write_draft_in(
        &self,
        path: &Path,
        folder: Option<&Path>,
        end: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let name = path.display().to_string();
        let written = replace(path, folder, |file| {
            self.write_to(&name, file)?;
            end().map_err(io::Error::other)
        });
        written.map_err(|e| write_error(name, e))
    }

    fn write_to(&self, name: &str, file: &mut dyn io::Write) -> io::Result<()> {
        let (header, order) = self.header();
        if header.len() > MAX_HEADER {
            let why = format!("its header of {} bytes is longer than {MAX_HEADER}", header.len());
            return Err(io::Error::other(why));
        }
        let length = (header.len() as u64).to_le_bytes();
        let elements = order.iter().map(|entry| &entry.bytes[entry.range.clone()]);
        let parts = [&length[..], header.as_bytes()].into_iter().chain(elements);
        write_reported(("SafetensorsWriter::write", name), parts, file)
    }

    /// The header, and the tensors in the order of their elements. Wide types come first, so that all elements are
    /// aligned.
    ///
    /// NOTE: the `safetensors` crate writes metadata in an order that changes from run to run.
    fn header(&self) -> (String, Vec<&Entry>) {
        let quoted = |text: &str| Value::from(text).to_string();
        let mut parts = Vec::new();
        if !self.metadata.is_empty() {
            let pairs = self.metadata.iter().map(|(key, value)| format!("{}:{}", quoted(key), quoted(value)));
            parts.push(format!("\"{METADATA}\":{{{}}}", pairs.collect::<Vec<_>>().join(",")));
        }
        let mut order: Vec<(&String, &Entry)> = self.tensors.iter().collect();
        order.sort_by(|(left, a), (right, b)| b.dtype.cmp(&a.dtype).then(left.cmp(right)));
        let mut at = 0;
        for (name, Entry { dtype, shape, range, .. }) in &order {
            let end = at + range.len();
            let name = quoted(name);
            parts.push(format!(
                "{name}:{{\"dtype\":\"{dtype}\",\"shape\":{shape:?},\"data_offsets\":[{at},{end}]}}"
            ));
            at = end;
        }
        let mut header = format!("{{{}}}", parts.join(","));
        // The elements begin at a multiple of eight bytes.
        let padding = header.len().next_multiple_of(8) - header.len();
        let _ = write!(header, "{:padding$}", "");
        (header, order.into_iter().map(|(_, entry)| entry).collect())
    }
}
