//! The code of logarithms of motors: the closed forms of `cpu/exponential.rs`, blade by blade.

use super::formula::{Formula, finished, lanes, numbered, squares};
use super::trigonometry::{ANGLE_OF, FALL_OF, INVERSE_ROOT, LENGTH_OF, SINC_OF, not_a_number};
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::function::Branch;
use crate::clifford::algebra::product::Product;
use crate::clifford::algebra::rigid::{Rigid, Shift};
use crate::clifford::algebra::signs::reverse_sign;
use crate::kernel::write::{Block, Expression, Sum, name, select};
use crate::{Error, Result};
use std::f32::consts::PI;

/// The logarithm of motors of these blades; what is missing is 0.
pub(super) fn log(x: &Blades, out: &Blades, branch: Branch) -> Result<Formula> {
    let rigid = Rigid::of(x.signature(), "log")?;
    check_even(x, "log")?;
    let m = |blade: u8| x.position(blade).map_or(lanes(0.0), |i| numbered("x", i));
    Ok(log_of(&rigid, out, branch, Block::default(), m))
}

/// The shorter logarithm of $\tilde x y$.
pub(super) fn way(x: &Blades, y: &Blades, out: &Blades) -> Result<Formula> {
    let rigid = Rigid::of(x.signature(), "interpolate")?;
    check_even(x, "interpolate")?;
    check_even(y, "interpolate")?;
    let terms = Product::Geometric.terms_onto(x, y, &x.signature().even())?;
    let mut sums = vec![Sum::default(); terms.out.len()];
    for term in &terms.terms {
        let reversed = reverse_sign(x.masks()[usize::from(term.x)]);
        let product = numbered("x", term.x) * numbered("y", term.y);
        sums[usize::from(term.out)].push(reversed * term.sign, product);
    }
    let mut lines = Block::default();
    for (i, sum) in finished(sums).into_iter().enumerate() {
        lines.define(format!("m{i}"), sum);
    }
    let m = |blade: u8| terms.out.position(blade).map_or(lanes(0.0), |i| numbered("m", i));
    Ok(log_of(&rigid, out, Branch::Shorter, lines, m))
}

fn check_even(x: &Blades, op: &'static str) -> Result<()> {
    let odd = x.masks().iter().find(|blade| blade.count_ones() % 2 == 1);
    odd.map_or(Ok(()), |&blade| {
        let why = format!("a motor has even blades only, and not {}", x.signature().name(blade));
        Err(Error::input(op, why))
    })
}

/// The logarithm of the motor of coefficients `m`, after these lines.
fn log_of(
    rigid: &Rigid,
    out: &Blades,
    branch: Branch,
    mut lines: Block,
    m: impl Fn(u8) -> Expression,
) -> Formula {
    let parts = rigid.turns.iter().map(|&t| m(t)).chain([m(0)]);
    let whole = lines.define("whole", squares(parts));
    let nothing = lines.define("nothing", whole.clone().equals(lanes(0.0)));
    let scale = INVERSE_ROOT.call([whole]);
    let scale = match branch {
        Branch::Whole => scale,
        Branch::Shorter => scale * select(lanes(1.0), lanes(-1.0), m(0).below(lanes(0.0))),
    };
    let scale = lines.define("scale", scale);
    let scaled = |blade: u8| &scale * m(blade);
    let c = lines.define("c", scaled(0));
    let turns: Vec<Expression> = rigid
        .turns
        .iter()
        .enumerate()
        .map(|(t, &turn)| lines.define(format!("e{t}"), scaled(turn)))
        .collect();
    for (j, shift) in rigid.shifts.iter().enumerate() {
        lines.define(format!("n{j}"), scaled(shift.blade));
    }
    let sine = lines.define("sine", LENGTH_OF.call([squares(turns.into_iter())]));
    let theta = lines.define("theta", ANGLE_OF.call([&sine, &c]));
    let still = lines.define("still", sine.clone().equals(lanes(0.0)));
    lines.define("over", select(theta / sine, lanes(1.0), still));
    let values = match (rigid.screw, branch) {
        (Some(screw), _) => {
            lines.define("q", scaled(screw));
            screws(rigid, branch, &mut lines)
        }
        (None, Branch::Whole) => turned(rigid, &mut lines),
        (None, Branch::Shorter) => straight(rigid),
    };
    let result = |blade: &u8| {
        let value = values.iter().find(|(b, _)| b == blade).map_or(lanes(0.0), |(_, value)| value.clone());
        select(value, not_a_number(), nothing.clone())
    };
    let results = out.masks().iter().map(result).collect();
    Formula { lines, results }
}

