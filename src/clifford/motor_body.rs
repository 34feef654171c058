//! The code of exp, log and normalisation: the closed forms of `exponential.rs`, blade by blade.

use super::algebra::reverse_sign;
use super::blades::Blades;
use super::body::{Body, finished, push_term, square};
use super::function::Branch;
use super::product::Product;
use super::versor::{Rigid, Shift};
use crate::{Error, Result};
use std::f32::consts::PI;

/// The fragment that bodies here call.
const FUNCTIONS: &str = "trigonometry";
const ZERO: &str = "lanes(0.0)";

/// Null multivectors become NaN.
pub(super) fn normalize(x: &Blades) -> Body {
    let lines = vec![
        square(x),
        format!("let scale = select(inverse_root(abs(square)), not_a_number(), square == {ZERO});"),
    ];
    let results = (0..x.len()).map(|i| format!("scale * x{i}")).collect();
    Body { lines, results, functions: Some(FUNCTIONS), flops: 3 * x.len() + 8 }
}

/// The exponential of bivectors of these blades; what is missing is 0.
pub(super) fn exp(x: &Blades, out: &Blades) -> Result<Body> {
    let rigid = Rigid::of(x.signature(), "exp")?;
    if let Some(&other) = x.masks().iter().find(|blade| blade.count_ones() != 2) {
        let why = format!("there is a closed form of bivectors only, not of {}", x.signature().name(other));
        return Err(Error::input("exp", why));
    }
    let b = |blade: u8| x.position(blade).map(|i| format!("x{i}"));
    let turn = |t: usize| b(rigid.turns[t]);
    let mut lines = vec![
        format!("let theta = length_of({});", squares((0..rigid.turns.len()).filter_map(turn))),
        "let angle = sine_cosine(theta);".to_owned(),
        "let sinc = sinc_of(theta, angle.sine);".to_owned(),
    ];
    if rigid.screw.is_some() {
        lines.push(format!("let wedge = {};", wedge(&rigid, |shift| b(shift.blade), turn)));
        lines.push("let fall = wedge * fall_of(theta, sinc, angle.cosine);".to_owned());
    }
    let result = |&blade: &u8| {
        if blade == 0 {
            return "angle.cosine".to_owned();
        }
        if Some(blade) == rigid.screw {
            return "wedge * sinc".to_owned();
        }
        let mut sum = String::new();
        if let Some(x) = b(blade) {
            push_term(&mut sum, 1, &format!("sinc * {x}"));
        }
        let twin = rigid.shifts.iter().find(|shift| shift.blade == blade).and_then(|shift| shift.twin);
        if let Some((sign, turn)) = twin.and_then(|(t, sign)| Some((sign, turn(t)?))) {
            push_term(&mut sum, -sign, &format!("fall * {turn}"));
        }
        finished(vec![sum]).remove(0)
    };
    let results = out.masks().iter().map(result).collect();
    Ok(Body { lines, results, functions: Some(FUNCTIONS), flops: 60 + 4 * out.len() })
}

/// The logarithm of motors of these blades; what is missing is 0.
pub(super) fn log(x: &Blades, out: &Blades, branch: Branch) -> Result<Body> {
    let rigid = Rigid::of(x.signature(), "log")?;
    check_even(x, "log")?;
    let m = |blade: u8| x.position(blade).map_or(ZERO.to_owned(), |i| format!("x{i}"));
    Ok(log_of(&rigid, out, branch, Vec::new(), m))
}

