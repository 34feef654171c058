//! Checks equivariance: turning the inputs of the network must equal turning its outputs.

use crate::data::{ALGEBRA, Tetrahedron, as_vectors, normals, rounded, turn};
use crate::network::Network;
use nalgebra::Matrix3;
use tilewise::clifford::layer::{CliffordLayer, MvLinear};
use tilewise::clifford::{Blades, Multivector, Path, Product};
use tilewise::reference::{MvLinearReference, MvLinearValues, gamma};
use tilewise::{Gpu, Result, Tensor};

/// Number of turns that are tried; about half of them have a reflection.
pub(crate) const TURNS: usize = 16;
/// Number of tetrahedra that each turn is applied to.
pub(crate) const TURNED: usize = 32;

/// The largest difference between the outputs for turned tetrahedra and the turned outputs, over its bound. All blades are
/// compared, not only those that were trained.
///
/// Every output is a sum of products of inputs and weights, and each product is rounded at most k times. So the device's
/// output is within $\gamma_{k} m$ of the exact one, where m is the output for the magnitudes of all inputs and weights.
/// Turned tetrahedra are rounded once more. With a turn R of vectors, and the same turn $\rho$ of multivectors,
/// $|f(Rx) - \rho f(x)| \le \gamma_{k} (m(Rx) + |\rho|\, m(x))$.
pub(crate) fn worst_difference(
    gpu: &Gpu,
    network: &Network,
    tetrahedra: &[Tetrahedron],
    seed: u64,
) -> Result<f64> {
    let tetrahedra = &tetrahedra[..TURNED.min(tetrahedra.len())];
    let magnitudes = Magnitudes::of(network)?;
    let blades = ALGEBRA.blades();
    let still = outputs(gpu, network, &magnitudes, tetrahedra)?;
    let share = gamma(magnitudes.roundings());
    let mut normal = normals(seed);
    let mut worst = 0.0f64;
    for _ in 0..TURNS {
        let turn = turn(&mut normal);
        let all: Vec<Tetrahedron> = tetrahedra.iter().map(|corners| rounded(&(turn * corners))).collect();
        let turned = outputs(gpu, network, &magnitudes, &all)?;
        let rho = of_multivectors(&turn, &blades)?;
        for ((y, m), (turned_y, turned_m)) in still.iter().zip(&turned) {
            for (i, row) in rho.iter().enumerate() {
                let along =
                    |of: &[f64], by: fn(f64) -> f64| row.iter().zip(of).map(|(r, x)| by(*r) * x).sum::<f64>();
                let bound = share * (turned_m[i] + along(m, f64::abs)) + f64::from(f32::MIN_POSITIVE);
                let off = (turned_y[i] - along(y, |r| r)).abs() / bound;
                worst = worst.max(if off.is_nan() { f64::INFINITY } else { off });
            }
        }
    }
    Ok(worst)
}

/// Outputs of the network for each tetrahedron, blade by blade, and the outputs for magnitudes.
fn outputs(
    gpu: &Gpu,
    network: &Network,
    magnitudes: &Magnitudes,
    tetrahedra: &[Tetrahedron],
) -> Result<Vec<(Vec<f64>, Vec<f64>)>> {
    let count = tetrahedra.len();
    let x = as_vectors(gpu, tetrahedra)?;
    let y: Vec<f64> = network.forward(&x)?.tensor().to_vec()?.into_iter().map(f64::from).collect();
    let m = magnitudes.forward(read(x.tensor())?, count);
    let of = |values: &[f64], i: usize| values.iter().skip(i).step_by(count).copied().collect::<Vec<_>>();
    Ok((0..count).map(|i| (of(&y, i), of(&m, i))).collect())
}

