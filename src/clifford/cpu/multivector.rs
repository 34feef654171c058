//! A multivector on the CPU, in f64: for small work, and as the definition for tests of kernels.

use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::product::Product;
use crate::clifford::algebra::reorder::permuted_blade;
use crate::clifford::algebra::signature::Signature;
use crate::clifford::algebra::signs::grade;
use crate::clifford::algebra::unary::Unary;
use crate::{Error, Result};

/// A multivector of any algebra, on the CPU, in f64. Its functions are plain loops over the table of signs. They define
/// the results of the kernels.
///
/// ```
/// use tilewise::clifford::{Multivector, Signature};
///
/// # fn main() -> tilewise::Result<()> {
/// let x = Multivector::new(&Signature::CL3.even(), &[1.0, 2.0, 0.0, 0.0])?;
/// let y = Multivector::blade(Signature::CL3, 0b100)?;
/// assert_eq!(x.geometric(&y)?.coefficient(0b111), 2.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Multivector {
    signature: Signature,
    /// Coefficients of all blades, by bitmask.
    coefficients: Vec<f64>,
}

impl Multivector {
    /// The multivector 0.
    #[must_use]
    pub fn zero(signature: Signature) -> Self {
        Self { signature, coefficients: vec![0.0; signature.size()] }
    }

    /// A scalar.
    #[must_use]
    pub fn scalar_of(signature: Signature, value: f64) -> Self {
        let mut x = Self::zero(signature);
        x.coefficients[0] = value;
        x
    }

    /// The basis blade of a bitmask.
    ///
    /// # Errors
    /// [`Error::Input`] if the algebra lacks it.
    pub fn blade(signature: Signature, mask: u8) -> Result<Self> {
        Self::new(&Blades::new(signature, &[mask])?, &[1.0])
    }

    /// A multivector with these coefficients of `blades`; all other coefficients are 0.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of coefficients is not that of the blades.
    pub fn new(blades: &Blades, coefficients: &[f64]) -> Result<Self> {
        if coefficients.len() != blades.len() {
            let rule = "there must be one coefficient per blade";
            return Err(Error::shapes("multivector", rule, &[coefficients.len()], &[blades.len()]));
        }
        let mut x = Self::zero(blades.signature());
        for (&mask, &value) in blades.masks().iter().zip(coefficients) {
            x.coefficients[usize::from(mask)] = value;
        }
        Ok(x)
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// All coefficients, by bitmask.
    #[must_use]
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The coefficient of the blade of a bitmask; 0 if the algebra lacks the blade.
    #[must_use]
    pub fn coefficient(&self, mask: u8) -> f64 {
        self.coefficients.get(usize::from(mask)).copied().unwrap_or(0.0)
    }

    /// Sets the coefficient of a blade of the algebra.
    pub(super) fn set(&mut self, mask: u8, value: f64) {
        self.coefficients[usize::from(mask)] = value;
    }

    /// The coefficients of some blades, in their order.
    #[must_use]
    pub fn select(&self, blades: &Blades) -> Vec<f64> {
        blades.masks().iter().map(|&mask| self.coefficient(mask)).collect()
    }

    /// The product with `y`.
    ///
    /// # Errors
    /// [`Error::Input`] if the operands belong to different algebras.
    pub fn product(&self, product: Product, y: &Self) -> Result<Self> {
        self.check_signature(y, product.name())?;
        let mut out = Self::zero(self.signature);
        for (a, &of_a) in (0..=u8::MAX).zip(&self.coefficients).filter(|(_, of_a)| **of_a != 0.0) {
            for (b, &of_b) in (0..=u8::MAX).zip(&y.coefficients) {
                if let Some((c, sign)) = product.of_blades(self.signature, a, b) {
                    out.coefficients[usize::from(c)] += f64::from(sign) * of_a * of_b;
                }
            }
        }
        Ok(out)
    }

    /// A signed permutation of the blades.
    #[must_use]
    pub fn unary(&self, function: Unary) -> Self {
        let mut out = Self::zero(self.signature);
        for (a, &of_a) in (0..=u8::MAX).zip(&self.coefficients) {
            let (c, sign) = function.of_blade(self.signature, a);
            out.coefficients[usize::from(c)] = f64::from(sign) * of_a;
        }
        out
    }

    /// The parts of these grades.
    #[must_use]
    pub fn project(&self, grades: &[usize]) -> Self {
        let mut out = self.clone();
        for (a, of_a) in (0..=u8::MAX).zip(&mut out.coefficients) {
            if !grades.contains(&grade(a)) {
                *of_a = 0.0;
            }
        }
        out
    }

    /// The sum.
    ///
    /// # Errors
    /// [`Error::Input`] if the operands belong to different algebras.
    pub fn add(&self, y: &Self) -> Result<Self> {
        self.check_signature(y, "add")?;
        let sum = self.coefficients.iter().zip(&y.coefficients).map(|(x, y)| x + y);
        Ok(Self { signature: self.signature, coefficients: sum.collect() })
    }

    /// The difference.
    ///
    /// # Errors
    /// [`Error::Input`] if the operands belong to different algebras.
    pub fn sub(&self, y: &Self) -> Result<Self> {
        self.add(&y.scaled(-1.0))
    }

    /// The product with a number.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let scaled = self.coefficients.iter().map(|x| x * factor);
        Self { signature: self.signature, coefficients: scaled.collect() }
    }

