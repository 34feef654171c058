//! Points, planes and motions of plane-based geometric algebra, from coordinates.

use super::multivector::Multivector;
use crate::clifford::algebra::product::Product;
use crate::clifford::algebra::signature::Signature;
use crate::{Error, Result};

/// The geometry of plane-based geometric algebra of the plane (`Pga<2>`) or of space (`Pga<3>`).
///
/// Vectors are planes (lines, if N = 2). Their outer product is their intersection, and N planes meet in a point. The
/// null vector $e_{0}$, the plane at infinity, may have any position in the order of the vectors. The formulas below
/// are products, whose values do not depend on that order.
///
/// ```
/// use std::f64::consts::FRAC_PI_2;
/// use tilewise::clifford::{Pga, Signature};
///
/// # fn main() -> tilewise::Result<()> {
/// let space = Pga::<3>::new(Signature::PGA3D.null_first())?;
/// let turn = space.rotor([0.0, 0.0, 1.0], FRAC_PI_2)?;
/// let motor = space.translator([0.0, 0.0, 5.0]).geometric(&turn)?; // rotates, then translates
/// let [x, y, z] = space.coordinates(&motor.sandwich(&space.point([1.0, 0.0, 0.0]))?)?;
/// assert!(x.abs() < 1e-15 && (y - 1.0).abs() < 1e-15 && z == 5.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pga<const N: usize> {
    signature: Signature,
    /// The vectors $e_{1}$ to $e_{N}$.
    axes: [u8; N],
    null: u8,
}

