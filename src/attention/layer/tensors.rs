//! The tensors of a layer by name, from files or callers.

use crate::layout::{DType, Real};
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::collections::BTreeMap;

/// The name of a tensor that a layer has, and its shape.
pub(super) type Expected = (String, Vec<usize>);

/// The tensors of a layer.
pub(super) struct LayerTensors<T: Real>(BTreeMap<String, Tensor<T>>);

/// The shape of a tensor, and its type if tensors can have it.
pub(super) type KnownTensor<'a> = (&'a [usize], Option<DType>);

/// Checks that a layer's tensors are the expected ones. The error lists every fault; `prefix` precedes each name in it.
pub(super) fn check_tensors(
    what: String,
    prefix: &str,
    expected: &[Expected],
    given: &BTreeMap<&str, KnownTensor<'_>>,
    dtype: DType,
) -> Result<()> {
    let mut wrong = Vec::new();
    for (name, shape) in expected {
        let full = format!("`{prefix}{name}`");
        match given.get(name.as_str()) {
            None => wrong.push(format!("{full} is missing")),
            Some((found, _)) if found != shape => wrong.push(format!("{full} is {found:?}, not {shape:?}")),
            Some((_, found)) if *found != Some(dtype) => {
                wrong.push(format!("{full} does not have the type {dtype}"));
            }
            Some(_) => {}
        }
    }
    let is_known = |name: &str| expected.iter().any(|(known, _)| known == name);
    let extra = given.keys().filter(|name| !is_known(name));
    wrong.extend(extra.map(|name| format!("`{prefix}{name}` is not a tensor of the layer")));
    if wrong.is_empty() { Ok(()) } else { Err(Error::input(what, wrong.join("; "))) }
}

impl<T: Real> LayerTensors<T> {
    /// Tensors that were checked.
    pub(super) fn of(tensors: impl IntoIterator<Item = (String, Tensor<T>)>) -> Self {
        Self(tensors.into_iter().collect())
    }

    /// The caller's tensors, if they are the expected ones and on one device.
    pub(super) fn given<S: AsRef<str>>(
        op: &'static str,
        expected: &[Expected],
        tensors: impl IntoIterator<Item = (S, Tensor<T>)>,
    ) -> Result<Self> {
        let mut all = BTreeMap::new();
        for (name, tensor) in tensors {
            let name = name.as_ref().to_owned();
            if all.insert(name.clone(), tensor).is_some() {
                return Err(Error::input(format!("{op}: the tensors"), format!("`{name}` is given twice")));
            }
        }
        let known = all.iter().map(|(name, tensor)| (name.as_str(), (tensor.shape(), Some(T::DTYPE))));
        check_tensors(format!("{op}: the tensors"), "", expected, &known.collect(), T::DTYPE)?;
        let mut tensors = all.values();
        if let Some(first) = tensors.next() {
            tensors.try_for_each(|other| first.same_gpu(op, other).map(drop))?;
        }
        Ok(Self(all))
    }

    /// Takes a weight.
    pub(super) fn weight(&mut self, name: &str) -> Result<Tensor<T>> {
        self.bias(name).ok_or_else(|| Error::input("the tensors", format!("`{name}` is missing")))
    }

    /// Removes and returns a bias, if the layer has it.
    pub(super) fn bias(&mut self, name: &str) -> Option<Tensor<T>> {
        self.0.remove(name)
    }
}
