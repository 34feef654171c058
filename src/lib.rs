//! Tensor-core linear algebra for any GPU program, without CUDA.
//!
//! Tilewise multiplies matrices, sketches them and computes in Clifford algebras, on any GPU that [`wgpu`] reaches. It uses
//! cooperative matrices (tensor cores) where a device has them, and subgroups and plain shaders elsewhere.
//!
//! ```
//! # fn main() -> tilewise::Result<()> {
//! use tilewise::{Activation, Fill, Gpu, linear, matmul, ops};
//!
//! # let Ok(gpu) = Gpu::open() else { return Ok(()) };
//! # let _ = stringify! {
//! let gpu = Gpu::open()?;
//! # };
//! let x = gpu.random::<f32>([8, 20, 64], Fill::Uniform, 1)?; // a batch of eight matrices
//! let weight = gpu.random::<f32>([10, 64], Fill::Uniform, 2)?; // stored (out, in)
//! let bias = gpu.random::<f32>([10], Fill::Uniform, 3)?;
//! let y = linear(&x, &weight, Some(&bias), Activation::Gelu)?; // one launch: product, bias, activation
//! let shares = ops::softmax(&y, 2)?; // (8, 20, 10); recorded, not yet run
//! let z = matmul(&shares, &weight)?; // (8, 20, 64)
//! println!("{:?}: {}", z.shape(), z.to_vec()?[0]); // submits, waits, reads
//! # Ok(())
//! # }
//! ```
//!
//! # What to call
//! | task | items |
//! |---|---|
//! | open a device, or use an application's | [`Gpu::open`], [`Gpu::adopt`], `Gpu::from_vulkan`, [`GpuOptions`], [`gpu`] |
//! | create tensors on the device | [`Gpu::zeros`], [`Gpu::full`], [`Gpu::eye`], [`Gpu::arange`], [`Gpu::linspace`], [`Gpu::random`] |
//! | move data to the device and back | [`Gpu::tensor`], [`Tensor::to_vec`], [`Tensor::read`], [`Tensor::write`] |
//! | write a result to an existing tensor | [`Tensor::assign`] |
//! | take views without copies | [`Tensor::t`], [`Tensor::slice`], [`Tensor::reshape`], [`Tensor::permute`], [`Tensor::broadcast_to`] |
//! | multiply matrices of f32, f16, bf16, fp8 or i8 | [`matmul`]; with options [`Gemm`] |
//! | apply a linear layer of quantised weights | [`gemm::linear_quantised`]; with options [`Gemm::row_scale`], [`Gemm::out_scale`] |
//! | apply a linear layer, and train it | [`linear`], [`gemm::linear_backward`], [`gemm::Linear`] |
//! | trade precision for tensor cores | [`Precision`], per call or in [`GpuOptions`] |
//! | add, multiply, activate, sum, softmax, convert | [`ops`], [`Tensor::cast`] |
//! | attend: softmax of products, times values | [`attention()`], [`attention::AttentionOptions`], [`attention::attention_backward`] |
//! | attend with projections, with a cache, in a block of a transformer | [`attention::MultiHeadAttention`], [`attention::KeyValueCache`], [`attention::TransformerBlock`] |
//! | convolve images, and train the weights | [`conv::conv2d`], [`conv::conv3d`], [`conv::conv2d_backward`], [`conv::conv_transpose2d`] |
//! | fuse a batch norm, an activation and a residual into a convolution | [`conv::Convolution`], [`conv::fold_batch_norm`] |
//! | use and train layers of convolutional networks | [`conv::Conv2d`], [`conv::BatchNorm2d`], [`conv::ConvBnAct`], [`conv::ChannelsFirst`] |
//! | rotate queries and keys by their positions | [`ops::Rotary`] |
//! | pool images, and give them another size | [`ops::MaxPool2d`], [`ops::AvgPool2d`], [`ops::interpolate`] |
//! | compute losses and their gradients | [`ops::cross_entropy`], [`ops::mse`], [`ops::l1`], [`ops::huber`], [`ops::bce_with_logits`] |
//! | copy into a part, concatenate, stack | [`ops::copy_into`], [`Tensor::writable_view`], [`ops::concat`], [`ops::stack`] |
//! | take elements by index, and add to them | [`ops::embedding`], [`ops::index_select`], [`ops::gather`], [`ops::scatter_add`] |
//! | copy to or from a position that is in a tensor | [`ops::copy_into_at`], [`ops::slice_at`] |
//! | multiply by a random operator | [`sketch::Sketch`] |
//! | compute an SVD, a pivoted QR, least squares or a trace | [`sketch`] (feature factorisations) |
//! | solve, factorise or diagonalise small matrices | `sketch::solve`, `sketch::cholesky`, `sketch::eigh` (feature factorisations) |
//! | compress layers and whole model files | [`sketch::SkLinear`], [`sketch::SkConv2d`], [`sketch`] |
//! | compute with multivectors, rotors and motors | [`clifford`] |
//! | build equivariant layers | [`clifford::layer`] |
//! | train a layer: its parameters and gradients by name | [`Parameters`], [`Gradients`], [`Parameters::descend`] |
//! | read and write `.npy` and `.safetensors` files | `io` (features npy, safetensors) |
//! | share buffers and submissions with an application | [`Tensor::from_buffer`], [`Tensor::buffer`], [`Gpu::empty_with`], [`Gpu::flush`], [`Gpu::queue`] |
//! | count launches, bytes and time | [`Gpu::stats`], [`Gpu::time`] |
//! | see how far a long call is, and cancel it | [`with_progress`] |
//! | choose plans by measurement | [`Gpu::tune`], [`gpu::Tuning`], [`Gpu::measure_machine`] |
//! | test results against f64, with error bounds | [`mod@reference`] |
//! | plan for a device that is not here | [`planning`] (unstable), [`Plan`] |
//!
//! # How a call runs
//! The operands' [`Layout`]s become a checked problem. The problem and the device's [`Caps`] give a [`Plan`]: a list of steps
//! that can be printed. The [`Gpu`] records the steps. Reading a tensor submits what is recorded and waits; so do [`Gpu::wait`]
//! and operations that read intermediate results themselves, such as factorisations.
//!
//! # In an application
//! A program with its own wgpu device lets this crate adopt it ([`Gpu::adopt`]). [`Tensor::from_buffer`] turns one of its
//! buffers into a tensor, without a copy. [`Gpu::record_into`] puts recorded work into its command encoder, so that a frame
//! stays one submission by the application, as in the example `wgpu_app`. If every frame launches the same operations,
//! [`Gpu::capture`] records them once, and a [`Replay`] runs them, as in the example `frames`.
//!
//! # Errors
//! A mistake returns an [`Error`] with the values that caused it, and leaves operands and device usable. The error names the
//! public function that you called, and shows shapes as you passed them. In errors, a method of [`Gpu`], [`Tensor`] or
//! [`Multivectors`](clifford::Multivectors) has its plain name, a method of another type is written `Linear::new`, and a
//! builder has the name of its plain function (`Gemm::run` is `matmul`).
//!
//! # In a browser
//! A browser allows no blocking calls, so on `wasm32` the blocking functions do not exist. Use [`Gpu::open_async`],
//! [`Gpu::adopt_async`] and [`Tensor::read`]. There are no factorisations, no compression and no timing, and files are bytes in
//! memory. The crate compiles for browsers; no test has run in one yet.
//!
//! # Features
//! - `factorisations` (default): factorisations, fits of sketched layers, advice on ranks, and compression (with
//!   `safetensors`). They need the crate `faer`; without them, a program builds half as many crates.
//! - `npy` (default): NumPy's `.npy` files.
//! - `safetensors` (default): `.safetensors` files, and their compression.
//! - `ndarray`: conversions from and to `ndarray` arrays.

#![doc(html_root_url = "https://docs.rs/tilewise/0.1.0")]
#![cfg_attr(docsrs, feature(doc_cfg))] // items show their features

pub mod attention;
mod caps;
pub mod clifford;
pub mod conv;
mod error;
mod files;
pub mod gemm;
pub mod gpu;
#[cfg(any(feature = "npy", feature = "safetensors"))]
pub mod io;
mod kernel;
mod layout;
pub mod ops;
mod peak;
mod plan;
pub mod planning;
mod progress;
pub mod reference;
pub mod sketch;
mod tensor;

pub use attention::attention;
pub use error::{Error, Result};
pub use gemm::{Gemm, linear, matmul};
pub use gpu::{Caps, Gpu, GpuOptions, Replay, View};
pub use half::{bf16, f16};
pub use layout::{DType, Element, F8E4M3, F8E5M2, Fill, Layout, Precision, Real};
pub use ops::Activation;
pub use ops::training::{Gradients, ParameterMut, Parameters};
pub use plan::Plan;
pub use progress::{Progress, with_progress};
pub use tensor::Tensor;
pub use wgpu;
