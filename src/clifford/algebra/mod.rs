//! Clifford algebras on the host: signatures, blades, and the tables of their products. Pure.

pub(crate) mod blades;
pub(crate) mod function;
pub(crate) mod path;
pub(crate) mod product;
pub(crate) mod reorder;
pub(crate) mod rigid;
pub(crate) mod signature;
pub(crate) mod signs;
pub(crate) mod terms;
pub(crate) mod unary;
