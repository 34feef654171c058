//! Tensor-core linear algebra for any GPU program, without CUDA.
//!
//! Tilewise multiplies matrices with WGSL compute shaders on [`wgpu`]. It reads what a device can do
//! ([`Caps`]), makes a plan for each problem ([`Plan`], printable), and records the plan's steps, which run in
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
//! # What there is
//! - Products of f32, f16, bf16 and i8, [`matmul`], or with options, [`Gemm`]. Axes in front of the last two are a
//!   batch, and broadcast.
//! - Epilogues: scale, bias, activation and residual in the launch of the product.
//! - Layers: [`linear`], whose weight is (out, in), and [`Linear`], which holds one.
//! - Operations between products: [`ops`], with broadcasting; casts among all types, [`Tensor::cast`].
//! - Random operators that are the same everywhere, [`sketch`], and factorisations that are built on them.
//! - Clifford algebras of any signature, their products, gradients and versors, in batches: [`clifford`].
//! - Layers of networks whose features are multivectors, equivariant by construction: [`clifford::layer`].
//! - [`Precision`]: products of f32 stay f32 unless they are allowed the tensor cores' f16.
//! - Definitions in f64 and derived error bounds to test against: [`mod@reference`].
//!
//! ```
//! # fn main() -> tilewise::Result<()> {
//! use tilewise::{Activation, Fill, Gemm, Gpu, Precision, linear, ops};
//!
//! # let Ok(gpu) = Gpu::open() else { return Ok(()) };
//! let x = gpu.random::<f32>([8, 20, 64], Fill::Uniform, 1)?; // a batch of eight matrices
//! let weight = gpu.random::<f32>([10, 64], Fill::Uniform, 2)?;
//! let bias = gpu.random::<f32>([10], Fill::Uniform, 3)?;
//! let y = linear(&x, &weight, Some(&bias), Activation::Gelu)?; // one launch
//! let shares = ops::softmax(&y)?; // (8, 20, 10)
//! let products = Gemm::new(&shares, &weight).alpha(0.5).precision(Precision::Fast).run()?;
//! assert_eq!(products.shape(), [8, 20, 64]);
//! # Ok(())
//! # }
//! ```
//!
//! # The route of a product
//! Operands and their [`Layout`]s become a checked [`gemm::GemmProblem`], that and the [`Caps`] a [`Plan`]: steps, each a
//! [`kernel::Kernel`] with its grid and arguments, and what lies between them. What a plan prints is what
//! [`Gpu::execute`] runs: its kernels become pipelines, its steps entries of the recording. Reading a
//! tensor submits and waits; so do [`Gpu::wait`] and what reads results itself, such as factorisations.
//!
//! # Errors
//! Every mistake is an [`Error`] with the values that made it, and leaves operands and device usable. It names the public
//! function that you called, not one that this calls in turn: functions and methods of [`Gpu`], [`Tensor`] and
//! [`Multivectors`](clifford::Multivectors) by their name, methods of other types by type and name (`Linear::new`), and a
//! builder by its plain function (`Gemm::run` is `matmul`). Shapes are those of the operands as you gave them.
//!
//! # In a browser
//! A browser allows no blocking calls, so on `wasm32` the blocking functions do not exist: use [`Gpu::open_async`] and
//! [`Gpu::adopt_async`] for `open` and `adopt`, and [`Tensor::read`] for `to_vec`. There are no factorisations, no compression
//! and no timing. Files are bytes in memory: `io::Npy::from_bytes`, `io::npy_bytes`, `io::Safetensors::from_bytes`,
//! `io::SafetensorsWriter::to_bytes`; functions that take a path return an error. The crate compiles there, but no test has run
//! in a browser yet.
//!
//! # Features
//! - `npy` (default): NumPy's `.npy` files, [`io`].
//! - `safetensors` (default): `.safetensors` files, [`io`], and their compression, `sketch::Compress`.
//! - `ndarray`: conversions from and to `ndarray` arrays.

mod caps;
pub mod clifford;
mod error;
mod files;
pub mod gemm;
pub mod gpu;
#[cfg(any(feature = "npy", feature = "safetensors"))]
pub mod io;
mod kernel;
mod layout;
pub mod ops;
mod plan;
pub mod planning;
pub mod reference;
pub mod sketch;
mod tensor;

pub use error::{Error, Result};
pub use gemm::{Accumulator, Gemm, GemmKernel, Linear, SplitK, linear, matmul, matmul_into};
pub use gpu::{Caps, Gpu, GpuOptions, View};
pub use half::{bf16, f16};
pub use layout::{DType, Element, Fill, Layout, MAX_RANK, Operand, Precision, Real};
pub use ops::Activation;
pub use plan::Plan;
pub use tensor::{Parameters, Tensor};
pub use wgpu;
