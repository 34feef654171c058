//! Indices of extremes in long rows, which are searched in one block of elements, against a scan from the first element on.

use tilewise::{Gpu, Real, f16, ops};

/// The few values of a row, so that the first of many equal ones is asked for.
const VALUES: [[f64; 4]; 5] = [
    [1.0, -2.0, 3.0, -3.0],
    [-0.0, 0.0, -0.0, 0.0],
    [-1.0, -2.0, -1.5, -0.0],
    [f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY],
    [f64::INFINITY, 5.0, f64::NEG_INFINITY, 2.0],
];

#[test]
fn the_first_of_equal_extremes_is_found_in_long_rows() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    compare::<f32>(gpu);
    compare::<f16>(gpu);
    if let Some(gpu) = turn.planned_as_a_gpu() {
        compare::<f32>(gpu);
    }
}

/// Rows of each length and kind, without NaN, with one, and with one of another sign before it.
fn compare<T: Real>(gpu: &Gpu) {
    for length in [64, 1024, 1040, 70_000] {
        let mut data: Vec<T> = Vec::new();
        for (kind, values) in VALUES.iter().enumerate() {
            for nans in 0..3 {
                // Pseudo-random places, none of which is special.
                let mut state = 7 + kind + 5 * nans;
                let mut next = || {
                    state = (state * 1_103_515_245 + 12_345) % (1 << 31);
                    state >> 8
                };
                let mut row: Vec<f64> = (0..length).map(|_| values[next() % 4]).collect();
                for nan in [f64::NAN, -f64::NAN].into_iter().take(nans) {
                    row[next() % length] = nan;
                }
                data.extend(row.iter().map(|&x| T::from_f64(x)));
            }
        }
        let rows = data.len() / length;
        let a = gpu.tensor(&data, [rows, length]).unwrap();
        let [most, least] =
            [ops::argmax(&a, 1), ops::argmin(&a, 1)].map(|found| found.unwrap().to_vec().unwrap());
        for (at, row) in data.chunks(length).enumerate() {
            let what = format!("{} rows of {length}, row {at}", T::DTYPE);
            assert_eq!(most[at], first(row, |x, best| x > best), "largest of {what}");
            assert_eq!(least[at], first(row, |x, best| x < best), "smallest of {what}");
        }
    }
}

/// The index of the first NaN, or of the first element that no other one is better than.
fn first<T: Real>(row: &[T], is_better: impl Fn(f64, f64) -> bool) -> i32 {
    let row: Vec<f64> = row.iter().map(|x| x.to_f64()).collect();
    let nan = row.iter().position(|x| x.is_nan());
    let best = (1..row.len()).fold(0, |best, at| if is_better(row[at], row[best]) { at } else { best });
    i32::try_from(nan.unwrap_or(best)).unwrap()
}
