//! The formulas of norms, inverses and their backward passes.

use super::formula::{Formula, define_scaled, lanes, numbered, square, squares};
use super::trigonometry::{INVERSE_ROOT, UNSCALE_OF, not_a_number};
use crate::Result;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::product::Product;
use crate::clifford::algebra::signs::reverse_sign;
use crate::clifford::algebra::terms::Term;
use crate::kernel::wgsl::{ABS, Block, Expression, SIGN, SQRT, Sum, name, number, select};
use crate::layout::DType;

/// The multivector scaled to norm 1; NaN for null multivectors.
pub(super) fn normalize(x: &Blades) -> Formula {
    let mut lines = Block::default();
    define_scaled(&mut lines, x.len());
    let square = lines.define("square", square(x));
    let root = INVERSE_ROOT.call([ABS.call([&square])]);
    let factor = lines.define("factor", select(root, not_a_number(), square.equals(lanes(0.0))));
    let results = (0..x.len()).map(|i| &factor * numbered("s", i)).collect();
    Formula { statements: lines, results }
}

/// The norm $\sqrt{|q|}$ with $q = \langle \tilde x x \rangle_{0}$.
pub(super) fn norm(x: &Blades) -> Formula {
    let mut lines = Block::default();
    define_scaled(&mut lines, x.len());
    let square = lines.define("square", square(x));
    let length = SQRT.call([ABS.call([square])]) * UNSCALE_OF.call([name("most")]);
    Formula { statements: lines, results: vec![length] }
}

/// The backward pass of the norm. The derivative of $\sqrt{|q|}$ is $\mathrm{sign}(q)\, q' / (2 \sqrt{|q|})$; at 0,
/// where it does not exist, 0 is used.
pub(super) fn norm_backward(x: &Blades) -> Formula {
    let mut lines = Block::default();
    define_scaled(&mut lines, x.len());
    let square = lines.define("square", square(x));
    let length = lines.define("length", SQRT.call([ABS.call([&square])]));
    let slope = SIGN.call([square]) * numbered("y", 0) / &length;
    let slope = lines.define("slope", select(slope, lanes(0.0), length.equals(lanes(0.0))));
    let result = |(i, &blade): (usize, &u8)| match x.signature().square(blade) {
        0 => lanes(0.0),
        1 => &slope * numbered("s", i),
        _ => -&slope * numbered("s", i),
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
    let mut parts = vec![Sum::default(); terms.out.len()];
    for term in terms.terms.iter().filter(|term| terms.out.masks()[usize::from(term.out)] != 0) {
        // A product of two different coefficients occurs twice. With opposite signs the two cancel; with equal signs
        // one of them is kept.
        let mirrored = |t: &&Term| t.x == term.y && t.y == term.x && t.out == term.out;
        let other = terms.terms.iter().find(mirrored).map_or(0, |t| t.sign);
        if term.x <= term.y && term.sign == other {
            let product = numbered("s", term.x) * numbered("s", term.y);
            parts[usize::from(term.out)].push(term.sign, product);
        }
    }
    let mut lines = Block::default();
    define_scaled(&mut lines, x.len());
    let square = lines.define("square", square(x));
    let size = lines.define("size", squares((0..x.len()).map(|i| numbered("s", i))));
    let beyond = lines.variable("beyond", lanes(0.0));
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        lines.increase(&beyond, ABS.call([Expression::Sum(part)]));
    }
    let is_versor = beyond.at_most(number(rounding(dtype) * (4 * x.len()) as f32) * size);
    let factor = select(not_a_number(), lanes(1.0) / square, is_versor);
    let factor = lines.define("factor", factor);
    let signed = |i: usize| if reversed[i] < 0 { -&factor } else { factor.clone() };
    let results = (0..x.len()).map(|i| signed(i) * numbered("s", i) * name("scale")).collect();
    Ok(Formula { statements: lines, results })
}

/// The backward pass of the inverse $\tilde x / q$: $\tilde g / q - 2 q' \langle \tilde x, g \rangle / q^2$, where $q'$
/// is half the derivative of q.
pub(super) fn inverse_backward(x: &Blades) -> Formula {
    let mut lines = Block::default();
    define_scaled(&mut lines, x.len());
    let square = lines.define("square", square(x));
    let factor = lines.define("factor", lanes(1.0) / square);
    let mut along = Sum::default();
    for i in 0..x.len() {
        along.push(reverse_sign(x.masks()[i]), numbered("s", i) * numbered("y", i));
    }
    let along = lines.define("along", number(2.0) * &factor * along.or(lanes(0.0)));
    let result = |(i, &blade): (usize, &u8)| {
        // No product of two factors, which might vanish.
        let other = &along * (&factor * numbered("s", i));
        let factor = if reverse_sign(blade) < 0 { -&factor } else { factor.clone() };
        let own = factor * numbered("y", i);
        let both = match x.signature().square(blade) {
            0 => own,
            1 => own - other,
            _ => own + other,
        };
        both * name("scale") * name("scale")
    };
    let results = x.masks().iter().enumerate().map(result).collect();
    Formula { statements: lines, results }
}

/// The unit roundoff of the storage type.
fn rounding(dtype: DType) -> f32 {
    match dtype {
        DType::Bf16 => 2f32.powi(-8),
        DType::F16 => 2f32.powi(-10),
        _ => 2f32.powi(-22),
    }
}
