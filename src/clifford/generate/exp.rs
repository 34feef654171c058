//! The code of exponentials of bivectors: the closed forms of `cpu/exponential.rs`, blade by blade.

use super::formula::{Formula, lanes, numbered, squares};
use super::trigonometry::{FALL_OF, LENGTH_OF, SINC_OF, SINE_COSINE};
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::rigid::{Rigid, Shift};
use crate::kernel::write::{Block, Expression, Sum, name};
use crate::{Error, Result};

/// The exponential of bivectors of these blades; what is missing is 0.
pub(super) fn exp(x: &Blades, out: &Blades) -> Result<Formula> {
    let rigid = Rigid::of(x.signature(), "exp")?;
    if let Some(&other) = x.masks().iter().find(|blade| blade.count_ones() != 2) {
        let why = format!("there is a closed form of bivectors only, not of {}", x.signature().name(other));
        return Err(Error::input("exp", why));
    }
    let b = |blade: u8| x.position(blade).map(|i| numbered("x", i));
    let turn = |t: usize| b(rigid.turns[t]);
    let mut lines = Block::default();
    let turns = squares((0..rigid.turns.len()).filter_map(turn));
    let theta = lines.define("theta", LENGTH_OF.call([turns]));
    let angle = lines.define("angle", SINE_COSINE.call([&theta]));
    let cosine = angle.clone().member("cosine");
    let sinc = lines.define("sinc", SINC_OF.call([theta.clone(), angle.member("sine")]));
    let [wedge, fall] = ["wedge", "fall"].map(name);
    if rigid.screw.is_some() {
        lines.define("wedge", wedge_of(&rigid, |shift| b(shift.blade), turn));
        lines.define("fall", &wedge * FALL_OF.call([&theta, &sinc, &cosine]));
    }
    let result = |&blade: &u8| {
        if blade == 0 {
            return cosine.clone();
        }
        if Some(blade) == rigid.screw {
            return &wedge * &sinc;
        }
        let mut sum = Sum::default();
        if let Some(x) = b(blade) {
            sum.push(1, &sinc * x);
        }
        let twin = rigid.shifts.iter().find(|shift| shift.blade == blade).and_then(|shift| shift.twin);
        if let Some((sign, turn)) = twin.and_then(|(t, sign)| Some((sign, turn(t)?))) {
            sum.push(-sign, &fall * turn);
        }
        sum.or(lanes(0.0))
    };
    let results = out.masks().iter().map(result).collect();
    Ok(Formula { lines, results })
}

/// The coefficient d of $E \wedge N = d I$.
fn wedge_of(
    rigid: &Rigid,
    shift: impl Fn(&Shift) -> Option<Expression>,
    turn: impl Fn(usize) -> Option<Expression>,
) -> Expression {
    let mut sum = Sum::default();
    for of in &rigid.shifts {
        let Some((t, sign)) = of.twin else { continue };
        if let (Some(shift), Some(turn)) = (shift(of), turn(t)) {
            sum.push(sign, turn * shift);
        }
    }
    sum.or(lanes(0.0))
}
