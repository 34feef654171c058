//! Clifford algebras $\mathrm{Cl}(p,q,r)$: products, versors and what is built on them, of batches on the device and of
//! single multivectors on the CPU.

mod algebra;
mod blades;
mod body;
mod exponential;
mod function;
mod gradients;
mod kernel;
pub mod layer;
mod motor_body;
mod multivector;
mod multivectors;
mod paths;
mod pga;
mod plan;
mod problem;
mod product;
mod reorder;
mod sandwich_body;
mod text;
mod unary;
mod versor;
mod versors;
mod walk;

pub use algebra::{DIMENSION_AT_MOST, Signature, conjugate_sign, involute_sign, reverse_sign};
pub use blades::{Blades, Order, grade};
pub use function::{Branch, Function};
pub use multivector::Multivector;
pub use multivectors::Multivectors;
pub use paths::Path;
pub use pga::Pga;
pub use problem::{AXES_AT_MOST, BladeAxis, CliffordDims, CliffordProblem, Placed};
pub use product::{Product, Term, Terms, left_complement, right_complement};
pub use text::misread;
pub use unary::Unary;
