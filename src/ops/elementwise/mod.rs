//! Elementwise functions: arithmetic, functions of one tensor, activations, masks, and expressions.

mod activate;
mod argument;
pub(crate) mod calls;
mod compute;
mod expr;
mod expr_functions;
mod function;
pub(crate) mod functions;
pub(crate) mod gradient;
mod in_place;
mod kernel;
mod kind;
pub(crate) mod map;
pub(crate) mod operation;
mod operators;
mod plan;
pub(crate) mod problem;
mod written;

pub use activate::{activate, activate_backward};
pub use argument::Argument;
pub use expr::Expr;
pub use function::Function;
pub use in_place::{add_assign, bias_add_assign, mul_assign, sub_assign};
pub use map::{MapOperand, map};
pub(crate) use problem::broadcast_shape;
