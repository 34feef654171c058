//! Batches of multivectors on the device.

use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::function::Function;
use crate::clifford::algebra::signature::Signature;
use crate::clifford::algebra::signs::grade;
use crate::clifford::algebra::unary::Unary;
use crate::clifford::problem::{BladeAxis, CliffordProblem, MvLayout, check_blades};
use crate::error::{Named, call};
use crate::layout::{Layout, Real};
use crate::plan::{Plan, Problem};
use crate::tensor::Tensor;
use crate::{Error, Result, ops};

/// A batch of multivectors: a tensor with one axis of blade coefficients. The other axes, such as batch and feature,
/// are positions. Functions of two batches broadcast the positions, as `NumPy` does. Cheap to clone.
///
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::clifford::{BladeAxis, Blades, Multivectors, Signature};
///
/// let algebra = Signature::CL3;
/// let vectors = gpu.tensor(&[1.0f32, 0.0, 0.0, 0.0, 1.0, 0.0], [2, 3])?; // e1 and e2
/// let x = Multivectors::new(vectors, &algebra.vectors(), BladeAxis::Last)?;
/// let plane = gpu.tensor(&[1.0f32], [1])?;
/// let y = Multivectors::new(plane, &Blades::new(algebra, &[0b011])?, BladeAxis::Last)?; // e12
/// let z = x.geometric(&y)?; // e1 e12 = e2, e2 e12 = -e1
/// assert_eq!(z.blades().to_string(), "e1 e2 e123");
/// assert_eq!(z.tensor().to_vec()?, [0.0, 1.0, 0.0, -1.0, 0.0, 0.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Multivectors<T: Real> {
    tensor: Tensor<T>,
    blades: Blades,
    axis: BladeAxis,
}

impl<T: Real> Multivectors<T> {
    /// Interprets an axis of `tensor` as the coefficients of `blades`, in this order. Nothing is copied.
    ///
    /// # Errors
    /// [`Error::Shape`] if the axis does not have one element per blade.
    pub fn new(tensor: Tensor<T>, blades: &Blades, axis: BladeAxis) -> Result<Self> {
        check_blades("Multivectors::new", MvLayout { layout: tensor.layout(), blades }, blades, axis)?;
        Ok(Self { tensor, blades: blades.clone(), axis })
    }

    /// The coefficients.
    #[must_use]
    pub fn tensor(&self) -> &Tensor<T> {
        &self.tensor
    }

    /// The coefficients, without their blades.
    #[must_use]
    pub fn into_tensor(self) -> Tensor<T> {
        self.tensor
    }

    /// The stored blades.
    #[must_use]
    pub fn blades(&self) -> &Blades {
        &self.blades
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.blades.signature()
    }

    /// The blade axis of the tensor.
    #[must_use]
    pub fn axis(&self) -> BladeAxis {
        self.axis
    }

    /// The shape of the batch: the tensor's shape without the blade axis.
    #[must_use]
    pub fn positions(&self) -> Vec<usize> {
        let mut shape = self.tensor.shape().to_vec();
        shape.remove(self.axis.of(shape.len()));
        shape
    }

    /// The plan of a function of `self`, and of `y` if it has two operands.
    pub(super) fn plan(&self, function: Function, y: Option<&Self>, out: &Blades) -> Result<Plan> {
        let layout = self.result_layout(function, y, out)?;
        let problem = self.problem(function, y, out, &layout)?;
        self.tensor.gpu().plan_with(|caps| problem.plan(caps))
    }

    /// A signed permutation of the blades.
    ///
    /// # Errors
    /// [`Error::Limit`] if a tensor has $2^{31}$ elements or more; [`Error::OutOfMemory`] if the result does not fit.
    pub fn unary(&self, function: Unary) -> Result<Self> {
        self.run(Function::Unary(function), None, &function.blades(&self.blades)).named("unary")
    }

    /// The backward pass of [`unary`](Self::unary): `self` is the gradient of its result, `blades` are those of its
    /// operand.
    ///
    /// # Errors
    /// As [`unary`](Self::unary).
    pub fn unary_backward(&self, function: Unary, blades: &Blades) -> Result<Self> {
        self.run(Function::Unary(function.backward()), None, blades).named("unary_backward")
    }

