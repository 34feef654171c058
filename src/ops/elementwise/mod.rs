//! Elementwise functions: sums, differences, products and activations.

mod kernel;
mod plan;
pub(crate) mod problem;

pub(crate) use problem::broadcast_shape;

use super::activation::Activation;
use crate::error::{Named, call};
use crate::gpu::View;
use crate::layout::{Layout, Real};
use crate::tensor::Tensor;
use crate::{Error, Result};
use problem::{Elementwise, ElementwiseProblem};

/// The elementwise sum $a + b$.
///
/// # Shapes
/// The operands broadcast as in `NumPy`: counted from the last axis, extents are equal, or one of them is 1 or missing.
/// (3, 1) and (4) -> (3, 4). Transposed, sliced and broadcast views are read in place.
/// # Errors
/// [`Error::Shape`] if extents differ and neither is 1; [`Error::Gpu`] if the operands are on different devices;
/// [`Error::Limit`] if a tensor exceeds the device's binding size; [`Error::OutOfMemory`] if the result does not fit.
/// # Precision
/// Computed in f32, then stored: [`reference::add`](crate::reference::add).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let column = gpu.tensor(&[10.0f32, 20.0], [2, 1])?;
/// let row = gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?;
/// let sums = tilewise::ops::add(&column, &row)?;
/// assert_eq!(sums.shape(), [2, 3]);
/// assert_eq!(sums.to_vec()?, [11.0, 12.0, 13.0, 21.0, 22.0, 23.0]);
/// # Ok(())
/// # }
/// ```
pub fn add<T: Real>(a: &Tensor<T>, b: &Tensor<T>) -> Result<Tensor<T>> {
    compute(Elementwise::Add, &[a, b]).named("add")
}

/// The elementwise difference $a - b$.
///
/// # Shapes
/// As [`add`].
/// # Errors
/// As [`add`].
/// # Precision
/// Computed in f32, then stored: [`reference::sub`](crate::reference::sub).
pub fn sub<T: Real>(a: &Tensor<T>, b: &Tensor<T>) -> Result<Tensor<T>> {
    compute(Elementwise::Sub, &[a, b]).named("sub")
}

/// The elementwise product $ab$.
///
/// # Shapes
/// As [`add`].
/// # Errors
/// As [`add`].
/// # Precision
/// Computed in f32, then stored: [`reference::mul`](crate::reference::mul).
pub fn mul<T: Real>(a: &Tensor<T>, b: &Tensor<T>) -> Result<Tensor<T>> {
    compute(Elementwise::Mul, &[a, b]).named("mul")
}

/// Applies an [`Activation`] to every element.
///
/// # Shapes
/// Any view of up to 6 axes. The result has the shape of `a`.
/// # Errors
/// [`Error::Limit`] if a tensor exceeds the device's binding size; [`Error::OutOfMemory`] if the result does not fit.
/// # Precision
/// Computed in f32 within [`reference::activation_tolerance`](crate::reference::activation_tolerance), then stored
/// ([`reference::store_tolerance`](crate::reference::store_tolerance)).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Activation, ops};
///
/// let a = gpu.tensor(&[-1.0f32, 0.0, 2.0], [3])?;
/// assert_eq!(ops::activate(&a, Activation::Relu)?.to_vec()?, [0.0, 0.0, 2.0]);
/// # Ok(())
/// # }
/// ```
pub fn activate<T: Real>(a: &Tensor<T>, activation: Activation) -> Result<Tensor<T>> {
    compute(Elementwise::Activate(activation), &[a]).named("activate")
}

