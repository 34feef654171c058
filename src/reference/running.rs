//! Bounds on how far a layer's product in f32 may be from its definition, value by value: a running error analysis.

use super::bounds::gamma;
use super::layer_product::{LayerProductReference, gate, gate_slope, sign};
use crate::clifford::grade;
use crate::clifford::layer::{Gate, GradeNorm, ProductKind};

/// The relative error of one operation in f32, whichever way it rounds.
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
const DIVIDED: f64 = 8.0 * U;

/// Values by definition, and a bound on how far f32 results may be from each.
///
/// The bound follows the computation step by step (Higham, *Accuracy and Stability of Numerical Algorithms*, section 3.3).
/// If $a$ is off by $d$ and $b$ by $e$, their product is off by at most $|a| e + |b| d + d e$. A sum of $k$ terms, in any
/// order, is off by at most the sum of its terms' errors plus $\gamma_{k}$ times the sum of their absolute values. Both hold
/// as long as nothing overflows and no value but zero is below the smallest normal number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Running {
    /// The values by definition.
    pub values: Vec<f64>,
    /// A bound on the absolute error of each.
    pub off: Vec<f64>,
}

/// The gradients of a layer's product, each with a bound on its error.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the operands' names")]
pub struct RunningGradients {
    pub x: Running,
    pub y: Running,
    pub weight: Running,
}

impl Running {
    /// Values without an error: the device has exactly these.
    #[must_use]
    pub fn exact(values: &[f64]) -> Self {
        Self { values: values.to_vec(), off: vec![0.0; values.len()] }
    }

    /// The sum with other values, which have no error.
    #[must_use]
    pub fn plus(mut self, other: &[f64]) -> Self {
        for ((value, off), other) in self.values.iter_mut().zip(&mut self.off).zip(other) {
            *value += other;
            *off += U * (value.abs() + *off);
        }
        self
    }

    fn at(&self, i: usize) -> Number {
        Number { value: self.values[i], off: self.off[i] }
    }
}

/// One value of [`Running`].
#[derive(Clone, Copy, Default)]
pub(super) struct Number {
    pub(super) value: f64,
    pub(super) off: f64,
}

impl Number {
    /// The largest absolute value that it may have.
    fn most(self) -> f64 {
        self.value.abs() + self.off
    }

    /// The product, without its rounding, which [`Sum::done`] counts.
    fn times(self, other: Self) -> Self {
        let off = self.value.abs() * other.off + self.off * other.value.abs() + self.off * other.off;
        Self { value: self.value * other.value, off }
    }

    fn scaled(self, by: f64) -> Self {
        Self { value: self.value * by, off: self.off * by.abs() }
    }

    fn rounded(self) -> Self {
        Self { off: self.off + U * self.most(), ..self }
    }
}

/// A sum, whose terms may be added in any order.
#[derive(Clone, Copy, Default)]
struct Sum {
    of: Number,
    size: f64,
    terms: usize,
}

impl Sum {
    fn add(&mut self, term: Number) {
        self.of.value += term.value;
        self.of.off += term.off;
        self.size += term.most();
        self.terms += 1;
    }

    /// Its value. Each term is a product that has been rounded `factors` times at most.
    fn done(self, factors: usize) -> Number {
        if self.terms == 0 {
            return Number::default();
        }
        Number { off: self.of.off + gamma(self.terms + factors) * self.size, ..self.of }
    }

    fn all(sums: &[Self], factors: usize) -> Running {
        sums.iter().map(|sum| sum.done(factors)).collect()
    }
}

impl FromIterator<Number> for Running {
    fn from_iter<I: IntoIterator<Item = Number>>(numbers: I) -> Self {
        let (values, off) = numbers.into_iter().map(|number| (number.value, number.off)).unzip();
        Self { values, off }
    }
}

