//! Products of batches of multivectors, and their backward pass.

use super::multivectors::Multivectors;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::function::Function;
use crate::clifford::algebra::product::Product;
use crate::error::{Named, call};
use crate::layout::Real;
use crate::plan::Plan;
use crate::{Error, Result};

/// A product of two batches with its options. [`Multivectors::product`] is the plain function.
///
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::clifford::{BladeAxis, Multivectors, MvProduct, Product, Signature};
///
/// let algebra = Signature::CL3;
/// let vectors = gpu.tensor(&[1.0f32, 0.0, 0.0, 1.0, 1.0, 0.0], [2, 3])?; // e1, and e1 + e2
/// let x = Multivectors::new(vectors, &algebra.vectors(), BladeAxis::Last)?;
/// let squares = MvProduct::new(Product::Geometric, &x, &x).blades(&algebra.scalars()).run()?;
/// assert_eq!(squares.tensor().to_vec()?, [1.0, 2.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a product is computed by `run`"]
pub struct MvProduct<'a, T: Real> {
    product: Product,
    x: &'a Multivectors<T>,
    y: &'a Multivectors<T>,
    blades: Option<Blades>,
}

impl<'a, T: Real> MvProduct<'a, T> {
    /// The product of `x` and `y`. The result has every blade that has a term.
    pub fn new(product: Product, x: &'a Multivectors<T>, y: &'a Multivectors<T>) -> Self {
        Self { product, x, y, blades: None }
    }

    /// Restricts the result to these blades. The terms of other blades are not computed.
    pub fn blades(self, blades: &Blades) -> Self {
        Self { blades: Some(blades.clone()), ..self }
    }

    /// Computes the product in a new tensor.
    ///
    /// # Errors
    /// As [`Multivectors::product`].
    pub fn run(&self) -> Result<Multivectors<T>> {
        call("product", || self.x.run(Function::Product(self.product), Some(self.y), &self.result_blades()?))
    }

    /// The plan of the product on this device.
    ///
    /// # Errors
    /// As [`Multivectors::product`].
    pub fn plan(&self) -> Result<Plan> {
        call("product", || self.x.plan(Function::Product(self.product), Some(self.y), &self.result_blades()?))
    }

    fn result_blades(&self) -> Result<Blades> {
        match &self.blades {
            Some(blades) => Ok(blades.clone()),
            None => Ok(self.product.terms(self.x.blades(), self.y.blades())?.out),
        }
    }
}

/// Products.
impl<T: Real> Multivectors<T> {
    /// The product $c = xy$. [`MvProduct`] is the product with options.
    ///
    /// # Shapes
    /// The position axes broadcast: extents are equal, or one of them is 1 or missing. The result has every blade that
    /// has a term ([`Product::terms`]); a vector times a bivector has vectors and trivectors.
    /// # Errors
    /// [`Error::Input`] if the operands belong to different algebras or have different blade axes; [`Error::Shape`] if
    /// extents differ and neither is 1; [`Error::Gpu`] if the operands are on different devices; [`Error::Limit`] if a tensor has
    /// $2^{31}$ elements or more; [`Error::OutOfMemory`] if the result does not fit.
    /// # Precision
    /// Sums in f32, then stored: $|c_{k} - c_{64}| \le \gamma_{t} \sum |x_{i} y_{j}|$ for a blade of t terms.
    pub fn product(&self, product: Product, y: &Self) -> Result<Self> {
        MvProduct::new(product, self, y).run()
    }

    /// The backward pass of a product: the gradients $\nabla_{x}$ and $\nabla_{y}$, from the gradient `g` of the
    /// result.
    ///
    /// # Shapes
    /// `g` has the positions of the result of [`product`](Self::product), and any of its blades. The gradients have the
    /// shapes of the operands: they are summed over broadcast axes.
    /// # Errors
    /// As [`product`](Self::product); [`Error::Shape`] if `g` does not have the positions of the result.
    /// # Precision
    /// As [`product`](Self::product); sums over broadcast axes in f32.
    pub fn product_backward(&self, product: Product, y: &Self, g: &Self) -> Result<(Self, Self)> {
        let op = "product_backward";
        call(op, || {
            let positions = self.broadcast_positions(op, y)?;
            if g.positions() != positions {
                let rule = "the gradient must have the positions of the result";
                return Err(Error::shapes(op, rule, &g.positions(), &positions));
            }
            let of_x = g.run(Function::BackwardX(product), Some(y), self.blades())?;
            let of_y = self.run(Function::BackwardY(product), Some(g), y.blades())?;
            Ok((of_x.sum_to(&self.positions())?, of_y.sum_to(&y.positions())?))
        })
    }
}

/// The products by name.
#[expect(clippy::missing_errors_doc, reason = "all fail as `product` does")]
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
}
