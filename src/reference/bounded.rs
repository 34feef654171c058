//! Error bounds of a layer's product in f32, for each value: a running error analysis.

use super::bounds::gamma;
use super::layer_product::{LayerProductReference, gate, gate_slope, sign};
use crate::clifford::grade;
use crate::clifford::layer::{Gate, GradeNorm, ProductKind};

/// The relative error of one operation in f32, for any rounding direction.
const U: f64 = 1.0 / (1 << 23) as f64;
/// A bound on the absolute error of the gate `Gelu`.
const GATE: f64 = 1.2e-7;
/// A bound on the absolute error of the gate `GeluTanh`.
const GATE_BY_TANH: f64 = 16.0 * U;
/// A bound on the absolute error of either gate's slope.
const SLOPE: f64 = 16.0 * U;
/// A bound on the derivative of either gate, and of its slope.
const STEEPEST: f64 = 0.4;
/// A bound on the relative error of one over a square root, from WGSL.
pub(super) const DIVIDED: f64 = 8.0 * U;

/// Values by definition, and a bound on the error of each in f32.
///
/// The bound follows the computation step by step (Higham, *Accuracy and Stability of Numerical Algorithms*, section
/// 3.3). If $a$ has an error of at most $d$ and $b$ of at most $e$, their product has an error of at most
/// $|a| e + |b| d + d e$. A sum of $k$ terms, in any order, has an error of at most the sum of its terms' errors plus
/// $\gamma_{k}$ times the sum of their absolute values. Both hold as long as nothing overflows and no value but zero is
/// below the smallest normal number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundedValues {
    /// The values by definition.
    pub values: Vec<f64>,
    /// A bound on the absolute error of each.
    pub bounds: Vec<f64>,
}

/// The gradients of a layer's product, each with a bound on its error.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the operands' names")]
pub struct BoundedGradients {
    pub x: BoundedValues,
    pub y: BoundedValues,
    pub weight: BoundedValues,
}

impl BoundedValues {
    /// Values without an error, such as the inputs of a device.
    #[must_use]
    pub fn exact(values: &[f64]) -> Self {
        Self { values: values.to_vec(), bounds: vec![0.0; values.len()] }
    }

    /// Adds other values, which have no error.
    #[must_use]
    pub fn plus(mut self, other: &[f64]) -> Self {
        for ((value, bound), other) in self.values.iter_mut().zip(&mut self.bounds).zip(other) {
            *value += other;
            *bound += U * (value.abs() + *bound);
        }
        self
    }

    fn at(&self, i: usize) -> BoundedNumber {
        BoundedNumber { value: self.values[i], bound: self.bounds[i] }
    }
}

/// One value of [`BoundedValues`], with its bound.
#[derive(Clone, Copy, Default)]
pub(super) struct BoundedNumber {
    pub(super) value: f64,
    pub(super) bound: f64,
}

impl BoundedNumber {
    /// The largest absolute value that it may have.
    pub(super) fn most(self) -> f64 {
        self.value.abs() + self.bound
    }

    /// The product, without its rounding error, which [`BoundedSum::done`] adds.
    pub(super) fn times(self, other: Self) -> Self {
        let bound =
            self.value.abs() * other.bound + self.bound * other.value.abs() + self.bound * other.bound;
        Self { value: self.value * other.value, bound }
    }

    pub(super) fn scaled(self, by: f64) -> Self {
        Self { value: self.value * by, bound: self.bound * by.abs() }
    }

    pub(super) fn rounded(self) -> Self {
        Self { bound: self.bound + U * self.most(), ..self }
    }
}

/// A sum whose terms are added in any order.
#[derive(Clone, Copy, Default)]
pub(super) struct BoundedSum {
    of: BoundedNumber,
    size: f64,
    terms: usize,
}

impl BoundedSum {
    pub(super) fn add(&mut self, term: BoundedNumber) {
        self.of.value += term.value;
        self.of.bound += term.bound;
        self.size += term.most();
        self.terms += 1;
    }

    /// The value of the sum. Each term is a product that was rounded at most `factors` times.
    pub(super) fn done(self, factors: usize) -> BoundedNumber {
        if self.terms == 0 {
            return BoundedNumber::default();
        }
        BoundedNumber { bound: self.of.bound + gamma(self.terms + factors) * self.size, ..self.of }
    }

    fn all(sums: &[Self], factors: usize) -> BoundedValues {
        sums.iter().map(|sum| sum.done(factors)).collect()
    }
}

impl FromIterator<BoundedNumber> for BoundedValues {
    fn from_iter<I: IntoIterator<Item = BoundedNumber>>(numbers: I) -> Self {
        let (values, bounds) = numbers.into_iter().map(|number| (number.value, number.bound)).unzip();
        Self { values, bounds }
    }
}

