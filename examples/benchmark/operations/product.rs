//! Matrix products, GEMV included.

use crate::case::Case;
use crate::fits::{self, Patience};
use crate::planned::check_time;
use crate::ready::{Checked, Ready, ran};
use crate::sample::FULL_CHECK;
use bench::definition::Definition;
use bench::paired::Pair;
use bench::turns::Turns;
use std::rc::Rc;
use tilewise::gemm::{Float, Operand};
use tilewise::{Fill, Gemm, Gpu, Precision, Result};

/// Products of one size and type: all that they share.
struct Shared<T: Operand> {
    turns: Turns,
    pairs: Vec<Pair<T>>,
    definition: Definition,
    patience: Patience,
    configure: Configure<T>,
}

/// Sets the precision, of products that have one.
pub(super) type Configure<T> = for<'a> fn(Gemm<'a, T>, Precision) -> Gemm<'a, T>;

/// A product of floating-point numbers.
pub(super) fn float<T: Float>(product: Gemm<'_, T>, precision: Precision) -> Gemm<'_, T> {
    product.precision(precision)
}

/// A product of integers.
pub(super) fn exact(product: Gemm<'_, i8>, _: Precision) -> Gemm<'_, i8> {
    product
}

/// Makes products of one size and type ready.
pub(super) fn prepare<T: Operand>(
    gpu: &Gpu,
    cases: &[Case],
    patience: Patience,
    configure: Configure<T>,
) -> Result<Vec<Result<Ready>>> {
    let size @ [m, n, k] = cases[0].shape;
    let (a, b) = (Fill::Uniform.values::<T>(m * k, 1), Fill::Uniform.values::<T>(k * n, 2));
    let turns = fits::turns(gpu, &cases[0])?;
    let pairs = turns.sets(|| Ok((gpu.tensor(&a, [m, k])?, gpu.tensor(&b, [k, n])?)))?;
    let definition = Definition::new(&a, &b, size, FULL_CHECK);
    let shared = Rc::new(Shared { turns, pairs, definition, patience, configure });
    Ok(cases.iter().map(|case| ready(gpu, *case, Rc::clone(&shared))).collect())
}

fn ready<T: Operand>(gpu: &Gpu, case: Case, shared: Rc<Shared<T>>) -> Result<Ready> {
    let plan = product(&case, &shared.pairs[0], shared.configure).plan()?;
    check_time(&plan, shared.patience)?;
    let (mut c, plan) = ran(gpu, plan, || product(&case, &shared.pairs[0], shared.configure).run())?;
    let definition = shared.definition.precision(case.precision.unwrap_or_default());
    let checked = Checked { name: definition.check(), found: definition.compare(&c.to_vec()?) };
    Ready::new(gpu, plan, checked, shared.turns, move |at| {
        let pair = &shared.pairs[at % shared.pairs.len()];
        product(&case, pair, shared.configure).run_into(&mut c)
    })
}

/// The product of a case.
fn product<'a, T: Operand>(case: &Case, (a, b): &'a Pair<T>, configure: Configure<T>) -> Gemm<'a, T> {
    let product = configure(Gemm::new(a, b), case.precision.unwrap_or_default());
    match case.pin {
        Some(kernel) => product.kernel(kernel),
        None => product,
    }
}
