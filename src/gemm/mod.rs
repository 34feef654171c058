//! Matrix products.

mod coop;
mod cost;
mod memory;
mod naive;
mod plan;
mod problem;
mod tile;
mod tiled;

pub use plan::{GemmKernel, explain, plan};
pub use problem::{GemmDims, GemmProblem, GemmTypes, Pin, Sums, product_shape};
pub use tile::Tile;

use crate::gpu::{Caps, Problem};
use crate::kernel::Plan;
use crate::tensor::{Element, Layout, Tensor};
use crate::{Error, Result};
use half::f16;
use std::marker::PhantomData;

/// A type of which matrices can be multiplied.
pub trait Operand: Element {
    /// The type of sums, and of the product unless another is asked for.
    type Sum: Element;
}

impl Operand for f32 {
    type Sum = f32;
}

impl Operand for f16 {
    type Sum = f32;
}

/// Matrix product $C = AB$, summed in f32.
///
/// # Shapes
/// `a` (m, k), `b` (k, n) -> (m, n). Transposed, sliced and strided views cost no copy. With k = 0 the product is 0.
/// # Errors
/// [`Error::Shape`] if the inner sizes differ; [`Error::Gpu`] if the operands live on different devices;
/// [`Error::Limit`] if an operand exceeds what the device can bind; [`Error::OutOfMemory`] without room for C.
/// # Precision
/// $|c_{ij} - (AB)_{ij}| \le \gamma_{k}\,(|A||B|)_{ij}$, see [`reference::gamma`](crate::reference::gamma).
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
    a: &'a Tensor<T>,
    b: &'a Tensor<T>,
    sums: Sums,
    pin: Pin,
    out: PhantomData<C>,
}

impl<'a, T: Operand> Gemm<'a, T> {
    /// The product of `a` (m, k) and `b` (k, n).
    pub fn new(a: &'a Tensor<T>, b: &'a Tensor<T>) -> Self {
        Self { a, b, sums: Sums::F32, pin: Pin::Free, out: PhantomData }
    }
}

impl<'a, T: Operand, C: Element> Gemm<'a, T, C> {
    /// The type of the product: sums are rounded to it once, as they are stored.
    pub fn out<U: Element>(self) -> Gemm<'a, T, U> {
        Gemm { a: self.a, b: self.b, sums: self.sums, pin: self.pin, out: PhantomData }
    }

    /// What sums may be computed in: f32, unless f16 is allowed here.
    ///
    /// # Precision
    /// With [`Sums::F16`], $\gamma_{k}$ is [`reference::gamma_f16`](crate::reference::gamma_f16).
    pub fn sums(self, sums: Sums) -> Self {
        Self { sums, ..self }
    }

    /// Takes this kernel, whatever is predicted.
    pub fn kernel(self, kernel: GemmKernel) -> Self {
        Self { pin: Pin::Kernel(kernel), ..self }
    }

    /// Takes this tile, whatever is predicted.
    pub fn tile(self, tile: Tile) -> Self {
        Self { pin: Pin::Tile(tile), ..self }
    }

    /// How the product would be computed here, and why not otherwise.
    ///
    /// # Errors
    /// As [`matmul`]; [`Error::Unsupported`] if the device cannot run what is pinned.
    pub fn plan(&self) -> Result<Plan> {
        let gpu = self.a.same_gpu(problem::OP, self.b)?;
        explain(&self.problem(&self.fresh()?)?, gpu.caps())
    }

    /// The product, as a new tensor.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and [`Error::OutOfMemory`] without room for C.
    pub fn run(&self) -> Result<Tensor<C>> {
        let gpu = self.a.same_gpu(problem::OP, self.b)?;
        let layout = self.fresh()?;
        if layout.is_empty() {
            return gpu.empty(layout.shape());
        }
        let problem = self.problem(&layout)?;
        let planned = gpu.planned(&problem)?;
        let c = gpu.empty(layout.shape())?;
        gpu.launch(&planned, bytemuck::bytes_of(&problem.dims), &[self.a.bind(), self.b.bind(), c.bind()])?;
        Ok(c)
    }

    /// The product, into a tensor that nobody else holds.
    ///
    /// # Errors
    /// As [`matmul_into`].
    pub fn run_into(&self, c: &mut Tensor<C>) -> Result<()> {
        let gpu = self.a.same_gpu(problem::OP, self.b)?;
        self.a.same_gpu(problem::OP, c)?;
        let problem = self.problem(c.layout())?;
        if c.shares_buffer(self.a) || c.shares_buffer(self.b) {
            return Err(Error::input("matmul: the output", "it shares its buffer with an operand"));
        }
        c.check_unshared(problem::OP)?;
        if c.is_empty() {
            return Ok(());
        }
        let planned = gpu.planned(&problem)?;
        gpu.launch(&planned, bytemuck::bytes_of(&problem.dims), &[self.a.bind(), self.b.bind(), c.bind()])
    }

    fn fresh(&self) -> Result<Layout> {
        Layout::contiguous(problem::OP, &product_shape(self.a.layout(), self.b.layout())?)
    }

    fn problem(&self, c: &Layout) -> Result<GemmProblem> {
        let types = GemmTypes { sums: self.sums, ..GemmTypes::new(T::DTYPE, C::DTYPE) };
        Ok(GemmProblem::new(self.a.layout(), self.b.layout(), c, types)?.pinned(self.pin))
    }
}

impl Problem for GemmProblem {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan(self, caps)
    }
}