impl<const N: usize> Pga<N> {
    /// The geometry of an algebra.
    ///
    /// # Errors
    /// [`Error::Input`] if the algebra is not $\mathrm{Cl}(N, 0, 1)$, with the vectors in any order, or N is neither 2
    /// nor 3.
    pub fn new(signature: Signature) -> Result<Self> {
        if !matches!(N, 2 | 3) || signature.pqr() != [N, 0, 1] {
            let why = format!(
                "plane-based geometric algebra of {N} dimensions is Cl({N},0,1), for 2 or 3 dimensions"
            );
            return Err(Error::input(signature.to_string(), why));
        }
        let null = signature.null();
        let mut others = (0..=N).map(|i| 1 << i).filter(|&vector| vector != null);
        let axes = std::array::from_fn(|_| others.next().unwrap_or(null));
        Ok(Self { signature, axes, null })
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// The plane (line, if N = 2) of the points p with $n \cdot p + d = 0$: $\sum_{i} n_{i} e_{i} + d e_{0}$, of norm
    /// $|n|$.
    #[must_use]
    pub fn plane(&self, normal: [f64; N], d: f64) -> Multivector {
        let mut plane = Multivector::zero(self.signature);
        for (axis, n) in self.axes.into_iter().zip(normal) {
            plane.set(axis, n);
        }
        plane.set(self.null, d);
        plane
    }

    /// The point with these coordinates and weight 1, the intersection of the planes $x_{i} = p_{i}$:
    /// $(e_{1} - p_{1} e_{0}) \wedge (e_{2} - p_{2} e_{0}) \wedge (e_{3} - p_{3} e_{0})$.
    #[must_use]
    pub fn point(&self, coordinates: [f64; N]) -> Multivector {
        let mut point = Multivector::zero(self.signature);
        point.set(self.origin(), 1.0);
        for (i, p) in coordinates.into_iter().enumerate() {
            let (blade, sign) = self.coordinate_blade(i);
            point.set(blade, -sign * p);
        }
        point
    }

    /// The coordinates of a point of any weight.
    ///
    /// # Errors
    /// [`Error::Input`] if the point belongs to another algebra, or has weight 0: it is at infinity, or not a point.
    pub fn coordinates(&self, point: &Multivector) -> Result<[f64; N]> {
        if point.signature() != self.signature {
            let why =
                format!("the point belongs to {}, the geometry to {}", point.signature(), self.signature);
            return Err(Error::input("coordinates", why));
        }
        let weight = point.coefficient(self.origin());
        if weight == 0.0 || weight.is_nan() {
            return Err(Error::input(
                "coordinates",
                format!("a point of weight {weight} has no coordinates"),
            ));
        }
        Ok(std::array::from_fn(|i| {
            let (blade, sign) = self.coordinate_blade(i);
            -sign * point.coefficient(blade) / weight
        }))
    }

    /// The motor that translates by a vector: $1 + \frac12 \sum_{i} d_{i} e_{i} e_{0}$.
    #[must_use]
    pub fn translator(&self, by: [f64; N]) -> Multivector {
        let mut motor = Multivector::scalar_of(self.signature, 1.0);
        for (axis, d) in self.axes.into_iter().zip(by) {
            let sign = f64::from(self.signature.sign(axis, self.null));
            // The sign accounts for the order of the two vectors in the algebra.
            motor.set(axis | self.null, 0.5 * sign * d);
        }
        motor
    }

    /// The blade of the origin, $e_{1} \wedge e_{2} \wedge e_{3}$.
    pub(in crate::clifford) fn origin(&self) -> u8 {
        self.axes.iter().fold(0, |blade, axis| blade | axis)
    }

    /// The origin's blade with $e_{i}$ replaced by $e_{0}$, and its sign.
    pub(in crate::clifford) fn coordinate_blade(&self, i: usize) -> (u8, f64) {
        let factors = self.axes.iter().enumerate().map(|(j, &axis)| if i == j { self.null } else { axis });
        let times = |(blade, sign): (u8, f64), vector: u8| {
            let of = Product::Outer.of_blades(self.signature, blade, vector);
            of.map_or((blade, 0.0), |(blade, s)| (blade, sign * f64::from(s)))
        };
        factors.fold((0, 1.0), times)
    }

    /// Sets the coefficient of the plane of two axes in a rotor from the i-th axis to the j-th.
    fn set_rotation(&self, rotor: &mut Multivector, [i, j]: [usize; 2], amount: f64) {
        let [from, to] = [self.axes[i], self.axes[j]];
        rotor.set(from | to, -f64::from(self.signature.sign(from, to)) * amount);
    }
}

impl Pga<2> {
    /// The motor that rotates about the origin by an angle, in radians, from $e_{1}$ to $e_{2}$:
    /// $\cos\frac\varphi2 - \sin\frac\varphi2\\, e_{1} e_{2}$.
    #[must_use]
    pub fn rotor(&self, angle: f64) -> Multivector {
        let (sine, cosine) = (0.5 * angle).sin_cos();
        let mut rotor = Multivector::scalar_of(self.signature, cosine);
        self.set_rotation(&mut rotor, [0, 1], sine);
        rotor
    }
}

impl Pga<3> {
    /// The motor that rotates about an axis through the origin by an angle, in radians, right-handed:
    /// $\cos\frac\varphi2 - \sin\frac\varphi2\\,(n_{1} e_{2} e_{3} + n_{2} e_{3} e_{1} + n_{3} e_{1} e_{2})$ with $n$
    /// the axis divided by its length.
    ///
    /// # Errors
    /// [`Error::Input`] if the axis has no direction: it is zero, or not finite.
    pub fn rotor(&self, axis: [f64; 3], angle: f64) -> Result<Multivector> {
        let length = axis.iter().map(|n| n * n).sum::<f64>().sqrt();
        if !(length.is_finite() && length > 0.0) {
            return Err(Error::input("rotor", format!("the axis {axis:?} has no direction")));
        }
        let (sine, cosine) = (0.5 * angle).sin_cos();
        let mut rotor = Multivector::scalar_of(self.signature, cosine);
        for (n, plane) in axis.into_iter().zip([[1, 2], [2, 0], [0, 1]]) {
            self.set_rotation(&mut rotor, plane, sine * n / length);
        }
        Ok(rotor)
    }
}
