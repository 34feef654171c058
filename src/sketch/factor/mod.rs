//! Factorisations: sketches and products on the device, what is small on the CPU, in f64. They wait for the device as
//! they go, which a browser does not let them.

mod cqrrpt;
pub(super) mod input;
mod lstsq;
mod products;
mod range;
pub(super) mod small;
mod svd;
mod timings;
mod trace;

pub use cqrrpt::{Cqrrpt, PivotedQr, cqrrpt};
#[cfg(feature = "safetensors")]
pub(super) use input::{Input, norm};
pub use lstsq::{LeastSquares, Lstsq, lstsq};
#[cfg(feature = "safetensors")]
pub(super) use products::product;
pub use range::{RangeFinder, range};
pub use svd::{Rsvd, Svd, rsvd};
pub use timings::Timings;
pub use trace::{TraceEstimate, trace};
