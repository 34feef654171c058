//! `.safetensors` files: reading tensors from them and writing them.

mod reader;
mod writer;

pub use reader::Safetensors;
pub use writer::SafetensorsWriter;