/// The matrix by which a turn of vectors acts on multivectors: a blade becomes the outer product of its turned vectors.
fn of_multivectors(turn: &Matrix3<f64>, blades: &Blades) -> Result<Vec<Vec<f64>>> {
    let vectors = ALGEBRA.vectors();
    let image = |&mask: &u8| {
        let along = (0..3).filter(|i| mask >> i & 1 == 1);
        along
            .map(|i| Multivector::new(&vectors, turn.column(i).as_slice()))
            .try_fold(Multivector::scalar_of(ALGEBRA, 1.0), |image, vector| {
                image.product(Product::Outer, &vector?)
            })
    };
    let images = blades.masks().iter().map(image).collect::<Result<Vec<_>>>()?;
    Ok(blades
        .masks()
        .iter()
        .map(|&mask| images.iter().map(|image| image.coefficient(mask)).collect())
        .collect())
}

/// The magnitudes of a tensor's elements.
fn read(of: &Tensor<f32>) -> Result<Vec<f64>> {
    Ok(of.to_vec()?.into_iter().map(|x| f64::from(x.abs())).collect())
}

/// The network in f64, with each weight replaced by its magnitude.
struct Magnitudes {
    embedding: Linear,
    layers: Vec<(Linear, Vec<f64>)>,
    readout: Linear,
}

struct Linear {
    features: [usize; 2],
    weight: Vec<f64>,
    bias: Vec<f64>,
}

impl Linear {
    fn of(layer: &MvLinear<f32>) -> Result<Self> {
        let bias = layer.bias().map(read).transpose()?.unwrap_or_default();
        Ok(Self { features: [layer.inputs(), layer.outputs()], weight: read(layer.weight())?, bias })
    }

    fn forward(&self, x: Vec<f64>, rows: usize) -> Vec<f64> {
        let Self { features, weight, bias } = self;
        let reference = MvLinearReference {
            blades: ALGEBRA.blades(),
            rows,
            features: *features,
            bias_on: Default::default(),
        };
        let (weight, bias) = (weight.clone(), bias.clone());
        reference.forward(&MvLinearValues { x, weight, bias, null_weight: Vec::new() })
    }

    /// How often a product is rounded: when it is multiplied by its weight, in the sum, and with the bias.
    fn roundings(&self) -> usize {
        self.features[0] + 2
    }
}

impl Magnitudes {
    fn of(network: &Network) -> Result<Self> {
        let layer = |layer: &CliffordLayer<f32>| Ok((Linear::of(layer.linear())?, read(layer.weight())?));
        Ok(Self {
            embedding: Linear::of(&network.embedding)?,
            layers: network.layers.iter().map(layer).collect::<Result<_>>()?,
            readout: Linear::of(&network.readout)?,
        })
    }

    /// (blade, row, corner) -> (blade, row), of magnitudes.
    fn forward(&self, x: Vec<f64>, rows: usize) -> Vec<f64> {
        let mut x = self.embedding.forward(x, rows);
        for (linear, weight) in &self.layers {
            let y = linear.forward(x.clone(), rows);
            x = with_product(&x, &y, weight, linear.features[0]);
        }
        self.readout.forward(x, rows)
    }

    /// Largest number of roundings of a product of inputs and weights, including the rounding of a turned corner.
    fn roundings(&self) -> usize {
        let layer = |k: usize, (linear, _): &(Linear, Vec<f64>)| {
            // Both factors, their product, its weight, a sum with one term for each blade, and the residual x.
            k + (k + linear.roundings()) + 2 + ALGEBRA.size() + 1
        };
        self.layers.iter().fold(1 + self.embedding.roundings(), layer) + self.readout.roundings()
    }
}

/// x, and the steerable product of x and y without its signs, (blade, row, feature).
fn with_product(x: &[f64], y: &[f64], weight: &[f64], features: usize) -> Vec<f64> {
    let (blades, paths) = (ALGEBRA.blades(), ALGEBRA.paths());
    let plane = x.len() / blades.len();
    let mut sums = x.to_vec();
    for (i, &a) in blades.masks().iter().enumerate() {
        for (j, &b) in blades.masks().iter().enumerate() {
            let (Some(to), Ok(path)) = (blades.position(a ^ b), paths.binary_search(&Path::of(a, b))) else {
                continue;
            };
            for at in 0..plane {
                let w = weight[at % features * paths.len() + path];
                sums[to * plane + at] += w * x[i * plane + at] * y[j * plane + at];
            }
        }
    }
    sums
}
