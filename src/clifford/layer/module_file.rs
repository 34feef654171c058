//! Clifford layers in `.safetensors` files, with flash-clifford's names and shapes.

use super::linear::MvLinear;
use super::module::{CliffordLayer, CliffordLayerBuilder, OP, ProductKind};
use super::operands::check_signature;
use crate::error::Named;
#[cfg(not(target_arch = "wasm32"))]
use crate::error::call;
use crate::io::{Safetensors, SafetensorsWriter};
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// A tensor of a file: its name, and extents by name, None where any will do.
struct Wanted {
    name: &'static str,
    extents: Vec<(&'static str, Option<usize>)>,
}

impl<T: Real> CliffordLayer<T> {
    /// Adds the layer to a file: `linear_weight` (grades, in, in), `linear_bias` (1, 1, in) and `gp_weight` (features, paths)
    /// or (paths, in, out), with `prefix` before their names, as flash-clifford's `Layer` has them; and `null_weight`
    /// (n, in, in), which only this crate has. Gate, norm, where the bias is and the residual are not saved. Not
    /// available in a browser: use [`save_async`](Self::save_async).
    ///
    /// # Errors
    /// [`Error::Input`] if the file has a tensor of such a name already; otherwise as [`Tensor::to_vec`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn save(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        call("CliffordLayer::save", || {
            let mut tensors = self.saved()?.into_iter();
            tensors.try_fold(file, |file, (name, tensor)| file.tensor(format!("{prefix}{name}"), &tensor))
        })
    }

    /// As `save`, without blocking: it waits as [`Tensor::read`] does.
    ///
    /// # Errors
    /// [`Error::Input`] if the file has a tensor of such a name already; otherwise as [`Tensor::read`].
    pub async fn save_async(&self, file: SafetensorsWriter, prefix: &str) -> Result<SafetensorsWriter> {
        let (op, mut file) = ("CliffordLayer::save_async", file);
        for (name, tensor) in self.saved().named(op)? {
            let added = file.tensor_async(format!("{prefix}{name}"), &tensor).await;
            file = added.named(op)?;
        }
        Ok(file)
    }

    /// The tensors to save, with flash-clifford's names and shapes.
    fn saved(&self) -> Result<Vec<(&'static str, Tensor<T>)>> {
        let tensors = self.parameters().into_iter().map(|(name, tensor)| match tensor.shape() {
            &[length] => Ok((name, tensor.contiguous()?.reshape([1, 1, length])?)),
            _ => Ok((name, tensor.clone())),
        });
        tensors.collect()
    }
}

impl CliffordLayerBuilder {
    /// The layer whose tensors have this prefix, as [`save`](CliffordLayer::save) names them; a bias may be (in), too.
    ///
    /// # Errors
    /// [`Error::Input`] that names every tensor that is missing, of another shape or of another type than `T`, and every one
    /// of this prefix that the layer has not; otherwise as [`from_parts`](Self::from_parts).
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
        let mut linear =
            MvLinear::new(self.product.signature, tensor("linear_weight")?)?.with_bias(bias, self.bias_on)?;
        if file.names().contains(&format!("{prefix}null_weight")) {
            linear = linear.with_null_weight(tensor("null_weight")?)?;
        }
        self.from_parts(linear, tensor("gp_weight")?)
    }

    /// All that is wrong with the tensors of a file that have this prefix.
    fn wrong<T: Real>(self, file: &Safetensors, prefix: &str) -> Result<Vec<String>> {
        let names = file.names();
        let shape = |name: &str| {
            let name = format!("{prefix}{name}");
            if names.contains(&name) { Ok(Some(file.shape(&name)?)) } else { Ok::<_, Error>(None) }
        };
        let signature = self.product.signature;
        let (n, paths) = (signature.dimension(), signature.paths().len());
        // Features are those of the first tensor that has as many axes as it should.
        let inputs = match (shape("linear_weight")?, shape("gp_weight")?, self.kind) {
            (Some(&[_, _, inputs]), ..)
            | (_, Some(&[inputs, _]), ProductKind::Steerable)
            | (_, Some(&[_, inputs, _]), ProductKind::Connected) => Some(inputs),
            _ => None,
        };
        let of_in = ("in", inputs);
        let of_paths = ("paths", Some(paths));
        let mut wanted = vec![
            Wanted { name: "linear_weight", extents: vec![("grades", Some(n + 1)), of_in, of_in] },
            Wanted { name: "linear_bias", extents: vec![("1", Some(1)), ("1", Some(1)), of_in] },
            Wanted {
                name: "gp_weight",
                extents: match self.kind {
                    ProductKind::Steerable => vec![of_in, of_paths],
                    ProductKind::Connected => vec![of_paths, of_in, ("out", None)],
                },
            },
        ];
        if shape("null_weight")?.is_some() && signature.pqr()[2] == 1 {
            wanted.push(Wanted { name: "null_weight", extents: vec![("n", Some(n)), of_in, of_in] });
        }
        let mut wrong = Vec::new();
        for of in &wanted {
            let name = format!("{prefix}{}", of.name);
            match shape(of.name)? {
                None => wrong.push(format!("`{name}` is missing")),
                Some(found) if !of.has(found) => {
                    wrong.push(format!("`{name}` is {found:?}, not {}", of.shape()));
                }
                Some(_) if file.dtype(&name)? != Some(T::DTYPE) => {
                    wrong.push(format!("`{name}` is not of {}", T::DTYPE));
                }
                Some(_) => {}
            }
        }
        let is_known = |name: &str| wanted.iter().any(|of| of.name == name);
        let extra = names.iter().filter(|name| name.strip_prefix(prefix).is_some_and(|name| !is_known(name)));
        wrong.extend(extra.map(|name| format!("`{name}` is none of its tensors")));
        Ok(wrong)
    }
}

impl Wanted {
    /// Whether a tensor has these extents; a bias may be without the axes of length 1 in front.
    fn has(&self, shape: &[usize]) -> bool {
        let ones = self.extents.iter().take_while(|(_, extent)| *extent == Some(1)).count();
        let bare = ones > 1 && shape.len() + ones == self.extents.len();
        let extents = &self.extents[if bare { ones } else { 0 }..];
        let fits = |(&found, &(_, wanted)): (&usize, &(&str, Option<usize>))| {
            found > 0 && wanted.is_none_or(|wanted| found == wanted)
        };
        shape.len() == extents.len() && shape.iter().zip(extents).all(fits)
    }

    /// The extents in words.
    fn shape(&self) -> String {
        let extent =
            |&(name, extent): &(&str, Option<usize>)| extent.map_or(name.to_owned(), |n| n.to_string());
        format!("({})", self.extents.iter().map(extent).collect::<Vec<_>>().join(", "))
    }
}
