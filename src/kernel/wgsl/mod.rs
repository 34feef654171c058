//! A writer of WGSL: builds functions from expressions and statements, counts their operations, and prints them.
//!
//! Plans use it for the text of `//#generated` slots. The writer needs no device and knows nothing about the algorithms.
//!
//! - An [`Expression`] is a tree. Leaves are made with [`name`] (a float variable), [`index`] (an integer variable), [`number`]
//!   and [`integer`] (literals). Rust's operators `+ - * / &` and the methods of [`Expression`] combine them; a [`Callee`] makes
//!   function calls. A [`Sum`] is a sum whose number of terms is known only at run time.
//! - A [`Block`] is a list of statements. Each method appends one. Methods that declare a variable return its name as an
//!   expression for later statements.
//! - A [`FunctionDefinition`] is a function with a name, parameters and a body. A [`StructDefinition`] is a struct. A [`Module`]
//!   prints several of them after the `//#import` lines that their calls need.
//!
//! ```text
//! let mut body = Block::default();
//! let x = body.define("x", Callee::without_flops("load_x").call([index("at")])); // let x = load_x(at);
//! let total = body.variable("total", number(0.5));                               // var total = 0.5;
//! body.increase(&total, &x * &x);                                                // total += x * x;
//! let mut then = Block::default();
//! then.assign(&total, SQRT.call([&total]));
//! body.branch(index("at").above(1u32), then);                    // if at > 1u { total = sqrt(total); }
//! body.returns(total);                                                           // return total;
//! assert_eq!(body.flops(), 3);
//! ```
//!
//! The printed text evaluates operations in the order in which the tree was built. It has parentheses only where WGSL would
//! otherwise parse a different tree or none.

mod expression;
mod flops;
mod module;
#[cfg(test)]
mod naga_flops;
mod print;
mod statement;
#[cfg(test)]
mod tests;

pub(crate) use expression::{
    ABS, Callee, Expression, MAX, MIN, SIGN, SQRT, Sum, fma, index, integer, name, number, select,
};
pub(crate) use module::{FunctionDefinition, Member, Module, StructDefinition};
#[cfg(test)]
pub(crate) use naga_flops::naga_flops;
pub(crate) use statement::Block;
