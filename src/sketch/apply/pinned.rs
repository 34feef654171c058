//! Applying operators by pinned kernels, so that tests can run every one of them on any device.

use crate::Result;
use crate::caps::Caps;
use crate::gemm::{Gemm, Pin, SignHalf};
use crate::layout::{Precision, Real};
use crate::plan::Problem;
use crate::sketch::dense::DenseProblem;
use crate::sketch::hadamard::HadamardProblem;
use crate::sketch::operator::axis::AxisLayout;
use crate::sketch::operator::{Applied, Direction, Sketch, words};
use crate::tensor::Tensor;

/// Applies a dense operator (Gaussian, uniform or sign entries) along an axis, by the pinned matrix product kernel. The seed is
/// that of the operator, or in a tensor.
///
/// # Errors
/// As for [`Sketch::apply`]; [`Error::Input`](crate::Error::Input) if the operator is not dense;
/// [`Error::Unsupported`](crate::Error::Unsupported) if the device cannot run the pinned kernel.
pub fn apply_dense<T: Real>(
    sketch: &Sketch,
    seed: Option<&Tensor<i32>>,
    direction: Direction,
    x: &Tensor<T>,
    axis: usize,
    pin: Pin,
) -> Result<Tensor<f32>> {
    let operator = Applied { sketch, seed };
    let (layout, x) = operator.checked_axis(direction, x, axis)?;
    let problem = DenseProblem::new(sketch, direction, x.layout(), axis, T::DTYPE)?.pinned(pin);
    let problem = problem.seeded(operator.source()?);
    Tensor::computed(x.gpu(), &problem, &operator.inputs(&x), &problem.numbers(sketch), layout.shape)
}

/// Applies a Hadamard operator along an axis, in the passes of a plan for these `caps`. The seed is that of the operator, or
/// in a tensor.
///
/// # Errors
/// As for [`Sketch::apply`]; [`Error::Shape`](crate::Error::Shape) if the strides of `x` leave more than three other
/// axes unmerged.
pub fn apply_hadamard<T: Real>(
    sketch: &Sketch,
    seed: Option<&Tensor<i32>>,
    direction: Direction,
    x: &Tensor<T>,
    axis: usize,
    caps: &Caps,
) -> Result<Tensor<f32>> {
    let operator = Applied { sketch, seed };
    let problem = HadamardProblem::new(sketch, direction, x.layout(), axis, T::DTYPE)?;
    let problem = problem.seeded(operator.source()?);
    let mut y = x
        .gpu()
        .empty::<f32>(AxisLayout::new(x.layout(), axis, direction.lengths(sketch.shape())[1])?.shape)?;
    let mut operands = operator.inputs(x);
    operands.insert(1, y.view_mut()?);
    x.gpu().execute(&problem.plan(caps)?, &operands, &problem.numbers(sketch))?;
    Ok(y)
}

/// The product of `a` and `b` by the kernels that stage their operands in shared memory.
///
/// With `signs`, operand B is `b` joined with the signs of the operator along one axis. The result is then bit-identical
/// to that of a stored B.
pub fn staged_product<'a, T: Real>(
    a: &'a Tensor<T>,
    b: &'a Tensor<T>,
    signs: Option<(&Sketch, SignHalf)>,
) -> Gemm<'a, T> {
    let product = Gemm::new(a, b).precision(Precision::Strict).pinned(Pin::Staged);
    match signs {
        None => product,
        Some((sketch, signs)) => {
            product.sign_half(SignHalf { tag: sketch.tag(), ..signs }, words(sketch.seed()))
        }
    }
}
