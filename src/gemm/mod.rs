//! Matrix products.

mod coop;
mod cost;
mod epilogue;
mod linear;
mod memory;
mod naive;
mod plan;
mod problem;
mod reduce;
mod tile;
mod tiled;

pub use epilogue::{Epilogue, Previous, Scale};
pub use linear::{Linear, linear};
pub use plan::{GemmKernel, explain, plan};
pub use problem::{GemmDims, GemmProblem, GemmTypes, I8_INNER, Pin, Split, Sums, product_shape};
pub use tile::Tile;

use crate::gpu::{Binding, Caps, Gpu, Prepared, Problem};
use crate::kernel::Plan;
use crate::ops::Activation;
pub use crate::tensor::Operand;
use crate::tensor::{DType, Element, Layout, Real, Tensor};
use crate::{Error, Result};
use epilogue::BiasAxis;
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
    a: &'a Tensor<T>,
    b: &'a Tensor<T>,
    alpha: f32,
    beta: f32,
    bias: Option<(BiasAxis, Extra<'a>)>,
    residual: Option<Extra<'a>>,
    activation: Activation,
    sums: Sums,
    pin: Pin,
    split: Split,
    out: PhantomData<C>,
}

/// An operand of the epilogue, of whatever type.
#[derive(Clone)]
struct Extra<'a> {
    gpu: &'a Gpu,
    layout: &'a Layout,
    dtype: DType,
    binding: Binding<'a>,
}

impl std::fmt::Debug for Extra<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.dtype, self.layout)
    }
}

impl<'a> Extra<'a> {
    fn new<R: Real>(tensor: &'a Tensor<R>) -> Self {
        Self { gpu: tensor.gpu(), layout: tensor.layout(), dtype: R::DTYPE, binding: tensor.bind() }
    }
}

impl<'a, T: Operand> Gemm<'a, T> {
    /// The product of `a` (..., m, k) and `b` (..., k, n).
    pub fn new(a: &'a Tensor<T>, b: &'a Tensor<T>) -> Self {
        Self {
            a,
            b,
            alpha: 1.0,
            beta: 0.0,
            bias: None,
            residual: None,
            activation: Activation::None,
            sums: Sums::F32,
            pin: Pin::Free,
            split: Split::Free,
            out: PhantomData,
        }
    }
}

/// What becomes of sums before they are stored, in the same launch: activation($\alpha AB + \beta C$ + bias) + residual,
/// computed in f32 and rounded once.
impl<'a, T: Real, C: Real> Gemm<'a, T, C> {
    /// The type of the product: sums are rounded to it once, as they are stored.
    pub fn out<U: Real>(self) -> Gemm<'a, T, U> {
        let Self { a, b, alpha, beta, bias, residual, activation, sums, pin, split, out: _ } = self;
        Gemm { a, b, alpha, beta, bias, residual, activation, sums, pin, split, out: PhantomData }
    }

    /// What the product is multiplied by.
    pub fn alpha(self, alpha: f32) -> Self {
        Self { alpha, ..self }
    }

    /// What the output's elements are multiplied by before the product is added: for [`run_into`](Self::run_into). Of
    /// 0, the default, they are not read, and may be NaN.
    pub fn beta(self, beta: f32) -> Self {
        Self { beta, ..self }
    }

    /// Adds a bias for each column: `bias` (n), the same for every row and matrix.
    pub fn bias<R: Real>(self, bias: &'a Tensor<R>) -> Self {
        Self { bias: Some((BiasAxis::Columns, Extra::new(bias))), ..self }
    }

    /// Adds a bias for each row: `bias` (m), the same for every column and matrix.
    pub fn row_bias<R: Real>(self, bias: &'a Tensor<R>) -> Self {
        Self { bias: Some((BiasAxis::Rows, Extra::new(bias))), ..self }
    }

    /// Adds a tensor of the shape and type of the product, behind the activation.
    pub fn residual<R: Real>(self, residual: &'a Tensor<R>) -> Self {
        Self { residual: Some(Extra::new(residual)), ..self }
    }

    /// Applies a function to every element.
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// What sums may be computed in: f32, unless f16 is allowed here.
    ///
    /// # Precision
    /// With [`Sums::F16`], $\gamma_{k}$ is [`reference::gamma_f16`](crate::reference::gamma_f16).
    pub fn sums(self, sums: Sums) -> Self {
        Self { sums, ..self }
    }

    /// Into how many parts of k the product is split, whatever is predicted: parts are summed by other workgroups, in
    /// f32, and brought together in a second launch in a fixed order.
    pub fn split(self, split: Split) -> Self {
        Self { split, ..self }
    }
}

