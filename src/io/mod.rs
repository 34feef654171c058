//! Reads tensors from files and writes them to files.

#[cfg(feature = "safetensors")]
mod fp8;
#[cfg(feature = "npy")]
mod npy;
#[cfg(any(feature = "npy", feature = "safetensors"))]
mod number;
#[cfg(feature = "safetensors")]
mod safetensors;

#[cfg(feature = "safetensors")]
pub use self::safetensors::{Safetensors, SafetensorsWriter};
#[cfg(all(feature = "npy", not(target_arch = "wasm32")))]
pub use npy::write_npy;
#[cfg(feature = "npy")]
pub use npy::{MemoryOrder, Npy, NpyData, npy_bytes, read_npy_f64, write_npy_async, write_npy_slice};
