//! Tensors from files and to files.

#[cfg(feature = "npy")]
mod npy;
#[cfg(feature = "safetensors")]
mod safetensors;

#[cfg(feature = "safetensors")]
pub use self::safetensors::{Safetensors, SafetensorsWriter};
#[cfg(feature = "npy")]
pub use npy::{Npy, NpyData, Order, read_npy_f64, write_npy, write_npy_slice};
