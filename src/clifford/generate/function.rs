//! The formula of each function of multivectors.

use super::formula::{Formula, lanes, numbered, sum_expressions};
use super::sandwich::{self, VersorUse};
use super::{exp, log, norm};
use crate::Result;
use crate::clifford::algebra::blades::Blades;
use crate::clifford::algebra::function::Function;
use crate::clifford::algebra::terms::Terms;
use crate::kernel::wgsl::Sum;
use crate::layout::DType;

/// The properties of the operands on which the code of a function depends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operands<'a> {
    /// Blades of the first operand.
    pub(crate) x: &'a Blades,
    /// Blades of the second operand; those of the first if the function has one operand.
    pub(crate) y: &'a Blades,
    /// Blades of the result.
    pub(crate) out: &'a Blades,
    /// Type of the stored elements.
    pub(crate) dtype: DType,
    /// Whether the versor of a sandwich is shared by all positions of an invocation.
    pub(crate) versor: VersorUse,
}

/// The formula of a function. `terms` are the terms of a product. A sandwich is computed by a matrix only if the matrix
/// has at most `max_terms` terms.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) if the function is not defined for these blades.
pub(crate) fn formula(
    function: Function,
    terms: Option<&Terms>,
    operands: Operands<'_>,
    max_terms: usize,
) -> Result<Formula> {
    let Operands { x, y, out, dtype, versor } = operands;
    Ok(match function {
        Function::Product(_) | Function::BackwardX(_) | Function::BackwardY(_) => {
            terms.map(product).unwrap_or_default()
        }
        Function::Unary(function) => select_blades(out, |blade| {
            let (from, _) = function.backward().of_blade(x.signature(), blade);
            Some((x.position(from)?, function.of_blade(x.signature(), from).1))
        }),
        Function::Select => select_blades(out, |blade| Some((x.position(blade)?, 1))),
        Function::Negate(blades) => select_blades(out, |blade| {
            let is_set = blades[usize::from(blade / 64)] >> (blade % 64) & 1 == 1;
            Some((x.position(blade)?, if is_set { -1 } else { 1 }))
        }),
        Function::Norm => norm::norm(x),
        Function::NormBackward => norm::norm_backward(x),
        Function::Inverse => norm::inverse(x, dtype)?,
        Function::InverseBackward => norm::inverse_backward(x),
        Function::Normalize => norm::normalize(x),
        Function::Exp => exp::exp(x, out)?,
        Function::Log(branch) => log::log(x, out, branch)?,
        Function::LogBetween => log::log_between(x, y, out)?,
        Function::Sandwich => sandwich::sandwich(x, y, out, versor, max_terms)?,
    })
}

/// The sums of a product's terms.
fn product(terms: &Terms) -> Formula {
    let mut results = vec![Sum::default(); terms.out.len()];
    for term in &terms.terms {
        results[usize::from(term.out)].push(term.sign, numbered("x", term.x) * numbered("y", term.y));
    }
    Formula { results: sum_expressions(results), ..Formula::default() }
}

/// A signed selection: each blade of the result is plus or minus a blade of the operand, or zero.
fn select_blades(out: &Blades, from: impl Fn(u8) -> Option<(usize, i8)>) -> Formula {
    let result = |&blade: &u8| match from(blade) {
        Some((i, 1)) => numbered("x", i),
        Some((i, _)) => -numbered("x", i),
        None => lanes(0.0),
    };
    Formula { results: out.masks().iter().map(result).collect(), ..Formula::default() }
}
