//! Functions of elements, one by one: sums, differences, products and activations.
//!
//! The functions that applications call are here. Each makes an [`ElementwiseProblem`] of its operands and runs it.

mod kernel;
mod plan;
mod problem;

pub use problem::{Elementwise, ElementwiseDims, ElementwiseProblem, broadcast_shape};

use super::activation::Activation;
use crate::error::{Named, call};
use crate::gpu::View;
use crate::layout::{Layout, Real};
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The sum $a + b$ of elements.
///
/// # Shapes
/// Counted from the last axis, extents are equal or one of them is 1 or missing, and is then repeated, as `NumPy` does:
/// (3, 1) and (4) -> (3, 4). Transposed, sliced and repeated views cost no copy.
/// # Errors
/// [`Error::Shape`] if extents differ and none is 1; [`Error::Gpu`] if the operands live on different devices;
/// [`Error::Limit`] if one exceeds what the device can bind; [`Error::OutOfMemory`] without room for the result.
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
    fresh(Elementwise::Add, &[a, b]).named("add")
}

/// The difference $a - b$ of elements.
///
/// # Shapes
/// As [`add`].
/// # Errors
/// As [`add`].
/// # Precision
/// Computed in f32, then stored: [`reference::sub`](crate::reference::sub).
pub fn sub<T: Real>(a: &Tensor<T>, b: &Tensor<T>) -> Result<Tensor<T>> {
    fresh(Elementwise::Sub, &[a, b]).named("sub")
}

/// The product $ab$ of elements.
///
/// # Shapes
/// As [`add`].
/// # Errors
/// As [`add`].
/// # Precision
/// Computed in f32, then stored: [`reference::mul`](crate::reference::mul).
pub fn mul<T: Real>(a: &Tensor<T>, b: &Tensor<T>) -> Result<Tensor<T>> {
    fresh(Elementwise::Mul, &[a, b]).named("mul")
}

/// An [`Activation`] of every element.
///
/// # Shapes
/// The result has the shape of `a`, any view of up to 6 axes.
/// # Errors
/// [`Error::Limit`] if a tensor exceeds what the device can bind; [`Error::OutOfMemory`] without room for the result.
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
    fresh(Elementwise::Activate(activation), &[a]).named("activate")
}

/// The gradient that an [`Activation`] hands back, $f'(a)\,g$: of a loss whose gradient with respect to $f(a)$ is g.
///
/// # Shapes
/// As [`add`]. At 0 the slope of relu is 0.
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
    fresh(Elementwise::Slope(activation), &[a, g]).named("activate_backward")
}

/// The sum $a + b$ into a tensor that nobody else holds: nothing is allocated.
///
/// # Shapes
/// `c` has the shape that [`add`] would return; any strides without overlap.
/// # Errors
/// As [`add`]; [`Error::Shape`] if `c` has another shape or its elements overlap; [`Error::Input`] if another tensor
/// shares its buffer.
/// # Precision
/// As [`add`].
pub fn add_into<T: Real>(a: &Tensor<T>, b: &Tensor<T>, c: &mut Tensor<T>) -> Result<()> {
    into(Elementwise::Add, &[a, b], c).named("add_into")
}

/// The difference $a - b$ into a tensor that nobody else holds.
///
/// # Shapes
/// As [`add_into`].
/// # Errors
/// As [`add_into`].
/// # Precision
/// As [`sub`].
pub fn sub_into<T: Real>(a: &Tensor<T>, b: &Tensor<T>, c: &mut Tensor<T>) -> Result<()> {
    into(Elementwise::Sub, &[a, b], c).named("sub_into")
}

/// The product $ab$ of elements into a tensor that nobody else holds.
///
/// # Shapes
/// As [`add_into`].
/// # Errors
/// As [`add_into`].
/// # Precision
/// As [`mul`].
pub fn mul_into<T: Real>(a: &Tensor<T>, b: &Tensor<T>, c: &mut Tensor<T>) -> Result<()> {
    into(Elementwise::Mul, &[a, b], c).named("mul_into")
}

/// An [`Activation`] of every element into a tensor that nobody else holds.
///
/// # Shapes
/// `c` has the shape of `a`; any strides without overlap.
/// # Errors
/// As [`activate`], and as [`add_into`] of `c`.
/// # Precision
/// As [`activate`].
pub fn activate_into<T: Real>(a: &Tensor<T>, activation: Activation, c: &mut Tensor<T>) -> Result<()> {
    into(Elementwise::Activate(activation), &[a], c).named("activate_into")
}

/// Adds `bias` to every row of `x`, in place: one launch, and no buffer.
///
/// # Shapes
/// `x` (..., n), any strides without overlap; `bias` (n).
/// # Errors
/// [`Error::Shape`] if `bias` is not of one axis as long as the last of `x`, or elements of `x` overlap;
/// [`Error::Input`] if another tensor shares the buffer of `x`; [`Error::Gpu`], [`Error::Limit`] as [`add`].
/// # Precision
/// As [`add`].
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// let mut x = gpu.zeros::<f32>([2, 3])?;
/// tilewise::ops::bias_add_inplace(&mut x, &gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?)?;
/// assert_eq!(x.to_vec()?, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
pub fn bias_add_inplace<T: Real>(x: &mut Tensor<T>, bias: &Tensor<T>) -> Result<()> {
    call("bias_add_inplace", || {
        let function = Elementwise::Update;
        if bias.shape().len() != 1 || x.shape().last() != bias.shape().last() {
            let rule = "the bias must have one axis, as long as the operand's last";
            return Err(Error::shapes(function.op(), rule, bias.shape(), x.shape()));
        }
        into(function, &[bias], x)
    })
}

/// Adds `a` to `x`, in place.
///
/// # Shapes
/// `x` any strides without overlap; `a` of its shape, or of extents of 1 that are repeated.
/// # Errors
/// [`Error::Shape`] if `a` cannot be repeated to the shape of `x`, or elements of `x` overlap; otherwise as
/// [`bias_add_inplace`].
/// # Precision
/// As [`add`].
pub fn add_inplace<T: Real>(x: &mut Tensor<T>, a: &Tensor<T>) -> Result<()> {
    into(Elementwise::Update, &[a], x).named("add_inplace")
}

/// `function` of the operands in a new tensor of the shape that they have together.
fn fresh<T: Real>(function: Elementwise, operands: &[&Tensor<T>]) -> Result<Tensor<T>> {
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
    let [c] = gpu.make(&problem, &inputs, &[])?;
    Tensor::made(c, shape)
}

/// `function` of the operands, and of what `c` holds if it is an update, in `c`.
fn into<T: Real>(function: Elementwise, operands: &[&Tensor<T>], c: &Tensor<T>) -> Result<()> {
    let op = function.op();
    operands.iter().try_for_each(|x| c.same_gpu(op, x).map(|_| ()))?;
    let layouts: Vec<&Layout> = operands.iter().map(|x| x.layout()).collect();
    let shape = match function {
        Elementwise::Update => c.shape().to_vec(),
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
    if function == Elementwise::Update { run(c.view()) } else { c.overwrite_with(run) }
}
