//! Points of plane-based geometric algebra on the device, from coordinates and back.

use super::multivectors::Multivectors;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::function::Function;
use crate::clifford::cpu::pga::Pga;
use crate::clifford::problem::BladeAxis;
use crate::error::call;
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result, ops};

impl<const N: usize> Pga<N> {
    /// The points with these coordinates and weight 1, as from [`point`](Self::point), with the [blades of
    /// points](crate::clifford::Signature::points). Two launches.
    ///
    /// # Shapes
    /// `coordinates` has N elements along its first or last axis: (batch, N) by [`BladeAxis::Last`] -> (batch, N + 1).
    /// # Errors
    /// [`Error::Shape`] if the axis has another extent; otherwise as [`ops::pad`].
    /// # Precision
    /// Exact.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::clifford::{BladeAxis, Multivectors, Pga, Signature};
    ///
    /// let space = Pga::<3>::new(Signature::PGA3D)?;
    /// let xyz = gpu.tensor(&[1.0f32, 0.0, 0.0, 0.0, 2.0, -1.0], [2, 3])?;
    /// let motor = space.translator([0.0, 0.0, 5.0]);
    /// let blades = space.signature().motors();
    /// let values: Vec<f32> = motor.select(&blades).iter().map(|x| *x as f32).collect();
    /// let motor = Multivectors::new(gpu.tensor(&values, [blades.len()])?, &blades, BladeAxis::Last)?;
    ///
    /// let moved = motor.sandwich(&space.points(&xyz, BladeAxis::Last)?)?;
    /// assert_eq!(space.coordinates_of(&moved)?.to_vec()?, [1.0, 0.0, 5.0, 0.0, 2.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn points<T: Real>(&self, coordinates: &Tensor<T>, axis: BladeAxis) -> Result<Multivectors<T>> {
        call("points", || {
            let shape = coordinates.shape();
            let at = axis.of(shape.len());
            if shape.get(at) != Some(&N) {
                let rule = "the axis of coordinates must have one element per dimension";
                return Err(Error::shapes("points", rule, shape, &[N]));
            }
            let mut padding = vec![(0, 0); shape.len()];
            padding[at] = (0, 1);
            let (blades, signs) = self.homogeneous()?;
            let weighted = ops::pad(coordinates, &padding, T::from_f64(1.0))?;
            Multivectors::new(weighted, &blades, axis)?.run(signs, None, &self.signature().points())
        })
    }

    /// The coordinates of points of any weight. Two launches.
    ///
    /// # Shapes
    /// Points with the blade axis last, (batch, blades) -> (batch, N); first, (blades, batch) -> (N, batch).
    /// # Errors
    /// [`Error::Input`] if the points belong to another algebra; otherwise as [`Multivectors::select`].
    /// # Precision
    /// Coordinates are quotients by the weight, with the accuracy of [`ops::div`]. A point of weight 0 is at infinity, or no
    /// point: its coordinates are infinite or NaN.
    pub fn coordinates_of<T: Real>(&self, points: &Multivectors<T>) -> Result<Tensor<T>> {
        call("coordinates_of", || {
            if points.signature() != self.signature() {
                let [of, own] = [points.signature(), self.signature()];
                let why = format!("the points belong to {of}, the geometry to {own}");
                return Err(Error::input("coordinates_of", why));
            }
            let (blades, signs) = self.homogeneous()?;
            let tensor = points.run(signs, None, &blades)?.into_tensor();
            let at = points.axis().of(tensor.shape().len());
            ops::div(&tensor.slice(at, ..N)?, &tensor.slice(at, N..)?)
        })
    }

    /// The blades of coordinates and, last, of the weight; and the function that converts coordinates into the coefficients of a
    /// point, and back.
    fn homogeneous(&self) -> Result<(Blades, Function)> {
        let mut masks = Vec::new();
        let mut negative = [0; 4];
        for (blade, sign) in (0..N).map(|i| self.coordinate_blade(i)) {
            masks.push(blade);
            // The coefficient is minus the sign times the coordinate.
            if sign > 0.0 {
                negative[usize::from(blade / 64)] |= 1 << (blade % 64);
            }
        }
        masks.push(self.origin());
        Ok((Blades::new(self.signature(), &masks)?, Function::Negate(negative)))
    }
}
