//! The formulas of norms, inverses and their backward passes.

use super::formula::{Formula, lanes, numbered, squares};
use super::scaled::{Divisor, Scaled};
use super::trigonometry::{INVERSE_ROOT, UNSCALE_OF, not_a_number};
use crate::Result;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::product::Product;
use crate::clifford::algebra::signs::reverse_sign;
use crate::clifford::algebra::terms::Term;
use crate::kernel::wgsl::{ABS, Block, Expression, SIGN, SQRT, Sum, number, select};
use crate::layout::DType;

/// The multivector scaled to norm 1; NaN for null multivectors.
pub(super) fn normalize(x: &Blades) -> Formula {
    let mut lines = Block::default();
    let (scaled, square) = define_square(&mut lines, x);
    let unit = divisor(&mut lines, &scaled, &square, not_a_number());
    let results = (0..x.len()).map(|i| unit.divide(numbered("x", i))).collect();
    Formula { statements: lines, results }
}

/// The norm $\sqrt{|q|}$ with $q = \langle \tilde x x \rangle_{0}$.
pub(super) fn norm(x: &Blades) -> Formula {
    let mut lines = Block::default();
    let (scaled, square) = define_square(&mut lines, x);
    let length = SQRT.call([ABS.call([square])]) * UNSCALE_OF.call([scaled.most]);
    Formula { statements: lines, results: vec![length] }
}

/// The backward pass of the norm. The derivative of $\sqrt{|q|}$ is $\mathrm{sign}(q)\\, q' / (2 \sqrt{|q|})$; at 0,
/// where it does not exist, 0 is used.
pub(super) fn norm_backward(x: &Blades) -> Formula {
    let mut lines = Block::default();
    let (scaled, square) = define_square(&mut lines, x);
    let unit = divisor(&mut lines, &scaled, &square, lanes(0.0));
    let slope = lines.define("slope", SIGN.call([square]) * numbered("y", 0));
    let result = |(i, &blade): (usize, &u8)| match x.signature().square(blade) {
        0 => lanes(0.0),
        1 => &slope * unit.divide(numbered("x", i)),
        _ => -&slope * unit.divide(numbered("x", i)),
    };
    let results = x.masks().iter().enumerate().map(result).collect();
    Formula { statements: lines, results }
}

/// The inverse of a versor: its reverse divided by its square. The result is NaN if $x \tilde x$ is not a scalar, that
/// is, if its other parts exceed those of a versor that was rounded to its storage type.
pub(super) fn inverse(x: &Blades, dtype: DType) -> Result<Formula> {
    let reversed: Vec<i8> = x.masks().iter().map(|&blade| reverse_sign(blade)).collect();
    let mut terms = Product::Geometric.terms(x, x)?;
    for term in &mut terms.terms {
        term.sign *= reversed[usize::from(term.y)];
    }
    let mut lines = Block::default();
    let (scaled, square) = define_square(&mut lines, x);
    // The rest of the square has all coefficients.
    let of_all: Vec<Expression> = (0..x.len()).map(|i| numbered("x", i)).collect();
    let is_whole = scaled.parts.len() == x.len();
    let all = if is_whole { scaled.parts.clone() } else { Scaled::define(&mut lines, "all_", &of_all).parts };
    let mut parts = vec![Sum::default(); terms.out.len()];
    for term in terms.terms.iter().filter(|term| terms.out.masks()[usize::from(term.out)] != 0) {
        // A product of two different coefficients occurs twice. With opposite signs the two cancel; with equal signs
        // one of them is kept.
        let mirrored = |t: &&Term| t.x == term.y && t.y == term.x && t.out == term.out;
        let other = terms.terms.iter().find(mirrored).map_or(0, |t| t.sign);
        if term.x <= term.y && term.sign == other {
            let product = &all[usize::from(term.x)] * &all[usize::from(term.y)];
            parts[usize::from(term.out)].push(term.sign, product);
        }
    }
    let size = lines.define("size", squares(all.into_iter()));
    let beyond = lines.variable("beyond", lanes(0.0));
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        lines.increase(&beyond, ABS.call([Expression::Sum(part)]));
    }
    let is_versor = beyond.at_most(number(rounding(dtype) * (4 * x.len()) as f32) * size);
    let infinite = lanes(1.0) / &square;
    let unit = divisor(&mut lines, &scaled, &square, infinite);
    let sign = select(lanes(1.0), lanes(-1.0), square.below(lanes(0.0)));
    let sign = lines.define("sign_of_square", select(not_a_number(), sign, is_versor));
    let signed = |i: usize| if reversed[i] < 0 { -&sign } else { sign.clone() };
    let results = (0..x.len()).map(|i| signed(i) * unit.divide(unit.divide(numbered("x", i)))).collect();
    Ok(Formula { statements: lines, results })
}