impl LayerProductReference {
    /// The product of this kind, with a bound on the error of an f32 computation. The bound does not hold for tensor
    /// cores that multiply operands rounded to f16.
    ///
    /// The error of $o_{i}$ is proportional to $M_{i}$, the sum of the absolute values of its terms (without their
    /// gates), even if the terms cancel. A norm divides that error by $r$, which is small if they cancel. With $N$
    /// features and $n_{i} = o_{i} / r$ in a grade G, to first order in the rounding errors, $$ |\delta n_{i}| \le
    /// \gamma_{k} \left(\frac{M_{i}}{r} + |n_{i}|\\,\frac{\mu + s}{r^2}\right), \qquad \mu = \frac{1}{N} \sum_{j \in G}
    /// |q_{j} o_{j}| M_{j}, \quad s = \frac{1}{N} \sum_{j \in G} |q_{j}| o_{j}^2, $$ with $k = T + N + 16$, where no
    /// $o_{i}$ has more than $T$ terms; for [`Gate::GeluTanh`], whose error is larger, $k = T + N + 46$. $M / r$ is a
    /// condition number: the size of the terms relative to the norm. For [`GradeNorm::Rms`], $s \le r^2$ and
    /// $\mu \le r \bar M$ with the RMS $\bar M$ of $M$.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn bounded(
        &self,
        kind: ProductKind,
        x: &BoundedValues,
        y: &BoundedValues,
        weight: &[f64],
    ) -> BoundedValues {
        self.bounded_normalized(&self.bounded_product(
            kind,
            &self.bounded_gated(x),
            &self.bounded_gated(y),
            weight,
        ))
    }

    /// The backward pass of [`bounded`](Self::bounded) for the gradient `g` of the result, with bounds on the error of
    /// an f32 computation.
    ///
    /// The gradient of the norm's operand is $h_{i} = g_{i} / r - q_{i} o_{i} s_{n} D / (N r^3)$ with
    /// $D = \sum g_{j} o_{j}$. Relative to $g$, its error is the error of $n$ divided by $r$ once more. Its two terms
    /// cancel: for a grade of one blade and a row of one feature, $g \varepsilon / r^3$ remains. If rounding may change
    /// the sign of a feature's square, the bound allows both signs $s_{n}$.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn bounded_backward(
        &self,
        kind: ProductKind,
        [x, y]: [&BoundedValues; 2],
        weight: &[f64],
        g: &BoundedValues,
    ) -> BoundedGradients {
        let [xh, yh] = [self.bounded_gated(x), self.bounded_gated(y)];
        let h = self.bounded_normalized_backward(&self.bounded_product(kind, &xh, &yh, weight), g);
        let mut of =
            [x.values.len(), y.values.len(), weight.len()].map(|len| vec![BoundedSum::default(); len]);
        self.each_term(kind, x.values.len(), weight.len(), |[a, b, c, w], sign| {
            let (xh, yh, h) = (xh.at(a), yh.at(b), h.at(c).scaled(sign));
            of[0][a].add(h.times(yh).scaled(weight[w]));
            of[1][b].add(h.times(xh).scaled(weight[w]));
            of[2][w].add(xh.times(yh).times(h));
        });
        let [of_x, of_y, of_weight] = of.map(|sums| BoundedSum::all(&sums, 3));
        BoundedGradients {
            x: self.bounded_gated_backward(x, &of_x),
            y: self.bounded_gated_backward(y, &of_y),
            weight: of_weight,
        }
    }

    /// Each grade of each row divided by its norm, as [`normalized`](Self::normalized) defines it, with error bounds.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn bounded_normalized(&self, o: &BoundedValues) -> BoundedValues {
        let mut out = o.clone();
        for (row, of, over) in self.bounded_norms(o) {
            for i in self.of_grade(&o.values, row, of) {
                let divided = o.at(i).times(over).rounded();
                (out.values[i], out.bounds[i]) = (divided.value, divided.bound);
            }
        }
        out
    }

    /// The gradient of [`bounded_normalized`](Self::bounded_normalized), as
    /// [`normalized_backward`](Self::normalized_backward) defines it, with error bounds.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn bounded_normalized_backward(&self, o: &BoundedValues, g: &BoundedValues) -> BoundedValues {
        let plane = self.plane(&o.values);
        let features = plane / self.rows;
        let signature = self.product.signature;
        let mut out = g.clone();
        for (row, of, over) in self.bounded_norms(o) {
            let mut along = BoundedSum::default();
            self.of_grade(&o.values, row, of).for_each(|i| along.add(g.at(i).times(o.at(i))));
            let cube = over.times(over).rounded().times(over).rounded();
            let factor = along.done(1).scaled(1.0 / features as f64).rounded().times(cube).rounded();
            for i in self.of_grade(&o.values, row, of) {
                let weight = f64::from(self.product.norm.weight(signature, self.blades.masks()[i / plane]));
                let square = self.bounded_square(o, i % plane, of);
                let all = o.at(i).times(factor).scaled(weight);
                let mut less = all.scaled(-sign(square.value));
                if self.product.norm == GradeNorm::Invariant && square.value.abs() <= square.bound {
                    less.bound += 2.0 * all.value.abs();
                }
                let mut sum = BoundedSum::default();
                sum.add(g.at(i).times(over));
                sum.add(less);
                let sum = sum.done(1);
                (out.values[i], out.bounds[i]) = (sum.value, sum.bound);
            }
        }
        out
    }

    /// One over the norm of each grade that the norm divides, as (row, grade, number).
    fn bounded_norms(&self, o: &BoundedValues) -> Vec<(usize, usize, BoundedNumber)> {
        let features = self.plane(&o.values) / self.rows;
        let norm = |row: usize, of: usize| {
            let mut mean = BoundedSum::default();
            for position in row * features..(row + 1) * features {
                let square = self.bounded_square(o, position, of);
                mean.add(BoundedNumber { value: square.value.abs(), ..square });
            }
            let mean = mean.done(2).scaled(1.0 / features as f64);
            let over = |mean: f64| 1.0 / (mean.max(0.0) + self.product.norm.epsilon()).sqrt();
            let (value, most) = (over(mean.value), over(mean.value - mean.bound) * (1.0 + DIVIDED));
            BoundedNumber { value, bound: most - value }
        };
        let grades = self.product.norm.grades(self.product.signature);
        let each = (0..self.rows).flat_map(|row| grades.iter().map(move |&of| (row, of)));
        each.map(|(row, of)| (row, of, norm(row, of))).collect()
    }

    /// The sum of a grade's weighted squares at a position.
    fn bounded_square(&self, o: &BoundedValues, position: usize, of: usize) -> BoundedNumber {
        let plane = self.plane(&o.values);
        let mut sum = BoundedSum::default();
        for (k, &mask) in self.blades.masks().iter().enumerate() {
            let weight = self.product.norm.weight(self.product.signature, mask);
            if grade(mask) == of && weight != 0 {
                let number = o.at(k * plane + position);
                sum.add(number.times(number).scaled(f64::from(weight)));
            }
        }
        sum.done(1)
    }

    /// The weighted product of gated operands.
    fn bounded_product(
        &self,
        kind: ProductKind,
        xh: &BoundedValues,
        yh: &BoundedValues,
        weight: &[f64],
    ) -> BoundedValues {
        let mut sums = vec![BoundedSum::default(); self.result_len(kind, xh.values.len(), weight.len())];
        self.each_term(kind, xh.values.len(), weight.len(), |[a, b, c, w], sign| {
            sums[c].add(xh.at(a).times(yh.at(b)).scaled(sign * weight[w]));
        });
        BoundedSum::all(&sums, 3)
    }

    fn bounded_gated(&self, x: &BoundedValues) -> BoundedValues {
        if self.product.gate == Gate::None {
            return x.clone();
        }
        (0..x.values.len()).map(|i| x.at(i).times(self.bounded_gate(x, i)).rounded()).collect()
    }

    fn bounded_gated_backward(&self, x: &BoundedValues, g: &BoundedValues) -> BoundedValues {
        if self.product.gate == Gate::None {
            return g.clone();
        }
        let plane = self.plane(&x.values);
        let scalar = self.scalar_at(&x.values);
        let of = |i: usize| {
            let gated = g.at(i).times(self.bounded_gate(x, i));
            if !(scalar..scalar + plane).contains(&i) {
                return gated.rounded();
            }
            let mut along = BoundedSum::default();
            (0..self.blades.len())
                .map(|k| k * plane + i - scalar)
                .for_each(|i| along.add(x.at(i).times(g.at(i))));
            let s = x.at(i);
            let slope = BoundedNumber {
                value: gate_slope(self.product.gate, s.value),
                bound: STEEPEST * s.bound + SLOPE,
            };
            let mut sum = BoundedSum::default();
            sum.add(gated);
            sum.add(along.done(1).times(slope));
            sum.done(3)
        };
        (0..x.values.len()).map(of).collect()
    }

    /// The gate at the position of value `i`.
    fn bounded_gate(&self, x: &BoundedValues, i: usize) -> BoundedNumber {
        let s = x.at(self.scalar_at(&x.values) + i % self.plane(&x.values));
        let own = if self.product.gate == Gate::GeluTanh { GATE_BY_TANH } else { GATE };
        BoundedNumber { value: gate(self.product.gate, s.value), bound: STEEPEST * s.bound + own }
    }
}