/// The shorter logarithm of $\tilde x y$.
pub(super) fn way(x: &Blades, y: &Blades, out: &Blades) -> Result<Body> {
    let rigid = Rigid::of(x.signature(), "interpolate")?;
    check_even(x, "interpolate")?;
    check_even(y, "interpolate")?;
    let terms = Product::Geometric.terms_onto(x, y, &x.signature().even())?;
    let mut sums = vec![String::new(); terms.out.len()];
    for term in &terms.terms {
        let reversed = reverse_sign(x.masks()[usize::from(term.x)]);
        let product = format!("x{} * y{}", term.x, term.y);
        push_term(&mut sums[usize::from(term.out)], reversed * term.sign, &product);
    }
    let lines = finished(sums).into_iter().enumerate().map(|(i, sum)| format!("let m{i} = {sum};")).collect();
    let m = |blade: u8| terms.out.position(blade).map_or(ZERO.to_owned(), |i| format!("m{i}"));
    let mut body = log_of(&rigid, out, Branch::Shorter, lines, m);
    body.flops += 2 * terms.terms.len();
    Ok(body)
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
    mut lines: Vec<String>,
    m: impl Fn(u8) -> String,
) -> Body {
    let turns = 0..rigid.turns.len();
    let parts = rigid.turns.iter().map(|&t| m(t));
    lines.push(format!("let whole = {};", squares(parts.chain([m(0)]))));
    lines.push(format!("let nothing = whole == {ZERO};"));
    lines.push(match branch {
        Branch::Whole => "let scale = inverse_root(whole);".to_owned(),
        Branch::Shorter => {
            let first = m(0);
            format!("let scale = inverse_root(whole) * select(lanes(1.0), lanes(-1.0), {first} < {ZERO});")
        }
    });
    let mut define = |name: String, value: String| lines.push(format!("let {name} = {value};"));
    define("c".into(), format!("scale * {}", m(0)));
    for t in turns.clone() {
        define(format!("e{t}"), format!("scale * {}", m(rigid.turns[t])));
    }
    for (j, shift) in rigid.shifts.iter().enumerate() {
        define(format!("n{j}"), format!("scale * {}", m(shift.blade)));
    }
    define("sine".into(), format!("length_of({})", squares(turns.clone().map(|t| format!("e{t}")))));
    define("theta".into(), "angle_of(sine, c)".into());
    define("still".into(), format!("sine == {ZERO}"));
    define("over".into(), "select(theta / sine, lanes(1.0), still)".into());
    let values = match (rigid.screw, branch) {
        (Some(screw), _) => {
            define("q".into(), format!("scale * {}", m(screw)));
            screws(rigid, branch, &mut lines)
        }
        (None, Branch::Whole) => turned(rigid, &mut lines),
        (None, Branch::Shorter) => straight(rigid),
    };
    let result = |blade: &u8| {
        let value = values.iter().find(|(b, _)| b == blade).map_or(ZERO, |(_, value)| value);
        format!("select({value}, not_a_number(), nothing)")
    };
    let results = out.masks().iter().map(result).collect();
    Body { lines, results, functions: Some(FUNCTIONS), flops: 120 + 8 * out.len() }
}

/// Every bivector by $\theta / \sin \theta$: all there is to it where shifts are of the plane, and the angle is not $\pi$.
fn straight(rigid: &Rigid) -> Vec<(u8, String)> {
    let turns = rigid.turns.iter().enumerate().map(|(t, &blade)| (blade, format!("over * e{t}")));
    let shifts = rigid.shifts.iter().enumerate().map(|(j, shift)| (shift.blade, format!("over * n{j}")));
    turns.chain(shifts).collect()
}

/// The same with the logarithm of -1, which is along the first blade; minus a translation of the plane has none.
fn turned(rigid: &Rigid, lines: &mut Vec<String>) -> Vec<(u8, String)> {
    lines.push(format!("let back = still & (c < {ZERO});"));
    let mut values = straight(rigid);
    values[0].1 = format!("select(over * e0, lanes({PI:?}), back)");
    for (j, value) in values[rigid.turns.len()..].iter_mut().enumerate() {
        value.1 = format!("select(over * n{j}, not_a_number(), back & (n{j} != {ZERO}))");
    }
    values
}

