//! Clifford algebras $\mathrm{Cl}(p,q,r)$: products, versors and what is built on them, of batches on the device and of
//! single multivectors on the CPU.

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

pub use algebra::blades::{Blades, Order};
pub use algebra::function::{Branch, Function};
pub use algebra::path::Path;
pub use algebra::product::{Product, left_complement, right_complement};
pub use algebra::signature::{DIMENSION_AT_MOST, Signature};
pub use algebra::signs::{conjugate_sign, grade, involute_sign, reverse_sign};
pub use algebra::terms::{Term, Terms};
pub use algebra::unary::Unary;
pub use batch::multivectors::Multivectors;
pub use cpu::multivector::Multivector;
pub use cpu::parse::misread;
pub use cpu::pga::Pga;
pub use problem::{AXES_AT_MOST, BladeAxis, CliffordDims, CliffordProblem, Placed};