    /// The same multivectors with other blades or in another order. Missing blades are 0; other blades are dropped.
    ///
    /// The backward pass is `select` of the gradient with the blades of the operand.
    /// # Errors
    /// [`Error::Input`] if the blades belong to another algebra; otherwise as [`unary`](Self::unary).
    pub fn select(&self, blades: &Blades) -> Result<Self> {
        self.run(Function::Select, None, blades).named("select")
    }

    /// The parts of these grades. If no stored blade has one of them, the result is the scalar 0.
    ///
    /// # Errors
    /// [`Error::Input`] if the algebra has no such grade; otherwise as [`unary`](Self::unary).
    pub fn project(&self, grades: &[usize]) -> Result<Self> {
        call("project", || {
            let signature = self.signature();
            signature.grades(grades)?; // checks that the algebra has them
            let masks = self.blades.masks().iter().copied();
            let selected: Vec<u8> = masks.filter(|&blade| grades.contains(&grade(blade))).collect();
            let is_empty = selected.is_empty();
            let blades = if is_empty { signature.scalars() } else { Blades::new(signature, &selected)? };
            self.select(&blades)
        })
    }

    /// The norm $\sqrt{|\langle \tilde x x \rangle_{0}|}$, a scalar. It is 0 for null multivectors.
    ///
    /// # Errors
    /// As [`unary`](Self::unary).
    /// # Precision
    /// As [`normalized`](Self::normalized). Coefficients are scaled by a power of two before they are squared, here and in the
    /// gradient, so no square overflows or vanishes.
    pub fn norm(&self) -> Result<Self> {
        self.run(Function::Norm, None, &self.signature().scalars()).named("norm")
    }

    /// The backward pass of the norm of `self`, from its gradient `g`: $\pm g\\, q' / (2 \sqrt{|q|})$ with the sign of
    /// q. It is 0 where the norm is 0 and has no derivative.
    ///
    /// # Errors
    /// As [`product`](Self::product); [`Error::Shape`] if `g` does not have the norm's blade and positions.
    pub fn norm_backward(&self, g: &Self) -> Result<Self> {
        self.check_gradient("norm_backward", g, &self.signature().scalars())?;
        self.run(Function::NormBackward, Some(g), &self.blades).named("norm_backward")
    }

    /// The inverse of versors, products of non-null vectors: $\tilde x / \langle \tilde x x \rangle_{0}$.
    ///
    /// The result is NaN for zero, and for multivectors that are not versors: $x \tilde x$ is not a scalar to within
    /// rounding. It is infinite for other null multivectors.
    /// # Errors
    /// As [`unary`](Self::unary).
    /// # Precision
    /// As [`norm`](Self::norm), over the same range: only a result beyond f32 is infinite, or 0.
    pub fn inverse(&self) -> Result<Self> {
        self.run(Function::Inverse, None, &self.blades).named("inverse")
    }

    /// The backward pass of the inverse of versors `self`, from its gradient `g`.
    ///
    /// # Errors
    /// As [`product`](Self::product); [`Error::Shape`] if `g` does not have the same blades and positions.
    pub fn inverse_backward(&self, g: &Self) -> Result<Self> {
        self.check_gradient("inverse_backward", g, &self.blades)?;
        self.run(Function::InverseBackward, Some(g), &self.blades).named("inverse_backward")
    }

    /// Checks that a gradient has these blades and the positions of `self`.
    fn check_gradient(&self, op: &'static str, g: &Self, blades: &Blades) -> Result<()> {
        if g.blades != *blades {
            return Err(Error::input(
                op,
                format!("the gradient must have the blades {blades}, not {}", g.blades),
            ));
        }
        if g.positions() != self.positions() {
            let rule = "the gradient must have the operand's positions";
            return Err(Error::shapes(op, rule, &g.positions(), &self.positions()));
        }
        Ok(())
    }

