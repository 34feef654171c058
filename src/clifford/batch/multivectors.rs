//! Batches of multivectors on the device.

use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::function::Function;
use crate::clifford::algebra::product::Product;
use crate::clifford::algebra::signature::Signature;
use crate::clifford::algebra::signs::grade;
use crate::clifford::algebra::unary::Unary;
use crate::clifford::problem::{BladeAxis, CliffordProblem, Placed, check_blades};
use crate::error::{Named, call};
use crate::layout::{Layout, Real};
use crate::plan::{Plan, Problem};
use crate::tensor::Tensor;
use crate::{Error, Result, ops};

/// A batch of multivectors: a tensor, one of whose axes holds the coefficients of blades. The other axes, such as batch and
/// feature, are positions; functions of two batches repeat what is missing of them, as `NumPy` does. Cheap to clone.
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
    /// The coefficients in `tensor` of `blades`, which lie along this axis of it, in this order. Nothing is copied.
    ///
    /// # Errors
    /// [`Error::Shape`] if the axis is not as long as there are blades.
    pub fn new(tensor: Tensor<T>, blades: &Blades, axis: BladeAxis) -> Result<Self> {
        check_blades("Multivectors::new", Placed { layout: tensor.layout(), blades }, blades, axis)?;
        Ok(Self { tensor, blades: blades.clone(), axis })
    }

    /// The coefficients.
    #[must_use]
    pub fn tensor(&self) -> &Tensor<T> {
        &self.tensor
    }

    /// The coefficients, without the blades that they are of.
    #[must_use]
    pub fn into_tensor(self) -> Tensor<T> {
        self.tensor
    }

    /// The blades that there are coefficients of.
    #[must_use]
    pub fn blades(&self) -> &Blades {
        &self.blades
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.blades.signature()
    }

    /// The axis of the tensor that blades lie along.
    #[must_use]
    pub fn axis(&self) -> BladeAxis {
        self.axis
    }

    /// The shape of the batch: that of the tensor without the blades' axis.
    #[must_use]
    pub fn positions(&self) -> Vec<usize> {
        let mut shape = self.tensor.shape().to_vec();
        shape.remove(self.axis.of(shape.len()));
        shape
    }

    /// The product of this kind, $c = xy$.
    ///
    /// # Shapes
    /// Axes beside the blades' are equal, or one of them is 1 or missing and is repeated. The result has the blades that have
    /// a term ([`Product::terms`]): a vector times a bivector has vectors and trivectors.
    /// # Errors
    /// [`Error::Input`] if the operands are of different algebras or have their blades along different axes;
    /// [`Error::Shape`] if extents differ and none is 1; [`Error::Gpu`] if the operands live on different devices;
    /// [`Error::Limit`] if a tensor is larger than the device can bind; [`Error::OutOfMemory`] without room for the result.
    /// # Precision
    /// Sums in f32, then stored: $|c_{k} - c_{64}| \le \gamma_{t} \sum |x_{i} y_{j}|$ for a blade of t terms.
    pub fn product(&self, product: Product, y: &Self) -> Result<Self> {
        call("product", || {
            let out = product.terms(&self.blades, &y.blades)?.out;
            self.binary(Function::Product(product), y, &out)
        })
    }

    /// The blades `out` of a product, and nothing else is computed.
    ///
    /// # Shapes
    /// As [`product`](Self::product).
    /// # Errors
    /// As [`product`](Self::product).
    pub fn product_onto(&self, product: Product, y: &Self, out: &Blades) -> Result<Self> {
        self.binary(Function::Product(product), y, out).named("product_onto")
    }

    /// What a product hands back to its operands, of the gradient `g` of its result: $\nabla_{x}$ and $\nabla_{y}$ of a loss.
    ///
    /// # Shapes
    /// `g` as the result of [`product`](Self::product) or [`product_onto`](Self::product_onto); the gradients as the
    /// operands: over axes that were repeated they are summed.
    /// # Errors
    /// As [`product`](Self::product); [`Error::Shape`] if the positions of `g` are not those of the result.
    /// # Precision
    /// As [`product`](Self::product); sums over repeated axes in f32.
    pub fn product_backward(&self, product: Product, y: &Self, g: &Self) -> Result<(Self, Self)> {
        let op = "product_backward";
        call(op, || {
            let positions = self.positions_with(op, y)?;
            if g.positions() != positions {
                let rule = "the gradient must have the positions of the result";
                return Err(Error::shapes(op, rule, &g.positions(), &positions));
            }
            let of_x = g.binary(Function::BackwardX(product), y, &self.blades)?;
            let of_y = self.binary(Function::BackwardY(product), g, &y.blades)?;
            Ok((of_x.summed_to(&self.positions())?, of_y.summed_to(&y.positions())?))
        })
    }

    /// How [`product`](Self::product) is computed.
    ///
    /// # Errors
    /// As [`product`](Self::product).
    pub fn plan_product(&self, product: Product, y: &Self) -> Result<Plan> {
        call("plan_product", || {
            let out = product.terms(&self.blades, &y.blades)?.out;
            self.plan(Function::Product(product), Some(y), &out)
        })
    }

    pub(super) fn plan(&self, function: Function, y: Option<&Self>, out: &Blades) -> Result<Plan> {
        let layout = self.result_layout(function, y, out)?;
        self.problem(function, y, out, &layout)?.plan(self.tensor.gpu().caps())
    }

    /// A change of signs and places of blades.
    ///
    /// # Errors
    /// [`Error::Limit`] if a tensor is larger than the device can bind; [`Error::OutOfMemory`] without room for the result.
    pub fn unary(&self, function: Unary) -> Result<Self> {
        self.run(Function::Unary(function), None, &function.blades(&self.blades)).named("unary")
    }

    /// What [`unary`](Self::unary) hands back, of the gradient of its result: it is of the operand's `blades`.
    ///
    /// # Errors
    /// As [`unary`](Self::unary).
    pub fn unary_backward(&self, function: Unary, blades: &Blades) -> Result<Self> {
        self.run(Function::Unary(function.backward()), None, blades).named("unary_backward")
    }

    /// The same multivectors on other blades or in another order: what is missing is 0, what is not asked for is left out.
    ///
    /// It is its own gradient: of the result's, on the blades of the operand.
    /// # Errors
    /// [`Error::Input`] if the blades are of another algebra; otherwise as [`unary`](Self::unary).
    pub fn select(&self, blades: &Blades) -> Result<Self> {
        self.run(Function::Select, None, blades).named("select")
    }

    /// The parts of these grades; the scalar, which is 0, if there is none.
    ///
    /// # Errors
    /// [`Error::Input`] if the algebra has no such grade; otherwise as [`unary`](Self::unary).
    pub fn project(&self, grades: &[usize]) -> Result<Self> {
        call("project", || {
            let signature = self.signature();
            signature.grades(grades)?; // are there
            let masks = self.blades.masks().iter().copied();
            let kept: Vec<u8> = masks.filter(|&blade| grades.contains(&grade(blade))).collect();
            let none = kept.is_empty();
            let blades = if none { signature.scalars() } else { Blades::new(signature, &kept)? };
            self.select(&blades)
        })
    }

    /// The norm $\sqrt{|\langle \tilde x x \rangle_{0}|}$, a scalar: 0 of null multivectors.
    ///
    /// # Errors
    /// As [`unary`](Self::unary).
    pub fn norm(&self) -> Result<Self> {
        self.run(Function::Norm, None, &self.signature().scalars()).named("norm")
    }

    /// What the norm of `self` hands back, of its gradient `g`: $g\, q' / (2 \sqrt{|q|})$ by the sign of q, and 0 where the
    /// norm is 0, where it has no slope.
    ///
    /// # Errors
    /// As [`product`](Self::product); [`Error::Shape`] if `g` is not of the norm's blade and positions.
    pub fn norm_backward(&self, g: &Self) -> Result<Self> {
        self.check_gradient("norm_backward", g, &self.signature().scalars())?;
        self.binary(Function::NormBackward, g, &self.blades).named("norm_backward")
    }

    /// The inverse of versors, products of vectors that are not null: $\tilde x / \langle \tilde x x \rangle_{0}$.
    ///
    /// What is no versor, where $x \tilde x$ is not a scalar but for rounding, has NaN for an inverse; so has zero, and what
    /// is null has infinities.
    /// # Errors
    /// As [`unary`](Self::unary).
    pub fn inverse(&self) -> Result<Self> {
        self.run(Function::Inverse, None, &self.blades).named("inverse")
    }

    /// What the inverse of versors `self` hands back, of its gradient `g`.
    ///
    /// # Errors
    /// As [`product`](Self::product); [`Error::Shape`] if `g` is not of the same blades and positions.
    pub fn inverse_backward(&self, g: &Self) -> Result<Self> {
        self.check_gradient("inverse_backward", g, &self.blades)?;
        self.binary(Function::InverseBackward, g, &self.blades).named("inverse_backward")
    }

    fn check_gradient(&self, op: &'static str, g: &Self, blades: &Blades) -> Result<()> {
        if g.blades != *blades {
            return Err(Error::input(op, format!("the gradient is of {}, not of {blades}", g.blades)));
        }
        if g.positions() != self.positions() {
            let rule = "the gradient must have the operand's positions";
            return Err(Error::shapes(op, rule, &g.positions(), &self.positions()));
        }
        Ok(())
    }

    pub(super) fn binary(&self, function: Function, y: &Self, out: &Blades) -> Result<Self> {
        self.run(function, Some(y), out)
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
        let [c] = gpu.make(&self.problem(function, y, out, &layout)?, &inputs, &[])?;
        Ok(Self { tensor: Tensor::made(c, layout.shape())?, blades: out.clone(), axis: self.axis })
    }

    fn problem(
        &self,
        function: Function,
        y: Option<&Self>,
        out: &Blades,
        layout: &Layout,
    ) -> Result<CliffordProblem> {
        let operands: Vec<_> = [Some(self), y].into_iter().flatten().map(Self::placed).collect();
        CliffordProblem::new(function, &operands, Placed { layout, blades: out }, self.axis, T::DTYPE)
    }

    fn placed(&self) -> Placed<'_> {
        Placed { layout: self.tensor.layout(), blades: &self.blades }
    }

    fn result_layout(&self, function: Function, y: Option<&Self>, out: &Blades) -> Result<Layout> {
        let op = function.name();
        let mut shape = match y {
            Some(y) => self.positions_with(op, y)?,
            None => self.positions(),
        };
        let at = match self.axis {
            BladeAxis::First => 0,
            BladeAxis::Last => shape.len(),
        };
        shape.insert(at, out.len());
        Layout::contiguous(op, &shape)
    }

    /// The positions that both have once axes that are missing or of extent 1 are repeated.
    fn positions_with(&self, op: &'static str, y: &Self) -> Result<Vec<usize>> {
        if self.axis != y.axis {
            let why = format!("blades lie along axes {:?} and {:?}", self.axis, y.axis);
            return Err(Error::input(op, why));
        }
        let [a, b] = [self.positions(), y.positions()].map(|shape| Layout::contiguous(op, &shape));
        ops::broadcast_shape(op, &a?, &b?)
    }

    /// Sums over axes that an operand of these positions was repeated along.
    fn summed_to(self, positions: &[usize]) -> Result<Self> {
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

/// The products and functions by name.
#[expect(clippy::missing_errors_doc, reason = "all fail as `product` and `unary` do")]
impl<T: Real> Multivectors<T> {
    /// $xy$.
    pub fn geometric(&self, y: &Self) -> Result<Self> {
        self.product(Product::Geometric, y).named("geometric")
    }

    /// $x \wedge y$.
    pub fn outer(&self, y: &Self) -> Result<Self> {
        self.product(Product::Outer, y).named("outer")
    }

    /// $x \rfloor y$.
    pub fn left_contraction(&self, y: &Self) -> Result<Self> {
        self.product(Product::LeftContraction, y).named("left_contraction")
    }

    /// $x \lfloor y$.
    pub fn right_contraction(&self, y: &Self) -> Result<Self> {
        self.product(Product::RightContraction, y).named("right_contraction")
    }

    /// Hestenes' $x \cdot y$.
    pub fn hestenes(&self, y: &Self) -> Result<Self> {
        self.product(Product::Hestenes, y).named("hestenes")
    }

    /// The fat dot $x \bullet y$.
    pub fn fat_dot(&self, y: &Self) -> Result<Self> {
        self.product(Product::FatDot, y).named("fat_dot")
    }

    /// $\langle xy \rangle_{0}$.
    pub fn scalar(&self, y: &Self) -> Result<Self> {
        self.product(Product::Scalar, y).named("scalar")
    }

    /// $x \vee y$.
    pub fn regressive(&self, y: &Self) -> Result<Self> {
        self.product(Product::Regressive, y).named("regressive")
    }

    /// $(xy - yx) / 2$.
    pub fn commutator(&self, y: &Self) -> Result<Self> {
        self.product(Product::Commutator, y).named("commutator")
    }

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

    /// What undoes the dual, [`Unary::Undual`].
    pub fn undual(&self) -> Result<Self> {
        self.unary(Unary::Undual).named("undual")
    }
}
