//! The formulas of logarithms of motors: the closed forms of `cpu/exponential.rs`, blade by blade.

use super::formula::{Formula, lanes, numbered, squares, sum_expressions};
use super::scaled::Scaled;
use super::trigonometry::{ANGLE_OF, FALL_OF, INVERSE_ROOT, LENGTH_OF, SINC_OF, not_a_number};
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::function::LogBranch;
use crate::clifford::algebra::product::Product;
use crate::clifford::algebra::rigid::{RigidBlades, TranslationBlade};
use crate::clifford::algebra::signs::reverse_sign;
use crate::kernel::wgsl::{Block, Expression, Sum, name, select};
use crate::{Error, Result};
use std::f32::consts::PI;

/// The logarithm of motors with blades `x`. Missing blades are 0.
pub(super) fn log(x: &Blades, out: &Blades, branch: LogBranch) -> Result<Formula> {
    let rigid = RigidBlades::of(x.signature(), "log")?;
    check_even(x, "log")?;
    let m = |blade: u8| x.position(blade).map_or(lanes(0.0), |i| numbered("x", i));
    Ok(log_of(&rigid, out, branch, Block::default(), m))
}

/// The shortest logarithm of $\tilde x y$.
pub(super) fn log_between(x: &Blades, y: &Blades, out: &Blades) -> Result<Formula> {
    let rigid = RigidBlades::of(x.signature(), "interpolate")?;
    check_even(x, "interpolate")?;
    check_even(y, "interpolate")?;
    let terms = Product::Geometric.terms(x, y)?.select(&x.signature().even())?;
    let mut lines = Block::default();
    define_unit(&rigid, x, &mut lines, "x");
    define_unit(&rigid, y, &mut lines, "y");
    let mut sums = vec![Sum::default(); terms.out.len()];
    for term in &terms.terms {
        let reversed = reverse_sign(x.masks()[usize::from(term.x)]);
        let product = numbered("x_unit", term.x) * numbered("y_unit", term.y);
        sums[usize::from(term.out)].push(reversed * term.sign, product);
    }
    for (i, sum) in sum_expressions(sums).into_iter().enumerate() {
        lines.define(format!("m{i}"), sum);
    }
    let m = |blade: u8| terms.out.position(blade).map_or(lanes(0.0), |i| numbered("m", i));
    Ok(log_of(&rigid, out, LogBranch::Shortest, lines, m))
}

/// Defines `x_unit`, the coefficients of a motor `x` over its norm.
fn define_unit(rigid: &RigidBlades, x: &Blades, lines: &mut Block, of: &str) {
    let prefix = format!("{of}_");
    let rotor = rigid.rotations.iter().chain([&0]).filter_map(|&blade| x.position(blade));
    let rotor: Vec<Expression> = rotor.map(|i| numbered(of, i)).collect();
    let scaled = Scaled::define(lines, &prefix, &rotor);
    let square = lines.define(format!("{prefix}square"), squares(scaled.parts.iter().cloned()));
    // A null motor becomes 0, whose logarithm is NaN.
    let root = select(INVERSE_ROOT.call([&square]), lanes(0.0), square.equals(lanes(0.0)));
    let unit = scaled.divisor(lines, &prefix, root);
    for i in 0..x.len() {
        lines.define(format!("{prefix}unit{i}"), unit.divide(numbered(of, i)));
    }
}

/// Checks that a motor has even blades only.
fn check_even(x: &Blades, op: &'static str) -> Result<()> {
    let odd = x.masks().iter().find(|blade| blade.count_ones() % 2 == 1);
    odd.map_or(Ok(()), |&blade| {
        let why = format!("a motor has even blades only, and the operand has {}", x.signature().name(blade));
        Err(Error::input(op, why))
    })
}

