//! Exponentials of bivectors, logarithms of motors and the paths between motors: closed forms, in f64.

use super::multivector::Multivector;
use crate::clifford::algebra::blades::Parity;
use crate::clifford::algebra::rigid::{Rigid, Shift};
use crate::{Error, Result};

/// Rigid motions, in Cl(2), Cl(3) and PGA of the plane and of space.
impl Multivector {
    /// The exponential of a bivector, a motor of norm 1: $e^B = \sum_{k} B^k / k!$.
    ///
    /// With the turn E and the shift N of $B = E + N$, $\theta = |E|$ and $E \wedge N = d I$,
    /// $$e^B = \cos\theta + \tfrac{\sin\theta}{\theta} (B + d I) + d\,\tfrac{\sin\theta - \theta\cos\theta}{\theta^3}\,I E.$$
    /// It turns by $2\theta$: `rotor(axis, angle)` of [`Pga`](super::Pga) is that of half the angle.
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
    /// [`Error::Input`] in other algebras than Cl(2), Cl(3), Cl(2,0,1) and Cl(3,0,1), their vectors in any order, and if
    /// anything but the bivector part is not zero.
    /// # Precision
    /// Each coefficient to a few ulp of the largest, for every angle: the last fraction, in which the terms cancel, is a
    /// series for $\theta < 1$.
    pub fn exp(&self) -> Result<Self> {
        let rigid = Rigid::of(self.signature(), "exp")?;
        if *self != self.project(&[2]) {
            return Err(Error::input(
                "exp",
                "there is a closed form of bivectors only, and this has other grades",
            ));
        }
        let turns: Vec<f64> = rigid.turns.iter().map(|&t| self.coefficient(t)).collect();
        let theta = length(&turns);
        let (sinc, fall) = (sinc(theta), fall(theta));
        let d: f64 = rigid.twins().map(|(blade, t, sign)| sign * turns[t] * self.coefficient(blade)).sum();
        let mut out = self.scaled(sinc);
        out.set(0, theta.cos());
        for (blade, t, sign) in rigid.twins() {
            out.set(blade, out.coefficient(blade) - sign * d * fall * turns[t]);
        }
        if let Some(screw) = rigid.screw {
            out.set(screw, d * sinc);
        }
        Ok(out)
    }

    /// The logarithm of a motor: the bivector B of $|E| \le \pi$ with $e^B = m / |m|$. The scale is left out.
    ///
    /// The angle is that of `atan2`, $\theta = \operatorname{atan2}(|\langle m \rangle_{E}|, \langle m \rangle_{0})$ in
    /// $[0, \pi]$, so m and -m, which are the same motion, have different logarithms: of the one with
    /// $\langle m \rangle_{0} \ge 0$ it is the shorter way, a turn by $2\theta \le \pi$.
    ///
    /// At -1 every bivector of $\theta = \pi$ is one. It is that along the first blade: $\pi e_{12}$. Of minus a
    /// translation it is a full turn about an axis along it, in space; in the plane there is none.
    ///
    /// # Errors
    /// [`Error::Input`] in other algebras than those of [`exp`](Self::exp); if m has odd parts, $m \tilde m$ is no scalar
    /// ([`inverse`](Self::inverse)), or m is null; of minus a translation of the plane.
    /// # Precision
    /// A few ulp, for every angle down to where squares vanish ($10^{-150}$, where it is $m - 1$): no difference is taken
    /// of what cancels. Only towards $\theta = \pi$ is B itself ill conditioned, as the shift across the axis is divided
    /// by $\sin\theta$.
    pub fn log(&self) -> Result<Self> {
        let rigid = Rigid::of(self.signature(), "log")?;
        if self.parity("log")? != Parity::Even {
            return Err(Error::input("log", "a motor has even blades only, and this has odd ones"));
        }
        let m = self.scaled(1.0 / self.versor_square("log")?.sqrt());
        let (c, q) = (m.coefficient(0), rigid.screw.map_or(0.0, |screw| m.coefficient(screw)));
        let mut turns: Vec<f64> = rigid.turns.iter().map(|&t| m.coefficient(t)).collect();
        let sine = length(&turns);
        let theta = sine.atan2(c);
        let mut out = Self::zero(m.signature());
        if c >= 0.0 {
            let over = if sine == 0.0 { 1.0 } else { theta / sine };
            out = m.project(&[2]).scaled(over);
            for (blade, t, sign) in rigid.twins() {
                out.set(blade, out.coefficient(blade) + sign * q * over.powi(3) * fall(theta) * turns[t]);
            }
            return Ok(out);
        }
        if sine == 0.0 {
            turns = m.axis_of_full_turn(&rigid)?;
        } else {
            turns.iter_mut().for_each(|turn| *turn /= sine);
        }
        let (along, across) = m.split(&rigid, &turns);
        // The shift along the axis goes on as e^B turns by its derivative; that across is shortened to sinc.
        let drift = c * along - sine * q;
        for (&t, turn) in rigid.turns.iter().zip(&turns) {
            out.set(t, theta * turn);
        }
        let over = if sine == 0.0 { 0.0 } else { theta / sine };
        for (shift, across) in rigid.shifts.iter().zip(across) {
            out.set(shift.blade, over * across + drift * shift.along(&turns));
        }
        Ok(out)
    }

