//! Matrix products, GEMV included.

use super::in_turns;
use crate::case::Case;
use crate::fits::Patience;
use crate::ready::{Checked, Ready, check_time};
use crate::sample::Sample;
use std::rc::Rc;
use tilewise::reference::{self, GemmReference};
use tilewise::{Fill, Gemm, Gpu, Operand, Precision, Real, Result, Tensor};

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
    let bytes = (m * k + k * n) * size_of::<T>();
    let pairs: Rc<[Pair<T>]> =
        in_turns(gpu, bytes, patience, || Ok((gpu.tensor(&a, [m, k])?, gpu.tensor(&b, [k, n])?)))?.into();
    let definition = Definition::new(&a, &b, size);
    Ok(cases.iter().map(|case| ready(gpu, case, &pairs, &definition, patience, configure)).collect())
}

fn ready<T: Operand>(
    gpu: &Gpu,
    case: &Case,
    pairs: &Rc<[Pair<T>]>,
    definition: &Definition,
    patience: Patience,
    configure: Configure<T>,
) -> Result<Ready> {
    let (case, pairs) = (*case, Rc::clone(pairs));
    let plan = product(&case, &pairs[0], configure).plan()?;
    check_time(&plan, patience)?;
    let mut c = product(&case, &pairs[0], configure).run()?;
    let checked = definition.check::<T>(&c, case.precision)?;
    Ready::new(gpu, plan, checked, move |at| {
        product(&case, &pairs[at % pairs.len()], configure).run_into(&mut c)
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
