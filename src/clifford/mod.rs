//! Clifford algebras $\mathrm{Cl}(p,q,r)$: products, versors and what is built on them, of batches on the device and of
//! single multivectors on the CPU.

mod algebra;
mod blades;
mod exponential;
mod multivector;
mod pga;
mod product;
mod unary;
mod versor;

pub use algebra::{DIMENSION_AT_MOST, Signature, conjugate_sign, involute_sign, reverse_sign};
pub use blades::{Blades, Order, grade};
pub use multivector::Multivector;
pub use pga::Pga;
pub use product::{Product, Term, Terms, left_complement, right_complement};
pub use unary::Unary;
