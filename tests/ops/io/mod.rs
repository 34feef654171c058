//! Files of tensors: what is written is read, and what is damaged is refused.

mod npy;
mod npy_write;
mod safetensors;
