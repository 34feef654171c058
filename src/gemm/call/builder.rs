//! Matrix products of tensors, and their options.

use super::product::ProductCall;
use crate::error::call;
use crate::gemm::problem::{
    Accumulator, BiasAxis, GemmKernel, GemmProblem, OP, Pin, SignHalf, SplitK, Tile, product_shape,
};
use crate::gpu::check_same_gpu;
use crate::layout::{Element, Float, Layout, Operand, Precision, Real};
use crate::ops::Activation;
use crate::plan::Plan;
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::marker::PhantomData;

/// Matrix product $C = AB$, or a batch of them. Floating-point types are accumulated in f32, i8 in i32.
///
/// # Shapes
/// `a` (..., m, k), `b` (..., k, n) -> (..., m, n), of two to four axes. The leading axes are a batch and broadcast.
/// Transposed, sliced and strided views are read in place, without a copy. With k = 0 the product is 0.
/// # Errors
/// [`Error::Shape`] if the inner sizes differ or the batches do not broadcast; [`Error::Gpu`] if the operands are on different
/// devices; [`Error::Limit`] for i8 if k exceeds [`MAX_I8_K`](crate::planning::gemm::MAX_I8_K), 131,071;
/// [`Error::OutOfMemory`] if there is no room for C.
/// # Precision
/// $|c_{ij} - (AB)\_{ij}| \le \gamma_{k}\\,(|A||B|)\_{ij}$, see [`reference::gamma`](crate::reference::gamma); i8 is exact.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
/// let c = tilewise::matmul(&a, &a.t())?;
/// assert_eq!(c.to_vec()?, [14.0, 32.0, 32.0, 77.0]);
/// # Ok(())
/// # }
/// ```
pub fn matmul<T: Operand>(a: &Tensor<T>, b: &Tensor<T>) -> Result<Tensor<T::Sum>> {
    Gemm::new(a, b).run()
}

/// A matrix product with options. Set them, then call [`run`](Self::run) or [`run_into`](Self::run_into). [`matmul`] is the
/// plain function.
///
/// # Shapes
/// As [`matmul`].
/// # Errors
/// Setting an option never fails: `plan`, `run` and `run_into` report all errors.
/// # Precision
/// The sums are those of [`matmul`]. The epilogue is computed in f32, and the result is rounded once. Products of types of 8 bits
/// are quantised products: see [`row_scale`](Self::row_scale).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # use tilewise::gemm::GemmKernel;
/// # use tilewise::{Gemm, f16};
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?.cast::<f16>()?;
/// let product = Gemm::new(&a, &a).out::<f16>().kernel(GemmKernel::Naive);
/// println!("{}", product.plan()?);
/// assert_eq!(product.run()?.cast::<f32>()?.to_vec()?, [7.0, 10.0, 15.0, 22.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a product is computed by `run`"]
pub struct Gemm<'a, T: Operand, C: Element = <T as Operand>::Sum> {
    pub(super) product: ProductCall<'a>,
    pub(super) types: PhantomData<(T, C)>,
}

impl<'a, T: Operand> Gemm<'a, T> {
    /// The product of `a` (..., m, k) and `b` (..., k, n).
    pub fn new(a: &'a Tensor<T>, b: &'a Tensor<T>) -> Self {
        let product =
            ProductCall { precision: a.gpu().precision(), ..ProductCall::new(a.as_view(), b.as_view()) };
        Self { product, types: PhantomData }
    }
}

/// Options of all products. The result is activation($\alpha AB + \beta C$ + bias) + residual, computed in f32 in the same launch
/// and rounded once. A product of i8 takes them once [`out`](Self::out) has named the type of its result.
impl<'a, T: Operand, C: Element> Gemm<'a, T, C> {
    /// Multiplies the product by `alpha`.
    pub fn alpha(self, alpha: f32) -> Self {
        Self { product: ProductCall { alpha, ..self.product }, ..self }
    }

    /// Adds a bias for each column: `bias` (n), the same for every row and every matrix of the batch.
    pub fn bias<R: Real>(self, bias: &'a Tensor<R>) -> Self {
        let product = ProductCall { bias: Some((BiasAxis::Columns, bias.as_view())), ..self.product };
        Self { product, ..self }
    }

    /// Adds a bias for each row: `bias` (m), the same for every column and every matrix of the batch.
    pub fn row_bias<R: Real>(self, bias: &'a Tensor<R>) -> Self {
        Self { product: ProductCall { bias: Some((BiasAxis::Rows, bias.as_view())), ..self.product }, ..self }
    }

    /// Adds a tensor of the shape of the result, after the activation. It has the type of the result, or any real type if the result
    /// is i8.
    pub fn residual<R: Real>(self, residual: &'a Tensor<R>) -> Self {
        Self { product: ProductCall { residual: Some(residual.as_view()), ..self.product }, ..self }
    }

    /// Applies an activation to every element.
    pub fn activation(self, activation: Activation) -> Self {
        Self { product: ProductCall { activation, ..self.product }, ..self }
    }
}

