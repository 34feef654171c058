//! Linear layers of multivectors by definition, with their gradients.

use crate::clifford::layer::BiasOn;
use crate::clifford::{Blades, grade};

/// A linear layer of multivectors in f64. Tensors are (blade, row, feature), row-major.
#[derive(Clone, Debug)]
pub struct MvLinearReference {
    /// The blades along the first axis, all of them.
    pub blades: Blades,
    /// Number of rows.
    pub rows: usize,
    /// Features of x and of y.
    pub features: [usize; 2],
    /// The blades with a bias.
    pub bias_on: BiasOn,
}

/// The parameters of a linear layer, or the gradients of a loss with respect to them and to x.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MvLinearValues {
    /// The operand (blade, row, in).
    pub x: Vec<f64>,
    /// The matrices (grades, in, out).
    pub weight: Vec<f64>,
    /// The bias (out), or empty.
    pub bias: Vec<f64>,
    /// The matrices (n, in, out) for multiplication by the null vector; empty if there are none.
    pub null_weight: Vec<f64>,
}

impl MvLinearReference {
    /// The outputs (blade, row, out).
    ///
    /// # Panics
    /// May panic if the lengths of the values do not match the sizes.
    #[must_use]
    pub fn forward(&self, of: &MvLinearValues) -> Vec<f64> {
        let [inputs, outputs] = self.features;
        let mut y = vec![0.0; self.blades.len() * self.rows * outputs];
        self.each(!of.null_weight.is_empty(), |map, sign, row| {
            let weight = if map.is_null { &of.null_weight } else { &of.weight };
            for n in 0..inputs {
                let x = sign * of.x[(map.from * self.rows + row) * inputs + n];
                let w = &weight[(map.grade * inputs + n) * outputs..][..outputs];
                let to = &mut y[(map.to * self.rows + row) * outputs..][..outputs];
                to.iter_mut().zip(w).for_each(|(y, w)| *y += x * w);
            }
        });
        for row in self.biased(of) {
            y[row * outputs..][..outputs].iter_mut().zip(&of.bias).for_each(|(y, b)| *y += b);
        }
        y
    }

    /// The gradients, from the gradient `g` of the outputs.
    ///
    /// # Panics
    /// May panic if the lengths of the values do not match the sizes.
    #[must_use]
    pub fn backward(&self, of: &MvLinearValues, g: &[f64]) -> MvLinearValues {
        let [inputs, outputs] = self.features;
        let zeros = |like: &[f64]| vec![0.0; like.len()];
        let mut out = MvLinearValues {
            x: zeros(&of.x),
            weight: zeros(&of.weight),
            bias: zeros(&of.bias),
            null_weight: zeros(&of.null_weight),
        };
        self.each(!of.null_weight.is_empty(), |map, sign, row| {
            let (weight, of_weight) = if map.is_null {
                (&of.null_weight, &mut out.null_weight)
            } else {
                (&of.weight, &mut out.weight)
            };
            let g = &g[(map.to * self.rows + row) * outputs..][..outputs];
            for n in 0..inputs {
                let (i, w) = ((map.from * self.rows + row) * inputs + n, (map.grade * inputs + n) * outputs);
                out.x[i] += sign * g.iter().zip(&weight[w..]).map(|(g, w)| g * w).sum::<f64>();
                let to = &mut of_weight[w..w + outputs];
                to.iter_mut().zip(g).for_each(|(to, g)| *to += sign * of.x[i] * g);
            }
        });
        for row in self.biased(of) {
            out.bias.iter_mut().zip(&g[row * outputs..]).for_each(|(to, g)| *to += g);
        }
        out
    }

    /// Calls `of` for every map of a blade to a blade and every row, with the sign of the map.
    fn each(&self, has_null: bool, mut of: impl FnMut(BladePair, f64, usize)) {
        let signature = self.blades.signature();
        let null = signature.null();
        for (from, &mask) in self.blades.masks().iter().enumerate() {
            let grade = grade(mask);
            let to_null = self.blades.position(mask | null).filter(|_| has_null && mask & null == 0);
            for row in 0..self.rows {
                of(BladePair { from, to: from, grade, is_null: false }, 1.0, row);
                if let Some(to) = to_null {
                    let sign = f64::from(signature.sign(null, mask));
                    of(BladePair { from, to, grade, is_null: true }, sign, row);
                }
            }
        }
    }

    /// The rows with a bias, over all blades.
    fn biased(&self, of: &MvLinearValues) -> Vec<usize> {
        let places = if of.bias.is_empty() { 0..0 } else { self.bias_on.places(&self.blades) };
        (places.start * self.rows..places.end * self.rows).collect()
    }
}

/// A matrix that maps a blade of x to a blade of y.
#[derive(Clone, Copy)]
struct BladePair {
    from: usize,
    to: usize,
    grade: usize,
    is_null: bool,
}
