//! Reductions and cumulative sums, by definition. All are along the middle of three axes of a contiguous tensor: (outer, length, inner).

use super::bounds::{gamma, sum_tolerance};
use super::elements::{Definition, NORMAL, U};
use super::lines::{along_lines, lines};
use crate::gemm::Accumulator;
use crate::layout::Element;
use crate::ops::ReduceFunction;
use crate::ops::table::reduction_rows;

/// The definition of a row: values with bounds, or indices.
macro_rules! definition {
    (places $name:ident $row:ident [] [$value:expr] $(#[$of:meta])+) => {
        $(#[$of])+
        ///
        /// # Panics
        /// If the number of elements is not that of the shape, or there are none along the axis.
        #[must_use]
        pub fn $name<T: Element>(a: &[T], shape: [usize; 3]) -> Vec<usize> {
            assert!(shape[1] > 0, "an element to choose");
            rows_along(a, shape).map(|elements| {
                let $row: &[f64] = &elements;
                $value
            }).collect()
        }
    };
    ($takes:ident $name:ident $row:ident [$($option:ident)?] [$value:expr] $(#[$of:meta])+) => {
        $(#[$of])+
        ///
        /// # Panics
        /// If the number of elements is not that of the shape.
        #[must_use]
        pub fn $name<T: Element>(a: &[T], shape: [usize; 3], $($option: usize)?) -> Definition {
            Definition::of(rows_along(a, shape).map(|elements| {
                let $row: &[f64] = &elements;
                $value
            }))
        }
    };
}

/// A definition as values with bounds.
macro_rules! values {
    (places $found:expr) => {
        Definition::of($found.into_iter().map(|at| [at as f64, 0.0]))
    };
    ($takes:ident $found:expr) => {
        $found
    };
}

/// Generates the definitions from the rows.
macro_rules! definitions {
    ($row:ident $n:ident $dtype:ident: $(
        $(#[$doc:meta])+
        $variant:ident $({ $option:ident: $given:literal })?: $name:ident takes $takes:ident,
        nothing $nothing:tt flops $flops:tt states $states:tt finish $finish:tt number $number:tt,
        $(#[$of:meta])+ value $value:tt;
    )*) => {
        $(definition! { $takes $name $row [$($option)?] $value $(#[$of])+ })*

        /// A reduction along the middle of three axes. Indices are exact.
        ///
        /// # Panics
        /// As the definition of the function.
        #[must_use]
        pub fn reduce<T: Element>(function: ReduceFunction, a: &[T], shape: [usize; 3]) -> Definition {
            match function {
                $(ReduceFunction::$variant $({ $option })? => values!($takes $name(a, shape $(, $option)?)),)*
            }
        }
    };
}

reduction_rows!(definitions);

fn sum_of(row: &[f64]) -> [f64; 2] {
    let [sum, magnitude] = row.iter().fold([0.0, 0.0], |[sum, all], x| [sum + x, all + x.abs()]);
    [sum, sum_tolerance(row.len(), magnitude, Accumulator::F32)]
}

fn mean_of(row: &[f64]) -> [f64; 2] {
    let ([sum, tolerance], n) = (sum_of(row), row.len() as f64);
    [sum / n, (tolerance + 4.0 * U * (sum.abs() + tolerance)) / n + NORMAL]
}

fn product_of(row: &[f64]) -> [f64; 2] {
    let product: f64 = row.iter().product();
    [product, gamma(row.len()) * product.abs() + NORMAL]
}

fn squares_of(row: &[f64]) -> [f64; 2] {
    let (sum, n) = (row.iter().map(|x| x * x).sum(), row.len());
    [sum, sum_tolerance(n + 1, sum, Accumulator::F32) + n as f64 * NORMAL]
}

fn norm_of(row: &[f64]) -> [f64; 2] {
    let [sum, tolerance] = squares_of(row);
    let below = sum.sqrt() - (sum - tolerance).max(0.0).sqrt();
    [sum.sqrt(), below + 8.0 * U * (sum + tolerance).sqrt()]
}

fn larger(x: f64, y: f64) -> f64 {
    if x.is_nan() || x >= y { x } else { y }
}

fn variance_of(row: &[f64], correction: usize) -> [f64; 2] {
    let n = row.len();
    if n <= correction {
        return [f64::NAN, f64::NAN];
    }
    let mean = row.iter().sum::<f64>() / n as f64;
    let squares = |from: f64| row.iter().map(|x| (x - from) * (x - from)).sum::<f64>();
    let divisor = (n - correction) as f64;
    [squares(mean) / divisor, gamma(8 * n) * squares(row[0]) / divisor + 2.0 * n as f64 * NORMAL]
}

/// The index of the first best element; NaN is better than numbers.
fn first_of_best(row: &[f64], is_better: fn(f64, f64) -> bool) -> usize {
    let wins = |x: f64, y: f64| !y.is_nan() && (x.is_nan() || is_better(x, y));
    (1..row.len()).fold(0, |at, i| if wins(row[i], row[at]) { i } else { at })
}

/// Cumulative sums along the middle of three axes, of the same shape: the sum of the first $i$ elements is within the tolerance of
/// [`sum`] for length $i$.
///
/// # Panics
/// If the number of elements is not that of the shape.
#[must_use]
pub fn cumsum<T: Element>(a: &[T], shape: [usize; 3]) -> Definition {
    along_lines(a.len(), shape, |places| {
        let [mut sum, mut magnitude] = [0.0, 0.0];
        let entry = |(i, &place): (usize, &usize)| {
            let x = a[place].to_f64();
            sum += x;
            magnitude += x.abs();
            [sum, sum_tolerance(i + 1, magnitude, Accumulator::F32)]
        };
        places.iter().enumerate().map(entry).collect()
    })
}

/// The rows along the middle of three axes.
fn rows_along<T: Element>(a: &[T], shape: [usize; 3]) -> impl Iterator<Item = Vec<f64>> {
    assert_eq!(a.len(), shape.iter().product::<usize>(), "the number of elements");
    lines(shape).map(|places| places.iter().map(|&place| a[place].to_f64()).collect())
}