/// Every bivector by $\theta / \sin \theta$: all there is to it where shifts are of the plane, and the angle is not $\pi$.
fn straight(rigid: &Rigid) -> Vec<(u8, Expression)> {
    let over = |of: &str, i: usize| name("over") * numbered(of, i);
    let turns = rigid.turns.iter().enumerate().map(|(t, &blade)| (blade, over("e", t)));
    let shifts = rigid.shifts.iter().enumerate().map(|(j, shift)| (shift.blade, over("n", j)));
    turns.chain(shifts).collect()
}

/// The same with the logarithm of -1, which is along the first blade; minus a translation of the plane has none.
fn turned(rigid: &Rigid, lines: &mut Block) -> Vec<(u8, Expression)> {
    let back = lines.define("back", name("still") & name("c").below(lanes(0.0)));
    let mut values = straight(rigid);
    let otherwise = |(_, value): &mut (u8, Expression), other, condition| {
        *value = select(value.clone(), other, condition);
    };
    otherwise(&mut values[0], lanes(PI), back.clone());
    for (j, value) in values[rigid.turns.len()..].iter_mut().enumerate() {
        otherwise(value, not_a_number(), back.clone() & numbered("n", j).differs(lanes(0.0)));
    }
    values
}

/// Screws of space: where the cosine is negative, by the axis.
fn screws(rigid: &Rigid, branch: Branch, lines: &mut Block) -> Vec<(u8, Expression)> {
    let [c, q, sine, theta, over, still] = ["c", "q", "sine", "theta", "over", "still"].map(name);
    let sinc = lines.define("sinc", SINC_OF.call([&theta, &sine]));
    let bend = &q * &over * &over * &over * FALL_OF.call([&theta, &sinc, &c]);
    let bend = lines.define("bend", bend);
    let twin = |shift: &Shift| shift.twin.unwrap_or_default();
    let front = rigid.shifts.iter().enumerate().map(|(j, shift)| {
        let (t, sign) = twin(shift);
        let mut sum = Sum::of([&over * numbered("n", j)]);
        sum.push(sign, &bend * numbered("e", t));
        (shift.blade, Expression::Sum(sum))
    });
    if branch == Branch::Shorter {
        let turns = rigid.turns.iter().enumerate().map(|(t, &blade)| (blade, &over * numbered("e", t)));
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
        let (t, sign) = twin(&rigid.shifts[j]);
        let mut behind = Sum::of([&stretch * numbered("rest", j)]);
        behind.push(-sign, &drift * numbered("axis", t));
        (blade, select(front, Expression::Sum(behind), back.clone()))
    };
    let turns = rigid.turns.iter().enumerate().map(turn);
    turns.chain(front.enumerate().map(shift)).collect()
}

/// The axis, of length 1; where there is no turn, along the shift, or the first blade. Then `along0` and `along1`, the shift
/// along it in two parts, and `rest`, that across: what the first difference leaves along the axis is rounding of the
/// whole, and the rest may be much less.
fn axis(rigid: &Rigid, lines: &mut Block) {
    let twins: Vec<(usize, i8)> = rigid.shifts.iter().map(|shift| shift.twin.unwrap_or_default()).collect();
    let [sine, still] = ["sine", "still"].map(name);
    let shifts = squares((0..twins.len()).map(|j| numbered("n", j)));
    let shift = lines.define("shift", LENGTH_OF.call([shifts]));
    for (j, &(t, sign)) in twins.iter().enumerate() {
        let n = numbered("n", j);
        let along_shift = (if sign > 0 { -n } else { n }) / &shift;
        let first = lanes(if t == 0 { 1.0 } else { 0.0 });
        let without_turn = select(along_shift, first, shift.clone().equals(lanes(0.0)));
        lines.define(format!("axis{t}"), select(numbered("e", t) / &sine, without_turn, still.clone()));
    }
    for (part, [from, to]) in [["n", "across"], ["across", "rest"]].into_iter().enumerate() {
        let mut sum = Sum::default();
        for (j, &(t, sign)) in twins.iter().enumerate() {
            sum.push(-sign, numbered("axis", t) * numbered(from, j));
        }
        let along = lines.define(format!("along{part}"), sum.or(lanes(0.0)));
        for (j, &(t, sign)) in twins.iter().enumerate() {
            let mut value = Sum::of([numbered(from, j)]);
            value.push(sign, &along * numbered("axis", t));
            lines.define(format!("{to}{j}"), Expression::Sum(value));
        }
    }
}