    /// The quadratic form $\langle \tilde x x \rangle_{0}$. It can be negative in an indefinite metric, and is 0 for
    /// null multivectors.
    #[must_use]
    pub fn quadratic(&self) -> f64 {
        let of = |(a, x): (u8, &f64)| f64::from(self.signature.square(a)) * x * x;
        (0..=u8::MAX).zip(&self.coefficients).map(of).sum()
    }

    /// The norm $\sqrt{|\langle \tilde x x \rangle_{0}|}$; 0 for null multivectors.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.quadratic().abs().sqrt()
    }

    /// The largest absolute coefficient.
    #[must_use]
    pub fn max_abs(&self) -> f64 {
        self.coefficients.iter().fold(0.0, |most, x| x.abs().max(most))
    }

    /// The coefficient of a blade of the algebra.
    pub(super) fn coefficient_mut(&mut self, mask: u8) -> &mut f64 {
        &mut self.coefficients[usize::from(mask)]
    }

    /// Checks that `y` belongs to the same algebra.
    pub(super) fn check_signature(&self, y: &Self, op: &'static str) -> Result<()> {
        if self.signature == y.signature {
            return Ok(());
        }
        Err(Error::input(op, format!("the operands are of {} and {}", self.signature, y.signature)))
    }
}

/// The products by name.
#[expect(clippy::missing_errors_doc, reason = "all fail as `product` does")]
impl Multivector {
    /// $xy$.
    pub fn geometric(&self, y: &Self) -> Result<Self> {
        self.product(Product::Geometric, y)
    }

    /// $x \wedge y$.
    pub fn outer(&self, y: &Self) -> Result<Self> {
        self.product(Product::Outer, y)
    }

    /// $x \rfloor y$.
    pub fn left_contraction(&self, y: &Self) -> Result<Self> {
        self.product(Product::LeftContraction, y)
    }

    /// $x \lfloor y$.
    pub fn right_contraction(&self, y: &Self) -> Result<Self> {
        self.product(Product::RightContraction, y)
    }

    /// Hestenes' $x \cdot y$.
    pub fn hestenes(&self, y: &Self) -> Result<Self> {
        self.product(Product::Hestenes, y)
    }

    /// The fat dot $x \bullet y$.
    pub fn fat_dot(&self, y: &Self) -> Result<Self> {
        self.product(Product::FatDot, y)
    }

    /// $\langle xy \rangle_{0}$.
    pub fn scalar(&self, y: &Self) -> Result<Self> {
        self.product(Product::Scalar, y)
    }

    /// $x \vee y$.
    pub fn regressive(&self, y: &Self) -> Result<Self> {
        self.product(Product::Regressive, y)
    }

    /// $(xy - yx) / 2$.
    pub fn commutator(&self, y: &Self) -> Result<Self> {
        self.product(Product::Commutator, y)
    }

    /// $\tilde x$.
    #[must_use]
    pub fn reverse(&self) -> Self {
        self.unary(Unary::Reverse)
    }

    /// $\hat x$.
    #[must_use]
    pub fn involute(&self) -> Self {
        self.unary(Unary::Involute)
    }

    /// $\bar x$.
    #[must_use]
    pub fn conjugate(&self) -> Self {
        self.unary(Unary::Conjugate)
    }

    /// The dual, [`Unary::Dual`].
    #[must_use]
    pub fn dual(&self) -> Self {
        self.unary(Unary::Dual)
    }

    /// The inverse of the dual, [`Unary::Undual`].
    #[must_use]
    pub fn undual(&self) -> Self {
        self.unary(Unary::Undual)
    }
}

impl Multivector {
    /// Converts to the algebra `to`, which has the same vectors in another order, such as the null vector first. Blades
    /// get other names, and some change their sign, since $e_{1} e_{0} = -e_{0} e_{1}$.
    ///
    /// ```
    /// use tilewise::clifford::{Multivector, Signature};
    ///
    /// # fn main() -> tilewise::Result<()> {
    /// let last = Multivector::parse(Signature::PGA3D, "1 + 2e10 + e23")?;
    /// let first = last.reordered(Signature::PGA3D.null_first())?;
    /// assert_eq!(first.to_string(), "1 - 2e01 + e23");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if `to` has other vectors.
    pub fn reordered(&self, to: Signature) -> Result<Self> {
        let places = self.signature().vector_permutation(to)?;
        let mut out = Self::zero(to);
        for (a, &of_a) in (0..=u8::MAX).zip(self.coefficients()) {
            let (c, sign) = permuted_blade(&places, a);
            *out.coefficient_mut(c) = f64::from(sign) * of_a;
        }
        Ok(out)
    }
}
