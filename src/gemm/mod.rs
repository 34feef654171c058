//! Matrix products.

mod blocks;
mod epilogue;
mod generated;
mod half_signs;
mod halves;
mod in_halves;
mod kernels;
mod layouts;
mod linear;
mod memory;
mod panels;
mod plan;
mod problem;
mod product;
mod reduce;
mod segments;
mod uniforms;

pub use crate::layout::Precision;
pub use epilogue::{BiasAxis, Epilogue, Previous, Scale};
pub(crate) use generated::Made;
pub use generated::{Entries, Generated, Outer};
pub use half_signs::{Half, HalfSigns, HalvedAxis};
pub use halves::{Halves, HalvesDims, HalvesProblem, NON_FINITE, Side, halves};
pub use kernels::{GemmKernel, Tile};
pub use linear::{Linear, linear};
pub use problem::{GemmDims, GemmProblem, GemmTypes, I8_INNER, Pin, Split, Sums, product_shape};
pub(crate) use product::product;
pub(crate) use reduce::sum_of_parts;
pub(crate) use segments::{Planes, Segment, Segmented, segment_table};
pub use segments::{SegmentDims, SegmentedProblem};
pub use uniforms::{SeededADims, SeededBDims};

use crate::error::call;
use crate::gpu::check_same_gpu;
use crate::layout::Operand;
use crate::layout::{Element, Layout, Real};
use crate::ops::Activation;
use crate::plan::{Plan, Problem};
use crate::tensor::Tensor;
use crate::{Error, Result};
use product::Product;
use std::marker::PhantomData;

/// Matrix product $C = AB$, or a batch of them: f32, f16 and bf16 are summed in f32, i8 in i32.
///
/// # Shapes
/// `a` (..., m, k), `b` (..., k, n) -> (..., m, n), of two to four axes; those in front are a batch and broadcast.
/// Transposed, sliced and strided views cost no copy. With k = 0 the product is 0.
/// # Errors
/// [`Error::Shape`] if the inner sizes differ or the batches do not broadcast; [`Error::Gpu`] if the operands live on
/// different devices; [`Error::Limit`] for i8 if k is beyond [`I8_INNER`]; [`Error::OutOfMemory`] without room for C.
/// # Precision
/// $|c_{ij} - (AB)_{ij}| \le \gamma_{k}\,(|A||B|)_{ij}$, see [`reference::gamma`](crate::reference::gamma); i8 is exact.
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

/// Matrix product $C = AB$ into a tensor that nobody else holds: nothing is allocated.
///
/// # Shapes
/// As [`matmul`]; `c` (m, n) may have gaps between its rows.
/// # Errors
/// As [`matmul`]; [`Error::Shape`] if `c` has another shape, or columns that are not neighbours; [`Error::Input`] if
/// its buffer is an operand's or any other tensor's.
pub fn matmul_into<T: Operand>(a: &Tensor<T>, b: &Tensor<T>, c: &mut Tensor<T::Sum>) -> Result<()> {
    Gemm::new(a, b).run_into(c)
}

/// A matrix product with its options. [`matmul`] is the one without.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # use tilewise::{Gemm, GemmKernel, f16};
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
    product: Product<'a>,
    types: PhantomData<(T, C)>,
}

impl<'a, T: Operand> Gemm<'a, T> {
    /// The product of `a` (..., m, k) and `b` (..., k, n).
    pub fn new(a: &'a Tensor<T>, b: &'a Tensor<T>) -> Self {
        let product = Product { precision: a.gpu().precision(), ..Product::new(a.as_view(), b.as_view()) };
        Self { product, types: PhantomData }
    }
}

