//! The products of Clifford layers by definition, with their gradients.

use crate::clifford::layer::{Gate, LayerProduct, ProductKind};
use crate::clifford::{Blades, Path, Product, Terms, grade};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// A layer's product in f64. Tensors are (blade, row, feature), row-major.
#[derive(Clone, Debug)]
pub struct LayerProductReference {
    /// The algebra, the gate and the norm.
    pub product: LayerProduct,
    /// The blades along the first axis, all of them.
    pub blades: Blades,
    /// Number of rows.
    pub rows: usize,
    terms: Terms,
    /// The path of each term.
    paths: Vec<usize>,
}

/// The gradients of a layer's product in f64. Each has the shape of its operand.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the operands' names")]
pub struct LayerProductGradients {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub weight: Vec<f64>,
}

impl LayerProductReference {
    /// The product of operands with these blades, in this order, and this number of rows.
    ///
    /// # Panics
    /// If the blades are not all of the product's algebra.
    #[must_use]
    pub fn new(product: LayerProduct, blades: &Blades, rows: usize) -> Self {
        assert_eq!((blades.signature(), blades.len()), (product.signature, product.signature.size()));
        let of_terms = Product::Geometric.terms(blades, blades).and_then(|terms| terms.select(blades));
        let terms = of_terms.unwrap_or_else(|error| unreachable!("one algebra: {error}"));
        let paths = product.signature.paths();
        let mask = |i: u8| blades.masks()[usize::from(i)];
        let path = |x: u8, y: u8| paths.binary_search(&Path::of(mask(x), mask(y))).unwrap_or(usize::MAX);
        let paths = terms.terms.iter().map(|term| path(term.x, term.y)).collect();
        Self { product, blades: blades.clone(), rows, terms, paths }
    }

    /// Number of paths.
    #[must_use]
    pub fn paths(&self) -> usize {
        self.product.signature.paths().len()
    }

    /// The steerable product: `x` and `y` (blade, row, feature), `weight` (feature, path).
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn steerable(&self, x: &[f64], y: &[f64], weight: &[f64]) -> Vec<f64> {
        self.normalized(&self.weighted(&self.gated(x), &self.gated(y), weight))
    }