/// The logarithm of a motor with coefficients `m`. Its statements are appended to `lines`.
fn log_of(
    rigid: &RigidBlades,
    out: &Blades,
    branch: LogBranch,
    mut lines: Block,
    m: impl Fn(u8) -> Expression,
) -> Formula {
    let parts: Vec<Expression> = rigid.rotations.iter().map(|&t| m(t)).chain([m(0)]).collect();
    let rotor = Scaled::define(&mut lines, "", &parts);
    let whole = lines.define("whole", squares(rotor.parts.iter().cloned()));
    let nothing = lines.define("nothing", whole.clone().equals(lanes(0.0)));
    let root = INVERSE_ROOT.call([whole]);
    let root = match branch {
        LogBranch::OfMotor => root,
        LogBranch::Shortest => root * select(lanes(1.0), lanes(-1.0), m(0).below(lanes(0.0))),
    };
    // The translation may be far larger or smaller than the rotor.
    let unit = rotor.divisor(&mut lines, "", root);
    let scaled = |blade: u8| unit.divide(m(blade));
    let c = lines.define("c", scaled(0));
    let turns: Vec<Expression> = rigid
        .rotations
        .iter()
        .enumerate()
        .map(|(t, &turn)| lines.define(format!("e{t}"), scaled(turn)))
        .collect();
    for (j, shift) in rigid.translations.iter().enumerate() {
        lines.define(format!("n{j}"), scaled(shift.blade));
    }
    let sine = lines.define("sine", LENGTH_OF.call([squares(turns.into_iter())]));
    let theta = lines.define("theta", ANGLE_OF.call([&sine, &c]));
    let still = lines.define("still", sine.clone().equals(lanes(0.0)));
    lines.define("over", select(theta / sine, lanes(1.0), still));
    let values = match (rigid.pseudoscalar, branch) {
        (Some(screw), _) => {
            lines.define("q", scaled(screw));
            space(rigid, branch, &mut lines)
        }
        (None, LogBranch::OfMotor) => plane(rigid, &mut lines),
        (None, LogBranch::Shortest) => scaled_bivector(rigid),
    };
    let result = |blade: &u8| {
        let value = values.iter().find(|(b, _)| b == blade).map_or(lanes(0.0), |(_, value)| value.clone());
        select(value, not_a_number(), nothing.clone())
    };
    let results = out.masks().iter().map(result).collect();
    Formula { statements: lines, results }
}

/// The bivector part times $\theta / \sin \theta$: the whole logarithm in the plane, unless the angle is $\pi$.
fn scaled_bivector(rigid: &RigidBlades) -> Vec<(u8, Expression)> {
    let over = |of: &str, i: usize| name("over") * numbered(of, i);
    let turns = rigid.rotations.iter().enumerate().map(|(t, &blade)| (blade, over("e", t)));
    let shifts = rigid.translations.iter().enumerate().map(|(j, shift)| (shift.blade, over("n", j)));
    turns.chain(shifts).collect()
}

/// The logarithm in the plane. That of -1 is $\pi$ times the first blade; the negative of a translation has none and
/// becomes NaN.
fn plane(rigid: &RigidBlades, lines: &mut Block) -> Vec<(u8, Expression)> {
    let back = lines.define("back", name("still") & name("c").below(lanes(0.0)));
    let mut values = scaled_bivector(rigid);
    let otherwise = |(_, value): &mut (u8, Expression), other, condition| {
        *value = select(value.clone(), other, condition);
    };
    otherwise(&mut values[0], lanes(PI), back.clone());
    for (j, value) in values[rigid.rotations.len()..].iter_mut().enumerate() {
        otherwise(value, not_a_number(), back.clone() & numbered("n", j).differs(lanes(0.0)));
    }
    values
}