    /// The length of the shift along an axis of length 1, and the rest of the shift.
    ///
    /// Twice: what the first difference leaves along the axis is rounding of the whole, and the rest may be much less.
    fn split(&self, rigid: &Rigid, axis: &[f64]) -> (f64, Vec<f64>) {
        let along_axis = |shift: &[f64]| -> f64 {
            rigid.shifts.iter().zip(shift).map(|(shift, x)| shift.along(axis) * x).sum()
        };
        let mut across: Vec<f64> = rigid.shifts.iter().map(|shift| self.coefficient(shift.blade)).collect();
        let mut along = 0.0;
        for _ in 0..2 {
            let more = along_axis(&across);
            across.iter_mut().zip(&rigid.shifts).for_each(|(x, shift)| *x -= more * shift.along(axis));
            along += more;
        }
        (along, across)
    }

    /// The axis of $-(1 + N)$: along the shift, or along the first blade where there is none.
    fn axis_of_full_turn(&self, rigid: &Rigid) -> Result<Vec<f64>> {
        let mut axis = vec![0.0; rigid.turns.len()];
        for (blade, t, sign) in rigid.twins() {
            axis[t] = -sign * self.coefficient(blade);
        }
        let most = length(&axis);
        if most > 0.0 {
            return Ok(axis.iter().map(|turn| turn / most).collect());
        }
        if rigid.shifts.iter().any(|shift| self.coefficient(shift.blade) != 0.0) {
            return Err(Error::input(
                "log",
                "minus a translation of the plane has no logarithm; the motor times -1 has",
            ));
        }
        axis[0] = 1.0;
        Ok(axis)
    }

    /// The motor at `t` on the way from this one (`t` = 0) to `b` (`t` = 1), at constant speed:
    /// $a\,e^{t \log(a^{-1} b)}$, and on beyond both.
    ///
    /// Of the two ways it is the shorter: at `t` = 1 it is -b, the same motion, where $\langle a^{-1} b \rangle_{0} < 0$. Both
    /// ends are exact.
    ///
    /// # Errors
    /// [`Error::Input`] as [`log`](Self::log), if the operands are of different algebras, or one is null.
    /// # Precision
    /// A few ulp of the largest coefficient. Of motors of other norms the path is that of $b |a| / |b|$, within.
    pub fn interpolate(&self, b: &Self, t: f64) -> Result<Self> {
        let way = self.inverse()?.geometric(b)?;
        let sign = if way.coefficient(0) < 0.0 { -1.0 } else { 1.0 };
        let log = way.scaled(sign).log()?;
        if t == 0.0 {
            return Ok(self.clone());
        }
        if t == 1.0 {
            return Ok(b.scaled(sign));
        }
        self.geometric(&log.scaled(t).exp()?)
    }
}

impl Rigid {
    /// Shifts that have a twin: the blade, the twin's place among the turns, and the sign.
    fn twins(&self) -> impl Iterator<Item = (u8, usize, f64)> + '_ {
        self.shifts.iter().filter_map(|shift| shift.twin.map(|(t, sign)| (shift.blade, t, f64::from(sign))))
    }
}

impl Shift {
    /// The coefficient of this blade in I times the axis; 0 in the plane.
    fn along(&self, axis: &[f64]) -> f64 {
        self.twin.map_or(0.0, |(t, sign)| -f64::from(sign) * axis[t])
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
fn fall(theta: f64) -> f64 {
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
    fn series_and_quotient_meet() {
        let [below, above] = [1.0f64.next_down(), 1.0].map(fall);
        assert!((below - above).abs() <= 4.0 * f64::EPSILON, "{below} {above}");
        assert!(
            (fall(0.0) - 1.0 / 3.0).abs() <= f64::EPSILON && (fall(PI) - PI.powi(-2)).abs() <= f64::EPSILON
        );
    }
}