/// The backward pass of the inverse $\tilde x / q$: $\tilde g / q - 2 q' \langle \tilde x, g \rangle / q^2$, where $q'$
/// is half the derivative of q. It is computed from the coefficients over the norm, $x / \sqrt{|q|}$ and $g / \sqrt{|q|}$.
pub(super) fn inverse_backward(x: &Blades) -> Formula {
    let mut lines = Block::default();
    let (scaled, square) = define_square(&mut lines, x);
    let infinite = lanes(1.0) / &square;
    let unit = divisor(&mut lines, &scaled, &square, infinite);
    let sign = lines.define("sign_of_square", select(lanes(1.0), lanes(-1.0), square.below(lanes(0.0))));
    let mut along = Sum::default();
    for i in 0..x.len() {
        let of_x = lines.define(format!("u{i}"), unit.divide(numbered("x", i)));
        let of_g = lines.define(format!("g{i}"), unit.divide(numbered("y", i)));
        along.push(reverse_sign(x.masks()[i]), of_x * of_g);
    }
    let along = lines.define("along", number(2.0) * along.or(lanes(0.0)));
    let result = |(i, &blade): (usize, &u8)| {
        let other = &along * numbered("u", i);
        let own = if reverse_sign(blade) < 0 { -&sign } else { sign.clone() } * numbered("g", i);
        let both = match x.signature().square(blade) {
            0 => own,
            1 => own - other,
            _ => own + other,
        };
        unit.divide(both)
    };
    let results = x.masks().iter().enumerate().map(result).collect();
    Formula { statements: lines, results }
}

/// Defines the coefficients that have a square, scaled, and their quadratic form $\langle \tilde s s \rangle_{0}$.
fn define_square(lines: &mut Block, x: &Blades) -> (Scaled, Expression) {
    let signs: Vec<i8> = x.masks().iter().map(|&blade| x.signature().square(blade)).collect();
    let with_square: Vec<Expression> =
        (0..x.len()).filter(|&i| signs[i] != 0).map(|i| numbered("x", i)).collect();
    let scaled = Scaled::define(lines, "", &with_square);
    let mut sum = Sum::default();
    for (sign, part) in signs.into_iter().filter(|&sign| sign != 0).zip(&scaled.parts) {
        sum.push(sign, part * part);
    }
    let square = lines.define("square", sum.or(lanes(0.0)));
    (scaled, square)
}

/// The division by the norm. If the norm is 0, its reciprocal is `otherwise`.
fn divisor(lines: &mut Block, scaled: &Scaled, square: &Expression, otherwise: Expression) -> Divisor {
    let root = INVERSE_ROOT.call([ABS.call([square])]);
    scaled.divisor(lines, "", select(root, otherwise, square.clone().equals(lanes(0.0))))
}

/// The unit roundoff of the storage type.
fn rounding(dtype: DType) -> f32 {
    match dtype {
        DType::Bf16 => 2f32.powi(-8),
        DType::F16 => 2f32.powi(-10),
        _ => 2f32.powi(-22),
    }
}
