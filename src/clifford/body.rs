//! The straight-line code of a function of multivectors, made from the algebra's table of signs.
//!
//! A body reads `x0`, `x1` and so on, the blades of the first operand in their order, and `y0`, `y1` of the second, all of
//! type `lanes`, and has an expression for each blade of the result.

use super::algebra::reverse_sign;
use super::blades::Blades;
use super::function::Function;
use super::motor_body;
use super::problem::CliffordProblem;
use super::product::{Product, Term, Terms};
use super::sandwich_body::{self, Versor};
use crate::Result;
use crate::tensor::DType;
use std::fmt::Write;

/// The code of a function, as far as it depends on the algebra.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Body {
    /// Statements before the results.
    pub(super) lines: Vec<String>,
    /// One expression per blade of the result.
    pub(super) results: Vec<String>,
    /// The fragment of the functions that statements and expressions call.
    pub(super) functions: Option<&'static str>,
    /// Arithmetic operations at a position, about.
    pub(super) flops: usize,
}

impl Body {
    /// The code of a problem's function, which has these terms if it is a product. Of two ways to compute one, only those
    /// with `at_most` terms are written out.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if the operands are of different algebras.
    pub(super) fn of(problem: &CliffordProblem, terms: Option<&Terms>, at_most: usize) -> Result<Self> {
        let CliffordProblem { function, x, out, .. } = problem;
        Ok(match *function {
            Function::Product(_) | Function::BackwardX(_) | Function::BackwardY(_) => {
                terms.map(Self::product).unwrap_or_default()
            }
            Function::Unary(function) => Self::moved(out, |blade| {
                let (from, _) = function.backward().of_blade(x.signature(), blade);
                Some((x.position(from)?, function.of_blade(x.signature(), from).1))
            }),
            Function::Select => Self::moved(out, |blade| Some((x.position(blade)?, 1))),
            Function::Negate(blades) => Self::moved(out, |blade| {
                let is_set = blades[usize::from(blade / 64)] >> (blade % 64) & 1 == 1;
                Some((x.position(blade)?, if is_set { -1 } else { 1 }))
            }),
            Function::Norm => Self::norm(x),
            Function::NormBackward => Self::norm_backward(x),
            Function::Inverse => Self::inverse(x, problem.dtype)?,
            Function::InverseBackward => Self::inverse_backward(x),
            Function::Normalize => motor_body::normalize(x),
            Function::Exp => motor_body::exp(x, out)?,
            Function::Log(branch) => motor_body::log(x, out, branch)?,
            Function::Way => motor_body::way(x, problem.blades_of(2), out)?,
            Function::Sandwich => {
                let versor = if problem.is_repeated(1) { Versor::Shared } else { Versor::Each };
                sandwich_body::sandwich(x, problem.blades_of(2), out, versor, at_most)?
            }
        })
    }

    fn product(terms: &Terms) -> Self {
        let mut results = vec![String::new(); terms.out.len()];
        for term in &terms.terms {
            push_term(&mut results[usize::from(term.out)], term.sign, &format!("x{} * y{}", term.x, term.y));
        }
        Self { results: finished(results), flops: 2 * terms.terms.len(), ..Self::default() }
    }

    /// Each blade of the result is one of the operand's, with a sign, or zero.
    fn moved(out: &Blades, from: impl Fn(u8) -> Option<(usize, i8)>) -> Self {
        let result = |&blade: &u8| match from(blade) {
            Some((i, 1)) => format!("x{i}"),
            Some((i, _)) => format!("-x{i}"),
            None => "lanes(0.0)".to_owned(),
        };
        Self { results: out.masks().iter().map(result).collect(), flops: out.len(), ..Self::default() }
    }

    fn norm(x: &Blades) -> Self {
        let results = vec!["sqrt(abs(square))".to_owned()];
        Self { lines: vec![square(x)], results, flops: 2 * x.len() + 2, ..Self::default() }
    }

    /// The slope of $\sqrt{|q|}$ is $\mathrm{sign}(q)\, q' / (2 \sqrt{|q|})$; at 0, where there is none, it is taken as 0.
    fn norm_backward(x: &Blades) -> Self {
        let lines = vec![
            square(x),
            "let length = sqrt(abs(square));".to_owned(),
            "let slope = select(sign(square) * y0 / length, lanes(0.0), length == lanes(0.0));".to_owned(),
        ];
        let result = |(i, &blade): (usize, &u8)| match x.signature().square(blade) {
            0 => "lanes(0.0)".to_owned(),
            1 => format!("slope * x{i}"),
            _ => format!("-slope * x{i}"),
        };
        let results = x.masks().iter().enumerate().map(result).collect();
        Self { lines, results, flops: 3 * x.len() + 4, ..Self::default() }
    }