impl LayerProductReference {
    /// The product of this kind, with a bound on the error of an f32 computation. The bound does not hold where tensor cores
    /// multiply operands that were rounded to f16.
    ///
    /// The error of $o_{i}$ is proportional to $M_{i}$, the sum of the absolute values of its terms (without their gates),
    /// however much of the terms cancels. A norm divides that error by $r$, which cancellation may have made small. With $N$
    /// features and $n_{i} = o_{i} / r$ in a grade G, to first order in the rounding errors,
    /// $$ |\delta n_{i}| \le \gamma_{k} \Big(\frac{M_{i}}{r} + |n_{i}|\,\frac{\mu + s}{r^2}\Big), \qquad
    /// \mu = \frac{1}{N} \sum_{j \in G} |q_{j} o_{j}| M_{j}, \quad s = \frac{1}{N} \sum_{j \in G} |q_{j}| o_{j}^2, $$
    /// with $k = T + N + 16$, where no $o_{i}$ has more than $T$ terms; for [`Gate::GeluTanh`], whose error is larger,
    /// $k = T + N + 46$. $M / r$ is a condition number:
    /// the size of what is summed, relative to the norm. For [`GradeNorm::Rms`], $s \le r^2$ and $\mu \le r \bar M$ with the
    /// RMS $\bar M$ of $M$.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn running(&self, kind: ProductKind, x: &Running, y: &Running, weight: &[f64]) -> Running {
        self.running_normalized(&self.running_product(
            kind,
            &self.running_gated(x),
            &self.running_gated(y),
            weight,
        ))
    }

    /// The gradients of [`running`](Self::running) for `g`, that of its result, with bounds on the error of an f32 computation.
    ///
    /// The gradient of the norm's operand is $h_{i} = g_{i} / r - q_{i} o_{i} s_{n} D / (N r^3)$ with $D = \sum g_{j} o_{j}$.
    /// Relative to $g$, its error is that of $n$ divided by $r$ once more. Its two terms cancel: in a grade of one blade and a row
    /// of one feature nothing is left but $g \varepsilon / r^3$. Where rounding may change the sign of a feature's square, the
    /// bound allows either sign $s_{n}$.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn running_backward(
        &self,
        kind: ProductKind,
        [x, y]: [&Running; 2],
        weight: &[f64],
        g: &Running,
    ) -> RunningGradients {
        let [xh, yh] = [self.running_gated(x), self.running_gated(y)];
        let h = self.running_normalized_backward(&self.running_product(kind, &xh, &yh, weight), g);
        let mut of = [x.values.len(), y.values.len(), weight.len()].map(|len| vec![Sum::default(); len]);
        self.each_term(kind, x.values.len(), weight.len(), |[a, b, c, w], sign| {
            let (xh, yh, h) = (xh.at(a), yh.at(b), h.at(c).scaled(sign));
            of[0][a].add(h.times(yh).scaled(weight[w]));
            of[1][b].add(h.times(xh).scaled(weight[w]));
            of[2][w].add(xh.times(yh).times(h));
        });
        let [of_x, of_y, of_weight] = of.map(|sums| Sum::all(&sums, 3));
        RunningGradients {
            x: self.running_gated_backward(x, &of_x),
            y: self.running_gated_backward(y, &of_y),
            weight: of_weight,
        }
    }

    /// Each grade of each row divided by its norm, as [`normalized`](Self::normalized) defines it, with error bounds.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn running_normalized(&self, o: &Running) -> Running {
        let mut out = o.clone();
        for (row, of, over) in self.running_norms(o) {
            for i in self.of_grade(&o.values, row, of) {
                let divided = o.at(i).times(over).rounded();
                (out.values[i], out.off[i]) = (divided.value, divided.off);
            }
        }
        out
    }

    /// The gradient of [`running_normalized`](Self::running_normalized), as
    /// [`normalized_backward`](Self::normalized_backward) defines it, with error bounds.
    ///
    /// # Panics
    /// May panic if the lengths do not match each other, the blades and the rows, or there is no row or no feature.
    #[must_use]
    pub fn running_normalized_backward(&self, o: &Running, g: &Running) -> Running {
        let plane = self.plane(&o.values);
        let features = plane / self.rows;
        let signature = self.product.signature;
        let mut out = g.clone();
        for (row, of, over) in self.running_norms(o) {
            let mut along = Sum::default();
            self.of_grade(&o.values, row, of).for_each(|i| along.add(g.at(i).times(o.at(i))));
            let cube = over.times(over).rounded().times(over).rounded();
            let factor = along.done(1).scaled(1.0 / features as f64).rounded().times(cube).rounded();
            for i in self.of_grade(&o.values, row, of) {
                let weight = f64::from(self.product.norm.weight(signature, self.blades.masks()[i / plane]));
                let square = self.running_square(o, i % plane, of);
                let all = o.at(i).times(factor).scaled(weight);
                let mut less = all.scaled(-sign(square.value));
                if self.product.norm == GradeNorm::Invariant && square.value.abs() <= square.off {
                    less.off += 2.0 * all.value.abs();
                }
                let mut sum = Sum::default();
                sum.add(g.at(i).times(over));
                sum.add(less);
                let sum = sum.done(1);
                (out.values[i], out.off[i]) = (sum.value, sum.off);
            }
        }
        out
    }

    /// For every grade that is divided by its norm: row, grade, and one over the norm.
    fn running_norms(&self, o: &Running) -> Vec<(usize, usize, Number)> {
        let features = self.plane(&o.values) / self.rows;
        let norm = |row: usize, of: usize| {
            let mut mean = Sum::default();
            for position in row * features..(row + 1) * features {
                let square = self.running_square(o, position, of);
                mean.add(Number { value: square.value.abs(), ..square });
            }
            let mean = mean.done(2).scaled(1.0 / features as f64);
            let over = |mean: f64| 1.0 / (mean.max(0.0) + self.product.norm.epsilon()).sqrt();
            let (value, most) = (over(mean.value), over(mean.value - mean.off) * (1.0 + DIVIDED));
            Number { value, off: most - value }
        };
        let grades = self.product.norm.grades(self.product.signature);
        let each = (0..self.rows).flat_map(|row| grades.iter().map(move |&of| (row, of)));
        each.map(|(row, of)| (row, of, norm(row, of))).collect()
    }

    /// The sum of a grade's weighted squares at a position.
    fn running_square(&self, o: &Running, position: usize, of: usize) -> Number {
        let plane = self.plane(&o.values);
        let mut sum = Sum::default();
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
    fn running_product(&self, kind: ProductKind, xh: &Running, yh: &Running, weight: &[f64]) -> Running {
        let mut sums = vec![Sum::default(); self.result_len(kind, xh.values.len(), weight.len())];
        self.each_term(kind, xh.values.len(), weight.len(), |[a, b, c, w], sign| {
            sums[c].add(xh.at(a).times(yh.at(b)).scaled(sign * weight[w]));
        });
        Sum::all(&sums, 3)
    }

    fn running_gated(&self, x: &Running) -> Running {
        if self.product.gate == Gate::None {
            return x.clone();
        }
        (0..x.values.len()).map(|i| x.at(i).times(self.running_gate(x, i)).rounded()).collect()
    }

    fn running_gated_backward(&self, x: &Running, g: &Running) -> Running {
        if self.product.gate == Gate::None {
            return g.clone();
        }
        let plane = self.plane(&x.values);
        let scalar = self.scalar_at(&x.values);
        let of = |i: usize| {
            let gated = g.at(i).times(self.running_gate(x, i));
            if !(scalar..scalar + plane).contains(&i) {
                return gated.rounded();
            }
            let mut along = Sum::default();
            (0..self.blades.len())
                .map(|k| k * plane + i - scalar)
                .for_each(|i| along.add(x.at(i).times(g.at(i))));
            let s = x.at(i);
            let slope =
                Number { value: gate_slope(self.product.gate, s.value), off: STEEPEST * s.off + SLOPE };
            let mut sum = Sum::default();
            sum.add(gated);
            sum.add(along.done(1).times(slope));
            sum.done(3)
        };
        (0..x.values.len()).map(of).collect()
    }

    /// The gate at the position of value `i`.
    fn running_gate(&self, x: &Running, i: usize) -> Number {
        let s = x.at(self.scalar_at(&x.values) + i % self.plane(&x.values));
        let own = if self.product.gate == Gate::GeluTanh { GATE_BY_TANH } else { GATE };
        Number { value: gate(self.product.gate, s.value), off: STEEPEST * s.off + own }
    }
}
