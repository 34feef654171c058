//! The products of Clifford layers by definition, with their gradients and error bounds.

use super::bounded::{BoundedGradients, BoundedNumber, BoundedSum, BoundedValues, DIVIDED};
use super::layer_gate::{gate, gate_slope};
use crate::clifford::layer::{Gate, GradeNorm, LayerProduct, ProductKind};
use crate::clifford::{Blades, Path, Product, Terms, grade};

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
    /// As [`bounded`](Self::bounded).
    #[must_use]
    pub fn steerable(&self, x: &[f64], y: &[f64], weight: &[f64]) -> Vec<f64> {
        self.values(ProductKind::Steerable, [x, y], weight)
    }

    /// The gradients of [`steerable`](Self::steerable), from the gradient `g` of its result.
    ///
    /// # Panics
    /// As [`bounded`](Self::bounded).
    #[must_use]
    pub fn steerable_backward(
        &self,
        x: &[f64],
        y: &[f64],
        weight: &[f64],
        g: &[f64],
    ) -> LayerProductGradients {
        self.gradients(ProductKind::Steerable, [x, y], weight, g)
    }

    /// The fully connected product: `x` and `y` (blade, row, in), `weight` (path, in, out) -> (blade, row, out).
    ///
    /// # Panics
    /// As [`bounded`](Self::bounded).
    #[must_use]
    pub fn connected(&self, x: &[f64], y: &[f64], weight: &[f64]) -> Vec<f64> {
        self.values(ProductKind::Connected, [x, y], weight)
    }

    /// The gradients of [`connected`](Self::connected), from the gradient `g` of its result.
    ///
    /// # Panics
    /// As [`bounded`](Self::bounded).
    #[must_use]
    pub fn connected_backward(
        &self,
        x: &[f64],
        y: &[f64],
        weight: &[f64],
        g: &[f64],
    ) -> LayerProductGradients {
        self.gradients(ProductKind::Connected, [x, y], weight, g)
    }

    /// Divides each grade of each row of `o` (blade, row, feature) by its norm.
    ///
    /// # Panics
    /// As [`bounded`](Self::bounded).
    #[must_use]
    pub fn normalized(&self, o: &[f64]) -> Vec<f64> {
        self.bounded_normalized(&BoundedValues::exact(o)).values
    }

    /// The gradient of [`normalized`](Self::normalized), from the gradient `g` of its result:
    /// $g_{i} / r - q_{i} o_{i} s_{n} D / (N r^3)$. $D = \sum g_{i} o_{i}$ is over the grade of the row. $s_{n}$ is the
    /// sign of the square of feature n, 0 if the square is 0.
    ///
    /// # Panics
    /// As [`bounded`](Self::bounded).
    #[must_use]
    pub fn normalized_backward(&self, o: &[f64], g: &[f64]) -> Vec<f64> {
        self.bounded_normalized_backward(&BoundedValues::exact(o), &BoundedValues::exact(g)).values
    }

    fn values(&self, kind: ProductKind, operands: [&[f64]; 2], weight: &[f64]) -> Vec<f64> {
        let [x, y] = operands.map(BoundedValues::exact);
        self.bounded(kind, &x, &y, weight).values
    }

    fn gradients(
        &self,
        kind: ProductKind,
        operands: [&[f64]; 2],
        weight: &[f64],
        g: &[f64],
    ) -> LayerProductGradients {
        let [x, y] = operands.map(BoundedValues::exact);
        let of = self.bounded_backward(kind, [&x, &y], weight, &BoundedValues::exact(g));
        LayerProductGradients { x: of.x.values, y: of.y.values, weight: of.weight.values }
    }

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

    /// One over the norm of each grade that the norm divides, as (row, grade, number). NaN stays NaN: `clamp` keeps it.
    fn bounded_norms(&self, o: &BoundedValues) -> Vec<(usize, usize, BoundedNumber)> {
        let features = self.plane(&o.values) / self.rows;
        let norm = |row: usize, of: usize| {
            let mut mean = BoundedSum::default();
            for position in row * features..(row + 1) * features {
                let square = self.bounded_square(o, position, of);
                mean.add(BoundedNumber { value: square.value.abs(), ..square });
            }
            let mean = mean.done(2).scaled(1.0 / features as f64);
            let over = |x: f64| 1.0 / (x.clamp(0.0, f64::INFINITY) + self.product.norm.epsilon()).sqrt();
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
            let slope = gate_slope(self.product.gate, x.at(i));
            let mut sum = BoundedSum::default();
            sum.add(gated);
            sum.add(along.done(1).times(slope));
            sum.done(3)
        };
        (0..x.values.len()).map(of).collect()
    }

    /// The gate at the position of value `i`.
    fn bounded_gate(&self, x: &BoundedValues, i: usize) -> BoundedNumber {
        gate(self.product.gate, x.at(self.scalar_at(&x.values) + i % self.plane(&x.values)))
    }
    /// The elements of a row that belong to a grade.
    fn of_grade(&self, o: &[f64], row: usize, of: usize) -> impl Iterator<Item = usize> {
        let (plane, features) = (self.plane(o), self.plane(o) / self.rows);
        let blades = self.blades.masks().iter().enumerate().filter(move |(_, mask)| grade(**mask) == of);
        blades.flat_map(move |(k, _)| (0..features).map(move |n| k * plane + row * features + n))
    }

    /// Calls `of` for every term of a product of this kind: with the indices of its x, y, result and weight, and its
    /// sign. `operand` and `weight` are the lengths of x and of the weight.
    fn each_term(
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
    fn result_len(&self, kind: ProductKind, operand: usize, weight: usize) -> usize {
        match kind {
            ProductKind::Steerable => operand,
            ProductKind::Connected => {
                let inputs = operand / self.blades.len() / self.rows;
                self.blades.len() * self.rows * (weight / (self.paths() * inputs))
            }
        }
    }

    fn scalar_at(&self, x: &[f64]) -> usize {
        self.blades.position(0).unwrap_or(0) * self.plane(x)
    }

    /// Positions of the batch.
    fn plane(&self, x: &[f64]) -> usize {
        x.len() / self.blades.len()
    }
}

/// 1 or -1, or 0 for zero, where the absolute value has no derivative.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}