/// Screws of space: where the cosine is negative, by the axis.
fn screws(rigid: &Rigid, branch: Branch, lines: &mut Vec<String>) -> Vec<(u8, String)> {
    lines.push("let sinc = sinc_of(theta, sine);".to_owned());
    lines.push("let bend = q * over * over * over * fall_of(theta, sinc, c);".to_owned());
    let twin = |shift: &Shift| shift.twin.unwrap_or_default();
    let front = rigid.shifts.iter().enumerate().map(|(j, shift)| {
        let ((t, sign), mut sum) = (twin(shift), format!("over * n{j}"));
        push_term(&mut sum, sign, &format!("bend * e{t}"));
        (shift.blade, sum)
    });
    if branch == Branch::Shorter {
        let turns = rigid.turns.iter().enumerate().map(|(t, &blade)| (blade, format!("over * e{t}")));
        return turns.chain(front).collect();
    }
    axis(rigid, lines);
    lines.push("let along = along0 + along1;".to_owned());
    lines.push("let drift = c * along - sine * q;".to_owned());
    lines.push(format!("let stretch = select(over, {ZERO}, still);"));
    lines.push(format!("let back = c < {ZERO};"));
    let turn = |(t, &blade): (usize, &u8)| (blade, format!("select(over * e{t}, theta * axis{t}, back)"));
    let shift = |(j, (blade, front)): (usize, (u8, String))| {
        let (t, sign) = twin(&rigid.shifts[j]);
        let mut behind = format!("stretch * rest{j}");
        push_term(&mut behind, -sign, &format!("drift * axis{t}"));
        (blade, format!("select({front}, {behind}, back)"))
    };
    let turns = rigid.turns.iter().enumerate().map(turn);
    turns.chain(front.enumerate().map(shift)).collect()
}

/// The axis, of length 1; where there is no turn, along the shift, or the first blade. Then `along0` and `along1`, the shift
/// along it in two parts, and `rest`, that across: what the first difference leaves along the axis is rounding of the
/// whole, and the rest may be much less.
fn axis(rigid: &Rigid, lines: &mut Vec<String>) {
    let twins: Vec<(usize, i8)> = rigid.shifts.iter().map(|shift| shift.twin.unwrap_or_default()).collect();
    lines.push(format!("let shift = length_of({});", squares((0..twins.len()).map(|j| format!("n{j}")))));
    for (j, &(t, sign)) in twins.iter().enumerate() {
        let minus = if sign > 0 { "-" } else { "" };
        let first = if t == 0 { "lanes(1.0)" } else { ZERO };
        lines.push(format!(
            "let axis{t} = select(e{t} / sine, select({minus}n{j} / shift, {first}, shift == {ZERO}), still);"
        ));
    }
    let along = |name: &str| {
        let mut sum = String::new();
        for (j, &(t, sign)) in twins.iter().enumerate() {
            push_term(&mut sum, -sign, &format!("axis{t} * {name}{j}"));
        }
        sum
    };
    for (part, [from, to]) in [["n", "across"], ["across", "rest"]].into_iter().enumerate() {
        lines.push(format!("let along{part} = {};", along(from)));
        for (j, &(t, sign)) in twins.iter().enumerate() {
            let mut value = format!("{from}{j}");
            push_term(&mut value, sign, &format!("along{part} * axis{t}"));
            lines.push(format!("let {to}{j} = {value};"));
        }
    }
}

/// The sum of squares.
fn squares(names: impl Iterator<Item = String>) -> String {
    let mut sum = String::new();
    for name in names {
        push_term(&mut sum, 1, &format!("{name} * {name}"));
    }
    finished(vec![sum]).remove(0)
}

/// The coefficient d of $E \wedge N = d I$.
fn wedge(
    rigid: &Rigid,
    shift: impl Fn(&Shift) -> Option<String>,
    turn: impl Fn(usize) -> Option<String>,
) -> String {
    let mut sum = String::new();
    for of in &rigid.shifts {
        let Some((t, sign)) = of.twin else { continue };
        if let (Some(shift), Some(turn)) = (shift(of), turn(t)) {
            push_term(&mut sum, sign, &format!("{turn} * {shift}"));
        }
    }
    finished(vec![sum]).remove(0)
}
