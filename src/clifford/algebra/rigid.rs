//! The bivectors of rigid motions: rotations and translations.

use super::signature::Signature;
use crate::{Error, Result};

/// The bivectors of an algebra of rigid motions in the plane or in space, for the closed forms of exp and log.
///
/// A bivector is $B = E + N$. The rotation part E has no null vector; the translation part N has one. Then
/// $B^2 = -\theta^2 + 2 d I$, with $\theta = |E|$ and $E \wedge N = d I$. The pseudoscalar I of PGA squares to 0 and
/// commutes with every even multivector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RigidBlades {
    /// Bivectors without the null vector: one in the plane, three in space.
    pub(crate) rotations: Vec<u8>,
    /// Bivectors with the null vector: none, two or three.
    pub(crate) translations: Vec<TranslationBlade>,
    /// The pseudoscalar I, in PGA of space only.
    pub(crate) pseudoscalar: Option<u8>,
}

/// A bivector that contains the null vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TranslationBlade {
    pub(crate) blade: u8,
    /// In space: the index t of the complementary rotation, and the sign in $e_{t} \wedge e = \pm I$. Then
    /// $I e_{t} = \mp e$.
    pub(crate) complement: Option<(usize, i8)>,
}

impl RigidBlades {
    /// The bivectors of an algebra that has closed forms.
    ///
    /// # Errors
    /// [`Error::Input`] for any other algebra.
    pub(crate) fn of(signature: Signature, op: &'static str) -> Result<Self> {
        let pqr = signature.pqr();
        if ![[2, 0, 0], [3, 0, 0], [2, 0, 1], [3, 0, 1]].contains(&pqr) {
            let why = "closed forms exist in Cl(2), Cl(3), Cl(2,0,1) and Cl(3,0,1) only";
            return Err(Error::input(format!("{op} in {signature}"), why));
        }
        let null = signature.null();
        let (translations, rotations): (Vec<u8>, Vec<u8>) =
            signature.bivectors().masks().iter().partition(|&b| b & null != 0);
        let pseudoscalar = (pqr == [3, 0, 1]).then(|| signature.pseudoscalar());
        let complement = |blade: u8| {
            let rotation = pseudoscalar? & !blade;
            let t = rotations.iter().position(|&t| t == rotation)?;
            Some((t, signature.sign(rotation, blade)))
        };
        let translations = translations.into_iter();
        let translations =
            translations.map(|blade| TranslationBlade { blade, complement: complement(blade) });
        let translations = translations.collect();
        Ok(Self { rotations, translations, pseudoscalar })
    }
}
