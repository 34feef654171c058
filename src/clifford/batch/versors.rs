//! Functions of batches of versors: exp, log, sandwiches and interpolation of motors.

use super::multivectors::Multivectors;
use super::product::MvProduct;
use crate::Result;
use crate::clifford::algebra::blades::{Blades, Parity};
use crate::clifford::algebra::function::{Function, LogBranch};
use crate::clifford::algebra::product::Product;
use crate::clifford::generate::sandwich;
use crate::error::{Named, call};
use crate::layout::Real;
use crate::plan::Plan;
use crate::tensor::Tensor;

/// Functions of versors, in f32. [`Multivector`](crate::clifford::Multivector) has functions of the same names in f64.
/// Each is one launch unless it says otherwise.
impl<T: Real> Multivectors<T> {
    /// The multivectors scaled to norm 1, $x / \sqrt{|\langle \tilde x x \rangle_{0}|}$. Null multivectors become NaN.
    ///
    /// # Errors
    /// As [`unary`](Self::unary).
    /// # Precision
    /// $\gamma_{t + 4}$ of each coefficient, for t blades. In an indefinite metric the bound grows as terms of the square cancel.
    /// Coefficients are scaled by powers of two, so no square overflows or vanishes, and each coefficient of the result is
    /// accurate, even if it is much smaller or larger than others.
    pub fn normalized(&self) -> Result<Self> {
        self.run(Function::Normalize, None, self.blades()).named("normalized")
    }

    /// The exponentials of bivectors, which are motors of norm 1, in Cl(2), Cl(3), Cl(2,0,1) and Cl(3,0,1).
    ///
    /// # Shapes
    /// The operand has any blades of grade 2; missing blades are 0. The result has all even blades.
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) in other algebras, or for blades of other grades; otherwise as
    /// [`unary`](Self::unary).
    /// # Precision
    /// Within 16 ulp of the largest coefficient for $0 \le \theta \le 2 \pi$. For larger angles, within the change of
    /// the result that a change of $\theta$ by 16 ulp causes.
    pub fn exp(&self) -> Result<Self> {
        self.run(Function::Exp, None, &self.signature().even()).named("exp")
    }

    /// The logarithms of motors in the algebras of [`exp`](Self::exp): bivectors with $\theta$ in $[0, \pi]$. The norm
    /// of a motor is ignored.
    ///
    /// The logarithm of -1 is $\pi$ times the first bivector. The negative of a translation has, in space, a full turn
    /// about an axis along the translation; in the plane it has no logarithm, and the result is NaN. Null motors give
    /// NaN. Operands that are not motors are not detected: their rotation and translation parts are used as those of a
    /// motor.
    /// # Shapes
    /// The operand has any even blades; missing blades are 0. The result has all bivectors.
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) in other algebras, or for odd blades; otherwise as [`unary`](Self::unary).
    /// # Precision
    /// For $0 \le \theta \le \pi / 2$, up to half a turn, $e^{\log m}$ is within 16 ulp of the largest coefficient of m. For larger
    /// angles, it is within 16 ulp of the largest coefficient of m and $\log m$: the translation across the axis is divided by the
    /// sine, which is sensitive to the rounding of the angle near -1. Rotor and translation may have very different sizes: no
    /// intermediate product overflows or vanishes unless the result does.
    pub fn log(&self) -> Result<Self> {
        self.run(Function::Log(LogBranch::OfMotor), None, &self.signature().bivectors()).named("log")
    }

    /// Applies these versors to multivectors: $v x \tilde v$ if v is even, $v \hat x \tilde v$ if v is odd
    /// ([`Multivector::sandwich`](crate::clifford::Multivector::sandwich)). There is no division by the norm, so v
    /// should have norm 1.
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
    /// let moved = v.sandwich(&x)?.tensor().to_vec()?; // one motor, any number of points
    /// # let want = space.point([1.5, 2.0, 3.0]).select(&points);
    /// # assert!(moved.iter().zip(want).all(|(a, b)| f64::from(*a) == b), "{moved:?}");
    /// # Ok(())
    /// # }
    /// ```
    /// # Shapes
    /// Positions broadcast as in [`product`](Self::product): (8, 1) with (4, n) is one motor for all points, (8, n)
    /// with (4, n) is one motor per point, and (8, m, 1) with (4, 1, n) is all pairs. A versor keeps grades, so the
    /// result has all blades of the grades of `x`. It is one launch if two products would have at most 1024 terms
    /// ([`Machine::max_terms`](crate::caps::Machine::max_terms)), as in every algebra of up to 5 vectors; otherwise it is two
    /// products.
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if v has both even and odd blades; otherwise as
    /// [`product`](Self::product).
    /// # Precision
    /// For a point p of PGA and a motor with translation t: within 16 ulp of $|p| + |t|$ of the same motor in f64.
    pub fn sandwich(&self, x: &Self) -> Result<Self> {
        call("sandwich", || {
            let out = sandwich::blades(x.blades());
            let terms = sandwich::max_terms_of_two(self.blades(), x.blades(), &out);
            if terms > self.tensor().gpu().known_caps().machine.max_terms {
                return self.sandwich_in_two(x, &out);
            }
            self.run(Function::Sandwich, Some(x), &out)
        })
    }

    /// The plan of [`sandwich`](Self::sandwich), if it is one launch.
    ///
    /// # Errors
    /// As [`sandwich`](Self::sandwich); [`Error::Limit`](crate::Error::Limit) if it is two products.
    pub fn plan_sandwich(&self, x: &Self) -> Result<Plan> {
        self.plan(Function::Sandwich, Some(x), &sandwich::blades(x.blades())).named("plan_sandwich")
    }

    /// Computes a sandwich as two products.
    fn sandwich_in_two(&self, x: &Self, out: &Blades) -> Result<Self> {
        let x = match sandwich::parity(self.blades())? {
            Parity::Even => x.clone(),
            Parity::Odd => x.involute()?,
        };
        MvProduct::new(Product::Geometric, &self.geometric(&x)?, &self.reverse()?).blades(out).run()
    }

    /// Interpolates between motors a (`self`, at `t` = 0) and b (at `t` = 1), at constant speed:
    /// $a\\,e^{t \log(\tilde a b)}$. Of the two paths it takes the shorter; at `t` = 1 the result may be -b, which is
    /// the same motion. Four launches.
    ///
    /// # Shapes
    /// `t` has positions only, which broadcast as in [`product`](Self::product): from (8, 1) to (8, 1) at (n) gives n
    /// motors.
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) in other algebras than those of [`exp`](Self::exp), for odd blades, or if
    /// `b` belongs to another algebra; otherwise as [`product`](Self::product).
    /// # Precision
    /// Within 64 ulp of the largest coefficient along the path. Null motors give NaN. If the norms are not 1, the path
    /// has the norm of a.
    pub fn interpolate(&self, b: &Self, t: &Tensor<T>) -> Result<Self> {
        call("interpolate", || {
            let signature = self.signature();
            let log = self.run(Function::LogBetween, Some(b), &signature.bivectors())?;
            let mut shape = t.shape().to_vec();
            shape.insert(self.axis().of(shape.len() + 1), 1);
            let t = Self::new(t.reshape(&shape)?, &signature.scalars(), self.axis())?;
            let step = t.geometric(&log)?.exp()?;
            MvProduct::new(Product::Geometric, self, &step).blades(&signature.even()).run()
        })
    }
}
