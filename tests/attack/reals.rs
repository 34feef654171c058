//! Results that are no integers: kept for later steps, and compared with their definition within its bound.

use crate::actor::Actor;
use crate::api;
use tilewise::reference::Definition;
use tilewise::{Result, Tensor};

/// Results that a thread holds at most.
const RESULTS: usize = 8;

/// Results of an operation, each with its definition.
pub(crate) type Results = Vec<(Tensor<f32>, Definition)>;

/// A result, and what it should be.
pub(crate) struct Real {
    tensor: Tensor<f32>,
    want: Definition,
    pub(crate) name: String,
    /// The step that made it.
    pub(crate) made: u64,
}

impl Real {
    /// Reads the result, which must be within its bound.
    pub(crate) fn check(&self) -> Result<()> {
        self.compare(&self.tensor.to_vec()?);
        Ok(())
    }

    fn compare(&self, values: &[f32]) {
        let comparison = self.want.compare(values);
        let (worst, name) = (comparison.worst, &self.name);
        let [got, want] = [values.get(worst).copied().map(f64::from), self.want.value.get(worst).copied()];
        assert!(comparison.ok(), "{name} at {worst}: {got:?}, not {want:?}: {comparison:?}");
    }
}

impl Actor {
    /// New results, if the operation gave some.
    pub(crate) fn keep_reals(&mut self, name: String, results: Result<Results>) {
        self.say(&name);
        let results = match results {
            Ok(results) => results,
            Err(error) => return self.excuse(error),
        };
        for (tensor, want) in results {
            self.reals.push(Real { tensor, want, name: name.clone(), made: self.step });
        }
        while self.reals.len() > RESULTS {
            let at = self.random.below(self.reals.len());
            self.reals.swap_remove(at);
        }
    }

    /// Reads some result, in one of two ways.
    pub(crate) fn check_real(&mut self) {
        if self.reals.is_empty() {
            return;
        }
        let at = self.random.below(self.reals.len());
        let real = self.reals.swap_remove(at);
        self.say(&real.name);
        let checked = if self.random.chance(50) {
            real.check()
        } else {
            api::finish(real.tensor.read()).map(|values| real.compare(&values))
        };
        if let Err(error) = checked {
            self.excuse(error);
        }
    }

    /// Compares all results, at the end.
    pub(crate) fn check_reals(&mut self) {
        while !self.reals.is_empty() {
            self.check_real();
        }
    }
}
