//! Norms and activations of multivectors by definition, with their gradients.

use crate::clifford::layer::FeatureFunction;
use crate::clifford::{Blades, grade};

/// A function with parameters for each feature in f64. Tensors are (blade, row, feature), row-major.
#[derive(Clone, Debug)]
pub struct MvFeaturesReference {
    /// The function.
    pub function: FeatureFunction,
    /// The blades along the first axis, all of them.
    pub blades: Blades,
    /// Number of rows.
    pub rows: usize,
}

/// The operand and the parameters of a [`MvFeaturesReference`], or the gradients of a loss with respect to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MvFeaturesValues {
    /// The operand (blade, row, feature).
    pub x: Vec<f64>,
    /// The parameter a, (features, grades) or (features).
    pub a: Vec<f64>,
    /// The parameter b (features, grades); empty if the function has none.
    pub b: Vec<f64>,
}

/// The factor of one grade at one position, and its derivatives.
struct GradeFactor {
    value: f64,
    /// Derivatives with respect to the grade's q, the scalar part and the parameters.
    by_q: f64,
    by_scalar: f64,
    by_a: f64,
    by_b: f64,
}

impl MvFeaturesReference {
    /// The results (blade, row, feature).
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn forward(&self, of: &MvFeaturesValues) -> Vec<f64> {
        let plane = self.plane(of);
        let mut y = of.x.clone();
        if self.function == FeatureFunction::LayerNorm {
            let means = self.means(of);
            let features = plane / self.rows;
            y.iter_mut().enumerate().for_each(|(i, y)| {
                let position = i % plane;
                *y *= of.a[position % features] / means[position / features];
            });
            return y;
        }
        for (position, g) in self.each_grade(of) {
            let factor = self.factor(of, position, g).value;
            self.of_grade(g).for_each(|k| y[k * plane + position] *= factor);
        }
        y
    }

