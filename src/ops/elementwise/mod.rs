//! Elementwise functions: arithmetic, functions of one tensor, activations, masks, and expressions.

mod argument;
mod arithmetic;
mod compute;
mod expr;
mod expr_functions;
mod function;
mod kernel;
mod kind;
pub(crate) mod map;
mod masks;
pub(crate) mod operation;
mod operators;
mod plan;
pub(crate) mod problem;
mod unary;
mod written;

pub use argument::Argument;
pub use arithmetic::{
    add, add_assign, add_into, bias_add_assign, div, maximum, minimum, mul, mul_assign, mul_into, pow, sub,
    sub_assign, sub_into,
};
pub use expr::Expr;
pub use function::Function;
pub use map::{MapOperand, map};
pub use masks::{
    and, clamp, equal, greater, greater_or_equal, less, less_or_equal, not, not_equal, or, select,
};
pub(crate) use problem::broadcast_shape;
pub use unary::{
    abs, activate, activate_backward, activate_into, ceil, cos, exp, floor, log, neg, recip, round, rsqrt,
    sigmoid, sign, sin, sqrt, square, tanh,
};
