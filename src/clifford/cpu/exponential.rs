//! Exponentials of bivectors, logarithms and interpolation of motors: closed forms, in f64.

use super::multivector::Multivector;
use crate::clifford::algebra::blades::Parity;
use crate::clifford::algebra::rigid::{RigidBlades, TranslationBlade};
use crate::{Error, Result};

/// Rigid motions, in Cl(2), Cl(3) and PGA of the plane and of space.
impl Multivector {
    /// The exponential of a bivector, which is a motor of norm 1: $e^B = \sum_{k} B^k / k!$.
    ///
    /// With the rotation part E and the translation part N of $B = E + N$, $\theta = |E|$ and $E \wedge N = d I$,
    /// $$e^B = \cos\theta + \tfrac{\sin\theta}{\theta} (B + d I) + d\\,\tfrac{\sin\theta - \theta\cos\theta}{\theta^3}\\,I E.$$
    /// It rotates by $2\theta$: `rotor(axis, angle)` of [`Pga`](crate::clifford::Pga) is the exponential with half the
    /// angle.
    ///
    /// ```
    /// use std::f64::consts::PI;
    /// use tilewise::clifford::{Multivector, Signature};
    ///
    /// # fn main() -> tilewise::Result<()> {
    /// let quarter = Multivector::blade(Signature::CL2, 0b11)?.scaled(PI / 2.0).exp()?;
    /// assert!((quarter.coefficient(0b11) - 1.0).abs() < 1e-15);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// [`Error::Input`] in algebras other than Cl(2), Cl(3), Cl(2,0,1) and Cl(3,0,1), with their vectors in any order;
    /// or if other grades than the bivector part are not zero.
    /// # Precision
    /// A few ulp of the largest coefficient, for every angle. The terms of the last fraction cancel for small angles;
    /// for $\theta < 1$ a series is used.
    pub fn exp(&self) -> Result<Self> {
        let rigid = RigidBlades::of(self.signature(), "exp")?;
        if *self != self.project(&[2]) {
            return Err(Error::input(
                "exp",
                "the closed form is for bivectors only, and the operand has other grades",
            ));
        }
        let rotation: Vec<f64> = rigid.rotations.iter().map(|&t| self.coefficient(t)).collect();
        let theta = length(&rotation);
        let (sinc, slope) = (sinc(theta), sinc_slope(theta));
        let d: f64 =
            rigid.complements().map(|(blade, t, sign)| sign * rotation[t] * self.coefficient(blade)).sum();
        let mut out = self.scaled(sinc);
        out.set(0, theta.cos());
        for (blade, t, sign) in rigid.complements() {
            out.set(blade, out.coefficient(blade) - sign * d * slope * rotation[t]);
        }
        if let Some(screw) = rigid.pseudoscalar {
            out.set(screw, d * sinc);
        }
        Ok(out)
    }

    /// The logarithm of a motor m: the bivector B with $|E| \le \pi$ and $e^B = m / |m|$. The norm of m is ignored.
    ///
    /// The angle is $\theta = \operatorname{atan2}(|\langle m \rangle_{E}|, \langle m \rangle_{0})$ in $[0, \pi]$. The
    /// motors m and -m are the same motion but have different logarithms. The one with $\langle m \rangle_{0} \ge 0$
    /// gives the shorter path, a rotation by $2\theta \le \pi$.
    ///
    /// For m = -1, every bivector with $\theta = \pi$ is a logarithm; the result is $\pi e_{12}$, along the first
    /// blade. For the negative of a translation, in space, the result is a full turn about an axis along the
    /// translation. In the plane it has no logarithm.
    ///
    /// # Errors
    /// [`Error::Input`] in algebras other than those of [`exp`](Self::exp); if m has odd parts, is null, or
    /// $m \tilde m$ is not a scalar ([`inverse`](Self::inverse)); for the negative of a translation of the plane.
    /// # Precision
    /// A few ulp, for every angle down to the underflow of squares ($10^{-150}$, where the result is $m - 1$), because
    /// no differences cancel. B is ill-conditioned near $\theta = \pi$ only, where the translation across the axis is
    /// divided by $\sin\theta$.
    pub fn log(&self) -> Result<Self> {
        let rigid = RigidBlades::of(self.signature(), "log")?;
        if self.parity("log")? != Parity::Even {
            return Err(Error::input("log", "a motor has even blades only, and the operand has odd ones"));
        }
        let m = self.scaled(1.0 / self.versor_square("log")?.sqrt());
        let (c, q) = (m.coefficient(0), rigid.pseudoscalar.map_or(0.0, |screw| m.coefficient(screw)));
        let mut rotation: Vec<f64> = rigid.rotations.iter().map(|&t| m.coefficient(t)).collect();
        let sine = length(&rotation);
        let theta = sine.atan2(c);
        let mut out = Self::zero(m.signature());
        if c >= 0.0 {
            let over = if sine == 0.0 { 1.0 } else { theta / sine };
            out = m.project(&[2]).scaled(over);
            for (blade, t, sign) in rigid.complements() {
                out.set(
                    blade,
                    out.coefficient(blade) + sign * q * over.powi(3) * sinc_slope(theta) * rotation[t],
                );
            }
            return Ok(out);
        }
        if sine == 0.0 {
            rotation = m.axis_of_full_turn(&rigid)?;
        } else {
            rotation.iter_mut().for_each(|turn| *turn /= sine);
        }
        let (along, across) = m.split(&rigid, &rotation);
        // e^B multiplies the translation across the axis by sinc. The translation along it follows from the derivative.
        let drift = c * along - sine * q;
        for (&t, turn) in rigid.rotations.iter().zip(&rotation) {
            out.set(t, theta * turn);
        }
        let over = if sine == 0.0 { 0.0 } else { theta / sine };
        for (shift, across) in rigid.translations.iter().zip(across) {
            out.set(shift.blade, over * across + drift * shift.along(&rotation));
        }
        Ok(out)
    }

