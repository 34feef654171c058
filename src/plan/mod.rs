//! Plans: everything that an operation launches, as plain data.
//!
//! A [`Problem`] says what to compute. Its [`plan`](Problem::plan) is a pure function of the problem and a device's
//! [`Caps`](crate::Caps): a list of steps, with the temporary buffers and constants that they share.
//! [`Gpu::execute`](crate::Gpu::execute) runs exactly the steps that the plan prints.

mod any_problem;
mod constant;
mod display;
mod draft;
mod executable;
mod in_windows;
mod joins;
mod operands;
mod parts;
mod problem;
mod scalars;
mod signature;
mod step;
mod trial;
mod windows;
mod work;

pub(crate) use any_problem::AnyProblem;
pub use constant::Constant;
pub(crate) use draft::{Dims, Draft, MAX_STEP_SECONDS, MAX_STEPS, NewStep, Region, Time};
pub(crate) use executable::SLOWER;
pub use executable::{Plan, TimeSource};
pub(crate) use in_windows::InWindows;
pub(crate) use joins::Joins;
pub use operands::{Access, Parameter};
pub(crate) use operands::{Form, Operand};
pub use problem::Problem;
pub use scalars::{Scalar, ScalarKind, ScalarParameter};
pub(crate) use signature::distinct;
pub use step::{Arg, Buffer, Step};
pub use trial::{Tolerance, Trial, TrialRun, TrialValues};
pub(crate) use windows::{Along, CutAxes, Windows};
pub use work::{Bound, Flops, Work};
pub(crate) use work::{PHILOX, Prediction, Seconds};
