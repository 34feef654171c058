//! Runs elementwise functions.

use super::argument::Argument;
use super::function::Function;
use super::operation::{Arguments, Elementwise};
use super::problem::{ElementwiseProblem, broadcast_shape};
use crate::gpu::{View, check_same_gpu};
use crate::layout::{DType, Element, Layout};
use crate::plan::Scalar;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// A function of tensors and numbers, in a new tensor.
pub(super) fn apply<T: Element, U: Element, const N: usize>(
    function: Function,
    arguments: [Argument<'_, T>; N],
) -> Result<Tensor<U>> {
    apply_to(function, None, arguments)
}

/// Applies a function, whose first operand is the mask if there is one, to tensors and numbers.
pub(super) fn apply_to<T: Element, U: Element, const N: usize>(
    function: Function,
    mask: Option<&Tensor<i8>>,
    arguments: [Argument<'_, T>; N],
) -> Result<Tensor<U>> {
    let op = function.name();
    let (mut is_number, mut numbers) = ([false; 3], Vec::new());
    let mut views: Vec<View<'_>> = mask.iter().map(|mask| mask.view()).collect();
    for (at, argument) in (views.len()..).zip(arguments) {
        views.extend(argument.tensor().map(Tensor::view));
        if let Some(number) = argument.number(op)? {
            is_number[at] = true;
            numbers.push(number);
        }
    }
    if views.is_empty() {
        let why = "there must be a tensor among them: of numbers alone, Rust computes the value";
        return Err(Error::input(format!("{op}: the arguments"), why));
    }
    compute(Elementwise::Apply(function, Arguments::with_numbers(is_number)), &views, &numbers)
}

/// An elementwise function of tensors on one device, in a new tensor of their broadcast shape.
pub(super) fn compute<U: Element>(
    function: Elementwise,
    operands: &[View<'_>],
    numbers: &[Scalar],
) -> Result<Tensor<U>> {
    let op = function.op();
    let gpu = operands[0].gpu();
    operands.iter().try_for_each(|operand| check_same_gpu(op, gpu, operand.gpu()))?;
    let layouts: Vec<(&Layout, DType)> = operands.iter().map(|x| (&x.layout, x.dtype)).collect();
    let shapes: Vec<&Layout> = layouts.iter().map(|(layout, _)| *layout).collect();
    let shape = broadcast_shape(op, &shapes)?;
    let layout = Layout::contiguous(op, &shape)?;
    if layout.is_empty() {
        let dtypes: Vec<DType> = layouts.iter().map(|(_, dtype)| *dtype).collect();
        function.check(&dtypes, U::DTYPE)?;
        return gpu.empty(shape);
    }
    let c = Tensor::strided_destination(gpu, &shape, operands)?;
    let to = c.as_ref().map_or(&layout, Tensor::layout);
    let problem = ElementwiseProblem::new(function, &layouts, (to, U::DTYPE))?;
    if let Some(c) = c {
        c.overwrite_with(|to| gpu.run(&problem, &[&[to], operands].concat(), numbers))?;
        return Ok(c);
    }
    let [c] = gpu.compute(&problem, operands, numbers)?;
    Tensor::from_output(c, shape)
}

/// Replaces `c` by a function of it and `x`.
pub(super) fn update<T: Element>(function: Function, x: &Tensor<T>, c: &Tensor<T>) -> Result<()> {
    let function = Elementwise::Update(function);
    let op = function.op();
    c.same_gpu(op, x)?;
    let problem = ElementwiseProblem::new(function, &[(x.layout(), T::DTYPE)], (c.layout(), T::DTYPE));
    if c.shares_buffer(x) {
        return Err(Error::input(format!("{op}: the output"), "it shares its buffer with an operand"));
    }
    c.check_unshared(op)?;
    if c.is_empty() {
        return problem.map(|_| ());
    }
    c.gpu().run(&problem?, &[c.view(), x.view()], &[])
}
