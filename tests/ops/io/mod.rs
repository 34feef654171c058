//! Files of tensors: what is written is read, and what is damaged is refused.

mod npy;
mod npy_others;
mod npy_write;
mod progress;
mod safetensors;
mod safetensors_others;
