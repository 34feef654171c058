//! Axes that are not there, or are given twice.

use crate::words::said::Said;
use tilewise::ops::{self, LayerNorm, RmsNorm};

#[test]
fn axes_that_are_not_there_or_given_twice() {
    let mut said = Said::new();
    let (x, n) = (said.tensor(&[3, 4]), said.integers(&[3, 4]));
    let (ids, zero) = (said.integers(&[2]), said.integers(&[]));
    said.says(|| ops::sum(&n, 2));
    said.says(|| ops::mean(&x, [0, 2]));
    said.says(|| ops::prod(&x, [1, 1]));
    said.says(|| ops::norm(&x, [0, 1, 0]));
    said.says(|| ops::argmax(&x, 2));
    said.says(|| ops::argmin(&zero, 0));
    said.says(|| ops::cumsum(&x, 2));
    said.says(|| ops::softmax(&x, 2));
    said.says(|| ops::log_softmax(&x, 2));
    said.says(|| ops::softmax_backward(&x, &x, 2));
    said.says(|| ops::log_softmax_backward(&x, &x, 2));
    said.says(|| ops::concat(&[&x], 2));
    said.says(|| ops::stack(&[&x], 3));
    said.says(|| ops::repeat(&x, 2, 3));
    said.says(|| ops::gather(&x, 2, &n));
    said.says(|| ops::index_select(&x, 2, &ids));
    said.says(|| ops::index_select(&x, 2, &[0]));
    let mut c = said.tensor(&[3, 4]);
    said.says(|| ops::scatter_add(&mut c, 2, &n, &x));
    said.says(|| ops::index_add(&mut c, 2, &ids, &x));
    said.says(|| ops::index_add(&mut c, 2, &[0], &x));
    said.says(|| ops::slice_at(&x, 2, &ids, 1));
    said.says(|| x.squeeze(2));
    said.says(|| x.squeeze(1));
    said.says(|| x.unsqueeze(3));
    said.says(|| LayerNorm::new().axes(3).run(&x));
    said.says(|| RmsNorm::new().axes(0).run(&x));
    said.says(|| ops::max(&x, [1, 1]));
    said.says(|| ops::var(&x, 7, 1));
    said.says(|| ops::argmin(&x, 2));
    let scalar = said.tensor(&[]);
    said.says(|| scalar.squeeze(0));
    said.says(|| ops::log_softmax(&scalar, 0));
    said.says(|| ops::concat(&[&scalar, &scalar], 0));
    said.says(|| ops::tril(&scalar, 0));
    let row = said.tensor(&[4]);
    said.says(|| ops::triu(&row, 0));
    said.says(|| ops::concat(&[&x, &row], 1));
    said.says(|| ops::copy_into_at(&x, &mut c, 2, &ids.slice(0, ..1).unwrap()));
    said.compare();
}