/// The logarithm in PGA of space. If the cosine is negative, it is computed from the axis.
fn space(rigid: &RigidBlades, branch: LogBranch, lines: &mut Block) -> Vec<(u8, Expression)> {
    let [c, q, sine, theta, over, still] = ["c", "q", "sine", "theta", "over", "still"].map(name);
    let sinc = lines.define("sinc", SINC_OF.call([&theta, &sine]));
    // The factors from the smallest: no product is larger than q or the last.
    let bend = &q * FALL_OF.call([&theta, &sinc, &c]) * &over * &over * &over;
    let bend = lines.define("bend", bend);
    let complement = |shift: &TranslationBlade| shift.complement.unwrap_or_default();
    let front = rigid.translations.iter().enumerate().map(|(j, shift)| {
        let (t, sign) = complement(shift);
        let mut sum = Sum::of([&over * numbered("n", j)]);
        sum.push(sign, &bend * numbered("e", t));
        (shift.blade, Expression::Sum(sum))
    });
    if branch == LogBranch::Shortest {
        let turns = rigid.rotations.iter().enumerate().map(|(t, &blade)| (blade, &over * numbered("e", t)));
        return turns.chain(front).collect();
    }
    axis(rigid, lines);
    let along = lines.define("along", name("along0") + name("along1"));
    let drift = lines.define("drift", &c * along - &sine * &q);
    let stretch = lines.define("stretch", select(over.clone(), lanes(0.0), still));
    let back = lines.define("back", c.below(lanes(0.0)));
    let turn = |(t, &blade): (usize, &u8)| {
        (blade, select(&over * numbered("e", t), &theta * numbered("axis", t), back.clone()))
    };
    let shift = |(j, (blade, front)): (usize, (u8, Expression))| {
        let (t, sign) = complement(&rigid.translations[j]);
        let mut behind = Sum::of([&stretch * numbered("rest", j)]);
        behind.push(-sign, &drift * numbered("axis", t));
        (blade, select(front, Expression::Sum(behind), back.clone()))
    };
    let turns = rigid.rotations.iter().enumerate().map(turn);
    turns.chain(front.enumerate().map(shift)).collect()
}

/// Defines `axis`, of length 1. Without a rotation it is along the translation, or else along the first blade. Then
/// splits the translation into `along0` + `along1`, along the axis, and `rest`, across it. The split is done twice: the
/// first difference leaves a rounding error of the whole translation along the axis, which may be larger than the rest.
fn axis(rigid: &RigidBlades, lines: &mut Block) {
    let complements: Vec<(usize, i8)> =
        rigid.translations.iter().map(|shift| shift.complement.unwrap_or_default()).collect();
    let [sine, still] = ["sine", "still"].map(name);
    let shifts: Vec<Expression> = (0..complements.len()).map(|j| numbered("n", j)).collect();
    let scaled = Scaled::define(lines, "shift_", &shifts);
    let shift = lines.define("shift", squares(scaled.parts.iter().cloned()));
    let unit = scaled.divisor(lines, "shift_", INVERSE_ROOT.call([&shift]));
    for (j, &(t, sign)) in complements.iter().enumerate() {
        let along_shift = unit.divide(if sign > 0 { -&shifts[j] } else { shifts[j].clone() });
        let first = lanes(if t == 0 { 1.0 } else { 0.0 });
        let without_turn = select(along_shift, first, shift.clone().equals(lanes(0.0)));
        lines.define(format!("axis{t}"), select(numbered("e", t) / &sine, without_turn, still.clone()));
    }
    for (part, [from, to]) in [["n", "across"], ["across", "rest"]].into_iter().enumerate() {
        let mut sum = Sum::default();
        for (j, &(t, sign)) in complements.iter().enumerate() {
            sum.push(-sign, numbered("axis", t) * numbered(from, j));
        }
        let along = lines.define(format!("along{part}"), sum.or(lanes(0.0)));
        for (j, &(t, sign)) in complements.iter().enumerate() {
            let mut value = Sum::of([numbered(from, j)]);
            value.push(sign, &along * numbered("axis", t));
            lines.define(format!("{to}{j}"), Expression::Sum(value));
        }
    }
}