/// What becomes of sums before they are stored, in the same launch: activation($\alpha AB + \beta C$ + bias) + residual,
/// computed in f32 and rounded once.
impl<'a, T: Real, C: Real> Gemm<'a, T, C> {
    /// The type of the product: sums are rounded to it once, as they are stored.
    pub fn out<U: Real>(self) -> Gemm<'a, T, U> {
        Gemm { product: self.product, types: PhantomData }
    }

    /// What the product is multiplied by.
    pub fn alpha(mut self, alpha: f32) -> Self {
        self.product.alpha = alpha;
        self
    }

    /// What the output's elements are multiplied by before the product is added: for [`run_into`](Self::run_into). Of
    /// 0, the default, they are not read, and may be NaN.
    pub fn beta(mut self, beta: f32) -> Self {
        self.product.beta = beta;
        self
    }

    /// Adds a bias for each column: `bias` (n), the same for every row and matrix.
    pub fn bias<R: Real>(mut self, bias: &'a Tensor<R>) -> Self {
        self.product.bias = Some((BiasAxis::Columns, bias.as_view()));
        self
    }

    /// Adds a bias for each row: `bias` (m), the same for every column and matrix.
    pub fn row_bias<R: Real>(mut self, bias: &'a Tensor<R>) -> Self {
        self.product.bias = Some((BiasAxis::Rows, bias.as_view()));
        self
    }

    /// Adds a tensor of the shape and type of the product, behind the activation.
    pub fn residual<R: Real>(mut self, residual: &'a Tensor<R>) -> Self {
        self.product.residual = Some(residual.as_view());
        self
    }

    /// Applies a function to every element.
    pub fn activation(mut self, activation: Activation) -> Self {
        self.product.activation = activation;
        self
    }

    /// What sums may be computed in: f32, unless f16 is allowed here.
    ///
    /// # Precision
    /// With [`Sums::F16`], $\gamma_{k}$ is [`reference::gamma_f16`](crate::reference::gamma_f16).
    pub fn sums(mut self, sums: Sums) -> Self {
        self.product.sums = sums;
        self
    }

    /// How precise a product of f32 has to be; without this, as the device's [`GpuOptions`](crate::GpuOptions) say,
    /// strict unless they say otherwise. Operands of other types are multiplied as they are.
    ///
    /// # Precision
    /// [`reference::precision_tolerance`](crate::reference::precision_tolerance).
    pub fn precision(mut self, precision: Precision) -> Self {
        self.product.precision = precision;
        self
    }

    /// Into how many parts of k the product is split, whatever is predicted: parts are summed by other workgroups, in
    /// f32, and brought together in a second launch in a fixed order.
    pub fn split(mut self, split: Split) -> Self {
        self.product.split = split;
        self
    }
}

impl<T: Operand, C: Element> Gemm<'_, T, C> {
    /// Takes this kernel, whatever is predicted.
    pub fn kernel(mut self, kernel: GemmKernel) -> Self {
        self.product.pin = Pin::Kernel(kernel);
        self
    }

    /// Takes this tile, whatever is predicted.
    pub fn tile(mut self, tile: Tile) -> Self {
        self.product.pin = Pin::Tile(tile);
        self
    }

    /// Restricts the plan in this way.
    pub(crate) fn pinned(mut self, pin: Pin) -> Self {
        self.product.pin = pin;
        self
    }

    /// How the product would be computed here, and why not otherwise.
    ///
    /// # Errors
    /// As [`matmul`]; [`Error::Shape`] or [`Error::Input`] for a bias or residual of the wrong shape or type;
    /// [`Error::Unsupported`] if the device cannot run what is pinned.
    pub fn plan(&self) -> Result<Plan> {
        call("matmul", || {
            let caps = self.product.gpu()?.caps();
            self.problem()?.explain(caps)
        })
    }

    /// How the product would be computed if A lay so.
    pub(crate) fn plan_for(mut self, a: &Layout) -> Result<Plan> {
        // NOTE: the view may reach beyond its buffer now. A plan asks for its layout alone.
        self.product.a = self.product.a.seen_as(*a);
        self.plan()
    }

    /// What is to be computed.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), but for the device's limits.
    pub fn problem(&self) -> Result<GemmProblem> {
        self.product.problem(&self.fresh()?, C::DTYPE)
    }

    /// The product, as a new tensor.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and [`Error::OutOfMemory`] without room for C; [`Error::Input`] for a beta: there is
    /// nothing yet to add to.
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
            Tensor::made(self.product.make(gpu, &problem)?, layout.shape())
        })
    }

    /// The product, into a tensor that nobody else holds.
    ///
    /// # Errors
    /// As [`matmul_into`].
    pub fn run_into(&self, c: &mut Tensor<C>) -> Result<()> {
        call("matmul_into", || {
            let Product { a, b, .. } = &self.product;
            let gpu = self.product.gpu()?;
            let view = c.as_view();
            check_same_gpu(problem::OP, gpu, view.gpu())?;
            let problem = self.product.problem(&view.layout, C::DTYPE)?;
            if view.shares_buffer(a) || view.shares_buffer(b) {
                return Err(Error::input("matmul: the output", "it shares its buffer with an operand"));
            }
            c.check_unshared(problem::OP)?;
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
        let Product { a, .. } = &self.product;
        Layout::contiguous(problem::OP, &product_shape(&a.layout, &self.product.whole_b()?)?)
    }
}
