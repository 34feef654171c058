//! Clifford layers in `.safetensors` files, with the names and shapes of flash-clifford.

use super::builder::CliffordLayerBuilder;
use super::clifford_layer::{CliffordLayer, OP};
use crate::clifford::layer::layer_product::ProductKind;
use crate::clifford::layer::linear::MvLinear;
use crate::clifford::layer::row_tensors::check_signature;
use crate::error::Named;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::call;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::Real;
use crate::ops::training::Parameters;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// A tensor that a file of a layer should have.
struct Wanted {
    name: &'static str,
    /// The name and the required extent of each axis; None accepts any extent.
    extents: Vec<(&'static str, Option<usize>)>,
}

impl<T: Real> CliffordLayer<T> {
    /// Adds the layer to a file, as flash-clifford's `Layer` stores it: `linear_weight` (grades, in, in), `linear_bias`
    /// (1, 1, in) and `gp_weight` (features, paths) or (paths, in, out), and `null_weight` (n, in, in), which only this
    /// crate has. `prefix` precedes each name. Gate, norm, residual and the blades of the bias are not saved. Not
    /// available in a browser: use [`save_async`](Self::save_async).
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor of one of these names; otherwise as [`Tensor::to_vec`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        call("CliffordLayer::save", || {
            let tensors = self.saved()?;
            file.tensors(prefix, tensors.iter().map(|(name, tensor)| (name.clone(), tensor)))
        })
    }

    /// As `save`, without blocking: it waits as [`Tensor::read`] does.
    ///
    /// # Errors
    /// [`Error::Input`] if the file already has a tensor of one of these names; otherwise as [`Tensor::read`].
    pub async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        let op = "CliffordLayer::save_async";
        let tensors = self.saved().named(op)?;
        let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (name.clone(), tensor)).collect();
        file.tensors_async(prefix, tensors).await.named(op)
    }

    /// The tensors to save, with the names and shapes of flash-clifford.
    fn saved(&self) -> Result<Vec<(String, Tensor<T>)>> {
        let tensors = self.parameters().into_iter().map(|(name, tensor)| match tensor.shape() {
            &[length] => Ok((name, tensor.contiguous()?.reshape([1, 1, length])?)),
            _ => Ok((name, tensor.clone())),
        });
        tensors.collect()
    }
}

impl CliffordLayerBuilder {
    /// Loads the layer whose tensors have this prefix, with the names of [`save`](CliffordLayer::save). The bias may
    /// also have the shape (in).
    ///
    /// # Errors
    /// [`Error::Input`] names every tensor that is missing or has another shape or type, and every tensor of this
    /// prefix that the layer does not use; otherwise as [`from_parts`](Self::from_parts).
    pub fn load<T: Real>(self, file: &Safetensors, gpu: &Gpu, prefix: &str) -> Result<CliffordLayer<T>> {
        self.loaded(file, gpu, prefix).named_except_files("CliffordLayer::load")
    }

    fn loaded<T: Real>(self, file: &Safetensors, gpu: &Gpu, prefix: &str) -> Result<CliffordLayer<T>> {
        check_signature(OP, self.product.signature)?;
        let wrong = self.wrong::<T>(file, prefix)?;
        if !wrong.is_empty() {
            return Err(Error::input(format!("CliffordLayer::load: `{prefix}`"), wrong.join("; ")));
        }
        let tensor = |name: &str| file.tensor::<T>(gpu, &format!("{prefix}{name}"));
        let bias: Tensor<T> = tensor("linear_bias")?;
        let bias = bias.reshape([bias.len()])?;
        let weight = tensor("linear_weight")?;
        let mut linear = MvLinear::builder(self.product.signature, weight).bias(bias, self.bias_on);
        if file.names().contains(&format!("{prefix}null_weight")) {
            linear = linear.null_weight(tensor("null_weight")?);
        }
        self.from_parts(linear.build()?, tensor("gp_weight")?)
    }

    /// Every fault of the file's tensors that have this prefix.
    fn wrong<T: Real>(self, file: &Safetensors, prefix: &str) -> Result<Vec<String>> {
        let names = file.names();
        let shape = |name: &str| {
            let name = format!("{prefix}{name}");
            if names.contains(&name) { Ok(Some(file.shape(&name)?)) } else { Ok::<_, Error>(None) }
        };
        let signature = self.product.signature;
        let (n, paths) = (signature.dimension(), signature.path_count());
        // The first tensor with the right number of axes gives the number of features.
        let inputs = match (shape("linear_weight")?, shape("gp_weight")?, self.kind) {
            (Some(&[_, _, inputs]), ..)
            | (_, Some(&[inputs, _]), ProductKind::Steerable)
            | (_, Some(&[_, inputs, _]), ProductKind::Connected) => Some(inputs),
            _ => None,
        };
        let in_axis = ("in", inputs);
        let paths_axis = ("paths", Some(paths));
        let mut wanted = vec![
            Wanted { name: "linear_weight", extents: vec![("grades", Some(n + 1)), in_axis, in_axis] },
            Wanted { name: "linear_bias", extents: vec![("1", Some(1)), ("1", Some(1)), in_axis] },
            Wanted {
                name: "gp_weight",
                extents: match self.kind {
                    ProductKind::Steerable => vec![in_axis, paths_axis],
                    ProductKind::Connected => vec![paths_axis, in_axis, ("out", None)],
                },
            },
        ];
        if shape("null_weight")?.is_some() && signature.pqr()[2] == 1 {
            wanted.push(Wanted { name: "null_weight", extents: vec![("n", Some(n)), in_axis, in_axis] });
        }
        let mut wrong = Vec::new();
        for tensor in &wanted {
            let name = format!("{prefix}{}", tensor.name);
            match shape(tensor.name)? {
                None => wrong.push(format!("`{name}` is missing")),
                Some(found) if !tensor.accepts(found) => {
                    wrong.push(format!("`{name}` is {found:?}, not {}", tensor.shape()));
                }
                Some(_) if file.dtype(&name)? != Some(T::DTYPE) => {
                    wrong.push(format!("`{name}` does not have the type {}", T::DTYPE));
                }
                Some(_) => {}
            }
        }
        let is_known = |name: &str| wanted.iter().any(|tensor| tensor.name == name);
        let extra = names.iter().filter(|name| name.strip_prefix(prefix).is_some_and(|name| !is_known(name)));
        wrong.extend(extra.map(|name| format!("`{name}` is not a tensor of the layer")));
        Ok(wrong)
    }
}

impl Wanted {
    /// Whether a tensor has these extents. A bias may lack its leading axes of length 1.
    fn accepts(&self, shape: &[usize]) -> bool {
        let ones = self.extents.iter().take_while(|(_, extent)| *extent == Some(1)).count();
        let bare = ones > 1 && shape.len() + ones == self.extents.len();
        let extents = &self.extents[if bare { ones } else { 0 }..];
        let fits = |(&found, &(_, wanted)): (&usize, &(&str, Option<usize>))| {
            found > 0 && wanted.is_none_or(|wanted| found == wanted)
        };
        shape.len() == extents.len() && shape.iter().zip(extents).all(fits)
    }

    /// The extents as text.
    fn shape(&self) -> String {
        let extent =
            |&(name, extent): &(&str, Option<usize>)| extent.map_or(name.to_owned(), |n| n.to_string());
        format!("({})", self.extents.iter().map(extent).collect::<Vec<_>>().join(", "))
    }
}