    /// The gradients, from the gradient `g` of the results.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn backward(&self, of: &MvFeaturesValues, g: &[f64]) -> MvFeaturesValues {
        match self.function {
            FeatureFunction::LayerNorm => self.layer_norm_backward(of, g),
            _ => self.grades_backward(of, g),
        }
    }

    fn grades_backward(&self, of: &MvFeaturesValues, g: &[f64]) -> MvFeaturesValues {
        let (plane, grades) = (self.plane(of), self.grades());
        let features = plane / self.rows;
        let mut out =
            MvFeaturesValues { x: vec![0.0; of.x.len()], a: vec![0.0; of.a.len()], b: vec![0.0; of.b.len()] };
        for (position, grade) in self.each_grade(of) {
            let factor = self.factor(of, position, grade);
            let at = |k: usize| k * plane + position;
            let along: f64 = self.of_grade(grade).map(|k| g[at(k)] * of.x[at(k)]).sum();
            for k in self.of_grade(grade) {
                out.x[at(k)] +=
                    factor.value * g[at(k)] + along * factor.by_q * 2.0 * self.square(k) * of.x[at(k)];
            }
            out.x[at(self.scalar())] += along * factor.by_scalar;
            let parameter = position % features * grades + grade;
            out.a[parameter] += along * factor.by_a;
            out.b.iter_mut().skip(parameter).take(1).for_each(|b| *b += along * factor.by_b);
        }
        out
    }

    /// $a_{n} g_{i} / M - q_{i} x_{i} n'\_{n} S / (N M^2)$ with $S = \sum_{n} a_{n} \langle g, x \rangle_{n}$ of the
    /// row.
    fn layer_norm_backward(&self, of: &MvFeaturesValues, g: &[f64]) -> MvFeaturesValues {
        let plane = self.plane(of);
        let features = plane / self.rows;
        let mut out = MvFeaturesValues { x: vec![0.0; of.x.len()], a: vec![0.0; of.a.len()], b: Vec::new() };
        for (row, mean) in self.means(of).into_iter().enumerate() {
            let along = |n: usize| -> f64 {
                let at = |k: usize| k * plane + row * features + n;
                (0..self.blades.len()).map(|k| g[at(k)] * of.x[at(k)]).sum()
            };
            let sum: f64 = (0..features).map(|n| of.a[n] * along(n)).sum();
            for n in 0..features {
                out.a[n] += along(n) / mean;
                let position = row * features + n;
                let slope = 2.0 * norm_slope(self.quadratic(of, position, |_| true));
                let slope_sum = sum / (features as f64 * mean * mean) * slope;
                for k in 0..self.blades.len() {
                    let i = k * plane + position;
                    out.x[i] = of.a[n] / mean * g[i] - slope_sum * self.square(k) * of.x[i];
                }
            }
        }
        out
    }

    /// The factor of a grade at a position.
    fn factor(&self, of: &MvFeaturesValues, position: usize, g: usize) -> GradeFactor {
        let features = self.plane(of) / self.rows;
        let q = self.quadratic(of, position, |k| grade(self.blades.masks()[k]) == g);
        let parameter = position % features * self.grades() + g;
        let a = of.a[parameter];
        if self.function == FeatureFunction::Silu {
            let v = if g == 0 { of.x[self.scalar() * self.plane(of) + position] } else { q };
            let s = sigmoid(a * v + of.b[parameter]);
            let slope = s * sigmoid(-a * v - of.b[parameter]);
            let [by_scalar, by_q] = if g == 0 { [slope * a, 0.0] } else { [0.0, slope * a] };
            return GradeFactor { value: s, by_q, by_scalar, by_a: slope * v, by_b: slope };
        }
        let (s, n) = (sigmoid(a), norm(q));
        let value = 1.0 / (s * (n - 1.0) + 1.0 + 1e-6);
        GradeFactor {
            value,
            by_q: -value * value * s * norm_slope(q),
            by_scalar: 0.0,
            by_a: -value * value * (n - 1.0) * s * sigmoid(-a),
            by_b: 0.0,
        }
    }

    /// The mean norm of each row, plus $10^{-6}$.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn means(&self, of: &MvFeaturesValues) -> Vec<f64> {
        let features = self.plane(of) / self.rows;
        let norm = |position| norm(self.quadratic(of, position, |_| true));
        let mean = |row| (row * features..(row + 1) * features).map(norm).sum::<f64>() / features as f64;
        (0..self.rows).map(|row| mean(row) + 1e-6).collect()
    }

    /// $\langle \tilde x x \rangle_{0}$ of some blades at a position.
    fn quadratic(&self, of: &MvFeaturesValues, position: usize, has: impl Fn(usize) -> bool) -> f64 {
        let places = (0..self.blades.len()).filter(|&k| has(k));
        places.map(|k| self.square(k) * of.x[k * self.plane(of) + position].powi(2)).sum()
    }

    fn each_grade(&self, of: &MvFeaturesValues) -> impl Iterator<Item = (usize, usize)> + use<> {
        let grades = self.grades();
        (0..self.plane(of)).flat_map(move |position| (0..grades).map(move |g| (position, g)))
    }

    fn of_grade(&self, of: usize) -> impl Iterator<Item = usize> {
        let blades = self.blades.masks().iter().enumerate();
        blades.filter(move |(_, mask)| grade(**mask) == of).map(|(k, _)| k)
    }

    fn square(&self, k: usize) -> f64 {
        f64::from(self.blades.signature().square(self.blades.masks()[k]))
    }

    fn scalar(&self) -> usize {
        self.blades.position(0).unwrap_or(0)
    }

    fn grades(&self) -> usize {
        self.blades.signature().dimension() + 1
    }

    /// Positions of the batch.
    fn plane(&self, of: &MvFeaturesValues) -> usize {
        of.x.len() / self.blades.len()
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn norm(q: f64) -> f64 {
    (q * q + 1e-16).powf(0.25)
}

/// The derivative of the norm with respect to q.
fn norm_slope(q: f64) -> f64 {
    0.5 * q * (q * q + 1e-16).powf(-0.75)
}
