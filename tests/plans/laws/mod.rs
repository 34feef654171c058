//! What holds by definition, on the CPU: of algebras, versors, operators and bounds. No device.

mod clifford;
mod gradients;
mod precision;
mod sketch;
mod text;
mod versor;
