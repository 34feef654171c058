//! Parameters of layers by name.

use super::gradients::{Gradients, check_gradient};
use super::parameter_mut::ParameterMut;
use super::rate::Rate;
use crate::Result;
use crate::error::call;
use crate::layout::Real;
use crate::ops::elementwise::functions::mul;
use crate::ops::elementwise::sub_assign;
use crate::tensor::Tensor;

/// A layer with named parameters: the tensors that an optimiser updates and a file stores.
///
/// Names are those of files, as `PyTorch` has them. A layer of layers puts theirs below its own, such as `gate.weight`.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::gemm::Linear;
/// use tilewise::{Activation, Fill, Parameters, Tensor, ops};
///
/// let weight = gpu.random::<f32>([10, 64], Fill::Normal, 1)?;
/// let mut layer = Linear::new(weight, Some(gpu.zeros([10])?), Activation::None)?;
/// for (name, tensor) in layer.parameters() {
///     println!("{name} {:?}", tensor.shape()); // weight [10, 64], then bias [10]
/// }
///
/// // Descent with momentum, in two launches for each parameter.
/// let x = gpu.random::<f32>([32, 64], Fill::Normal, 2)?;
/// let target = gpu.random::<f32>([32, 10], Fill::Normal, 3)?;
/// let mut velocities = vec![None::<Tensor<f32>>; layer.parameters().len()];
/// let mut losses = Vec::new();
/// for _ in 0..20 {
///     let (loss, grad) = ops::mse_and_gradient(&layer.forward(&x)?, &target, ops::Reduction::Mean, 1.0)?;
///     let (_, gradients) = layer.backward(&x, &grad)?;
///     for ((_, mut parameter, gradient), velocity) in layer.pairs(&gradients)?.into_iter().zip(&mut velocities) {
///         let v = match velocity {
///             Some(old) => ops::map(&[&*old, gradient], |[v, g]| v * 0.9 + g)?,
///             None => gradient.clone(),
///         };
///         parameter.update(|w| ops::sub_assign(w, &ops::mul(&v, 0.5)?))?;
///         *velocity = Some(v);
///     }
///     losses.push(loss.to_vec()?[0]);
/// }
/// assert!(losses[19] < 0.5 * losses[0], "{losses:?}");
/// # Ok(())
/// # }
/// ```
pub trait Parameters<T: Real> {
    /// The layer's parameters by name. An optional parameter that the layer lacks is left out.
    fn parameters(&self) -> Vec<(String, &Tensor<T>)>;

    /// The parameters that are trained, by the same names: all but those that the layer says are frozen.
    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)>;

    /// The parameters with `prefix` before their names, for a layer that has this one.
    fn parameters_below(&self, prefix: &str) -> Vec<(String, &Tensor<T>)> {
        named(prefix, self.parameters())
    }

    /// The trained parameters with `prefix` before their names.
    fn parameters_below_mut(&mut self, prefix: &str) -> Vec<(String, ParameterMut<'_, T>)> {
        named(prefix, self.parameters_mut())
    }

    /// Each trained parameter with its gradient. A parameter without a gradient is left out: an optimiser leaves it as it is.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if a gradient has the name of no trained parameter; [`Error::Shape`](crate::Error::Shape) if it has another shape than its
    /// parameter; [`Error::Gpu`](crate::Error::Gpu) if it is on another device.
    #[expect(clippy::type_complexity, reason = "a name, a parameter and its gradient")]
    fn pairs<'a>(
        &'a mut self,
        gradients: &'a Gradients,
    ) -> Result<Vec<(String, ParameterMut<'a, T>, &'a Tensor<f32>)>> {
        call("Parameters::pairs", || {
            let trained = self.parameters_mut();
            let names: Vec<&str> = trained.iter().map(|(name, _)| name.as_str()).collect();
            for (name, gradient) in gradients.iter() {
                let own = trained.iter().find(|(own, _)| own == name);
                let own = own.map(|(_, parameter)| parameter.tensor());
                check_gradient("pairs", (name, gradient), own.as_ref(), &names)?;
            }
            let pair = |(name, parameter): (String, _)| {
                let gradient = gradients.get(&name)?;
                Some((name, parameter, gradient))
            };
            Ok(trained.into_iter().filter_map(pair).collect())
        })
    }

    /// A step of gradient descent, $W \leftarrow W - \eta\\,\partial W$, for each parameter with a gradient. The rate is a number, or
    /// a tensor of one element.
    ///
    /// Parameters are updated in place. If other tensors share them, such as those of a clone of the layer, they are copied first,
    /// and the others keep the old values. If a check fails, no parameter changes. In the closure of
    /// [`Gpu::capture`](crate::Gpu::capture), every run of the replay performs a step. If the rate is a tensor, each run reads it; a
    /// number is the same in all runs.
    ///
    /// # Errors
    /// As [`pairs`](Self::pairs); [`Error::Shape`](crate::Error::Shape) if the rate is a tensor of several elements; [`Error::Gpu`](crate::Error::Gpu) if it is on another
    /// device; [`Error::Input`](crate::Error::Input) in the closure of `capture` if parameters are shared: the copies would belong to the replay;
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if a buffer does not fit.
    /// # Precision
    /// Computed in f32 and rounded to `T`. Rounding to a 16-bit type loses small steps: train a layer of f32, and cast it for each
    /// iteration.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::gemm::Linear;
    /// use tilewise::{Activation, Parameters};
    ///
    /// let mut layer = Linear::new(gpu.tensor(&[1.0f32, 2.0], [1, 2])?, None, Activation::None)?;
    /// let x = gpu.tensor(&[3.0f32, 4.0], [1, 2])?;
    /// let (of_x, gradients) = layer.backward(&x, &gpu.tensor(&[1.0f32], [1, 1])?)?;
    /// assert_eq!(of_x.to_vec()?, [1.0, 2.0]);
    /// layer.descend(&gradients, 0.5)?;
    /// assert_eq!(layer.weight().to_vec()?, [-0.5, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    fn descend<'a>(&mut self, gradients: &Gradients, rate: impl Into<Rate<'a>>) -> Result<()>
    where
        Self: Sized,
    {
        call("Parameters::descend", || gradient_step(self.pairs(gradients)?, rate.into()))
    }
}

fn named<P>(prefix: &str, of: Vec<(String, P)>) -> Vec<(String, P)> {
    of.into_iter().map(|(name, parameter)| (format!("{prefix}{name}"), parameter)).collect()
}

/// Subtracts `rate` times its gradient from each parameter, in place; a shared parameter is copied first. Computed in f32
/// and rounded to `T`. If an error is found before the first parameter is written, no parameter changes.
fn gradient_step<T: Real>(
    mut pairs: Vec<(String, ParameterMut<'_, T>, &Tensor<f32>)>,
    rate: Rate<'_>,
) -> Result<()> {
    let op = "descend";
    let Some((_, _, first)) = pairs.first() else { return Ok(()) };
    pairs.iter().try_for_each(|(_, parameter, _)| parameter.check_in_place(op))?;
    let rate = rate.on(op, first.gpu())?;
    let step = |gradient: &Tensor<f32>| mul(gradient, &rate)?.cast::<T>();
    let steps = pairs.iter().map(|(_, _, gradient)| step(gradient)).collect::<Result<Vec<_>>>()?;
    pairs.iter_mut().try_for_each(|(_, parameter, _)| parameter.own())?;
    let mut steps = pairs.iter_mut().zip(&steps);
    steps.try_for_each(|((_, parameter, _), step)| parameter.in_place(|own| sub_assign(own, step)))
}