    /// The reverse over the square, and NaN where $x \tilde x$ is no scalar: where parts of it are beyond what rounding of
    /// a versor to the type that it is stored in makes of them.
    fn inverse(x: &Blades, dtype: DType) -> Result<Self> {
        let reversed: Vec<i8> = x.masks().iter().map(|&blade| reverse_sign(blade)).collect();
        let mut terms = Product::Geometric.terms(x, x)?;
        for term in &mut terms.terms {
            term.sign *= reversed[usize::from(term.y)];
        }
        let mut parts = vec![String::new(); terms.out.len()];
        for term in terms.terms.iter().filter(|term| terms.out.masks()[usize::from(term.out)] != 0) {
            let (low, high) = (term.x.min(term.y), term.x.max(term.y));
            // What is there twice is there once with both signs, or doubled.
            let mirrored = |t: &&Term| t.x == term.y && t.y == term.x && t.out == term.out;
            let other = terms.terms.iter().find(mirrored).map_or(0, |t| t.sign);
            if term.x <= term.y && term.sign == other {
                push_term(&mut parts[usize::from(term.out)], term.sign, &format!("x{low} * x{high}"));
            }
        }
        let mut lines = vec![square(x)];
        let size: Vec<String> = (0..x.len()).map(|i| format!("x{i} * x{i}")).collect();
        lines.push(format!("let size = {};", size.join(" + ")));
        lines.push("var beyond = lanes(0.0);".to_owned());
        lines.extend(parts.into_iter().filter(|p| !p.is_empty()).map(|p| format!("beyond += abs({p});")));
        lines.push("var nan_bits = 0x7fc00000u; // no constant: compilers refuse NaN in one".to_owned());
        let most = rounding(dtype) * (4 * x.len()) as f64;
        lines.push(format!(
            "let factor = select(lanes(bitcast<f32>(nan_bits)), lanes(1.0) / square, beyond <= {most:e} * size);"
        ));
        let sign = |i: usize| if reversed[i] < 0 { "-" } else { "" };
        let results = (0..x.len()).map(|i| format!("{}factor * x{i}", sign(i))).collect();
        Ok(Self { lines, results, flops: 2 * terms.terms.len(), ..Self::default() })
    }

    /// Of $\tilde x / q$: $\tilde g / q - 2 q' \langle \tilde x, g \rangle / q^2$, with $q'$ the square's slope over two.
    fn inverse_backward(x: &Blades) -> Self {
        let reversed = |i: usize| if reverse_sign(x.masks()[i]) < 0 { "-" } else { "+" };
        let mut along = String::new();
        for i in 0..x.len() {
            push_term(&mut along, reverse_sign(x.masks()[i]), &format!("x{i} * y{i}"));
        }
        let lines = vec![
            square(x),
            "let factor = lanes(1.0) / square;".to_owned(),
            format!("let along = 2.0 * factor * factor * ({along});"),
        ];
        let result = |i: usize| match x.signature().square(x.masks()[i]) {
            0 => format!("{}factor * y{i}", reversed(i)),
            1 => format!("{}factor * y{i} - along * x{i}", reversed(i)),
            _ => format!("{}factor * y{i} + along * x{i}", reversed(i)),
        };
        let results = (0..x.len()).map(|i| result(i).trim_start_matches('+').to_owned()).collect();
        Self { lines, results, flops: 6 * x.len() + 4, ..Self::default() }
    }
}

/// Unit roundoff of what is stored.
fn rounding(dtype: DType) -> f64 {
    match dtype {
        DType::Bf16 => 2f64.powi(-8),
        DType::F16 => 2f64.powi(-10),
        _ => 2f64.powi(-22),
    }
}

/// The statement that finds `square`, $\langle \tilde x x \rangle_{0}$.
pub(super) fn square(x: &Blades) -> String {
    let mut sum = String::new();
    for (i, &blade) in x.masks().iter().enumerate() {
        push_term(&mut sum, x.signature().square(blade), &format!("x{i} * x{i}"));
    }
    format!("let square = {};", finished(vec![sum]).remove(0))
}

/// Adds a term to a sum, unless its sign is 0.
pub(super) fn push_term(sum: &mut String, sign: i8, term: &str) {
    match (sign, sum.is_empty()) {
        (0, _) => {}
        (1, true) => sum.push_str(term),
        (_, true) => {
            let _ = write!(sum, "-({term})");
        }
        (sign, false) => {
            let _ = write!(sum, " {} {term}", if sign > 0 { '+' } else { '-' });
        }
    }
}

/// The sums, those without a term as zero.
pub(super) fn finished(sums: Vec<String>) -> Vec<String> {
    let or_zero = |sum: String| if sum.is_empty() { "lanes(0.0)".to_owned() } else { sum };
    sums.into_iter().map(or_zero).collect()
}
