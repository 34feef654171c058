//! Matrix products, GEMV included.

use crate::case::Case;
use crate::fits::Patience;
use crate::planned::check_time;
use crate::ready::{Checked, Ready, ran};
use crate::sample::Sample;
use crate::turns::Turns;
use std::rc::Rc;
use tilewise::reference::{self, GemmReference};
use tilewise::{Fill, Gemm, Gpu, Operand, Precision, Real, Result, Tensor};

/// Products of one size and type: all that they share.
struct Shared<T: Operand> {
    turns: Turns,
    pairs: Vec<Pair<T>>,
    definition: Definition,
    patience: Patience,
    configure: Configure<T>,
}

/// The operands of a product.
type Pair<T> = (Tensor<T>, Tensor<T>);

/// Sets the precision, of products that have one.
pub(super) type Configure<T> = for<'a> fn(Gemm<'a, T>, Precision) -> Gemm<'a, T>;

/// A product of real numbers.
pub(super) fn real<T: Real + Operand<Sum = f32>>(product: Gemm<'_, T>, precision: Precision) -> Gemm<'_, T> {
    product.precision(precision)
}

/// A product of integers.
pub(super) fn exact(product: Gemm<'_, i8>, _: Precision) -> Gemm<'_, i8> {
    product
}

/// A product's entries in f64.
struct Definition {
    sample: Sample,
    entries: GemmReference,
    columns: usize,
}

impl Definition {
    fn new<T: Operand>(a: &[T], b: &[T], [m, n, k]: [usize; 3]) -> Self {
        let sample = Sample::new([m, n], k);
        let size = [sample.rows.len(), sample.columns.len(), k];
        let entries = reference::gemm(&sample.rows_of(a, k), &sample.columns_of(b, n), size);
        Self { sample, entries, columns: n }
    }

    fn check<T: Operand>(&self, c: &Tensor<T::Sum>, precision: Option<Precision>) -> Result<Checked> {
        let entries = self.sample.entries_of(&c.to_vec()?, self.columns);
        let definition = self.entries.clone().precision(precision.unwrap_or_default());
        Ok(Checked { name: self.sample.name.clone(), found: definition.compare(&entries) })
    }
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
    let turns = Turns::of_case(gpu, &cases[0])?;
    let pairs = turns.sets(|| Ok((gpu.tensor(&a, [m, k])?, gpu.tensor(&b, [k, n])?)))?;
    let shared =
        Rc::new(Shared { turns, pairs, definition: Definition::new(&a, &b, size), patience, configure });
    Ok(cases.iter().map(|case| ready(gpu, *case, Rc::clone(&shared))).collect())
}

fn ready<T: Operand>(gpu: &Gpu, case: Case, shared: Rc<Shared<T>>) -> Result<Ready> {
    let plan = product(&case, &shared.pairs[0], shared.configure).plan()?;
    check_time(&plan, shared.patience)?;
    let (mut c, plan) = ran(gpu, plan, || product(&case, &shared.pairs[0], shared.configure).run())?;
    let checked = shared.definition.check::<T>(&c, case.precision)?;
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
