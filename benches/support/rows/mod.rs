//! Rows that one program prints as a JSON line and another reads.

mod outcome;
mod peer;
mod product;
mod variant;

pub use outcome::Outcome;
pub use peer::{PeerRow, PeerTimes};
pub use product::Product;
pub use variant::{FailedRow, PairedRow, VariantRow};
