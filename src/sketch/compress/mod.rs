//! Compression of model files: large layers become sketched layers, within one budget.

mod allocate;
mod builder;
mod cache;
mod expand;
mod order;
mod parameters;
mod report;
mod run;
mod selection;

pub use builder::Compress;
pub use expand::expand;
pub use order::WeightOrder;
pub use report::{Compressed, CompressedLayer};
pub use selection::Selection;
