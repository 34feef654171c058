//! Geometric products of multivectors, blades first.

use crate::case::Case;
use crate::fits::{self, Patience};
use crate::planned::check_time;
use crate::ready::{Checked, Ready, ran};
use crate::sample::Sample;
use tilewise::clifford::{BladeAxis, Multivectors, MvProduct, Product, Signature};
use tilewise::planning::clifford::Terms;
use tilewise::reference::{compare, gamma, store_tolerance};
use tilewise::{Fill, Gpu, Real, Result};

/// The least normal f32: smaller numbers may be flushed to zero.
const LEAST_NORMAL: f64 = f32::MIN_POSITIVE as f64;

/// Makes a product ready.
pub(super) fn ready<T: Real>(gpu: &Gpu, case: &Case, patience: Patience) -> Result<Ready> {
    let shape @ [m, n, k] = case.shape;
    let blades = case.algebra().unwrap_or(Signature::CL3).blades();
    let values = [1, 2].map(|seed| Fill::Uniform.values::<T>(m * n * k, seed));
    let operand = |values: &[T]| Multivectors::new(gpu.tensor(values, [k, m, n])?, &blades, BladeAxis::First);
    let turns = fits::turns(gpu, case)?;
    let pairs = turns.sets(|| Ok((operand(&values[0])?, operand(&values[1])?)))?;
    let (x, y) = &pairs[0];
    let plan = MvProduct::new(Product::Geometric, x, y).plan()?;
    check_time(&plan, patience)?;
    let terms = Product::Geometric.terms(&blades, &blades)?;
    let (result, plan) = ran(gpu, plan, || x.product(Product::Geometric, y))?;
    let checked = check(&terms, [&values[0], &values[1], &result.tensor().to_vec()?], shape);
    Ready::new(gpu, plan, checked, turns, move |at| {
        let (x, y) = &pairs[at % pairs.len()];
        x.product(Product::Geometric, y).map(drop)
    })
}

/// Compares the result with the sums of the terms, at all positions or at some.
fn check<T: Real>(terms: &Terms, [x, y, result]: [&[T]; 3], [m, n, _]: [usize; 3]) -> Checked {
    let (positions, longest) = (m * n, terms.max_terms_per_blade());
    let sample = Sample::new([m, n], terms.terms.len());
    let at = sample.rows.iter().flat_map(|&row| sample.columns.iter().map(move |&column| row * n + column));
    let entries = at.flat_map(|at| {
        let mut sums = vec![[0.0, 0.0]; terms.out.len()];
        for term in &terms.terms {
            let of = |values: &[T], blade: u8| values[usize::from(blade) * positions + at].to_f64();
            let product = f64::from(term.sign) * of(x, term.x) * of(y, term.y);
            let [sum, magnitude] = &mut sums[usize::from(term.out)];
            *sum += product;
            *magnitude += product.abs();
        }
        sums.into_iter().enumerate().map(move |(blade, [sum, magnitude])| {
            let rounded = gamma(longest) * magnitude + longest as f64 * LEAST_NORMAL;
            (result[blade * positions + at].to_f64(), sum, rounded + store_tolerance(sum, T::DTYPE))
        })
    });
    let found = compare(entries);
    Checked { name: sample.name, found }
}
