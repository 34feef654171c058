//! Axes that are not there, or are given twice.

use super::Said;
use tilewise::ops::{self, LayerNorm, RmsNorm};

#[test]
fn axes_that_are_not_there_or_given_twice() {
    let mut said = Said::new();
    let (x, n) = (said.tensor(&[3, 4]), said.integers(&[3, 4]));
    let (ids, zero) = (said.integers(&[2]), said.integers(&[]));
    said.says(|| ops::sum(&n, 2), "sum: every axis must be less than the number of axes", "[3, 4] and [2]");
    said.says(
        || ops::mean(&x, [0, 2]),
        "mean: every axis must be less than the number of axes",
        "[3, 4] and [0, 2]",
    );
    said.says(|| ops::prod(&x, [1, 1]), "prod: no axis may be given twice", "[3, 4] and [1, 1]");
    said.says(|| ops::norm(&x, [0, 1, 0]), "norm: no axis may be given twice", "[3, 4] and [0, 1, 0]");
    said.says(
        || ops::argmax(&x, 2),
        "argmax: every axis must be less than the number of axes",
        "[3, 4] and [2]",
    );
    said.says(
        || ops::argmin(&zero, 0),
        "argmin: every axis must be less than the number of axes",
        "[] and [0]",
    );
    said.says(
        || ops::cumsum(&x, 2),
        "cumsum: the axis must be less than the number of axes",
        "[3, 4] and [2]",
    );
    said.says(
        || ops::softmax(&x, 2),
        "softmax: the axis must be less than the number of axes",
        "[3, 4] and [2]",
    );
    said.says(
        || ops::log_softmax(&x, 2),
        "log_softmax: the axis must be less than the number of axes",
        "[3, 4] and [2]",
    );
    said.says(
        || ops::softmax_backward(&x, &x, 2),
        "softmax_backward: the axis must be less than the number of axes",
        "[3, 4] and [2]",
    );
    said.says(
        || ops::log_softmax_backward(&x, &x, 2),
        "log_softmax_backward: the axis must be less than the number of axes",
        "[3, 4] and [2]",
    );
    said.says(|| ops::concat(&[&x], 2), "concat: the axis must be one of the shape", "[3, 4] and [2]");
    said.says(
        || ops::stack(&[&x], 3),
        "stack: the new axis must be at most the number of axes",
        "[3, 4] and [3]",
    );
    said.says(|| ops::repeat(&x, 2, 3), "repeat: the axis must be one of the shape", "[3, 4] and [2]");
    said.says(|| ops::gather(&x, 2, &n), "gather: the axis must be one of the shape", "[3, 4] and [2]");
    said.says(
        || ops::index_select(&x, 2, &ids),
        "index_select: the axis must be one of the shape",
        "[3, 4] and [2]",
    );
    said.says(
        || ops::index_select(&x, 2, &[0]),
        "index_select: the axis must be one of the shape",
        "[3, 4] and [2]",
    );
    let mut c = said.tensor(&[3, 4]);
    said.says(
        || ops::scatter_add(&mut c, 2, &n, &x),
        "scatter_add: the axis must be one of the shape",
        "[3, 4] and [2]",
    );
    said.says(
        || ops::index_add(&mut c, 2, &ids, &x),
        "index_add: the axis must be one of the shape",
        "[3, 4] and [2]",
    );
    said.says(
        || ops::index_add(&mut c, 2, &[0], &x),
        "index_add: the axis must be one of the shape",
        "[3, 4] and [2]",
    );
    said.says(
        || ops::slice_at(&x, 2, &ids, 1),
        "slice_at: the axis must be one of the shape",
        "[3, 4] and [2]",
    );
    said.says(|| x.squeeze(2), "squeeze: the axis must be one of the shape", "[3, 4] and [2]");
    said.says(
        || x.squeeze(1),
        "squeeze: the extent of the axis must be 1: reshape() or sum() removes others",
        "[3, 4] and [1]",
    );
    said.says(
        || x.unsqueeze(3),
        "unsqueeze: the new axis must be at most the number of axes",
        "[3, 4] and [3]",
    );
    said.says(
        || ops::layer_norm(&x, LayerNorm { axes: 3, ..LayerNorm::default() }),
        "layer_norm: the number of normalised axes must be from 1 to the operand's number of axes",
        "[3, 4] and [3]",
    );
    said.says(
        || ops::rms_norm(&x, RmsNorm { axes: 0, ..RmsNorm::default() }),
        "rms_norm: the number of normalised axes must be from 1 to the operand's number of axes",
        "[3, 4] and [0]",
    );
    said.none();
}
