//! Clifford algebras $\mathrm{Cl}(p,q,r)$: products, versors and what is built on them, of batches on the device and of
//! single multivectors on the CPU.

mod algebra;
mod blades;
mod multivector;
mod paths;
mod product;
mod text;
mod unary;

pub use algebra::{DIMENSION_AT_MOST, Signature, conjugate_sign, involute_sign, reverse_sign};
pub use blades::{Blades, Order, grade};
pub use multivector::Multivector;
pub use paths::Path;
pub use product::{Product, Term, Terms, left_complement, right_complement};
pub use text::misread;
pub use unary::Unary;