/// The backward pass of an [`Activation`], $f'(a)\,g$: the gradient with respect to a, from the gradient g with respect
/// to $f(a)$.
///
/// # Shapes
/// As [`add`]. The derivative of relu at 0 is 0.
/// # Errors
/// As [`add`].
/// # Precision
/// Computed in f32, then stored: [`reference::activations_backward`](crate::reference::activations_backward).
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Activation, ops};
///
/// let a = gpu.tensor(&[-1.0f32, 0.0, 2.0], [3])?;
/// let g = gpu.tensor(&[3.0f32, 4.0, 5.0], [3])?;
/// assert_eq!(ops::activate_backward(&a, &g, Activation::Relu)?.to_vec()?, [0.0, 0.0, 5.0]);
/// # Ok(())
/// # }
/// ```
pub fn activate_backward<T: Real>(a: &Tensor<T>, g: &Tensor<T>, activation: Activation) -> Result<Tensor<T>> {
    compute(Elementwise::ActivateBackward(activation), &[a, g]).named("activate_backward")
}

/// Writes the sum $a + b$ to `c`, a uniquely owned tensor. Nothing is allocated.
///
/// # Shapes
/// `c` has the shape of the result of [`add`], and any strides without overlap.
/// # Errors
/// As [`add`]; [`Error::Shape`] if `c` has another shape or its elements overlap; [`Error::Input`] if another tensor
/// shares its buffer.
/// # Precision
/// As [`add`].
pub fn add_into<T: Real>(a: &Tensor<T>, b: &Tensor<T>, c: &mut Tensor<T>) -> Result<()> {
    compute_into(Elementwise::Add, &[a, b], c).named("add_into")
}

/// Writes the difference $a - b$ to `c`, a uniquely owned tensor.
///
/// # Shapes
/// As [`add_into`].
/// # Errors
/// As [`add_into`].
/// # Precision
/// As [`sub`].
pub fn sub_into<T: Real>(a: &Tensor<T>, b: &Tensor<T>, c: &mut Tensor<T>) -> Result<()> {
    compute_into(Elementwise::Sub, &[a, b], c).named("sub_into")
}

/// Writes the elementwise product $ab$ to `c`, a uniquely owned tensor.
///
/// # Shapes
/// As [`add_into`].
/// # Errors
/// As [`add_into`].
/// # Precision
/// As [`mul`].
pub fn mul_into<T: Real>(a: &Tensor<T>, b: &Tensor<T>, c: &mut Tensor<T>) -> Result<()> {
    compute_into(Elementwise::Mul, &[a, b], c).named("mul_into")
}

/// Writes an [`Activation`] of every element of `a` to `c`, a uniquely owned tensor.
///
/// # Shapes
/// `c` has the shape of `a`, and any strides without overlap.
/// # Errors
/// As [`activate`], and as [`add_into`] for `c`.
/// # Precision
/// As [`activate`].
pub fn activate_into<T: Real>(a: &Tensor<T>, activation: Activation, c: &mut Tensor<T>) -> Result<()> {
    compute_into(Elementwise::Activate(activation), &[a], c).named("activate_into")
}

/// Adds `bias` to every row of `x`, in place. `x` is an operand and the output, as in Rust's `AddAssign`: one launch,
/// no allocation.
///
/// # Shapes
/// `x` (..., n), with any strides without overlap; `bias` (n).
/// # Errors
/// [`Error::Shape`] if `bias` does not have one axis as long as the last axis of `x`, or elements of `x` overlap;
/// [`Error::Input`] if another tensor shares the buffer of `x`; [`Error::Gpu`] and [`Error::Limit`] as [`add`].
/// # Precision
/// As [`add`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let mut x = gpu.zeros::<f32>([2, 3])?;
/// tilewise::ops::bias_add_assign(&mut x, &gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?)?;
/// assert_eq!(x.to_vec()?, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
pub fn bias_add_assign<T: Real>(x: &mut Tensor<T>, bias: &Tensor<T>) -> Result<()> {
    call("bias_add_assign", || {
        let function = Elementwise::AddAssign;
        if bias.shape().len() != 1 || x.shape().last() != bias.shape().last() {
            let rule = "the bias must have one axis, as long as the last axis of x";
            return Err(Error::shapes(function.op(), rule, bias.shape(), x.shape()));
        }
        compute_into(function, &[bias], x)
    })
}

