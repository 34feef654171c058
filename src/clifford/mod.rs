//! Clifford algebras $\mathrm{Cl}(p,q,r)$: products, versors and network layers.
//!
//! [`Signature`] is an algebra, and [`Blades`] selects some of its blades. [`Multivectors`] is a batch on the device,
//! [`Multivector`] a single one on the CPU, in f64.

mod access;
pub(crate) mod algebra;
pub(crate) mod batch;
pub(crate) mod cpu;
pub(crate) mod generate;
mod kernel;
pub mod layer;
mod plan;
pub(crate) mod problem;
mod vector_width;

pub use algebra::blades::{BladeOrder, Blades};
pub use algebra::path::Path;
pub use algebra::product::Product;
pub use algebra::signature::{MAX_DIMENSION, Signature};
pub use algebra::signs::grade;
pub(crate) use algebra::terms::Terms;
pub use algebra::unary::Unary;
pub use batch::multivectors::Multivectors;
pub use batch::product::MvProduct;
pub use cpu::multivector::Multivector;
pub use cpu::parse::parse_error;
pub use cpu::pga::Pga;
pub use problem::BladeAxis;
