//! What a pass through the encoder records besides its result.

use tilewise::{Element, Gpu, Plan, Result, Tensor};

/// What a pass records.
pub(crate) enum Watch {
    Nothing,
    /// The seconds of each kind of step, each run alone.
    Seconds(Vec<(&'static str, f64)>),
    /// The plans of each step, in order.
    Plans(Vec<(&'static str, Plan)>),
    /// Intermediate results by name.
    Values(Vec<Kept>),
}

/// An intermediate result: rows of texts, and their padding.
pub(crate) struct Kept {
    pub(crate) name: String,
    /// Elements of a row.
    pub(crate) width: usize,
    pub(crate) values: Vec<f64>,
}

impl Watch {
    /// Runs a step of the pass.
    pub(crate) fn step<R>(
        &mut self,
        gpu: &Gpu,
        name: &'static str,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        match self {
            Self::Nothing | Self::Values(_) => work(),
            Self::Seconds(all) => {
                let (result, timing) = gpu.time(work)?;
                match all.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, seconds)) => *seconds += timing.seconds,
                    None => all.push((name, timing.seconds)),
                }
                Ok(result)
            }
            Self::Plans(all) => {
                let (result, plans) = gpu.plans_of(work);
                all.extend(plans.into_iter().map(|plan| (name, plan)));
                result
            }
        }
    }

    /// Keeps an intermediate result (row, feature), if the pass records them.
    pub(crate) fn keep<T: Element>(&mut self, name: &str, of: &Tensor<T>) -> Result<()> {
        let (Self::Values(all), &[_, width]) = (self, of.shape()) else { return Ok(()) };
        let values = of.to_vec()?.into_iter().map(T::to_f64).collect();
        all.push(Kept { name: name.into(), width, values });
        Ok(())
    }
}
