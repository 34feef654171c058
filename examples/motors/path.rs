//! A path through poses, as motors on the device and as isometries in f64.

use crate::cloud::ALGEBRA;
use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use support::splitmix;
use tilewise::clifford::{BladeAxis, Multivector, Multivectors, Pga};
use tilewise::{Element, Gpu, Result};

/// Number of poses of the path, including the initial one.
const POSES: usize = 5;

/// The path.
pub(crate) struct Path {
    poses: Vec<(Multivector, Isometry3<f64>)>,
    /// Number of motors from each pose to the next. The last of them reaches the next pose.
    steps: usize,
}

impl Path {
    /// A path through poses that are some radii of the cloud apart, each turned about another axis.
    pub(crate) fn new(radius: f64, steps: usize, seed: u64) -> Result<Self> {
        let space = Pga::<3>::new(ALGEBRA)?;
        let mut random = splitmix(seed ^ 0x6d6f_746f_7273);
        let mut number = || (random() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        let radius = if radius > 0.0 { radius } else { 1.0 };
        let mut poses = vec![(Multivector::scalar_of(ALGEBRA, 1.0), Isometry3::identity())];
        for i in 1..POSES {
            let along = i as f64 / (POSES - 1) as f64;
            let side = if i % 2 == 0 { -1.0 } else { 1.0 };
            let by = [9.0 * along, side * (1.9 + 0.3 * number()), 1.2 * number()].map(|x| x * radius);
            let axis = [0.5 * number(), 0.5 * number(), 1.0 + 0.3 * number()];
            let angle = 1.3 * i as f64 + 0.4 * number();
            let motor = space.translator(by).geometric(&space.rotor(axis, angle)?)?;
            let turn = UnitQuaternion::from_axis_angle(&Unit::new_normalize(Vector3::from(axis)), angle);
            poses.push((motor, Isometry3::from_parts(Translation3::from(by), turn)));
        }
        Ok(Self { poses, steps })
    }

    /// Number of motors of the path.
    pub(crate) fn len(&self) -> usize {
        (POSES - 1) * self.steps
    }

    /// Number of motors from each pose to the next.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    /// Largest distance of a pose from the origin.
    pub(crate) fn reach(&self) -> f64 {
        self.poses.iter().map(|(_, pose)| pose.translation.vector.norm()).fold(0.0, f64::max)
    }

    /// The motors (blade, motor) from each pose to the next, at times 1 / steps to 1.
    pub(crate) fn motors(&self, gpu: &Gpu) -> Result<Multivectors<f32>> {
        let blades = ALGEBRA.motors();
        let upload = |poses: &[(Multivector, Isometry3<f64>)]| {
            let motors: Vec<Vec<f64>> = poses.iter().map(|(motor, _)| motor.select(&blades)).collect();
            let values: Vec<f32> =
                (0..blades.len()).flat_map(|k| motors.iter().map(move |m| f32::from_f64(m[k]))).collect();
            Multivectors::new(gpu.tensor(&values, [blades.len(), poses.len(), 1])?, &blades, BladeAxis::First)
        };
        let [from, to] = [upload(&self.poses[..POSES - 1])?, upload(&self.poses[1..])?];
        let times: Vec<f32> = (0..self.steps).map(|i| f32::from_f64(self.time(i))).collect();
        let path = from.interpolate(&to, &gpu.tensor(&times, [self.steps])?)?;
        let (blades, axis) = (path.blades().clone(), path.axis());
        Multivectors::new(path.into_tensor().reshape([blades.len(), self.len()])?, &blades, axis)
    }

    /// Time of a motor between two poses, rounded to f32.
    fn time(&self, i: usize) -> f64 {
        f64::from(f32::from_f64((i % self.steps + 1) as f64 / self.steps as f64))
    }

    /// A motor of the path in f64: the screw from one pose to the next, up to the motor's time.
    pub(crate) fn isometry(&self, i: usize) -> Isometry3<f64> {
        let [from, to] = [i / self.steps, i / self.steps + 1].map(|pose| self.poses[pose].1);
        screw(&from, &to, self.time(i))
    }
}

/// The screw from one pose to another, up to time t. nalgebra's own interpolation treats rotation and shift separately.
fn screw(from: &Isometry3<f64>, to: &Isometry3<f64>, t: f64) -> Isometry3<f64> {
    let motion = from.inverse() * to;
    let shift = motion.translation.vector;
    let Some((axis, angle)) = motion.rotation.axis_angle() else {
        return from * Translation3::from(shift * t);
    };
    // The shift along the axis is kept; the shift across it is a turn about a centre.
    let along = axis.into_inner() * axis.dot(&shift);
    let across = shift - along;
    let centre = (across + axis.cross(&across) / (0.5 * angle).tan()) * 0.5;
    let turn = UnitQuaternion::from_axis_angle(&axis, angle * t);
    from * Isometry3::from_parts(Translation3::from(along * t + centre - turn * centre), turn)
}
