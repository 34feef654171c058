//! Tensor-core linear algebra for any GPU program, without CUDA.
//!
//! Tilewise multiplies matrices with WGSL compute shaders on [`wgpu`]. It reads what a device can do
//! ([`Caps`]), chooses a kernel for each problem ([`kernel::Plan`], printable), and records launches that run in
//! batches. It opens a device of its own or works on an application's ([`Gpu::adopt`]).
//!
//! ```
//! # fn main() -> tilewise::Result<()> {
//! use tilewise::{Fill, Gpu, f16, matmul};
//!
//! # let Ok(gpu) = Gpu::open() else { return Ok(()) };
//! # let _ = stringify! {
//! let gpu = Gpu::open()?;
//! # };
//! let a = gpu.random::<f16>([129, 131], Fill::Uniform, 1)?;
//! let b = gpu.random::<f16>([127, 131], Fill::Uniform, 2)?;
//! let c = matmul(&a, &b.t())?; // (129, 127), summed in f32; b is not copied
//! println!("{:?}: {}", c.shape(), c.to_vec()?[0]);
//! # Ok(())
//! # }
//! ```
//!
//! # The route of a product
//! Operands and their [`Layout`]s become a checked [`gemm::GemmProblem`], that and the [`Caps`] a
//! [`kernel::Plan`], its [`kernel::Kernel`] a pipeline, the launch an entry of the open recording. Reading a
//! tensor submits and waits: nothing else does.
//!
//! # Errors
//! Every mistake is an [`Error`] with the values that made it, and leaves operands and device usable.
//!
//! # Features
//! - `npy` (default): NumPy's `.npy` files, [`io`].
//! - `ndarray`: conversions from and to `ndarray` arrays.

mod error;
pub mod gemm;
pub mod gpu;
#[cfg(feature = "npy")]
pub mod io;
pub mod kernel;
pub mod ops;
pub mod reference;
pub mod tensor;

pub use error::{Error, Result};
pub use gemm::{Gemm, GemmKernel, Linear, Precision, Split, Sums, linear, matmul, matmul_into};
pub use gpu::{Caps, Gpu, GpuOptions};
pub use half::{bf16, f16};
pub use kernel::Plan;
pub use ops::Activation;
pub use tensor::{DType, Element, Fill, Layout, Real, Tensor};
pub use wgpu;
