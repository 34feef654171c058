//! A running error analysis of layers: how far f32 may have each of their values from what it is by definition.

use crate::common::U;
use tilewise::clifford::layer::{Gate, LayerProduct, ProductKind};
use tilewise::clifford::{Blades, Path, Product, grade};
use tilewise::reference::gamma;

/// What a gate is off by (`Gate::Gelu`), and the steepest slope of the normal distribution.
const GATE: f64 = 1.2e-7;
const STEEPEST: f64 = 0.4;

/// Relative errors of a division and of a square root, as WGSL allows them.
const DIVIDED: f64 = 8.0 * U;

/// Values, and how far the device's may be from them.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) values: Vec<f64>,
    pub(crate) off: Vec<f64>,
}

impl Running {
    /// What the device has as it is.
    pub(crate) fn exact(values: &[f64]) -> Self {
        Self { values: values.to_vec(), off: vec![0.0; values.len()] }
    }

    pub(crate) fn plus(mut self, other: &[f64]) -> Self {
        for ((value, off), other) in self.values.iter_mut().zip(&mut self.off).zip(other) {
            *value += other;
            *off += U * (value.abs() + *off);
        }
        self
    }
}

/// A layer's product of operands (blade, row, feature), and a weight (feature, path) or (path, in, out).
pub(crate) struct RunningProduct<'a> {
    pub(crate) product: LayerProduct,
    pub(crate) kind: ProductKind,
    pub(crate) blades: &'a Blades,
    pub(crate) rows: usize,
    pub(crate) weight: &'a [f64],
}

impl RunningProduct<'_> {
    pub(crate) fn of(&self, x: &Running, y: &Running) -> Running {
        self.normalized(&self.multiplied(&self.gated(x), &self.gated(y)))
    }

    fn gated(&self, x: &Running) -> Running {
        assert!(
            matches!(self.product.gate, Gate::None | Gate::Gelu),
            "no analysis of {:?}",
            self.product.gate
        );
        if self.product.gate == Gate::None {
            return x.clone();
        }
        let plane = x.values.len() / self.blades.len();
        let scalar = self.blades.position(0).unwrap() * plane;
        let mut gated = x.clone();
        for (i, (value, off)) in gated.values.iter_mut().zip(&mut gated.off).enumerate() {
            let s = scalar + i % plane;
            let gate = 0.5 * libm::erfc(-x.values[s] * std::f64::consts::FRAC_1_SQRT_2);
            let gate_off = STEEPEST * x.off[s] + GATE;
            *off = value.abs() * gate_off + (gate + gate_off) * *off + U * (*value * gate).abs();
            *value *= gate;
        }
        gated
    }

    fn multiplied(&self, x: &Running, y: &Running) -> Running {
        let terms = Product::Geometric.terms_onto(self.blades, self.blades, self.blades).unwrap().terms;
        let paths = self.product.signature.paths();
        let plane = x.values.len() / self.blades.len();
        let inputs = plane / self.rows;
        let outputs = match self.kind {
            ProductKind::Steerable => inputs,
            ProductKind::Connected => self.weight.len() / paths.len() / inputs,
        };
        let len = self.blades.len() * self.rows * outputs;
        let (mut out, mut sizes) = (Running::exact(&vec![0.0; len]), vec![0.0; len]);
        for term in &terms {
            let [a, b, c] = [term.x, term.y, term.out].map(usize::from);
            let path = Path::of(self.blades.masks()[a], self.blades.masks()[b]);
            let path = paths.binary_search(&path).unwrap();
            for row in 0..self.rows {
                for n in 0..inputs {
                    let [i, j] = [a, b].map(|blade| blade * plane + row * inputs + n);
                    let product = f64::from(term.sign) * x.values[i] * y.values[j];
                    let off =
                        x.off[i] * y.values[j].abs() + x.values[i].abs() * y.off[j] + x.off[i] * y.off[j];
                    let mut add = |m: usize, w: f64| {
                        let to = (c * self.rows + row) * outputs + m;
                        out.values[to] += product * w;
                        out.off[to] += off * w.abs();
                        sizes[to] += (product * w).abs();
                    };
                    match self.kind {
                        ProductKind::Steerable => add(n, self.weight[n * paths.len() + path]),
                        ProductKind::Connected => {
                            (0..outputs).for_each(|m| add(m, self.weight[(path * inputs + n) * outputs + m]))
                        }
                    }
                }
            }
        }
        // Sums of so many terms, each of two products, with the gates' plane three.
        let summed = match self.kind {
            ProductKind::Steerable => self.blades.len(),
            ProductKind::Connected => self.blades.len() * inputs,
        };
        out.off.iter_mut().zip(&sizes).for_each(|(off, size)| *off += gamma(summed + 3) * (size + *off));
        out
    }

    fn normalized(&self, o: &Running) -> Running {
        let LayerProduct { signature, norm, .. } = self.product;
        let plane = o.values.len() / self.blades.len();
        let features = plane / self.rows;
        let mut out = o.clone();
        for g in norm.grades(signature) {
            let of_grade: Vec<usize> =
                (0..self.blades.len()).filter(|k| grade(self.blades.masks()[*k]) == g).collect();
            for row in 0..self.rows {
                let (mut mean, mut mean_off) = (0.0, 0.0);
                for n in 0..features {
                    let (mut square, mut off) = (0.0, 0.0);
                    for &k in &of_grade {
                        let i = k * plane + row * features + n;
                        let weight = f64::from(norm.weight(signature, self.blades.masks()[k]));
                        let (value, by) = (o.values[i].abs(), o.off[i]);
                        square += weight * value * value;
                        off += weight.abs() * (by * (2.0 * value + by));
                        off += weight.abs() * gamma(of_grade.len() + 1) * (value + by).powi(2);
                    }
                    mean += square.abs() / features as f64;
                    mean_off += off / features as f64;
                }
                mean_off += gamma(features + 2) * (mean + mean_off);
                let over = |mean: f64| 1.0 / (mean.max(0.0) + norm.epsilon()).sqrt();
                let (factor, most) = (over(mean), over(mean - mean_off) * (1.0 + DIVIDED));
                for i in
                    of_grade.iter().flat_map(|k| k * plane + row * features..k * plane + (row + 1) * features)
                {
                    out.off[i] =
                        o.off[i] * most + o.values[i].abs() * (most - factor) + U * o.values[i].abs() * most;
                    out.values[i] = o.values[i] * factor;
                }
            }
        }
        out
    }
}
