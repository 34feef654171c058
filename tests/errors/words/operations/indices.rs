//! Indices out of range and of other shapes, and outputs that cannot be added to.

use crate::words::said::Said;
use tilewise::{Tensor, ops};

#[test]
fn indices_that_are_not_there_or_have_other_shapes() {
    let mut said = Said::new();
    let (x, n) = (said.tensor(&[3, 4]), said.integers(&[3, 4]));
    let mut c = said.tensor(&[3, 4]);
    said.says(|| ops::index_select(&x, 1, &[0, 4]));
    said.says(|| ops::index_select(&without_columns(&x), 1, &[0]));
    said.says(|| ops::index_add(&mut c, 0, &[3], &x.slice(0, ..1).unwrap()));
    said.says(|| ops::index_select(&x, 1, &n));
    let (ids, wide) = (said.integers(&[2]), said.integers(&[4, 4]));
    said.says(|| ops::gather(&x, 1, &ids));
    said.says(|| ops::gather(&x, 1, &wide));
    said.says(|| ops::gather(&without_columns(&x), 1, &n.slice(0, ..1).unwrap()));
    let (vector, six) = (said.tensor(&[4]), said.integers(&[1; 6]));
    said.says(|| ops::embedding(&vector, &ids));
    said.says(|| ops::embedding(&x.slice(0, ..0).unwrap(), &ids));
    said.says(|| ops::embedding(&x, &six));
    said.says(|| ops::scatter_add(&mut c, 1, &ids, &x));
    let values = said.tensor(&[4, 4]);
    said.says(|| ops::scatter_add(&mut c, 1, &wide, &values));
    said.says(|| ops::scatter_add(&mut c, 1, &n, &x.t()));
    said.says(|| ops::index_add(&mut c, 0, &n, &x));
    said.says(|| ops::index_add(&mut c, 0, &ids, &x));
    said.says(|| ops::embedding_backward(&ids, &x, 5, None));
    said.says(|| ops::embedding_backward(&ids, &scalar(&x), 5, None));
    said.says(|| ops::one_hot::<f32>(&six, 3));
    said.says(|| ops::one_hot::<f32>(&ids, usize::MAX));
    // Outputs that others see, that are operands, or whose elements overlap.
    let other = c.clone();
    said.says(|| ops::scatter_add(&mut c, 1, &n, &x));
    drop(other);
    let own = c.clone();
    said.says(|| ops::index_add(&mut c, 0, &[0, 1, 2], &own));
    let mut counts = n.clone();
    said.says(|| ops::scatter_add(&mut counts, 1, &n, &ones(&n)));
    let mut row = said.tensor(&[1, 4]).broadcast_to([3, 4]).unwrap();
    said.says(|| ops::scatter_add(&mut row, 1, &n, &x));
    said.says(|| ops::index_add(&mut c.clone(), 0, &[0], &x.slice(0, ..1).unwrap()));
    let whole = said.tensor(&[4, 3]);
    let [mut top, bottom] = [whole.slice(0, ..2).unwrap().writable_view(), whole.slice(0, 2..).unwrap()];
    said.says(|| ops::index_add(&mut top, 0, &ids, &bottom));
    // Without axes, and too many.
    let (none, zero) = (said.integers(&[]), scalar(&x));
    said.says(|| ops::gather(&zero, 0, &none));
    said.says(|| ops::scatter_add(&mut scalar(&x), 0, &none, &zero));
    said.says(|| ops::index_select(&x, 1, &[usize::MAX]));
    let huge = said.integers(&[1]).broadcast_to([1 << 31]).unwrap();
    said.says(|| ops::index_select(&vector, 0, &huge));
    said.says(|| ops::embedding(&x, &huge));
    said.says(|| ops::embedding_backward(&ids, &x.slice(0, ..2).unwrap(), 1 << 31, None));
    said.compare();
}

/// A view without elements along axis 1.
fn without_columns(x: &Tensor<f32>) -> Tensor<f32> {
    x.slice(1, ..0).unwrap()
}

fn scalar(x: &Tensor<f32>) -> Tensor<f32> {
    x.as_strided(&[], &[], 0).unwrap()
}

fn ones(n: &Tensor<i32>) -> Tensor<i32> {
    n.gpu().tensor(&[1], [1]).and_then(|one| one.broadcast_to(n.shape())).unwrap()
}
