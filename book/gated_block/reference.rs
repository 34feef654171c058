//! The block on the host: a loss in f64, for finite differences, and bounds on the errors of the gradients in f32.

use tilewise::reference::gamma as sum_error;

/// The operands: x (rows, width), gamma, and the weights of gate, up and down, each row after row.
pub type Operands<V> = [Vec<V>; 5];

/// What is added to the mean square, as in `RmsNorm::new()`.
const EPS: f32 = 1e-6;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The loss: the sum of the block's outputs, each times its element of `g`.
pub fn loss([x, gamma, gate, up, down]: &Operands<f64>, g: &[f64]) -> f64 {
    let width = gamma.len();
    let hidden = gate.len() / width;
    let of_row = |(x, g): (&[f64], &[f64])| {
        let rstd = 1.0 / (dot(x, x) / width as f64 + f64::from(EPS)).sqrt();
        let n: Vec<f64> = x.iter().zip(gamma).map(|(x, gamma)| gamma * x * rstd).collect();
        let [a, b] = [gate, up].map(|w| w.chunks(width).map(|w| dot(w, &n)).collect::<Vec<_>>());
        let h: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a / (1.0 + (-a).exp()) * b).collect();
        let y = x.iter().zip(down.chunks(hidden)).map(|(x, w)| x + dot(w, &h));
        y.zip(g).map(|(y, g)| y * g).sum::<f64>()
    };
    x.chunks(width).zip(g.chunks(width)).map(of_row).sum()
}

/// The relative error of an operation in f32, whatever the direction of its rounding.
const U: f64 = 1.0 / (1 << 23) as f64;

/// A value, and a bound on the error of the f32 that was computed for it.
#[derive(Clone, Copy, Debug)]
pub struct Bounded {
    /// The value.
    pub value: f64,
    /// The largest absolute error.
    pub error: f64,
}

impl Bounded {
    fn most(self) -> f64 {
        self.value.abs() + self.error
    }
}

/// A number that f32 has.
fn exact(value: f32) -> Bounded {
    Bounded { value: f64::from(value), error: 0.0 }
}

/// A product, in any order. The size of each factor may be off by its error, and each multiplication rounds.
fn product(factors: &[Bounded]) -> Bounded {
    let value: f64 = factors.iter().map(|factor| factor.value).product();
    let most: f64 = factors.iter().map(|factor| factor.most()).product();
    let roundings = sum_error(factors.len() - 1);
    Bounded { value, error: most - value.abs() + roundings * most }
}

/// A sum, in any order: no partial sum exceeds the sum of the sizes.
fn sum(terms: impl IntoIterator<Item = Bounded>) -> Bounded {
    let terms: Vec<Bounded> = terms.into_iter().collect();
    let error: f64 = terms.iter().map(|term| term.error).sum();
    let size: f64 = terms.iter().map(|term| term.most()).sum();
    let value = terms.iter().map(|term| term.value).sum();
    Bounded { value, error: error + sum_error(terms.len() - 1) * size }
}

fn negative(a: Bounded) -> Bounded {
    Bounded { value: -a.value, ..a }
}

/// The steepest slope of a sigmoid is 1/4. Its own error is that of the operation's bound.
fn sigmoid(a: Bounded) -> Bounded {
    let value = 1.0 / (1.0 + (-a.value).exp());
    let moved = a.error / 4.0;
    Bounded { value, error: moved + 8.0 * U * (value + moved) }
}

fn one_over_root(a: Bounded) -> Bounded {
    let value = a.value.sqrt().recip();
    let most = (a.value - a.error).sqrt().recip();
    Bounded { value, error: most - value + 8.0 * U * most }
}

/// The gradients of [`loss`] by the formulas of the backward pass, each with a bound on the error that f32 may make of it.
pub fn gradients(operands: &Operands<f32>, g: &[f32]) -> Operands<Bounded> {
    let width = operands[1].len();
    let hidden = operands[2].len() / width;
    let share = 1.0 / width as f64;
    let share = Bounded { value: share, error: 4.0 * U * share }; // as if a quotient were a product
    let exacts = |of: &Vec<f32>| of.iter().map(|&value| exact(value)).collect::<Vec<_>>();
    let [x, gamma, gate, up, down] = operands.each_ref().map(exacts);
    let g: Vec<Bounded> = g.iter().map(|&value| exact(value)).collect();
    let mut terms = operands.each_ref().map(|of| vec![Vec::new(); of.len()]);
    for row in 0..x.len() / width {
        let (x, g) = (&x[row * width..], &g[row * width..]);
        let squares = sum((0..width).map(|i| product(&[x[i], x[i]])));
        let rstd = one_over_root(sum([product(&[squares, share]), exact(EPS)]));
        let xh: Vec<_> = (0..width).map(|i| product(&[x[i], rstd])).collect();
        let n: Vec<_> = (0..width).map(|i| product(&[xh[i], gamma[i]])).collect();

        let mut of_n = vec![Vec::new(); width];
        for j in 0..hidden {
            let [a, b] = [&gate, &up].map(|w| sum((0..width).map(|i| product(&[w[j * width + i], n[i]]))));
            let s = sigmoid(a);
            let silu = product(&[a, s]);
            let h = product(&[silu, b]);
            let of_h = sum((0..width).map(|i| product(&[down[i * hidden + j], g[i]])));
            let rest = sum([exact(1.0), negative(s)]);
            let slope = product(&[s, sum([product(&[a, rest]), exact(1.0)])]);
            let (of_a, of_b) = (product(&[of_h, b, slope]), product(&[of_h, silu]));
            for i in 0..width {
                terms[2][j * width + i].push(product(&[of_a, n[i]]));
                terms[3][j * width + i].push(product(&[of_b, n[i]]));
                terms[4][i * hidden + j].push(product(&[g[i], h]));
                of_n[i].push([(&gate, of_a), (&up, of_b)].map(|(w, of)| product(&[w[j * width + i], of])));
            }
        }
        let of_n: Vec<_> = of_n.into_iter().map(|terms| sum(terms.into_iter().flatten())).collect();
        let scaled: Vec<_> = (0..width).map(|i| product(&[of_n[i], gamma[i]])).collect();
        let mean = product(&[sum((0..width).map(|i| product(&[scaled[i], xh[i]]))), share]);
        for i in 0..width {
            let of_norm = product(&[rstd, sum([scaled[i], negative(product(&[xh[i], mean]))])]);
            terms[0][row * width + i].extend([g[i], of_norm]);
            terms[1][i].push(product(&[of_n[i], xh[i]]));
        }
    }
    terms.map(|of| of.into_iter().map(sum).collect())
}