impl<T: Operand, C: Element> Gemm<'_, T, C> {
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
    /// As [`matmul`]; [`Error::Shape`] or [`Error::Input`] for a bias or residual of the wrong shape or type;
    /// [`Error::Unsupported`] if the device cannot run what is pinned.
    pub fn plan(&self) -> Result<Plan> {
        explain(&self.problem(&self.fresh()?)?, self.gpu()?.caps())
    }

    /// The product, as a new tensor.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and [`Error::OutOfMemory`] without room for C; [`Error::Input`] for a beta: there is
    /// nothing yet to add to.
    pub fn run(&self) -> Result<Tensor<C>> {
        let gpu = self.gpu()?;
        let layout = self.fresh()?;
        if self.beta != 0.0 {
            return Err(Error::input("matmul: beta", "a new tensor holds nothing to add to: use `run_into`"));
        }
        let problem = self.problem(&layout)?;
        if layout.is_empty() {
            return gpu.empty(layout.shape());
        }
        let planned = gpu.planned(&problem)?;
        let c = gpu.empty(layout.shape())?;
        self.launch(gpu, &planned, &problem, &c)?;
        Ok(c)
    }

    /// The product, into a tensor that nobody else holds.
    ///
    /// # Errors
    /// As [`matmul_into`].
    pub fn run_into(&self, c: &mut Tensor<C>) -> Result<()> {
        let gpu = self.gpu()?;
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
        self.launch(gpu, &planned, &problem, c)
    }

    /// The device of all operands.
    fn gpu(&self) -> Result<&Gpu> {
        let gpu = self.a.same_gpu(problem::OP, self.b)?;
        let all_here = self.extras().all(|extra| extra.gpu.is_same(gpu));
        if all_here { Ok(gpu) } else { Err(Error::Gpu { op: problem::OP }) }
    }

    /// The epilogue's operands, in the order in which kernels bind them.
    fn extras(&self) -> impl Iterator<Item = &Extra<'_>> {
        self.bias.iter().map(|(_, bias)| bias).chain(&self.residual)
    }

    fn fresh(&self) -> Result<Layout> {
        Layout::contiguous(problem::OP, &product_shape(self.a.layout(), self.b.layout())?)
    }

    fn problem(&self, c: &Layout) -> Result<GemmProblem> {
        let types = GemmTypes { sums: self.sums, ..GemmTypes::new(T::DTYPE, C::DTYPE) };
        let mut problem = GemmProblem::new(self.a.layout(), self.b.layout(), c, types)?
            .pinned(self.pin)
            .split(self.split)
            .alpha(self.alpha)
            .beta(self.beta)
            .activation(self.activation);
        if let Some((axis, bias)) = &self.bias {
            problem = problem.bias(*axis, bias.layout, bias.dtype)?;
        }
        if let Some(residual) = &self.residual {
            if residual.dtype != C::DTYPE {
                let why =
                    format!("it is of {}, the product of {}: `cast` it first", residual.dtype, C::DTYPE);
                return Err(Error::input("matmul: the residual", why));
            }
            problem = problem.residual(residual.layout, c, residual.dtype)?;
        }
        Ok(problem)
    }

    /// One launch; of a product in parts two, the sums of the parts between them.
    fn launch(&self, gpu: &Gpu, planned: &Prepared, problem: &GemmProblem, c: &Tensor<C>) -> Result<()> {
        let extras = self.extras().map(|extra| extra.binding.clone());
        match planned.then() {
            None => {
                let bindings: Vec<_> =
                    [self.a.bind(), self.b.bind(), c.bind()].into_iter().chain(extras).collect();
                gpu.launch(planned, bytemuck::bytes_of(&problem.dims), &bindings)
            }
            Some(reduce) => {
                let parts = planned.plan().parts;
                let part = problem.in_parts(parts);
                let sums =
                    gpu.empty::<f32>([part.dims.parts as usize, c.len() / part.dims.batches as usize])?;
                gpu.launch(
                    planned,
                    bytemuck::bytes_of(&part.dims),
                    &[self.a.bind(), self.b.bind(), sums.bind()],
                )?;
                let bindings: Vec<_> = [sums.bind(), c.bind()].into_iter().chain(extras).collect();
                gpu.launch(reduce, bytemuck::bytes_of(&problem.reduced(parts)), &bindings)
            }
        }
    }
}

impl Problem for GemmProblem {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan(self, caps)
    }
}
