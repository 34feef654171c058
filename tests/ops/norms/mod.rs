//! Norms against their definitions in f64.

mod channels;
mod mistakes;
mod residual;
mod rows;