    /// A function of `self`, and of `y` if it has two operands, in a new tensor.
    pub(super) fn run(&self, function: Function, y: Option<&Self>, out: &Blades) -> Result<Self> {
        let gpu = match y {
            Some(y) => self.tensor.same_gpu(function.name(), &y.tensor)?,
            None => self.tensor.gpu(),
        };
        let layout = self.result_layout(function, y, out)?;
        if layout.is_empty() {
            return Self::new(gpu.empty(layout.shape())?, out, self.axis);
        }
        let inputs = [Some(&self.tensor), y.map(|y| &y.tensor)];
        let inputs: Vec<_> = inputs.into_iter().flatten().map(Tensor::view).collect();
        let [c] = gpu.compute(&self.problem(function, y, out, &layout)?, &inputs, &[])?;
        Ok(Self { tensor: Tensor::from_output(c, layout.shape())?, blades: out.clone(), axis: self.axis })
    }

    fn problem(
        &self,
        function: Function,
        y: Option<&Self>,
        out: &Blades,
        layout: &Layout,
    ) -> Result<CliffordProblem> {
        let operands: Vec<_> = [Some(self), y].into_iter().flatten().map(Self::mv_layout).collect();
        CliffordProblem::new(function, &operands, MvLayout { layout, blades: out }, self.axis, T::DTYPE)
    }

    fn mv_layout(&self) -> MvLayout<'_> {
        MvLayout { layout: self.tensor.layout(), blades: &self.blades }
    }

    fn result_layout(&self, function: Function, y: Option<&Self>, out: &Blades) -> Result<Layout> {
        let op = function.name();
        let mut shape = match y {
            Some(y) => self.broadcast_positions(op, y)?,
            None => self.positions(),
        };
        shape.insert(self.axis.of(shape.len() + 1), out.len());
        Layout::contiguous(op, &shape)
    }

    /// The broadcast positions of both operands.
    pub(super) fn broadcast_positions(&self, op: &'static str, y: &Self) -> Result<Vec<usize>> {
        if self.axis != y.axis {
            let why = format!("the operands have different blade axes, {:?} and {:?}", self.axis, y.axis);
            return Err(Error::input(op, why));
        }
        let [a, b] = [self.positions(), y.positions()].map(|shape| Layout::contiguous(op, &shape));
        ops::broadcast_shape(op, &[&a?, &b?])
    }

    /// Sums over the axes along which an operand with these positions was broadcast.
    pub(super) fn sum_to(self, positions: &[usize]) -> Result<Self> {
        let Self { mut tensor, blades, axis } = self;
        let first = usize::from(axis == BladeAxis::First);
        let missing = tensor.shape().len() - 1 - positions.len();
        for _ in 0..missing {
            tensor = ops::sum(&tensor, first)?;
        }
        for (i, &extent) in positions.iter().enumerate() {
            if extent == 1 && tensor.shape()[first + i] != 1 {
                let mut shape = tensor.shape().to_vec();
                shape[first + i] = 1;
                tensor = ops::sum(&tensor, first + i)?.reshape(&shape)?;
            }
        }
        Ok(Self { tensor, blades, axis })
    }
}

/// The signed permutations of blades, by name.
#[expect(clippy::missing_errors_doc, reason = "all fail as `unary` does")]
impl<T: Real> Multivectors<T> {
    /// $\tilde x$.
    pub fn reverse(&self) -> Result<Self> {
        self.unary(Unary::Reverse).named("reverse")
    }

    /// $\hat x$.
    pub fn involute(&self) -> Result<Self> {
        self.unary(Unary::Involute).named("involute")
    }

    /// $\bar x$.
    pub fn conjugate(&self) -> Result<Self> {
        self.unary(Unary::Conjugate).named("conjugate")
    }

    /// The dual, [`Unary::Dual`].
    pub fn dual(&self) -> Result<Self> {
        self.unary(Unary::Dual).named("dual")
    }

    /// The inverse of the dual, [`Unary::Undual`].
    pub fn undual(&self) -> Result<Self> {
        self.unary(Unary::Undual).named("undual")
    }
}
