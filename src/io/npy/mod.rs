//! `NumPy`'s `.npy` files: reading arrays from them and writing them.

mod array;
mod elements;
mod parse;
mod write;

pub use array::{Npy, read_npy_f64};
pub use elements::{MemoryOrder, NpyData};
#[cfg(not(target_arch = "wasm32"))]
pub use write::write_npy;
pub use write::{npy_bytes, write_npy_async, write_npy_slice};
