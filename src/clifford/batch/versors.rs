//! Versors of batches: exp and log, sandwiches, and paths of motors.

use super::multivectors::Multivectors;
use crate::Result;
use crate::clifford::algebra::blades::{Blades, Parity};
use crate::clifford::algebra::function::{Branch, Function};
use crate::clifford::algebra::product::Product;
use crate::clifford::generate::sandwich as sandwich_body;
use crate::clifford::problem::BladeAxis;
use crate::error::{Named, call};
use crate::layout::Real;
use crate::plan::Plan;
use crate::tensor::Tensor;

/// Versors. Each function is [`Multivector`](super::Multivector)'s of the same name, in f32; each is one launch.
impl<T: Real> Multivectors<T> {
    /// The multivectors of norm 1, $x / \sqrt{|\langle \tilde x x \rangle_{0}|}$; NaN of null ones.
    ///
    /// # Errors
    /// As [`unary`](Self::unary).
    /// # Precision
    /// $\gamma_{t + 4}$ of each coefficient, for t blades; where the metric is indefinite, by what is left of the square.
    pub fn normalized(&self) -> Result<Self> {
        self.run(Function::Normalize, None, self.blades()).named("normalized")
    }

    /// The exponentials of bivectors, motors of norm 1, in Cl(2), Cl(3), Cl(2,0,1) and Cl(3,0,1).
    ///
    /// # Shapes
    /// Any of the bivectors' blades; what is missing is 0. The result has all even blades.
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) in other algebras, or if there are blades of other grades; otherwise as [`unary`](Self::unary).
    /// # Precision
    /// Within 16 ulp of the largest coefficient for $\theta \le 2 \pi$, and down to 0; beyond it, as that many ulp of
    /// $\theta$ allow.
    pub fn exp(&self) -> Result<Self> {
        self.run(Function::Exp, None, &self.signature().even()).named("exp")
    }

    /// The logarithms of motors, bivectors of $\theta$ in $[0, \pi]$, in the algebras of [`exp`](Self::exp). The scale is
    /// left out.
    ///
    /// The logarithm of -1 is $\pi$ along the first blade, that of minus a translation a full turn about an axis along it;
    /// in the plane, where there is none, NaN. Of null motors it is NaN. What is no motor is not found out:
    /// its turn and shift are taken for those of one.
    /// # Shapes
    /// Any even blades; what is missing is 0. The result has all bivectors.
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) in other algebras, or if there are odd blades; otherwise as [`unary`](Self::unary).
    /// # Precision
    /// $e^{\log m}$ is within 16 ulp of the largest coefficient of m, down to $\theta = 0$ and up to $\pi / 2$, which is half
    /// a turn; beyond, of the largest of m and $\log m$: near -1 a rounding of the angle moves the sine that the shift
    /// across the axis is divided by.
    pub fn log(&self) -> Result<Self> {
        self.run(Function::Log(Branch::Whole), None, &self.signature().bivectors()).named("log")
    }

    /// What these versors do to multivectors: $v x \tilde v$ of even blades, $v \hat x \tilde v$ of odd ones
    /// ([`Multivector::sandwich`](super::Multivector::sandwich)). Nothing is divided: v should be of norm 1.
    ///
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::clifford::{BladeAxis, Multivectors, Pga, Signature};
    ///
    /// let space = Pga::<3>::new(Signature::PGA3D)?;
    /// let motor = space.translator([1.0, 2.0, 3.0]);
    /// let upload = |values: Vec<f64>| {
    ///     let values: Vec<f32> = values.into_iter().map(|x| x as f32).collect();
    ///     gpu.tensor(&values, [values.len(), 1])
    /// };
    /// let [motors, points] = [Signature::PGA3D.motors(), Signature::PGA3D.points()];
    /// let v = Multivectors::new(upload(motor.select(&motors))?, &motors, BladeAxis::First)?;
    /// let x = Multivectors::new(upload(space.point([0.5, 0.0, 0.0]).select(&points))?, &points, BladeAxis::First)?;
    /// let moved = v.sandwich(&x)?.tensor().to_vec()?; // of any number of points, by one motor
    /// # let want = space.point([1.5, 2.0, 3.0]).select(&points);
    /// # assert!(moved.iter().zip(want).all(|(a, b)| f64::from(*a) == b), "{moved:?}");
    /// # Ok(())
    /// # }
    /// ```
    /// # Shapes
    /// Positions are repeated as in [`product`](Self::product): (8, 1) with (4, n) is one motor for all points, (8, n) with
    /// (4, n) one for each, (8, m, 1) with (4, 1, n) all pairs. The result has all blades of the grades that `x` has: a
    /// versor keeps grades. One launch where two products would have at most 1024 terms
    /// ([`Machine::terms`](crate::caps::Machine::terms)), as in every algebra of up to 5 vectors; beyond, those two.
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if v has both even and odd blades; otherwise as [`product`](Self::product).
    /// # Precision
    /// A point of PGA moves to within 16 ulp of $|p| + |t|$ of where this very motor, in f64, takes it.
    pub fn sandwich(&self, x: &Self) -> Result<Self> {
        call("sandwich", || {
            let out = sandwich_body::blades(x.blades());
            let terms = sandwich_body::terms_at_most(self.blades(), x.blades(), &out);
            if terms > self.tensor().gpu().caps().machine.terms {
                return self.sandwich_in_two(x, &out);
            }
            self.binary(Function::Sandwich, x, &out)
        })
    }

    /// How [`sandwich`](Self::sandwich) is computed, where that is one launch.
    ///
    /// # Errors
    /// As [`sandwich`](Self::sandwich); [`Error::Limit`](crate::Error::Limit) where it is two products.
    pub fn plan_sandwich(&self, x: &Self) -> Result<Plan> {
        self.plan(Function::Sandwich, Some(x), &sandwich_body::blades(x.blades())).named("plan_sandwich")
    }

    /// As two products, of which the first is stored.
    fn sandwich_in_two(&self, x: &Self, out: &Blades) -> Result<Self> {
        let x = match sandwich_body::parity(self.blades())? {
            Parity::Even => x.clone(),
            Parity::Odd => x.involute()?,
        };
        self.geometric(&x)?.product_onto(Product::Geometric, &self.reverse()?, out)
    }

    /// The motors at times `t` on the ways from these (`t` = 0) to `b` (`t` = 1), at constant speed:
    /// $a\,e^{t \log(\tilde a b)}$. Of the two ways it is the shorter; at `t` = 1 it may be -b, the same motion.
    ///
    /// # Shapes
    /// `t` is of positions, which are repeated as in [`product`](Self::product): (8, 1) to (8, 1) at (n) is a path of n
    /// motors. Four launches.
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) in other algebras than those of [`exp`](Self::exp), if there are odd blades or `b` is of another
    /// algebra; otherwise as [`product`](Self::product).
    /// # Precision
    /// Within 64 ulp of the largest coefficient on the way. Null motors give NaN; of others than of norm 1 the path has
    /// the norm of the first.
    pub fn interpolate(&self, b: &Self, t: &Tensor<T>) -> Result<Self> {
        call("interpolate", || {
            let signature = self.signature();
            let way = self.binary(Function::Way, b, &signature.bivectors())?;
            let mut shape = t.shape().to_vec();
            let at = match self.axis() {
                BladeAxis::First => 0,
                BladeAxis::Last => shape.len(),
            };
            shape.insert(at, 1);
            let t = Self::new(t.reshape(&shape)?, &signature.scalars(), self.axis())?;
            let step = t.geometric(&way)?.exp()?;
            self.product_onto(Product::Geometric, &step, &signature.even())
        })
    }
}
