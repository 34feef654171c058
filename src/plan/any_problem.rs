//! [`AnyProblem`]: a problem of any type, as the runtime sees it. One runtime serves all types.

use super::executable::Plan;
use super::problem::Problem;
use super::trial::Trial;
use crate::Result;
use crate::caps::Caps;
use foldhash::fast::FixedState;
use std::any::{Any, TypeId, type_name};
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash, Hasher};

/// A problem of any type. Problems of different types are not equal.
pub(crate) type AnyProblem = dyn Plannable;

/// [`Problem`] without the type.
pub(crate) trait Plannable: Any + Debug + Send {
    fn plan(&self, caps: &Caps) -> Result<Plan>;
    fn explain(&self, caps: &Caps) -> Result<Plan>;
    fn candidates(&self, caps: &Caps) -> Result<Vec<Plan>>;
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "a browser tunes nothing"))]
    fn trial(&self, caps: &Caps) -> Result<Option<Trial>>;
    fn type_name(&self) -> &'static str;
    fn boxed(&self) -> Box<AnyProblem>;
    fn equals(&self, other: &AnyProblem) -> bool;
    /// A hash of the type and the value. The type's own code computes it: it takes a few nanoseconds.
    fn digest(&self) -> u64;
}

impl<P: Problem> Plannable for P {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        Problem::plan(self, caps)
    }

    fn explain(&self, caps: &Caps) -> Result<Plan> {
        Problem::explain(self, caps)
    }

    fn candidates(&self, caps: &Caps) -> Result<Vec<Plan>> {
        Problem::candidates(self, caps)
    }

    fn trial(&self, caps: &Caps) -> Result<Option<Trial>> {
        Problem::trial(self, caps)
    }

    fn type_name(&self) -> &'static str {
        type_name::<P>()
    }

    fn boxed(&self) -> Box<AnyProblem> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &AnyProblem) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref() == Some(self)
    }

    fn digest(&self) -> u64 {
        FixedState::default().hash_one((TypeId::of::<P>(), self))
    }
}

impl PartialEq for AnyProblem {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other)
    }
}

impl Eq for AnyProblem {}

impl Hash for AnyProblem {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.digest());
    }
}
