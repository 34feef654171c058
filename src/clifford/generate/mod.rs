//! The WGSL of a function of multivectors, generated from the algebra's table of signs.
//!
//! The code of a function reads `x0`, `x1` and so on, the blades of the first operand in their order, and `y0`, `y1` of the
//! second, all of type `lanes`. It has one expression for each blade of the result.

mod exp;
pub(crate) mod formula;
pub(crate) mod function;
mod log;
mod norm;
pub(crate) mod sandwich;
pub(crate) mod trigonometry;
