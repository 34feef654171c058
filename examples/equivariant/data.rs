//! Tetrahedra in one pose or turned at random, with the centre and volume to predict.

use nalgebra::{Matrix3, SMatrix};
use std::f64::consts::TAU;
use support::splitmix;
use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::{Element, Gpu, Result, Tensor};

/// The algebra of everything here.
pub(crate) const ALGEBRA: Signature = Signature::CL3;
/// Corners of a tetrahedron: the input features.
pub(crate) const CORNERS: usize = 4;
/// Positions of the vectors and of the pseudoscalar among the blades.
const VECTORS: [usize; 3] = [1, 2, 3];
const PSEUDOSCALAR: usize = 7;

/// A tetrahedron, its corners in columns.
pub(crate) type Tetrahedron = SMatrix<f64, 3, CORNERS>;

/// Numbers of a normal distribution from this seed on (Box and Muller, 1958).
pub(crate) fn normals(seed: u64) -> impl FnMut() -> f64 {
    let mut random = splitmix(seed);
    let mut uniform = move || ((random() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    move || (-2.0 * uniform().ln()).sqrt() * (TAU * uniform()).cos()
}

/// The orthonormal frame of three vectors, in order. Vectors of normal numbers give a random rotation or reflection.
fn frame(vectors: Matrix3<f64>) -> Matrix3<f64> {
    let (q, r) = vectors.qr().unpack();
    q * Matrix3::from_diagonal(&r.diagonal().map(f64::signum))
}

/// A rotation or, as often, a rotation and a reflection.
pub(crate) fn turn(normal: &mut impl FnMut() -> f64) -> Matrix3<f64> {
    frame(Matrix3::from_fn(|_, _| normal()))
}

/// Tetrahedra of normal coordinates, all in one pose. They are turned, and mirrored if necessary, so that the first edge
/// lies along the first axis, the first face in the upper half of the plane of the first two axes, and the last corner
/// above that plane.
pub(crate) fn posed(count: usize, seed: u64) -> Vec<Tetrahedron> {
    let mut normal = normals(seed);
    let mut one = || {
        let corners = Tetrahedron::from_fn(|_, _| normal());
        rounded(&(frame(edges(&corners)).transpose() * corners))
    };
    (0..count).map(|_| one()).collect()
}

/// These tetrahedra, each turned at random and half of them mirrored.
pub(crate) fn turned(tetrahedra: &[Tetrahedron], seed: u64) -> Vec<Tetrahedron> {
    let mut normal = normals(seed);
    tetrahedra.iter().map(|corners| rounded(&(turn(&mut normal) * corners))).collect()
}

/// Rounded to f32.
pub(crate) fn rounded(corners: &Tetrahedron) -> Tetrahedron {
    corners.map(|x| f64::from(f32::from_f64(x)))
}

/// The edges from the first corner to the others, in columns.
fn edges(corners: &Tetrahedron) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| corners[(i, j + 1)] - corners[(i, 0)])
}

/// The centre, and the signed volume, whose sign depends on the order of the corners.
fn centre_and_volume(corners: &Tetrahedron) -> [f64; 4] {
    let centre = corners.column_mean();
    [centre[0], centre[1], centre[2], edges(corners).determinant() / 6.0]
}

/// Tetrahedra on the device, in the form that each network takes.
pub(crate) struct Data {
    pub(crate) count: usize,
    /// (blade, tetrahedron, corner)
    pub(crate) vectors: Multivectors<f32>,
    /// (blade, tetrahedron, 1): the centre and the volume.
    pub(crate) multivectors: Tensor<f32>,
    /// (tetrahedron, 3 corner)
    pub(crate) coordinates: Tensor<f32>,
    /// (tetrahedron, 4)
    pub(crate) numbers: Tensor<f32>,
    /// Mean over the tetrahedra of the sum of squares of the values to predict.
    pub(crate) mean_square: f64,
}

impl Data {
    pub(crate) fn new(gpu: &Gpu, tetrahedra: &[Tetrahedron]) -> Result<Self> {
        let count = tetrahedra.len();
        let known: Vec<[f64; 4]> = tetrahedra.iter().map(centre_and_volume).collect();
        let as_f32 = |values: &mut dyn Iterator<Item = f64>| values.map(f32::from_f64).collect::<Vec<_>>();
        let coordinates = as_f32(&mut tetrahedra.iter().flat_map(|t| t.iter().copied()));
        let numbers = as_f32(&mut known.iter().flatten().copied());
        let mut multivectors = vec![0.0; ALGEBRA.size() * count];
        for (i, blade) in VECTORS.into_iter().chain([PSEUDOSCALAR]).enumerate() {
            let to = &mut multivectors[blade * count..][..count];
            to.iter_mut().zip(&known).for_each(|(to, known)| *to = f32::from_f64(known[i]));
        }
        Ok(Self {
            count,
            vectors: as_vectors(gpu, tetrahedra)?,
            multivectors: gpu.tensor(&multivectors, [ALGEBRA.size(), count, 1])?,
            coordinates: gpu.tensor(&coordinates, [count, 3 * CORNERS])?,
            numbers: gpu.tensor(&numbers, [count, 4])?,
            mean_square: known.iter().flatten().map(|x| x * x).sum::<f64>() / count as f64,
        })
    }
}

/// Corners as vectors, (blade, tetrahedron, corner).
pub(crate) fn as_vectors(gpu: &Gpu, tetrahedra: &[Tetrahedron]) -> Result<Multivectors<f32>> {
    let count = tetrahedra.len();
    let mut values = vec![0.0; ALGEBRA.size() * count * CORNERS];
    for (t, corners) in tetrahedra.iter().enumerate() {
        for (i, blade) in VECTORS.into_iter().enumerate() {
            for corner in 0..CORNERS {
                values[(blade * count + t) * CORNERS + corner] = f32::from_f64(corners[(i, corner)]);
            }
        }
    }
    let tensor = gpu.tensor(&values, [ALGEBRA.size(), count, CORNERS])?;
    Multivectors::new(tensor, &ALGEBRA.blades(), BladeAxis::First)
}

/// A factor for each blade: 1 if it is predicted, 0 if it is ignored.
pub(crate) fn predicted(gpu: &Gpu) -> Result<Tensor<f32>> {
    let is_predicted = |blade| VECTORS.contains(&blade) || blade == PSEUDOSCALAR;
    let mask: Vec<f32> =
        (0..ALGEBRA.size()).map(|blade| if is_predicted(blade) { 1.0 } else { 0.0 }).collect();
    gpu.tensor(&mask, [ALGEBRA.size(), 1, 1])
}
