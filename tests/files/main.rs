//! Files of tensors: what is written is read, and what is damaged is refused. Any device will do.

mod npy;
mod safetensors;
#[path = "../support/mod.rs"]
mod support;
