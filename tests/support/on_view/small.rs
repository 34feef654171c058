//! Every family on small views, which differ in what kernels depend on.

use super::{On, Row, of_any_view, of_multivectors, view};
use crate::limits::Planned;
use tilewise::{Caps, Layout};

/// Rows that begin at whole vectors, at even indices, and others; short and long, few and many; columns; more axes; images.
fn views() -> Vec<Layout> {
    let rows =
        |rows: usize, length: usize, row: usize, offset: usize| view(&[rows, length], &[row, 1], offset);
    let of = |shape: [usize; 3], row: usize| view(&shape, &[shape[1] * row, row, 1], 0);
    let long = 1 << 17;
    vec![
        rows(3, 5, 6, 0),
        rows(3, 4, 5, 0),
        rows(3, 16, 16, 0),
        rows(8, 16, 32, 16),
        rows(8, 16, 20, 4),
        rows(8, 16, 18, 2),
        rows(8, 16, 17, 1),
        view(&[8, 16], &[1, 8], 0),
        rows(300, 4, 8, 0),
        rows(300, 64, 64, 0),
        rows(300, 65, 65, 0),
        rows(3, 9000, 9000, 0),
        rows(3, 9001, 9001, 0),
        rows(2, long, long, 0),
        rows(2, long, long + 1, 0),
        rows(2, long, long + 2, 0),
        rows(long, 8, 8, 0),
        rows(long, 7, 7, 0),
        rows(long, 6, 6, 0),
        rows(3, 8 * long, 8 * long + 1, 0),
        rows(8 * long, 16, 16, 0),
        rows(4096, 300, 300, 0),
        of([4, 3, 16], 16),
        of([1, 300, 64], 65),
        of([1, 40_000, 8], 8),
        of([5, 65, 4], 4),
        of([5, 65, 3], 3),
        view(&[5, 65, 4], &[65, 1, 400], 6),
        of([5, 65, 1], 1),
    ]
}

/// Multivectors of each number of blades.
fn multivectors() -> Vec<Layout> {
    let of = |shape: [usize; 3]| view(&shape, &[shape[1] * shape[2], shape[2], 1], 0);
    let gaps = view(&[4, 3, 8], &[48, 16, 2], 0);
    let blades_last = [4, 8].map(|blades| view(&[blades, 3, 5], &[1, 5 * blades, blades], 0));
    let shapes =
        [[4, 3, 8], [4, 3, 5], [8, 3, 8], [8, 3, 65], [8, 3, 40_000], [16, 3, 5], [32, 3, 5], [64, 3, 8]];
    shapes.map(of).into_iter().chain(blades_last).chain([gaps]).collect()
}

/// The plans of all families for a device.
pub fn small(caps: &Caps) -> Vec<Planned> {
    let (views, multivectors) = (views(), multivectors());
    let families = of_any_view().map(|row| (row, &views));
    families.chain(of_multivectors().map(|row| (row, &multivectors))).flat_map(|of| plans(of, caps)).collect()
}

/// The plans of a family. If it has many forms, they and the views take turns.
fn plans((row, views): (Row, &Vec<Layout>), caps: &Caps) -> Vec<Planned> {
    let cases = row.1.iter().flat_map(|dtype| views.iter().map(move |x| (*dtype, *x)));
    let on = |(turn, (dtype, x)): (u64, (_, Layout))| {
        let y = super::flat(x.shape()).expect("a small view");
        let mut on = On::new([x, y], dtype, caps, 1500);
        let count = on.count(&row);
        let most = if count <= 12 { count } else { count.div_ceil(64).max(2) };
        on.forms(&row, most, turn)
    };
    (0..).zip(cases).flat_map(on).collect()
}
