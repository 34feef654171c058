//! Backward passes of functions of multivectors on the CPU, in f64.

use super::multivector::Multivector;
use crate::Result;
use crate::clifford::algebra::product::Product;

impl Multivector {
    /// The backward pass of a product: the gradients of both operands, from the gradient `g` of its result:
    /// $\partial_{a} = \sum_{b} s_{ab}\\, g_{a \oplus b}\\, y_{b}$ and
    /// $\partial_{b} = \sum_{a} s_{ab}\\, g_{a \oplus b}\\, x_{a}$.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if the three belong to different algebras.
    pub fn product_backward(&self, product: Product, y: &Self, g: &Self) -> Result<(Self, Self)> {
        self.check_signature(y, product.name())?;
        self.check_signature(g, product.name())?;
        let (mut of_x, mut of_y) = (Self::zero(self.signature()), Self::zero(self.signature()));
        for a in 0..=self.signature().pseudoscalar() {
            for b in 0..=self.signature().pseudoscalar() {
                if let Some((c, sign)) = product.of_blades(self.signature(), a, b) {
                    let g = f64::from(sign) * g.coefficient(c);
                    *of_x.coefficient_mut(a) += g * y.coefficient(b);
                    *of_y.coefficient_mut(b) += g * self.coefficient(a);
                }
            }
        }
        Ok((of_x, of_y))
    }

    /// The backward pass of the norm, from its gradient `g`: $g\\, \mathrm{sign}(q)\\, q_{a} x_{a} / \sqrt{|q|}$ with
    /// $q_{a}$ the square of blade a; 0 if the norm is 0.
    #[must_use]
    pub fn norm_backward(&self, g: f64) -> Self {
        let (square, norm) = (self.quadratic(), self.norm());
        let slope = if norm == 0.0 { 0.0 } else { square.signum() * g / norm };
        self.times_squares(slope)
    }

    /// The backward pass of the inverse of a versor, $\tilde x / q$, from its gradient `g`:
    /// $\tilde g / q - 2 q_{a} x_{a} \langle \tilde x, g \rangle / q^2$.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if the two belong to different algebras.
    pub fn inverse_backward(&self, g: &Self) -> Result<Self> {
        self.check_signature(g, "inverse")?;
        let square = self.quadratic();
        let reversed = self.reverse();
        let along: f64 = reversed.coefficients().iter().zip(g.coefficients()).map(|(x, g)| x * g).sum();
        g.reverse().scaled(1.0 / square).sub(&self.times_squares(2.0 * along / (square * square)))
    }

    /// Each coefficient times its blade's square and a factor.
    fn times_squares(&self, factor: f64) -> Self {
        let mut out = self.clone();
        for a in 0..=self.signature().pseudoscalar() {
            *out.coefficient_mut(a) *= f64::from(self.signature().square(a)) * factor;
        }
        out
    }
}
