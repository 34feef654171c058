//! Generated WGSL of functions of multivectors, from the algebra's table of signs.
//!
//! The code reads variables `x0`, `x1` and so on, the blades of the first operand in their order, and `y0`, `y1` and so
//! on of the second. Their type is `lanes`, one value per position. There is one expression per blade of the result.

mod exp;
pub(crate) mod formula;
pub(crate) mod function;
mod log;
mod norm;
pub(crate) mod sandwich;
mod scaled;
pub(crate) mod trigonometry;