    /// Splits the translation: its component along an axis of length 1, and the rest.
    ///
    /// The split is done twice. The first difference leaves a rounding error of the whole translation along the axis,
    /// which may be larger than the rest.
    fn split(&self, rigid: &RigidBlades, axis: &[f64]) -> (f64, Vec<f64>) {
        let along_axis = |shift: &[f64]| -> f64 {
            rigid.translations.iter().zip(shift).map(|(shift, x)| shift.along(axis) * x).sum()
        };
        let mut across: Vec<f64> =
            rigid.translations.iter().map(|shift| self.coefficient(shift.blade)).collect();
        let mut along = 0.0;
        for _ in 0..2 {
            let more = along_axis(&across);
            across.iter_mut().zip(&rigid.translations).for_each(|(x, shift)| *x -= more * shift.along(axis));
            along += more;
        }
        (along, across)
    }

    /// The axis of $-(1 + N)$: along the translation, or along the first blade if N = 0.
    fn axis_of_full_turn(&self, rigid: &RigidBlades) -> Result<Vec<f64>> {
        let mut axis = vec![0.0; rigid.rotations.len()];
        for (blade, t, sign) in rigid.complements() {
            axis[t] = -sign * self.coefficient(blade);
        }
        let most = length(&axis);
        if most > 0.0 {
            return Ok(axis.iter().map(|turn| turn / most).collect());
        }
        if rigid.translations.iter().any(|shift| self.coefficient(shift.blade) != 0.0) {
            return Err(Error::input(
                "log",
                "the negative of a translation of the plane has no logarithm; the motor times -1 has one",
            ));
        }
        axis[0] = 1.0;
        Ok(axis)
    }

    /// Interpolates between motors a (`self`, at `t` = 0) and b (at `t` = 1), at constant speed:
    /// $a\\,e^{t \log(a^{-1} b)}$. Other values of `t` extrapolate.
    ///
    /// Of the two paths it takes the shorter: at `t` = 1 the result is -b, the same motion, if
    /// $\langle a^{-1} b \rangle_{0} < 0$. Both ends are exact.
    ///
    /// # Errors
    /// [`Error::Input`] as [`log`](Self::log), if the operands belong to different algebras, or if one is null.
    /// # Precision
    /// A few ulp of the largest coefficient. If the norms differ, the path between the ends is that to $b |a| / |b|$.
    pub fn interpolate(&self, b: &Self, t: f64) -> Result<Self> {
        let relative = self.inverse()?.geometric(b)?;
        let sign = if relative.coefficient(0) < 0.0 { -1.0 } else { 1.0 };
        let log = relative.scaled(sign).log()?;
        if t == 0.0 {
            return Ok(self.clone());
        }
        if t == 1.0 {
            return Ok(b.scaled(sign));
        }
        self.geometric(&log.scaled(t).exp()?)
    }
}

impl RigidBlades {
    /// The translation blades that have a complement: the blade, the index of the complementary rotation, and the sign.
    fn complements(&self) -> impl Iterator<Item = (u8, usize, f64)> + '_ {
        self.translations
            .iter()
            .filter_map(|shift| shift.complement.map(|(t, sign)| (shift.blade, t, f64::from(sign))))
    }
}

impl TranslationBlade {
    /// The coefficient of this blade in the pseudoscalar times the axis; 0 in the plane.
    fn along(&self, axis: &[f64]) -> f64 {
        self.complement.map_or(0.0, |(t, sign)| -f64::from(sign) * axis[t])
    }
}

/// The Euclidean length.
fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// $\sin\theta / \theta$.
fn sinc(theta: f64) -> f64 {
    if theta == 0.0 { 1.0 } else { theta.sin() / theta }
}

/// $(\sin\theta - \theta\cos\theta) / \theta^3 = \sum_{k \ge 1} (-1)^{k+1} \frac{2k}{(2k+1)!} \theta^{2k-2}$.
fn sinc_slope(theta: f64) -> f64 {
    if theta >= 1.0 {
        return (theta.sin() / theta - theta.cos()) / (theta * theta);
    }
    let (mut sum, mut power, mut factorial) = (0.0, 1.0, 1.0);
    for k in 1..=10 {
        let two_k = f64::from(2 * k);
        factorial *= two_k * (two_k + 1.0);
        sum += power * two_k / factorial;
        power *= -theta * theta;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn series_and_quotient_agree() {
        let [below, above] = [1.0f64.next_down(), 1.0].map(sinc_slope);
        assert!((below - above).abs() <= 4.0 * f64::EPSILON, "{below} {above}");
        assert!(
            (sinc_slope(0.0) - 1.0 / 3.0).abs() <= f64::EPSILON
                && (sinc_slope(PI) - PI.powi(-2)).abs() <= f64::EPSILON
        );
    }
}