/// Adds `a` to `x`, in place. `x` is an operand and the output, as in Rust's `AddAssign`.
///
/// # Shapes
/// `x` has any strides without overlap; `a` broadcasts to the shape of `x`.
/// # Errors
/// [`Error::Shape`] if `a` does not broadcast to the shape of `x`, or elements of `x` overlap; otherwise as
/// [`bias_add_assign`].
/// # Precision
/// As [`add`].
pub fn add_assign<T: Real>(x: &mut Tensor<T>, a: &Tensor<T>) -> Result<()> {
    compute_into(Elementwise::AddAssign, &[a], x).named("add_assign")
}

/// Subtracts `a` from `x`, in place. `x` is an operand and the output, as in Rust's `SubAssign`.
///
/// # Shapes
/// As [`add_assign`].
/// # Errors
/// As [`add_assign`].
/// # Precision
/// As [`sub`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let mut x = gpu.tensor(&[5.0f32, 7.0], [2])?;
/// tilewise::ops::sub_assign(&mut x, &gpu.tensor(&[1.0f32], [1])?)?;
/// assert_eq!(x.to_vec()?, [4.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub fn sub_assign<T: Real>(x: &mut Tensor<T>, a: &Tensor<T>) -> Result<()> {
    compute_into(Elementwise::SubAssign, &[a], x).named("sub_assign")
}

/// `function` of the operands in a new tensor of their broadcast shape.
fn compute<T: Real>(function: Elementwise, operands: &[&Tensor<T>]) -> Result<Tensor<T>> {
    let [a, b] = [operands[0], operands[operands.len() - 1]];
    let op = function.op();
    let gpu = a.same_gpu(op, b)?;
    let shape = broadcast_shape(op, a.layout(), b.layout())?;
    let layout = Layout::contiguous(op, &shape)?;
    if layout.is_empty() {
        return gpu.empty(shape);
    }
    let layouts: Vec<&Layout> = operands.iter().map(|x| x.layout()).collect();
    let problem = ElementwiseProblem::new(function, &layouts, &layout, T::DTYPE)?;
    let inputs: Vec<_> = operands.iter().copied().map(Tensor::view).collect();
    let [c] = gpu.compute(&problem, &inputs, &[])?;
    Tensor::from_output(c, shape)
}

/// Writes `function` of the operands to `c`, which is an operand too if the function is an update.
fn compute_into<T: Real>(function: Elementwise, operands: &[&Tensor<T>], c: &Tensor<T>) -> Result<()> {
    let op = function.op();
    operands.iter().try_for_each(|x| c.same_gpu(op, x).map(|_| ()))?;
    let layouts: Vec<&Layout> = operands.iter().map(|x| x.layout()).collect();
    let shape = match function {
        _ if function.is_update() => c.shape().to_vec(),
        _ => broadcast_shape(op, layouts[0], layouts[layouts.len() - 1])?,
    };
    if c.shape() != shape {
        return Err(Error::shapes(op, "the output must have the shape of the result", c.shape(), &shape));
    }
    let problem = ElementwiseProblem::new(function, &layouts, c.layout(), T::DTYPE);
    if operands.iter().any(|x| c.shares_buffer(x)) {
        return Err(Error::input(format!("{op}: the output"), "it shares its buffer with an operand"));
    }
    c.check_unshared(op)?;
    if c.is_empty() {
        return problem.map(|_| ());
    }
    let problem = problem?;
    let run = |output: View<'_>| {
        let operands: Vec<_> = [output].into_iter().chain(operands.iter().map(|x| x.view())).collect();
        c.gpu().run(&problem, &operands, &[])
    };
    if function.is_update() { run(c.view()) } else { c.overwrite_with(run) }
}
