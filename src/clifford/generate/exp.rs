//! The formula of the exponential: the closed form of `cpu/exponential.rs`, blade by blade.

use super::formula::{Formula, lanes, numbered, squares};
use super::trigonometry::{FALL_OF, LENGTH_OF, SINC_OF, SINE_COSINE};
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::rigid::{RigidBlades, TranslationBlade};
use crate::kernel::wgsl::{Block, Expression, Sum, name};
use crate::{Error, Result};

/// The exponential of bivectors with blades `x`. Missing blades are 0.
pub(super) fn exp(x: &Blades, out: &Blades) -> Result<Formula> {
    let rigid = RigidBlades::of(x.signature(), "exp")?;
    if let Some(&other) = x.masks().iter().find(|blade| blade.count_ones() != 2) {
        let why = format!(
            "the closed form is for bivectors only, and the operand has {}",
            x.signature().name(other)
        );
        return Err(Error::input("exp", why));
    }
    let b = |blade: u8| x.position(blade).map(|i| numbered("x", i));
    let turn = |t: usize| b(rigid.rotations[t]);
    let mut lines = Block::default();
    let turns = squares((0..rigid.rotations.len()).filter_map(turn));
    let theta = lines.define("theta", LENGTH_OF.call([turns]));
    let angle = lines.define("angle", SINE_COSINE.call([&theta]));
    let cosine = angle.clone().member("cosine");
    let sinc = lines.define("sinc", SINC_OF.call([theta.clone(), angle.member("sine")]));
    let [wedge, fall] = ["wedge", "fall"].map(name);
    if rigid.pseudoscalar.is_some() {
        lines.define("wedge", wedge_of(&rigid, |shift| b(shift.blade), turn));
        lines.define("fall", &wedge * FALL_OF.call([&theta, &sinc, &cosine]));
    }
    let result = |&blade: &u8| {
        if blade == 0 {
            return cosine.clone();
        }
        if Some(blade) == rigid.pseudoscalar {
            return &wedge * &sinc;
        }
        let mut sum = Sum::default();
        if let Some(x) = b(blade) {
            sum.push(1, &sinc * x);
        }
        let complement =
            rigid.translations.iter().find(|shift| shift.blade == blade).and_then(|shift| shift.complement);
        if let Some((sign, turn)) = complement.and_then(|(t, sign)| Some((sign, turn(t)?))) {
            sum.push(-sign, &fall * turn);
        }
        sum.or(lanes(0.0))
    };
    let results = out.masks().iter().map(result).collect();
    Ok(Formula { statements: lines, results })
}

/// The coefficient d in $E \wedge N = d I$.
fn wedge_of(
    rigid: &RigidBlades,
    shift: impl Fn(&TranslationBlade) -> Option<Expression>,
    turn: impl Fn(usize) -> Option<Expression>,
) -> Expression {
    let mut sum = Sum::default();
    for of in &rigid.translations {
        let Some((t, sign)) = of.complement else { continue };
        if let (Some(shift), Some(turn)) = (shift(of), turn(t)) {
            sum.push(sign, turn * shift);
        }
    }
    sum.or(lanes(0.0))
}
