//! Random words from counters, and standard normal numbers from words.

mod normal;
mod normal_table;
mod philox;

pub(crate) use normal::{ONE, normal, table};
pub use philox::philox;
pub(crate) use philox::{below, words};
