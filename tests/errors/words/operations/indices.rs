//! Indices out of range and of other shapes, and outputs that cannot be added to.

use super::Said;
use tilewise::{Tensor, ops};

#[test]
fn indices_that_are_not_there_or_have_other_shapes() {
    let mut said = Said::new();
    let (x, n) = (said.tensor(&[3, 4]), said.integers(&[3, 4]));
    let mut c = said.tensor(&[3, 4]);
    said.says(
        || ops::index_select(&x, 1, &[0, 4]),
        "index_select: the indices: index 1 is 4, but the axis has the extent 4",
        "",
    );
    said.says(
        || ops::index_select(&without_columns(&x), 1, &[0]),
        "index_select: the indices: index 0 is 0, but the axis has the extent 0",
        "",
    );
    said.says(
        || ops::index_add(&mut c, 0, &[3], &x.slice(0, ..1).unwrap()),
        "index_add: the indices: index 0 is 3, but the axis has the extent 3",
        "",
    );
    said.says(
        || ops::index_select(&x, 1, &n),
        "index_select: the indices must have one axis",
        "[3, 4] and [3, 4]",
    );
    let (ids, wide) = (said.integers(&[2]), said.integers(&[4, 4]));
    said.says(
        || ops::gather(&x, 1, &ids),
        "gather: the indices must have the axes of the operand, none longer except the indexed one",
        "[3, 4] and [2]",
    );
    said.says(
        || ops::gather(&x, 1, &wide),
        "gather: the indices must have the axes of the operand, none longer except the indexed one",
        "[3, 4] and [4, 4]",
    );
    said.says(
        || ops::gather(&without_columns(&x), 1, &n.slice(0, ..1).unwrap()),
        "gather: the indexed axis must not be empty if there are indices",
        "[3, 0] and [1, 4]",
    );
    let (vector, six) = (said.tensor(&[4]), said.integers(&[1; 6]));
    said.says(|| ops::embedding(&vector, &ids), "embedding: the table must have two axes", "[4]");
    said.says(
        || ops::embedding(&x.slice(0, ..0).unwrap(), &ids),
        "embedding: the table must have rows if there are ids",
        "[0, 4] and [2]",
    );
    said.says(
        || ops::embedding(&x, &six),
        "embedding: the ids must have at most 5 axes",
        "[1, 1, 1, 1, 1, 1]",
    );
    said.says(
        || ops::scatter_add(&mut c, 1, &ids, &x),
        "scatter_add: the indices must have the axes of the output, none longer except the indexed one",
        "[3, 4] and [2]",
    );
    let values = said.tensor(&[4, 4]);
    said.says(
        || ops::scatter_add(&mut c, 1, &wide, &values),
        "scatter_add: the indices must have the axes of the output, none longer except the indexed one",
        "[3, 4] and [4, 4]",
    );
    said.says(
        || ops::scatter_add(&mut c, 1, &n, &x.t()),
        "scatter_add: the values must have the shape of the indices",
        "[3, 4] and [4, 3]",
    );
    said.says(|| ops::index_add(&mut c, 0, &n, &x), "index_add: the indices must have one axis", "[3, 4]");
    said.says(|| ops::index_add(&mut c, 0, &ids, &x), "index_add: the values must have the shape of the output, with as many positions along the axis as there \
         are indices",
        "[3, 4] and [3, 4]");
    said.says(
        || ops::embedding_backward(&ids, &x, 5, None),
        "embedding_backward: the gradient must have the shape of the ids, and then one more axis",
        "[2] and [3, 4]",
    );
    said.says(
        || ops::embedding_backward(&ids, &scalar(&x), 5, None),
        "embedding_backward: the gradient must have an axis",
        "[]",
    );
    said.says(
        || ops::one_hot::<f32>(&six, 3),
        "one_hot: the ids must have at most 5 axes",
        "[1, 1, 1, 1, 1, 1]",
    );
    said.says(
        || ops::one_hot::<f32>(&ids, usize::MAX),
        "one_hot: the number of elements must not overflow",
        "[2, 18446744073709551615] and [576460752303423487]",
    );
    // Outputs that others see, that are operands, or whose elements overlap.
    let other = c.clone();
    said.says(
        || ops::scatter_add(&mut c, 1, &n, &x),
        "scatter_add: the output: its buffer is shared with 1 other tensor (clones, views, or other \
         tensors of one buffer); if they may see what is written, pass a `writable_view`",
        "",
    );
    drop(other);
    let own = c.clone();
    said.says(
        || ops::index_add(&mut c, 0, &[0, 1, 2], &own),
        "index_add: the output: it shares its buffer with the values",
        "",
    );
    let mut counts = n.clone();
    said.says(
        || ops::scatter_add(&mut counts, 1, &n, &ones(&n)),
        "scatter_add: the output: it shares its buffer with the indices",
        "",
    );
    let mut row = said.tensor(&[1, 4]).broadcast_to([3, 4]).unwrap();
    said.says(
        || ops::scatter_add(&mut row, 1, &n, &x),
        "scatter_add: the output's elements must not overlap",
        "[3, 4] and [0, 1]",
    );
    said.none();
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