    /// The gradients of [`steerable`](Self::steerable), from the gradient `g` of its result.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn steerable_backward(
        &self,
        x: &[f64],
        y: &[f64],
        weight: &[f64],
        g: &[f64],
    ) -> LayerProductGradients {
        let [xh, yh] = [self.gated(x), self.gated(y)];
        let g = self.normalized_backward(&self.weighted(&xh, &yh, weight), g);
        let (plane, features) = (self.plane(x), self.plane(x) / self.rows);
        let mut gradients = LayerProductGradients {
            x: vec![0.0; x.len()],
            y: vec![0.0; y.len()],
            weight: vec![0.0; weight.len()],
        };
        for (term, path) in self.terms.terms.iter().zip(&self.paths) {
            let [a, b, c] = [term.x, term.y, term.out].map(|i| usize::from(i) * plane);
            for i in 0..plane {
                let w = i % features * self.paths() + path;
                let signed = f64::from(term.sign) * g[c + i];
                gradients.x[a + i] += weight[w] * signed * yh[b + i];
                gradients.y[b + i] += weight[w] * signed * xh[a + i];
                gradients.weight[w] += signed * xh[a + i] * yh[b + i];
            }
        }
        LayerProductGradients {
            x: self.gated_backward(x, &gradients.x),
            y: self.gated_backward(y, &gradients.y),
            ..gradients
        }
    }

    /// The fully connected product: `x` and `y` (blade, row, in), `weight` (path, in, out) -> (blade, row, out).
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn connected(&self, x: &[f64], y: &[f64], weight: &[f64]) -> Vec<f64> {
        self.normalized(&self.summed(&self.gated(x), &self.gated(y), weight))
    }

    /// The gradients of [`connected`](Self::connected), from the gradient `g` of its result.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn connected_backward(
        &self,
        x: &[f64],
        y: &[f64],
        weight: &[f64],
        g: &[f64],
    ) -> LayerProductGradients {
        let [xh, yh] = [self.gated(x), self.gated(y)];
        let g = self.normalized_backward(&self.summed(&xh, &yh, weight), g);
        let [inputs, outputs] = [self.plane(x), self.plane(&g)].map(|plane| plane / self.rows);
        let mut gradients = LayerProductGradients {
            x: vec![0.0; x.len()],
            y: vec![0.0; y.len()],
            weight: vec![0.0; weight.len()],
        };
        for (term, path) in self.terms.terms.iter().zip(&self.paths) {
            let [a, b] = [term.x, term.y].map(|i| usize::from(i) * self.plane(x));
            let c = usize::from(term.out) * self.plane(&g);
            let sign = f64::from(term.sign);
            for row in 0..self.rows {
                let g = &g[c + row * outputs..][..outputs];
                for n in 0..inputs {
                    let (i, w) = (row * inputs + n, (path * inputs + n) * outputs);
                    let path_gradient: f64 = g.iter().zip(&weight[w..]).map(|(g, w)| g * w).sum();
                    gradients.x[a + i] += sign * path_gradient * yh[b + i];
                    gradients.y[b + i] += sign * path_gradient * xh[a + i];
                    let product = sign * xh[a + i] * yh[b + i];
                    gradients.weight[w..w + outputs].iter_mut().zip(g).for_each(|(to, g)| *to += product * g);
                }
            }
        }
        LayerProductGradients {
            x: self.gated_backward(x, &gradients.x),
            y: self.gated_backward(y, &gradients.y),
            ..gradients
        }
    }

    /// Divides each grade of each row of `o` (blade, row, feature) by its norm.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn normalized(&self, o: &[f64]) -> Vec<f64> {
        let mut out = o.to_vec();
        for (row, g, r) in self.norms(o) {
            self.of_grade(o, row, g).for_each(|i| out[i] /= r);
        }
        out
    }

    /// The gradient of [`normalized`](Self::normalized), from the gradient `g` of its result:
    /// $g_{i} / r - q_{i} o_{i} s_{n} D / (N r^3)$. $D = \sum g_{i} o_{i}$ is over the grade of the row. $s_{n}$ is the
    /// sign of the square of feature n, 0 if the square is 0.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn normalized_backward(&self, o: &[f64], g: &[f64]) -> Vec<f64> {
        let (plane, features) = (self.plane(o), self.plane(o) / self.rows);
        let signature = self.product.signature;
        let mut out = g.to_vec();
        for (row, of, r) in self.norms(o) {
            let along: f64 = self.of_grade(o, row, of).map(|i| g[i] * o[i]).sum();
            let factor = along / (features as f64 * r.powi(3));
            for i in self.of_grade(o, row, of) {
                let weight = self.product.norm.weight(signature, self.blades.masks()[i / plane]);
                let sign = sign(self.square(o, i % plane, of));
                out[i] = g[i] / r - f64::from(weight) * sign * o[i] * factor;
            }
        }
        out
    }

    /// Row, grade and norm of every grade that is divided.
    fn norms(&self, o: &[f64]) -> impl Iterator<Item = (usize, usize, f64)> {
        let features = self.plane(o) / self.rows;
        let of = move |row: usize, g: usize| {
            let squares = (row * features..(row + 1) * features).map(|i| self.square(o, i, g).abs());
            (squares.sum::<f64>() / features as f64 + self.product.norm.epsilon()).sqrt()
        };
        let grades = self.product.norm.grades(self.product.signature);
        (0..self.rows).flat_map(move |row| grades.clone().into_iter().map(move |g| (row, g, of(row, g))))
    }

    /// The weighted sum of squares of a grade at a position.
    fn square(&self, o: &[f64], position: usize, of: usize) -> f64 {
        let plane = self.plane(o);
        let weight = |blade| f64::from(self.product.norm.weight(self.product.signature, blade));
        let blades = self.blades.masks().iter().enumerate().filter(|(_, mask)| grade(**mask) == of);
        blades.map(|(k, &mask)| weight(mask) * o[k * plane + position].powi(2)).sum()
    }

    /// The elements of a row that belong to a grade.
    pub(super) fn of_grade(&self, o: &[f64], row: usize, of: usize) -> impl Iterator<Item = usize> {
        let (plane, features) = (self.plane(o), self.plane(o) / self.rows);
        let blades = self.blades.masks().iter().enumerate().filter(move |(_, mask)| grade(**mask) == of);
        blades.flat_map(move |(k, _)| (0..features).map(move |n| k * plane + row * features + n))
    }

    /// The sum over paths of weighted products, feature by feature.
    fn weighted(&self, xh: &[f64], yh: &[f64], weight: &[f64]) -> Vec<f64> {
        let (plane, features) = (self.plane(xh), self.plane(xh) / self.rows);
        let mut o = vec![0.0; xh.len()];
        for (term, path) in self.terms.terms.iter().zip(&self.paths) {
            let [a, b, c] = [term.x, term.y, term.out].map(|i| usize::from(i) * plane);
            for i in 0..plane {
                let w = weight[i % features * self.paths() + path];
                o[c + i] += f64::from(term.sign) * w * xh[a + i] * yh[b + i];
            }
        }
        o
    }

    /// The sum over paths of products times matrices.
    fn summed(&self, xh: &[f64], yh: &[f64], weight: &[f64]) -> Vec<f64> {
        let (plane, inputs) = (self.plane(xh), self.plane(xh) / self.rows);
        let outputs = weight.len() / (self.paths() * inputs);
        let mut o = vec![0.0; self.blades.len() * self.rows * outputs];
        for (term, path) in self.terms.terms.iter().zip(&self.paths) {
            let [a, b] = [term.x, term.y].map(|i| usize::from(i) * plane);
            for row in 0..self.rows {
                let to = &mut o[(usize::from(term.out) * self.rows + row) * outputs..][..outputs];
                for n in 0..inputs {
                    let i = row * inputs + n;
                    let product = f64::from(term.sign) * xh[a + i] * yh[b + i];
                    let w = &weight[(path * inputs + n) * outputs..][..outputs];
                    to.iter_mut().zip(w).for_each(|(o, w)| *o += product * w);
                }
            }
        }
        o
    }

    /// Calls `of` for every term of a product of this kind: with the indices of its x, y, result and weight, and its
    /// sign. `operand` and `weight` are the lengths of x and of the weight.
    pub(super) fn each_term(
        &self,
        kind: ProductKind,
        operand: usize,
        weight: usize,
        mut of: impl FnMut([usize; 4], f64),
    ) {
        let plane = operand / self.blades.len();
        let inputs = plane / self.rows;
        let outputs = self.result_len(kind, operand, weight) / (self.blades.len() * self.rows);
        for (term, path) in self.terms.terms.iter().zip(&self.paths) {
            let [x, y, out] = [term.x, term.y, term.out].map(usize::from);
            for at in 0..plane {
                let (row, n) = (at / inputs, at % inputs);
                let mut one = |m: usize, w: usize| {
                    let to = (out * self.rows + row) * outputs + m;
                    of([x * plane + at, y * plane + at, to, w], f64::from(term.sign));
                };
                match kind {
                    ProductKind::Steerable => one(n, n * self.paths() + path),
                    ProductKind::Connected => {
                        (0..outputs).for_each(|m| one(m, (path * inputs + n) * outputs + m));
                    }
                }
            }
        }
    }

    /// The length of the result, for an operand and a weight of these lengths.
    pub(super) fn result_len(&self, kind: ProductKind, operand: usize, weight: usize) -> usize {
        match kind {
            ProductKind::Steerable => operand,
            ProductKind::Connected => {
                let inputs = operand / self.blades.len() / self.rows;
                self.blades.len() * self.rows * (weight / (self.paths() * inputs))
            }
        }
    }

    /// Every blade times the gate of the scalar.
    fn gated(&self, x: &[f64]) -> Vec<f64> {
        let scalar = self.scalar(x);
        x.iter().enumerate().map(|(i, x)| x * gate(self.product.gate, scalar[i % scalar.len()])).collect()
    }

    /// The gradient of [`gated`](Self::gated).
    fn gated_backward(&self, x: &[f64], g: &[f64]) -> Vec<f64> {
        let (scalar, at) = (self.scalar(x), self.scalar_at(x));
        let mut out: Vec<f64> = g
            .iter()
            .enumerate()
            .map(|(i, g)| g * gate(self.product.gate, scalar[i % scalar.len()]))
            .collect();
        for i in 0..x.len() {
            let s = scalar[i % scalar.len()];
            out[at + i % scalar.len()] += g[i] * x[i] * gate_slope(self.product.gate, s);
        }
        out
    }

    /// The plane of scalars.
    fn scalar<'a>(&self, x: &'a [f64]) -> &'a [f64] {
        &x[self.scalar_at(x)..][..self.plane(x)]
    }

    pub(super) fn scalar_at(&self, x: &[f64]) -> usize {
        self.blades.position(0).unwrap_or(0) * self.plane(x)
    }

    /// Positions of the batch.
    pub(super) fn plane(&self, x: &[f64]) -> usize {
        x.len() / self.blades.len()
    }
}

/// 1 or -1, or 0 for zero, where the absolute value has no derivative.
pub(super) fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

/// The gate of a scalar part.
pub(super) fn gate(gate: Gate, s: f64) -> f64 {
    match gate {
        Gate::None => 1.0,
        Gate::Gelu => 0.5 * libm::erfc(-s * FRAC_1_SQRT_2),
        Gate::GeluTanh => 0.5 * (1.0 + tanh_argument(s).tanh()),
    }
}

pub(super) fn gate_slope(gate: Gate, s: f64) -> f64 {
    match gate {
        Gate::None => 0.0,
        Gate::Gelu => (-0.5 * s * s).exp() / (2.0 * PI).sqrt(),
        Gate::GeluTanh => {
            let slope = (2.0 / PI).sqrt() * (1.0 + 3.0 * 0.044715 * s * s);
            0.5 * slope / tanh_argument(s).cosh().powi(2)
        }
    }
}

fn tanh_argument(s: f64) -> f64 {
    (2.0 / PI).sqrt() * (s + 0.044715 * s.powi(3))
}
