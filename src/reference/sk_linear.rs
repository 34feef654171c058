//! A sketched linear layer by definition.

/// A sketched linear layer in f64, without activation. The factors are row-major in Panther's shapes.
#[derive(Clone, Debug)]
pub struct SkLinearReference {
    /// Features of x and y.
    pub features: [usize; 2],
    /// Number of terms T.
    pub terms: usize,
    /// Rank R.
    pub rank: usize,
    /// $S_{1}$ (T, in, R).
    pub s1: Vec<f64>,
    /// $U_{1}$ (T, R, out).
    pub u1: Vec<f64>,
    /// $S_{2}$ (T, R, out).
    pub s2: Vec<f64>,
    /// $U_{2}$ (T, in, R).
    pub u2: Vec<f64>,
    /// The bias (out), or empty.
    pub bias: Vec<f64>,
}

/// The gradients of a sketched linear layer in f64.
#[derive(Clone, Debug, PartialEq)]
pub struct SkLinearGradients {
    /// Gradient of x, (batch, in).
    pub x: Vec<f64>,
    /// Gradient of $S_{1}$, (T, in, R).
    pub s1: Vec<f64>,
    /// Gradient of $S_{2}$, (T, R, out).
    pub s2: Vec<f64>,
    /// Gradient of the bias, (out).
    pub bias: Vec<f64>,
}

impl SkLinearReference {
    /// $y = \frac{1}{2T} \sum_{t} [(x S_{1t}) U_{1t} + (x U_{2t}) S_{2t}] + b$ for the rows of `x` (batch, in).
    ///
    /// # Panics
    /// May panic if the lengths of the values do not match the sizes.
    #[must_use]
    pub fn forward(&self, x: &[f64]) -> Vec<f64> {
        let ([inputs, outputs], rank) = (self.features, self.rank);
        let batch = x.len() / inputs;
        let mut y = vec![0.0; batch * outputs];
        for t in 0..self.terms {
            let [s1, u2] = [&self.s1, &self.u2].map(|f| &f[t * inputs * rank..][..inputs * rank]);
            let [u1, s2] = [&self.u1, &self.s2].map(|f| &f[t * rank * outputs..][..rank * outputs]);
            add_product(&mut y, &product(x, s1, [batch, inputs, rank]), u1, [batch, rank, outputs]);
            add_product(&mut y, &product(x, u2, [batch, inputs, rank]), s2, [batch, rank, outputs]);
        }
        for row in y.chunks_exact_mut(outputs) {
            row.iter_mut().for_each(|y| *y *= self.scale());
            row.iter_mut().zip(&self.bias).for_each(|(y, b)| *y += b);
        }
        y
    }

    /// The gradients for `g` (batch, out), the gradient of y: with $\hat g = g / 2T$ and $a_{t} = \hat g U_{1t}^T$,
    /// $\partial x = \sum_{t} a_{t} S_{1t}^T + (\hat g S_{2t}^T) U_{2t}^T$, $\partial S_{1t} = x^T a_{t}$,
    /// $\partial S_{2t} = (x U_{2t})^T \hat g$, $\partial b = \sum g$.
    ///
    /// # Panics
    /// May panic if the lengths of the values do not match the sizes.
    #[must_use]
    pub fn backward(&self, x: &[f64], g: &[f64]) -> SkLinearGradients {
        let ([inputs, outputs], rank) = (self.features, self.rank);
        let batch = x.len() / inputs;
        let scaled: Vec<f64> = g.iter().map(|g| g * self.scale()).collect();
        let mut found = SkLinearGradients {
            x: vec![0.0; x.len()],
            s1: Vec::with_capacity(self.s1.len()),
            s2: Vec::with_capacity(self.s2.len()),
            bias: vec![0.0; if self.bias.is_empty() { 0 } else { outputs }],
        };
        for t in 0..self.terms {
            let [s1, u2] = [&self.s1, &self.u2].map(|f| &f[t * inputs * rank..][..inputs * rank]);
            let [u1, s2] = [&self.u1, &self.s2].map(|f| &f[t * rank * outputs..][..rank * outputs]);
            let a = product(&scaled, &transposed(u1, outputs), [batch, outputs, rank]);
            add_product(&mut found.x, &a, &transposed(s1, rank), [batch, rank, inputs]);
            let through = product(&scaled, &transposed(s2, outputs), [batch, outputs, rank]);
            add_product(&mut found.x, &through, &transposed(u2, rank), [batch, rank, inputs]);
            found.s1.extend(product(&transposed(x, inputs), &a, [inputs, batch, rank]));
            let h = product(x, u2, [batch, inputs, rank]);
            found.s2.extend(product(&transposed(&h, rank), &scaled, [rank, batch, outputs]));
        }
        for row in g.chunks_exact(outputs) {
            found.bias.iter_mut().zip(row).for_each(|(sum, g)| *sum += g);
        }
        found
    }

    fn scale(&self) -> f64 {
        0.5 / self.terms as f64
    }
}

fn product(a: &[f64], b: &[f64], size: [usize; 3]) -> Vec<f64> {
    let mut c = vec![0.0; size[0] * size[2]];
    add_product(&mut c, a, b, size);
    c
}

/// C += A B of (m, k) and (k, n).
fn add_product(c: &mut [f64], a: &[f64], b: &[f64], [m, k, n]: [usize; 3]) {
    for i in 0..m {
        for p in 0..k {
            let by = a[i * k + p];
            let row = &mut c[i * n..][..n];
            row.iter_mut().zip(&b[p * n..][..n]).for_each(|(c, b)| *c += by * b);
        }
    }
}

fn transposed(a: &[f64], cols: usize) -> Vec<f64> {
    (0..cols).flat_map(|col| a.iter().skip(col).step_by(cols).copied()).collect()
}
