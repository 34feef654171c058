//! Factorisations: sketches and products on the device, small factorisations on the CPU in f64. They wait for the
//! device, so they are not available in a browser.

mod blocks;
mod cqrrpt;
pub(super) mod device;
mod estimate;
pub(super) mod host;
pub(super) mod input;
mod lstsq;
mod orthogonal;
mod range;
mod search;
mod svd;
mod timings;
mod trace;

pub use cqrrpt::{Cqrrpt, PivotedQr, cqrrpt};
pub use lstsq::{LeastSquares, Lstsq, lstsq};
pub use range::{RangeFinder, range};
pub use svd::{Rsvd, Svd, rsvd};
pub use timings::Timings;
pub use trace::{TraceEstimate, trace};