/// Options of floating-point products.
impl<'a, T: Float, C: Real> Gemm<'a, T, C> {
    /// Sets the element type of the result.
    pub fn out<U: Real>(self) -> Gemm<'a, T, U> {
        Gemm { product: self.product, types: PhantomData }
    }

    /// Adds `beta` times the previous contents of the output, for [`run_into`](Self::run_into). With 0, the default, they are
    /// not read, so they may be NaN.
    pub fn beta(self, beta: f32) -> Self {
        Self { product: ProductCall { beta, ..self.product }, ..self }
    }

    /// Sets the accumulator: f32, the default, or f16 for short sums of f16 operands.
    ///
    /// # Precision
    /// With [`Accumulator::F16`], $\gamma_{k}$ is [`reference::gamma_f16`](crate::reference::gamma_f16).
    pub fn accumulator(self, accumulator: Accumulator) -> Self {
        Self { product: ProductCall { accumulator, ..self.product }, ..self }
    }

    /// Sets the precision of a product of f32 operands. The default is that of the device's [`GpuOptions`](crate::GpuOptions),
    /// which is strict unless set otherwise. It has no effect on operands of other types.
    ///
    /// # Precision
    /// [`reference::precision_tolerance`](crate::reference::precision_tolerance).
    pub fn precision(self, precision: Precision) -> Self {
        Self { product: ProductCall { precision, ..self.product }, ..self }
    }

    /// Sets the number of splits of k, which the plan otherwise predicts. Each split is summed by other workgroups, in
    /// f32; a second launch adds the sums in a fixed order.
    pub fn split_k(self, split: SplitK) -> Self {
        Self { product: ProductCall { split, ..self.product }, ..self }
    }
}

impl<T: Real, C: Real> Gemm<'_, T, C> {
    /// Extends B by a half of random signs; the given B is the stored half. f32 operands are multiplied in f32.
    pub(crate) fn sign_half(self, signs: SignHalf, seed: [u32; 2]) -> Self {
        Self { product: ProductCall { signs: Some((signs, seed)), ..self.product }, ..self }
    }
}

impl<T: Operand, C: Element> Gemm<'_, T, C> {
    /// Pins the kernel, which the plan otherwise predicts.
    pub fn kernel(self, kernel: GemmKernel) -> Self {
        Self { product: ProductCall { pin: Pin::Kernel(kernel), ..self.product }, ..self }
    }

    /// Pins the tile, which the plan otherwise predicts.
    pub fn tile(self, tile: Tile) -> Self {
        Self { product: ProductCall { pin: Pin::Tile(tile), ..self.product }, ..self }
    }

    /// Restricts the candidates of the plan.
    pub(crate) fn pinned(self, pin: Pin) -> Self {
        Self { product: ProductCall { pin, ..self.product }, ..self }
    }

    /// The plan of the product on this device, with a reason against each other kernel. Kernels are ranked by their predicted
    /// times. If the product was tuned ([`Gpu::tune`](crate::Gpu::tune)) and the device uses tuning, the plan is the one that was
    /// measured to be the fastest, and the reasons are the measured times.
    ///
    /// # Errors
    /// As [`matmul`]; [`Error::Shape`] or [`Error::Input`] for a bias or residual of the wrong shape or type;
    /// [`Error::Unsupported`] if the device cannot run the pinned kernel or tile.
    pub fn plan(&self) -> Result<Plan> {
        call("matmul", || self.product.gpu()?.explained(&self.problem()?))
    }
    /// The checked problem, as plain data.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), except for the device's limits.
    pub fn problem(&self) -> Result<GemmProblem> {
        self.product.problem(&self.fresh()?, C::DTYPE)
    }

    /// Computes the product and returns it as a new tensor.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); [`Error::OutOfMemory`] if there is no room for C; [`Error::Input`] for a beta other than 0,
    /// because a new tensor has no previous contents.
    pub fn run(&self) -> Result<Tensor<C>> {
        call("matmul", || {
            let gpu = self.product.gpu()?;
            let layout = self.fresh()?;
            if self.product.beta != 0.0 {
                return Err(Error::input(
                    "matmul: beta",
                    "a new tensor holds nothing to add to: use `run_into`",
                ));
            }
            let problem = self.product.problem(&layout, C::DTYPE)?;
            if layout.is_empty() {
                return gpu.empty(layout.shape());
            }
            let inputs = self.product.inputs();
            let fits = |c: &Tensor<C>| self.product.problem(c.layout(), C::DTYPE).is_ok();
            if let Some(c) = Tensor::destination(gpu, layout.shape(), &inputs, fits)? {
                let problem = self.product.problem(c.layout(), C::DTYPE)?;
                c.overwrite_with(|view| self.product.run(gpu, &problem, view))?;
                return Ok(c);
            }
            Tensor::from_output(self.product.make(gpu, &problem, &inputs)?, layout.shape())
        })
    }

    /// Computes the product into an existing tensor, which must be uniquely owned, and adds $\beta C$. Without a beta,
    /// [`Tensor::assign`] does the same.
    ///
    /// # Shapes
    /// `c` (..., m, n). Its columns must be contiguous; its rows may have gaps between them.
    /// # Errors
    /// As [`matmul`]; [`Error::Shape`] if `c` has another shape, or if its columns are not contiguous; [`Error::Input`] if an
    /// operand, or any other tensor, shares its buffer.
    pub fn run_into(&self, c: &mut Tensor<C>) -> Result<()> {
        call("Gemm::run_into", || {
            let ProductCall { a, b, .. } = &self.product;
            let gpu = self.product.gpu()?;
            let view = c.as_view();
            check_same_gpu(OP, gpu, view.gpu())?;
            let problem = self.product.problem(&view.layout, C::DTYPE)?;
            if [a, b].into_iter().chain(self.product.extras()).any(|x| view.shares_buffer(x)) {
                return Err(Error::input("matmul: the output", "it shares its buffer with an operand"));
            }
            c.check_unshared(OP)?;
            if c.is_empty() {
                return Ok(());
            }
            if self.product.beta == 0.0 {
                c.overwrite_with(|view| self.product.run(gpu, &problem, view))
            } else {
                c.write_with(|view| self.product.run(gpu, &problem, view))
            }
        })
    }

    fn fresh(&self) -> Result<Layout> {
        let ProductCall { a, .. } = &self.product;
        Layout::contiguous(OP, &product_shape(&a.layout, &self.product.whole_b()?)?)
    }
}
