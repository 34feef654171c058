//! Cached decompositions, so that an interrupted compression need not repeat them.

use super::selection::SelectedLayer;
use crate::files::replace::is_draft;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::DType;
use crate::sketch::factor::Svd;
use crate::sketch::rank::spectrum::{Spectrum, method};
use crate::{Error, Result};
use half::{bf16, f16};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The beginning and the end of the names of cache files. Other files in the folder are not touched.
const PREFIX: &str = "factors-";
const SUFFIX: &str = ".safetensors";

/// The singular values and vectors of a weight (out, in).
pub(super) struct SingularFactors {
    /// (out, pairs)
    pub(super) u: Vec<f64>,
    pub(super) s: Vec<f64>,
    /// (in, pairs)
    pub(super) v: Vec<f64>,
    residual: f64,
}

impl SingularFactors {
    pub(super) fn spectrum(&self) -> Spectrum {
        Spectrum::new(&self.s, self.residual)
    }

    /// Whether all parameters of any layer built from these factors are finite in this type.
    pub(super) fn are_finite_in(&self, dtype: DType) -> bool {
        let largest = match dtype {
            DType::F16 => f16::MAX.to_f64(),
            DType::Bf16 => bf16::MAX.to_f64(),
            _ => f32::MAX.into(),
        };
        let pairs = self.s.len().max(1);
        let fits = |vectors: &[f64]| {
            vectors
                .chunks_exact(pairs)
                .all(|row| row.iter().zip(&self.s).all(|(x, s)| 2.0 * (x * s).abs() <= largest))
        };
        fits(&self.u) && fits(&self.v)
    }
}

/// The folder next to an output file, with a file for each layer that has been decomposed.
pub(super) struct FactorCache {
    path: PathBuf,
}

impl FactorCache {
    /// Creates the folder, unless an earlier run left it. If this fails, the output could not be written either.
    pub(super) fn open(output: &Path) -> Result<Self> {
        let mut path = output.as_os_str().to_owned();
        path.push(".partial");
        let path = PathBuf::from(path);
        match fs::create_dir(&path) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists || !path.is_dir() => {
                let why = format!("cannot be written: the folder {} cannot be created: {e}", path.display());
                Err(Error::input(output.display().to_string(), why))
            }
            _ => Ok(Self { path }),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The cached factors of this weight, if the file is complete.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub(super) fn load(&self, layer: &SelectedLayer, weight: u64) -> Result<Option<SingularFactors>> {
        match Safetensors::read(self.file(layer)) {
            Ok(file) => Ok(loaded(&file, weight)),
            Err(error @ Error::Cancelled { .. }) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Stores the factors of a weight.
    pub(super) fn store(&self, layer: &SelectedLayer, weight: u64, svd: &Svd) -> Result<SingularFactors> {
        let (u, v, residual) = (svd.u.to_vec()?, svd.v.to_vec()?, [svd.residual]);
        let parts = [
            bytemuck::cast_slice(&u),
            bytemuck::cast_slice(&svd.s),
            bytemuck::cast_slice(&v),
            bytemuck::cast_slice(&residual),
        ];
        let sum = checksum(&parts);
        SafetensorsWriter::new()
            .values("u".into(), svd.u.shape(), &u)?
            .doubles("s".into(), &[svd.rank], &svd.s)?
            .values("v".into(), svd.v.shape(), &v)?
            .doubles("residual".into(), &[1], &residual)?
            .metadata("layer", &layer.name)
            .metadata("method", method())
            .metadata("weight", hex(weight))
            .metadata("factors", hex(sum))
            .write(self.file(layer))?;
        let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect();
        Ok(SingularFactors { u: wide(u), s: svd.s.clone(), v: wide(v), residual: svd.residual })
    }

    /// Removes the cache files. Other files stay, and then the folder stays too. Errors are ignored.
    pub(super) fn clear(&self) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if is_draft(&name) || name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
                let _ = fs::remove_file(entry.path());
            }
        }
        self.remove_if_empty();
    }

    /// Removes the folder if it has no files.
    pub(super) fn remove_if_empty(&self) {
        let _ = fs::remove_dir(&self.path);
    }

    /// The path of a layer's cache file: a readable name, and a checksum that distinguishes layers with the same
    /// readable name.
    fn file(&self, layer: &SelectedLayer) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '_' { c } else { '-' };
        let readable: String = layer.name.chars().map(plain).take(100).collect();
        self.path.join(format!("{PREFIX}{readable}-{}{SUFFIX}", hex(checksum(&[layer.name.as_bytes()]))))
    }
}

/// The factors in a file, if they are complete and of this weight.
fn loaded(file: &Safetensors, weight: u64) -> Option<SingularFactors> {
    if file.metadata("method") != Some(&method()) || file.metadata("weight") != Some(&hex(weight)) {
        return None;
    }
    let parts = ["u", "s", "v", "residual"].map(|name| file.bytes(name));
    let parts = parts.into_iter().collect::<Result<Vec<_>>>().ok()?;
    if file.metadata("factors") != Some(&hex(checksum(&parts))) {
        return None;
    }
    let values = |name| file.values(name).ok();
    Some(SingularFactors {
        u: values("u")?,
        s: values("s")?,
        v: values("v")?,
        residual: *values("residual")?.first()?,
    })
}

/// A checksum of a weight: its type, shape, order and elements.
pub(super) fn fingerprint(file: &Safetensors, layer: &SelectedLayer) -> Result<u64> {
    let shape = format!("{} {} {} {:?}", layer.dtype, layer.sizes.rows, layer.sizes.cols, layer.order);
    Ok(checksum(&[shape.as_bytes(), file.bytes(&layer.name)?]))
}

fn checksum(parts: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

fn hex(number: u64) -> String {
    format!("{number:016x}")
}
