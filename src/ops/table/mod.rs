//! Operations as rows. Enums, functions, methods, definitions, tests and the book's table are generated from these
//! lists.

mod activations;
mod functions;
mod reductions;

pub(crate) use activations::activation_rows;
pub(crate) use functions::function_rows;
pub(crate) use reductions::reduction_rows;
