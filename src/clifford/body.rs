//! The straight-line code of a function of multivectors, made from the algebra's table of signs.
//!
//! A body reads `x0`, `x1` and so on, the blades of the first operand in their order, and `y0`, `y1` of the second, all of
//! type `lanes`, and has an expression for each blade of the result.

use super::algebra::reverse_sign;
use super::blades::Blades;
use super::function::Function;
use super::motor_body::{self, NOT_A_NUMBER};
use super::problem::CliffordProblem;
use super::product::{Product, Term, Terms};
use super::sandwich_body::{self, Versor};
use crate::Result;
use crate::kernel::wgsl::{ABS, Block, Callee, Expression, SIGN, SQRT, Sum, name, number, select};
use crate::layout::DType;
use std::fmt::Display;

/// The code of a function, as far as it depends on the algebra.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Body {
    /// Statements before the results.
    pub(super) lines: Block,
    /// One expression per blade of the result.
    pub(super) results: Vec<Expression>,
}

/// The same number in all lanes.
pub(super) fn lanes(value: f32) -> Expression {
    Callee::without_flops("lanes").call([number(value)])
}

/// One of several values that are called alike, by its place.
pub(super) fn numbered(of: &str, place: impl Display) -> Expression {
    name(format!("{of}{place}"))
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

    /// Arithmetic operations at a position.
    pub(super) fn flops(&self) -> usize {
        self.lines.flops() + self.results.iter().map(Expression::flops).sum::<usize>()
    }

    fn product(terms: &Terms) -> Self {
        let mut results = vec![Sum::default(); terms.out.len()];
        for term in &terms.terms {
            results[usize::from(term.out)].push(term.sign, numbered("x", term.x) * numbered("y", term.y));
        }
        Self { results: finished(results), ..Self::default() }
    }

    /// Each blade of the result is one of the operand's, with a sign, or zero.
    fn moved(out: &Blades, from: impl Fn(u8) -> Option<(usize, i8)>) -> Self {
        let result = |&blade: &u8| match from(blade) {
            Some((i, 1)) => numbered("x", i),
            Some((i, _)) => -numbered("x", i),
            None => lanes(0.0),
        };
        Self { results: out.masks().iter().map(result).collect(), ..Self::default() }
    }

    fn norm(x: &Blades) -> Self {
        let mut lines = Block::default();
        let square = lines.define("square", square(x));
        Self { lines, results: vec![SQRT.call([ABS.call([square])])] }
    }

    /// The slope of $\sqrt{|q|}$ is $\mathrm{sign}(q)\, q' / (2 \sqrt{|q|})$; at 0, where there is none, it is taken as 0.
    fn norm_backward(x: &Blades) -> Self {
        let mut lines = Block::default();
        let square = lines.define("square", square(x));
        let length = lines.define("length", SQRT.call([ABS.call([&square])]));
        let slope = SIGN.call([square]) * numbered("y", 0) / &length;
        let slope = lines.define("slope", select(slope, lanes(0.0), length.equals(lanes(0.0))));
        let result = |(i, &blade): (usize, &u8)| match x.signature().square(blade) {
            0 => lanes(0.0),
            1 => &slope * numbered("x", i),
            _ => -&slope * numbered("x", i),
        };
        let results = x.masks().iter().enumerate().map(result).collect();
        Self { lines, results }
    }

    /// The reverse over the square, and NaN where $x \tilde x$ is no scalar: where parts of it are beyond what rounding of
    /// a versor to the type that it is stored in makes of them.
    fn inverse(x: &Blades, dtype: DType) -> Result<Self> {
        let reversed: Vec<i8> = x.masks().iter().map(|&blade| reverse_sign(blade)).collect();
        let mut terms = Product::Geometric.terms(x, x)?;
        for term in &mut terms.terms {
            term.sign *= reversed[usize::from(term.y)];
        }
        let mut parts = vec![Sum::default(); terms.out.len()];
        for term in terms.terms.iter().filter(|term| terms.out.masks()[usize::from(term.out)] != 0) {
            // What is there twice is there once with both signs, or doubled.
            let mirrored = |t: &&Term| t.x == term.y && t.y == term.x && t.out == term.out;
            let other = terms.terms.iter().find(mirrored).map_or(0, |t| t.sign);
            if term.x <= term.y && term.sign == other {
                let product = numbered("x", term.x) * numbered("x", term.y);
                parts[usize::from(term.out)].push(term.sign, product);
            }
        }
        let mut lines = Block::default();
        let square = lines.define("square", square(x));
        let size = lines.define("size", squares((0..x.len()).map(|i| numbered("x", i))));
        let beyond = lines.variable("beyond", lanes(0.0));
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            lines.increase(&beyond, ABS.call([Expression::Sum(part)]));
        }
        let is_versor = beyond.at_most(number(rounding(dtype) * (4 * x.len()) as f32) * size);
        let factor = select(NOT_A_NUMBER.call::<Expression>([]), lanes(1.0) / square, is_versor);
        let factor = lines.define("factor", factor);
        let signed = |i: usize| if reversed[i] < 0 { -&factor } else { factor.clone() };
        let results = (0..x.len()).map(|i| signed(i) * numbered("x", i)).collect();
        Ok(Self { lines, results })
    }

    /// Of $\tilde x / q$: $\tilde g / q - 2 q' \langle \tilde x, g \rangle / q^2$, with $q'$ the square's slope over two.
    fn inverse_backward(x: &Blades) -> Self {
        let mut lines = Block::default();
        let square = lines.define("square", square(x));
        let factor = lines.define("factor", lanes(1.0) / square);
        let mut along = Sum::default();
        for i in 0..x.len() {
            along.push(reverse_sign(x.masks()[i]), numbered("x", i) * numbered("y", i));
        }
        let along = lines.define("along", number(2.0) * &factor * &factor * along.or(lanes(0.0)));
        let result = |(i, &blade): (usize, &u8)| {
            let factor = if reverse_sign(blade) < 0 { -&factor } else { factor.clone() };
            let (own, other) = (factor * numbered("y", i), &along * numbered("x", i));
            match x.signature().square(blade) {
                0 => own,
                1 => own - other,
                _ => own + other,
            }
        };
        let results = x.masks().iter().enumerate().map(result).collect();
        Self { lines, results }
    }
}

/// Unit roundoff of what is stored.
fn rounding(dtype: DType) -> f32 {
    match dtype {
        DType::Bf16 => 2f32.powi(-8),
        DType::F16 => 2f32.powi(-10),
        _ => 2f32.powi(-22),
    }
}

/// $\langle \tilde x x \rangle_{0}$.
pub(super) fn square(x: &Blades) -> Expression {
    let mut sum = Sum::default();
    for (i, &blade) in x.masks().iter().enumerate() {
        sum.push(x.signature().square(blade), numbered("x", i) * numbered("x", i));
    }
    sum.or(lanes(0.0))
}

/// The sum of squares.
pub(super) fn squares(of: impl Iterator<Item = Expression>) -> Expression {
    Sum::of(of.map(|value| &value * &value)).or(lanes(0.0))
}

/// The sums, those without a term as zero.
pub(super) fn finished(sums: Vec<Sum>) -> Vec<Expression> {
    sums.into_iter().map(|sum| sum.or(lanes(0.0))).collect()
}
