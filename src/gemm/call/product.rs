//! A product with its operands and options: it becomes a problem, and the problem is executed.

use crate::gemm::problem::{
    Accumulator, BiasAxis, Epilogue, GemmProblem, GemmTypes, Numbers, OP, Pin, Previous, Scale, SignHalf,
    SplitK,
};
use crate::gpu::{Allocation, Gpu, View, check_same_gpu};
use crate::layout::{DType, Layout, Precision};
use crate::ops::Activation;
use crate::plan::Scalar;
use crate::{Error, Result};

/// A product with its operands and options, of any element types.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProductCall<'a> {
    pub(super) a: View<'a>,
    /// B, or its stored half.
    pub(super) b: View<'a>,
    /// The generated half of B and its seed, if B has one.
    pub(super) signs: Option<(SignHalf, [u32; 2])>,
    pub(super) bias: Option<(BiasAxis, View<'a>)>,
    pub(super) residual: Option<View<'a>>,
    /// The scales of rows and of columns of exact sums.
    pub(super) row_scale: Option<View<'a>>,
    pub(super) column_scale: Option<View<'a>>,
    /// The divisor of a result of i8, if it is set.
    pub(super) out_scale: Option<f32>,
    pub(super) alpha: f32,
    pub(super) beta: f32,
    pub(super) activation: Activation,
    pub(super) accumulator: Accumulator,
    pub(super) precision: Precision,
    pub(super) pin: Pin,
    pub(super) split: SplitK,
}

/// Checks the scale of a result of this type.
pub(crate) fn check_out_scale(scale: Option<f32>, dtype: DType) -> Result<()> {
    let wrong = |why| Err(Error::input("matmul: out_scale", why));
    match scale {
        Some(scale) if !(scale > 0.0 && scale < f32::INFINITY) => {
            wrong(format!("it is {scale}; results are divided by it, so it must be finite and above 0"))
        }
        Some(_) if dtype != DType::I8 => {
            wrong(format!("only results of i8 are divided by it, not those of {dtype}: call `out::<i8>()`"))
        }
        _ => Ok(()),
    }
}

/// Computes C = A B into `c`, the view of a new tensor. f32 operands are multiplied in f32, whatever the device's precision.
pub(crate) fn product(a: View<'_>, b: View<'_>, c: View<'_>) -> Result<()> {
    let product = ProductCall::new(a, b);
    product.run(product.gpu()?, &product.problem(&c.layout, c.dtype)?, c)
}

impl<'a> ProductCall<'a> {
    /// The product A B without options.
    pub(super) fn new(a: View<'a>, b: View<'a>) -> Self {
        Self {
            a,
            b,
            signs: None,
            bias: None,
            residual: None,
            row_scale: None,
            column_scale: None,
            out_scale: None,
            alpha: 1.0,
            beta: 0.0,
            activation: Activation::None,
            accumulator: Accumulator::F32,
            precision: Precision::Strict,
            pin: Pin::Free,
            split: SplitK::Auto,
        }
    }

    /// The device of all operands.
    pub(super) fn gpu(&self) -> Result<&'a Gpu> {
        let gpu = self.a.gpu();
        let mut others = [&self.b].into_iter().chain(self.extras());
        others.try_for_each(|other| check_same_gpu(OP, gpu, other.gpu()))?;
        Ok(gpu)
    }

    /// The operands of the epilogue, in the order of plans.
    pub(super) fn extras(&self) -> impl Iterator<Item = &View<'a>> {
        let bias = self.bias.iter().map(|(_, bias)| bias);
        bias.chain(&self.residual).chain(&self.row_scale).chain(&self.column_scale)
    }

    /// The layout of the whole B; contiguous if half of it is generated.
    pub(super) fn whole_b(&self) -> Result<Layout> {
        self.signs.map_or(Ok(self.b.layout), |(signs, _)| signs.whole(&self.b.layout))
    }

    /// The checked problem for a result with this layout and type.
    pub(super) fn problem(&self, c: &Layout, dtype: DType) -> Result<GemmProblem> {
        let types = GemmTypes { ab: self.a.dtype, c: dtype, accumulator: self.accumulator };
        let mut problem = GemmProblem::new(&self.a.layout, &self.whole_b()?, c, types)?;
        (problem.pin, problem.split) = (self.pin, self.split);
        let (scale, previous) = (Scale::of(self.alpha), Previous::of(self.beta));
        problem.epilogue = Epilogue { scale, previous, activation: self.activation, ..Epilogue::default() };
        if self.a.dtype == DType::F32 && self.signs.is_none() {
            problem.precision = self.precision;
        }
        if let Some((axis, bias)) = &self.bias {
            problem = problem.bias(*axis, &bias.layout, bias.dtype)?;
        }
        if let Some(residual) = &self.residual {
            // The bias and residual of a result that is requantised are real.
            if residual.dtype != dtype && dtype != DType::I8 {
                let why = format!("it is of {}, the product of {dtype}: `cast` it first", residual.dtype);
                return Err(Error::input("matmul: the residual", why));
            }
            problem = problem.residual(&residual.layout, c, residual.dtype)?;
        }
        for (axis, scale) in [(BiasAxis::Rows, &self.row_scale), (BiasAxis::Columns, &self.column_scale)] {
            if let Some(scale) = scale {
                problem = problem.line_scale(axis, &scale.layout)?;
            }
        }
        self.check_scales(dtype)?;
        problem.check_types()?;
        match self.signs {
            Some((signs, _)) => problem.sign_half(signs, &self.b.layout),
            None => Ok(problem),
        }
    }

    /// Checks the scales of rows and columns, and that of a result of this type, as far as they are set.
    fn check_scales(&self, dtype: DType) -> Result<()> {
        if self.a.dtype.is_real() && (self.row_scale.is_some() || self.column_scale.is_some()) {
            let why = "only products of i8, e4m3 and e5m2 have scales of rows and columns";
            return Err(Error::input("matmul: the scale", why));
        }
        check_out_scale(self.out_scale, dtype)
    }

    /// Computes the product into `c`.
    pub(super) fn run(&self, gpu: &Gpu, problem: &GemmProblem, c: View<'_>) -> Result<()> {
        let operands: Vec<_> = [self.a, self.b, c].into_iter().chain(self.extras().copied()).collect();
        gpu.run(problem, &operands, &self.numbers(problem))
    }

    /// A, B and the other operands.
    pub(super) fn inputs(&self) -> Vec<View<'a>> {
        let mut inputs = vec![self.a, self.b];
        inputs.extend(self.extras());
        inputs
    }

    /// Computes the product into a new buffer.
    pub(super) fn make(&self, gpu: &Gpu, problem: &GemmProblem, inputs: &[View<'_>]) -> Result<Allocation> {
        let [c] = gpu.compute(problem, inputs, &self.numbers(problem))?;
        Ok(c)
    }

    /// The scalars of the call.
    fn numbers(&self, problem: &GemmProblem) -> Vec<Scalar> {
        let seed = self.signs.map_or([0; 2], |(_, seed)| seed);
        let out_scale = self.out_scale.unwrap_or(1.0);
        problem.numbers(Numbers { alpha: self.alpha, beta: self.beta, out_scale }, seed)
    }
}
