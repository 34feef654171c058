//! Operators whose entries are all drawn: products with an operand that is made in the kernel.

use super::along::Along;
use super::apply::Way;
use super::normal;
use super::operator::{OP, Sketch, SketchKind};
use super::philox::halves;
use crate::gemm::{
    Entries, Gemm, GemmProblem, GemmTypes, Generated, HalfSigns, Outer, Pin, Precision, Scale, Side,
};
use crate::gpu::Caps;
use crate::plan::{Access, Draft, Plan, Problem, Scalar, Value};
use crate::tensor::{DType, Layout, Real, Tensor};
use crate::{Error, Result};

/// A dense operator along an axis of a tensor, checked. The seed and the scale are scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DenseProblem {
    entries: Entries,
    tag: u32,
    way: Way,
    /// The extents of the axis: of operand and result.
    extents: [usize; 2],
    axis: usize,
    x: Layout,
    dtype: DType,
    /// Whether there is a scale.
    scale: Scale,
    pin: Pin,
}

impl DenseProblem {
    /// `sketch`, whose entries are all drawn, along an axis of `x`, a view of `dtype` elements. The result is row-major without
    /// gaps, and not empty.
    ///
    /// # Errors
    /// [`Error::Input`] if the operator has another kind; [`Error::Shape`] if there is no such axis, if it is not of the
    /// operator's extent, or if there is nothing to compute.
    pub fn new(sketch: &Sketch, way: Way, x: &Layout, axis: usize, dtype: DType) -> Result<Self> {
        let entries = match sketch.kind() {
            SketchKind::Sign => Entries::Sign,
            SketchKind::Uniform => Entries::Uniform,
            SketchKind::Gaussian => Entries::Normal,
            _ => return Err(Error::input(OP, "the operator's entries are not all drawn")),
        };
        let [d, n] = sketch.shape();
        let extents @ [from, to] = if way == Way::Forward { [n, d] } else { [d, n] };
        if Along::of(x, axis, to)?.extents[0] != from || x.is_empty() || to == 0 {
            let rule = "the axis must be as long as what the operator is applied to, and not empty";
            return Err(Error::shapes(OP, rule, x.shape(), &sketch.shape()));
        }
        let [.., scale] = Self::scalars(sketch);
        let scale = if scale == Scalar::from(1.0) { Scale::One } else { Scale::Alpha };
        let (tag, x) = (sketch.tag(), x.in_window(dtype));
        Ok(Self { entries, tag, way, extents, axis, x, dtype, scale, pin: Pin::Free })
    }

    /// The numbers that a call passes.
    fn scalars(sketch: &Sketch) -> [Scalar; 3] {
        let [low, high] = halves(sketch.seed()).map(Scalar::from);
        #[expect(clippy::cast_possible_truncation, reason = "it is rounded once")]
        let scale = sketch.scale() as f32;
        [low, high, scale.into()]
    }
}

impl Problem for DenseProblem {
    /// A product with an operand that is made in the kernel.
    ///
    /// Operands: x, the result. Scalars: the seed and the scale.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let [from, to] = self.extents;
        let mut draft = Draft::new(OP, &["seed_low", "seed_high", "scale"], caps);
        let along = Along::of(&self.x, self.axis, to)?;
        let y = Layout::contiguous(OP, &along.shape)?;
        let (side, matrices, products) = along.as_product(&self.x, &y)?;
        let x = draft.operand("x", self.dtype, self.x, Access::Read).seen_as(matrices);
        let y = draft.operand("the result", DType::F32, y, Access::Write).seen_as(products);
        let words = if self.entries == Entries::Normal { normal::table() } else { &[0] };
        debug_assert!(words.len() as u64 == self.entries.table_words());
        let table = draft.constant(words)?;
        let outer = if self.way == Way::Forward { Outer::Rows } else { Outer::Columns };
        let made = Layout::contiguous(OP, &if side == Side::A { [to, from] } else { [from, to] })?;
        let (a, b) = if side == Side::A { (&made, &matrices) } else { (&matrices, &made) };
        let generated = Generated { side, entries: self.entries, outer, tag: self.tag };
        let types = GemmTypes::new(self.dtype, DType::F32);
        let mut product = GemmProblem::new(a, b, &products, types)?.pinned(self.pin).generated(generated);
        product.epilogue.scale = self.scale;
        let operands = if side == Side::A { [table, x, y] } else { [x, table, y] };
        let [low, high, scale] = [0, 1, 2].map(Value::Scalar);
        draft.call(product.plan(caps)?, &operands, &[scale, Value::Fixed(0), low, high])?;
        Ok(draft.finish())
    }
}

pub(super) fn apply<T: Real>(sketch: &Sketch, way: Way, x: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
    run(sketch, &DenseProblem::new(sketch, way, x.layout(), axis, T::DTYPE)?, x)
}

fn run<T: Real>(sketch: &Sketch, problem: &DenseProblem, x: &Tensor<T>) -> Result<Tensor<f32>> {
    let mut shape = x.shape().to_vec();
    shape[problem.axis] = problem.extents[1];
    let y = x.gpu().empty(shape)?;
    x.gpu().run(problem, &[x.view(), y.view()], &DenseProblem::scalars(sketch))?;
    Ok(y)
}

/// Applies a dense operator by the kernels that are pinned: for this crate's own tests.
#[doc(hidden)]
pub fn dense_as<T: Real>(
    sketch: &Sketch,
    way: Way,
    x: &Tensor<T>,
    axis: usize,
    pin: Pin,
) -> Result<Tensor<f32>> {
    let (_, x) = sketch.checked(way, x, axis)?;
    run(sketch, &DenseProblem { pin, ..DenseProblem::new(sketch, way, x.layout(), axis, T::DTYPE)? }, &x)
}

/// The product of `a` and `b` by the kernels that stage their operands, or of `b` beside signs where those are given:
/// both have the same bits. For this crate's own tests.
#[doc(hidden)]
pub fn staged_as<'a, T: Real>(
    a: &'a Tensor<T>,
    b: &'a Tensor<T>,
    signs: Option<(&Sketch, HalfSigns)>,
) -> Gemm<'a, T> {
    let product = Gemm::new(a, b).precision(Precision::Strict).pinned(Pin::Staged);
    match signs {
        None => product,
        Some((sketch, signs)) => {
            product.half_signs(HalfSigns { tag: sketch.tag(), ..signs }, halves(sketch.seed()))
        }
    }
}
