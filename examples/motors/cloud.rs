//! Clouds of points: read from files or generated, uploaded to the device and read back.

use crate::refuse;
use std::f64::consts::TAU;
use std::path::Path;
use support::splitmix;
use tilewise::clifford::{BladeAxis, Multivectors, Pga, Signature};
use tilewise::io::read_npy_f64;
use tilewise::{Element, Gpu, Result};

/// The algebra of everything here.
pub(crate) const ALGEBRA: Signature = Signature::PGA3D;
/// Points of the knot.
const KNOT: u32 = 2400;

/// Points, rounded to f32, and the name of the cloud.
pub(crate) struct Cloud {
    pub(crate) name: String,
    pub(crate) points: Vec<[f64; 3]>,
}

impl Cloud {
    /// The points of a file, each rounded to f32.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let (shape, values) = read_npy_f64(path)?;
        let [count, 3] = shape[..] else {
            return Err(refuse(path, format!("a cloud of points must be n x 3; its shape is {shape:?}")));
        };
        if count == 0 {
            return Err(refuse(path, "it has no points".into()));
        }
        let is_beyond = |x: &f64| !f32::from_f64(*x).is_finite();
        if let Some(at) = values.iter().position(is_beyond) {
            let why =
                format!("the value at [{}, {}] is {}, which is not a finite f32", at / 3, at % 3, values[at]);
            return Err(refuse(path, why));
        }
        let points = values.chunks_exact(3).map(|p| rounded([p[0], p[1], p[2]])).collect();
        Ok(Self { name: path.display().to_string(), points })
    }

    /// A trefoil knot of radius about 1, as a scanner would see it: with a little noise.
    pub(crate) fn knot(seed: u64) -> Self {
        let mut random = splitmix(seed);
        let mut noise = || ((random() >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * 0.09;
        let point = |i| {
            let t = TAU * f64::from(i) / f64::from(KNOT);
            let [x, y, z] =
                [t.sin() + 2.0 * (2.0 * t).sin(), t.cos() - 2.0 * (2.0 * t).cos(), -(3.0 * t).sin()];
            rounded([x / 3.0 + noise(), y / 3.0 + noise(), z / 3.0 + noise()])
        };
        Self { name: "a knot".into(), points: (0..KNOT).map(point).collect() }
    }

    /// The largest distance of a point from the origin.
    pub(crate) fn radius(&self) -> f64 {
        self.points.iter().map(|p| p.iter().map(|x| x * x).sum::<f64>().sqrt()).fold(0.0, f64::max)
    }

    /// At most `most` of the points, evenly spaced.
    pub(crate) fn some(&self, most: usize) -> Self {
        let step = self.points.len().div_ceil(most);
        Self { name: self.name.clone(), points: self.points.iter().step_by(step).copied().collect() }
    }

    /// (blade, point).
    pub(crate) fn on_device(&self, gpu: &Gpu) -> Result<Multivectors<f32>> {
        self.upload(gpu, &[self.points.len()])
    }

    /// (blade, 1, point), so that every motor of (blade, motor, 1) moves every point.
    pub(crate) fn on_device_across(&self, gpu: &Gpu) -> Result<Multivectors<f32>> {
        self.upload(gpu, &[1, self.points.len()])
    }

    fn upload(&self, gpu: &Gpu, positions: &[usize]) -> Result<Multivectors<f32>> {
        let of_axis = |axis: usize| self.points.iter().map(move |point| f32::from_f64(point[axis]));
        let values: Vec<f32> = (0..3).flat_map(of_axis).collect();
        let coordinates = gpu.tensor(&values, [&[3], positions].concat())?;
        Pga::<3>::new(ALGEBRA)?.points(&coordinates, BladeAxis::First)
    }
}

/// The point rounded to f32.
fn rounded(point: [f64; 3]) -> [f64; 3] {
    point.map(|x| f64::from(f32::from_f64(x)))
}

/// The coordinates of points, position by position.
pub(crate) fn coordinates(points: &Multivectors<f32>) -> Result<Vec<[f64; 3]>> {
    let values = Pga::<3>::new(ALGEBRA)?.coordinates_of(points)?.to_vec()?;
    let count = values.len() / 3;
    Ok((0..count).map(|i| [0, 1, 2].map(|axis| f64::from(values[axis * count + i]))).collect())
}
