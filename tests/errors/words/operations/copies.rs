//! Copies into tensors, into places of them, and out of them.

use crate::words::said::Said;
use support::failure::{Kind, fails};
use tilewise::ops;

#[test]
fn outputs_of_copies_that_do_not_fit() {
    let mut said = Said::new();
    let (x, whole) = (said.tensor(&[2, 3]), said.tensor(&[4, 3]));
    let mut turned = said.tensor(&[3, 2]);
    said.says(|| ops::copy_into(&x, &mut turned));
    let overlapping = said.tensor(&[4]).as_strided(&[2, 3], &[1, 1], 0).unwrap();
    said.says(|| ops::copy_into(&x, &mut overlapping.writable_view()));
    let [top, bottom] = [whole.slice(0, ..2).unwrap(), whole.slice(0, 2..).unwrap()];
    said.says(|| ops::copy_into(&top, &mut bottom.writable_view()));
    said.says(|| ops::copy_into(&x, &mut bottom.clone()));
    let mut wide = said.tensor(&[1, 4]).broadcast_to([3, 4]).unwrap();
    let sum = said.tensor(&[3, 4]);
    // The sum is computed before.
    fails(wide.assign(|| ops::add(&sum, &sum)), Kind::Shape, &["assign", "must not overlap"]);
    // Nothing is copied to nothing.
    let empty = said.tensor(&[0, 3]);
    let launches = said.gpu.stats().launches;
    assert!(ops::copy_into(&empty, &mut said.tensor(&[0, 3])).is_ok());
    assert_eq!(ops::concat(&[&empty, &empty], 0).unwrap().shape(), [0, 3]);
    assert_eq!(said.gpu.stats().launches, launches);
    said.compare();
}

#[test]
fn positions_of_copies_that_do_not_fit() {
    let mut said = Said::new();
    let (row, mut cache) = (said.tensor(&[1, 3]), said.tensor(&[4, 3]));
    let [at, two] = [1, 2].map(|len| said.integers(&[len]));
    said.says(|| ops::copy_into_at(&row, &mut cache, 1, &at));
    for shape in [&[5, 3][..], &[1, 2], &[3]] {
        let x = said.tensor(shape);
        said.says(|| ops::copy_into_at(&x, &mut cache, 0, &at));
    }
    said.says(|| ops::copy_into_at(&row, &mut cache, 0, &two));
    let mut overlapping = said.tensor(&[4]).as_strided(&[2, 3], &[1, 1], 0).unwrap();
    said.says(|| ops::copy_into_at(&row, &mut overlapping, 0, &at));
    let shared = cache.slice(0, 3..).unwrap();
    said.says(|| ops::copy_into_at(&shared, &mut cache.writable_view(), 0, &at));
    said.says(|| ops::copy_into_at(&row, &mut cache, 0, &at));
    let (numbers, one) = (said.integers(&[4, 3]), said.integers(&[1, 3]));
    let position = numbers.as_strided(&[1], &[1], 11).unwrap();
    said.says(|| ops::copy_into_at(&one, &mut numbers.writable_view(), 0, &position));
    said.says(|| ops::slice_at(&cache, 0, &at, 5));
    said.says(|| ops::slice_at(&cache, 0, &two, 1));
    said.compare();
}
