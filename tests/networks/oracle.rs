//! A file of test vectors: parameters in its metadata, inputs, and outputs in f64.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use support::safetensors::Safetensors;
use tilewise::{DType, Element, Gpu, Tensor, reference};

/// A file, and which of its tensors were used.
pub(crate) struct Oracle {
    name: String,
    pub(crate) kind: String,
    file: Safetensors,
    used: BTreeSet<String>,
    types: Types,
}

/// In which types files are checked, of those that hold their inputs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Types {
    F32,
    All,
}

impl Oracle {
    pub(crate) fn read(path: &Path, types: Types) -> Self {
        let file = Safetensors::read(path);
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let kind = file.metadata("kind").unwrap_or_else(|| panic!("{name} has no kind")).to_owned();
        Self { name, kind, file, used: BTreeSet::new(), types }
    }

    /// A parameter.
    pub(crate) fn parameter<T: FromStr>(&self, key: &str) -> T {
        let text = self.file.metadata(key).unwrap_or_else(|| panic!("{self} has no parameter {key}"));
        text.parse().unwrap_or_else(|_| panic!("{self}: {key} is `{text}`"))
    }

    /// A list of names.
    pub(crate) fn names(&self, key: &str) -> Vec<String> {
        let text: String = self.parameter(key);
        text.split(',').map(|name| name.trim_matches(|c| "[]\" ".contains(c)).to_owned()).collect()
    }

    /// Whether the file has a tensor of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.file.names().iter().any(|known| known == name)
    }

    /// The shape and the values of a tensor.
    pub(crate) fn values(&mut self, name: &str) -> (Vec<usize>, Vec<f64>) {
        assert!(self.has(name), "{self} has no tensor {name}");
        self.used.insert(name.to_owned());
        self.file.reals(name)
    }

    /// Whether the file is checked in this type, whose elements then have every input of the file exactly.
    pub(crate) fn holds(&self, dtype: DType) -> bool {
        if self.types == Types::F32 && dtype != DType::F32 {
            return false;
        }
        let narrowest: String = self.parameter("exact_in");
        match narrowest.as_str() {
            "bf16" => true,
            "f16" => dtype != DType::Bf16,
            "f32" => dtype == DType::F32,
            other => panic!("{self}: exact_in is `{other}`"),
        }
    }

    /// An input as a tensor.
    pub(crate) fn tensor<T: Element>(&mut self, gpu: &Gpu, name: &str) -> Tensor<T> {
        let (shape, values) = self.values(name);
        let values: Vec<T> = values.into_iter().map(T::from_f64).collect();
        gpu.tensor(&values, shape).unwrap()
    }

    /// Asserts that a result is the file's output of this name: within four times the error of PyTorch in f32, or $2 \cdot
    /// 10^{-6}$ if that is larger, of the largest absolute value, and what storing as `T` rounds.
    pub(crate) fn assert_output<T: Element>(&mut self, name: &str, found: &Tensor<T>) {
        let (shape, want) = self.values(name);
        let largest = want.iter().filter(|x| x.is_finite()).fold(0.0, |most: f64, x| most.max(x.abs()));
        let relative = (4.0 * self.f32_error(name)).max(2e-6);
        let len: usize = shape.iter().product();
        assert_eq!(found.len(), len, "{self}: {name} has the shape {shape:?}, not {:?}", found.shape());
        for (at, (found, want)) in found.to_vec().unwrap().into_iter().zip(want).enumerate() {
            let found = found.to_f64();
            let tolerance = relative * largest + reference::store_tolerance(want.abs(), T::DTYPE);
            let is_right =
                found == want || (found.is_nan() && want.is_nan()) || (found - want).abs() <= tolerance;
            assert!(
                is_right,
                "{self}: {name}[{at}] in {} is {found}, not {want} within {tolerance:e}",
                T::DTYPE
            );
        }
    }

    /// The error of an output in f32, by PyTorch, relative to the largest absolute value.
    fn f32_error(&self, name: &str) -> f64 {
        let text: String = self.parameter("f32_dev");
        let entries = text.trim_matches(|c| "{}".contains(c)).split(',');
        let found = entries.filter_map(|entry| entry.split_once(':')).find_map(|(key, value)| {
            (key.trim_matches(|c| "\" ".contains(c)) == name).then(|| value.trim().parse().unwrap())
        });
        found.unwrap_or(0.0)
    }

    /// Asserts that every tensor of the file was used.
    pub(crate) fn assert_all_used(&self) {
        let unused: Vec<String> =
            self.file.names().into_iter().filter(|name| !self.used.contains(name)).collect();
        assert!(unused.is_empty(), "{self}: {unused:?} were not checked");
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
