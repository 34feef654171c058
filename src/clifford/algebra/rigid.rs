//! The blades of rigid motions.

use super::signature::Signature;
use crate::{Error, Result};

/// The blades of rigid motions of the plane or of space, about a point or anywhere, and how they go together: what closed
/// forms of exp and log need to know of an algebra.
///
/// A bivector is $B = E + N$, the turn E without the null vector and the shift N with it. Then $B^2 = -\theta^2 + 2 d I$,
/// with $\theta = |E|$ and $E \wedge N = d I$; I, if there is one, squares to 0 and commutes with all that is even.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rigid {
    /// Bivectors without the null vector: one in the plane, three in space.
    pub(crate) turns: Vec<u8>,
    /// Bivectors with it: none, two or three.
    pub(crate) shifts: Vec<Shift>,
    /// The blade I of PGA of space.
    pub(crate) screw: Option<u8>,
}

/// A bivector with the null vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shift {
    pub(crate) blade: u8,
    /// In space: the place t of the turn that completes it, and the sign in $e_{t} \wedge e = \pm I$. Then $I e_{t} = \mp e$.
    pub(crate) twin: Option<(usize, i8)>,
}

impl Rigid {
    /// The blades in an algebra, which must be one of those that have closed forms.
    pub(crate) fn of(signature: Signature, op: &'static str) -> Result<Self> {
        let pqr = signature.pqr();
        if ![[2, 0, 0], [3, 0, 0], [2, 0, 1], [3, 0, 1]].contains(&pqr) {
            let why = "there are closed forms in Cl(2), Cl(3), Cl(2,0,1) and Cl(3,0,1) only";
            return Err(Error::input(format!("{op} in {signature}"), why));
        }
        let null = signature.null();
        let (shifts, turns): (Vec<u8>, Vec<u8>) =
            signature.bivectors().masks().iter().partition(|&b| b & null != 0);
        let screw = (pqr == [3, 0, 1]).then(|| signature.pseudoscalar());
        let twin = |blade: u8| {
            let turn = screw? & !blade;
            Some((turns.iter().position(|&t| t == turn)?, signature.sign(turn, blade)))
        };
        let shifts = shifts.into_iter().map(|blade| Shift { blade, twin: twin(blade) }).collect();
        Ok(Self { turns, shifts, screw })
    }
}
