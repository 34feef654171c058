//! Gradients of parameters by name.

use crate::error::call;
use crate::layout::{Layout, Real};
use crate::ops::elementwise::add_assign;
use crate::ops::elementwise::functions::add;
use crate::tensor::Tensor;
use crate::{Error, Gpu, Result};

/// The gradients of a layer's parameters: tensors of f32 by the names of the parameters, whatever the type of the layer.
///
/// A name that is missing stands for a gradient of zeros: nothing is stored for it. The gradients of a layer's operands are no
/// gradients of parameters, and are returned with these.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Gradients;
///
/// let mut gradients = Gradients::new();
/// gradients.add("weight", gpu.tensor(&[1.0f32, 2.0], [2])?)?;
/// gradients.add("weight", gpu.tensor(&[0.5f32, 0.5], [2])?)?; // of another part of the batch
/// assert_eq!(gradients.get("weight").expect("it is there").to_vec()?, [1.5, 2.5]);
/// assert!(gradients.get("bias").is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Gradients {
    named: Vec<(String, Tensor<f32>)>,
}

impl Gradients {
    /// No gradients: all are zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The gradient of a parameter, in its shape.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tensor<f32>> {
        self.iter().find_map(|(own, gradient)| (own == name).then_some(gradient))
    }

    /// Names and gradients, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tensor<f32>)> {
        self.named.iter().map(|(name, gradient)| (name.as_str(), gradient))
    }

    /// The number of gradients.
    #[must_use]
    pub fn len(&self) -> usize {
        self.named.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// The same gradients with `prefix` before their names.
    #[must_use]
    pub fn prefixed(self, prefix: &str) -> Self {
        let named = self.named.into_iter().map(|(name, gradient)| (format!("{prefix}{name}"), gradient));
        Self { named: named.collect() }
    }

    /// Adds a gradient to the one of this name. The first one moves in, and nothing is launched. The sum is written in place
    /// if the old one is uniquely owned or a writable view, or else to a new tensor.
    ///
    /// # Errors
    /// [`Error::Shape`] if the gradient of this name has another shape; [`Error::Gpu`] if it is on another device;
    /// [`Error::Input`] in the closure of [`Gpu::capture`](crate::Gpu::capture) if another tensor shares it;
    /// [`Error::OutOfMemory`] if a new tensor does not fit.
    /// # Precision
    /// The sum is rounded to f32.
    pub fn add(&mut self, name: impl Into<String>, gradient: Tensor<f32>) -> Result<()> {
        call("Gradients::add", || self.added(name.into(), gradient))
    }

    /// Adds all `others`, each as [`add`](Self::add) does. Unless all shapes are right, none is added.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    /// # Precision
    /// As [`add`](Self::add).
    pub fn accumulate(&mut self, others: Self) -> Result<()> {
        call("Gradients::accumulate", || {
            others.iter().try_for_each(|(name, gradient)| self.check(name, gradient))?;
            others.named.into_iter().try_for_each(|(name, gradient)| self.added(name, gradient))
        })
    }

    /// What `work` returns, and the gradients that it adds to none.
    pub(crate) fn of<R>(work: impl FnOnce(&mut Self) -> Result<R>) -> Result<(R, Self)> {
        let mut gradients = Self::new();
        let done = work(&mut gradients)?;
        Ok((done, gradients))
    }

    /// Runs `work` with the gradients whose names begin with `prefix`, without it: those of a layer inside of another.
    pub(crate) fn below<R>(&mut self, prefix: &str, work: impl FnOnce(&mut Self) -> R) -> R {
        let (own, others) =
            std::mem::take(&mut self.named).into_iter().partition(|(name, _)| name.starts_with(prefix));
        self.named = others;
        let own: Vec<_> = own;
        let named = own.into_iter().map(|(name, gradient)| (name[prefix.len()..].to_owned(), gradient));
        let mut own = Self { named: named.collect() };
        let done = work(&mut own);
        self.named.extend(own.prefixed(prefix).named);
        done
    }

    /// Adds a gradient of this layout, in elements of `0..` without gaps, that `write` computes: it adds to the tensor if its
    /// number is 1, and overwrites it if that is 0. Where the tensor of this name can be written in place, no other is made.
    pub(crate) fn add_with(
        &mut self,
        gpu: &Gpu,
        name: &str,
        layout: Layout,
        write: impl FnOnce(&mut Tensor<f32>, f32) -> Result<()>,
    ) -> Result<()> {
        let own = self.named.iter_mut().find(|(own, _)| own == name).map(|(_, own)| own);
        if let Some(own) = own.filter(|own| *own.layout() == layout && own.check_unshared("add").is_ok()) {
            return write(own, 1.0);
        }
        let mut made = gpu.empty([layout.len()])?.with_layout(layout);
        write(&mut made, 0.0)?;
        self.added(name.to_owned(), made)
    }

    /// Fails if a gradient cannot be added to the one of this name.
    fn check(&self, name: &str, gradient: &Tensor<f32>) -> Result<()> {
        let Some(own) = self.get(name) else { return Ok(()) };
        check_gradient("add", (name, gradient), Some(own), &[])?;
        let gpu = own.gpu();
        if must_be_copied(own) && gpu.is_capturing() {
            let why = "other tensors share its buffer (clones, views), or its elements have gaps: the sum would be a new \
                       tensor that belongs to the replay. Drop the others, or add twice before the capture: the first gradient moves in as it is";
            return Err(Error::input(format!("add: the gradient of `{name}`"), why));
        }
        Ok(())
    }

    fn added(&mut self, name: String, gradient: Tensor<f32>) -> Result<()> {
        self.check(&name, &gradient)?;
        match self.named.iter_mut().find(|(own, _)| *own == name) {
            None => self.named.push((name, gradient)),
            Some((_, own)) if must_be_copied(own) || own.shares_buffer(&gradient) => {
                *own = add(&*own, &gradient)?
            }
            Some((_, own)) => add_assign(own, &gradient)?,
        }
        Ok(())
    }
}

/// Fails unless all gradients have the names, shapes and device of these parameters.
pub(crate) fn check_gradients<T: Real>(
    op: &'static str,
    gradients: &Gradients,
    parameters: &[(String, &Tensor<T>)],
) -> Result<()> {
    let names: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
    gradients.iter().try_for_each(|(name, gradient)| {
        let own = parameters.iter().find(|(own, _)| own == name);
        check_gradient(op, (name, gradient), own.map(|(_, own)| *own), &names)
    })
}

/// Fails unless a gradient is one of this tensor. Without a tensor, its name is none of the layer's.
pub(super) fn check_gradient<T: Real>(
    op: &'static str,
    (name, gradient): (&str, &Tensor<f32>),
    of: Option<&Tensor<T>>,
    names: &[&str],
) -> Result<()> {
    let Some(of) = of else {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let why = format!("there is no parameter `{name}`, only {}", names.join(", "));
        return Err(Error::input(format!("{op}: the gradients"), why));
    };
    of.same_gpu(op, gradient)?;
    if gradient.shape() == of.shape() {
        return Ok(());
    }
    let rule = format!("the gradient of `{name}` must have the shape of the parameter");
    Err(Error::shapes(op, rule, gradient.shape(), of.shape()))
}

/// Whether a gradient cannot be written in place.
fn must_be_copied(gradient: &Tensor<f32>) -> bool {
    gradient.check_unshared("add").is_err() || !gradient.layout().is_contiguous()
}
