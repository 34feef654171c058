//! Single multivectors on the CPU, in f64.

mod backward;
mod exponential;
pub(crate) mod multivector;
pub(crate) mod parse;
pub(crate) mod pga;
mod versor;
