//! What norms refuse.

use tilewise::Error;
use tilewise::ops::{self, BatchNorm, GroupNorm, LayerNorm, RmsNorm};

#[test]
fn what_does_not_fit_is_an_error_that_says_so() {
    let gpu = support::noop();
    let t = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    let (x, gamma, short) = (t(&[4, 6]), t(&[6]), t(&[5]));
    let norm = LayerNorm { gamma: Some(&gamma), ..LayerNorm::default() };
    let said = |error: Error| error.to_string();
    let of = |norm| said(ops::layer_norm(&x, norm).unwrap_err());
    for (wrong, words) in [
        (
            LayerNorm { gamma: Some(&short), ..norm },
            "layer_norm: gamma and beta must have the shape of the normalised axes; got [5] and [6]",
        ),
        (LayerNorm { beta: Some(&short), ..norm }, "got [5] and [6]"),
        (LayerNorm { axes: 0, ..norm }, "from 1 to the operand's number of axes; got [4, 6] and [0]"),
        (LayerNorm { axes: 3, ..norm }, "got [4, 6] and [3]"),
        (
            LayerNorm { eps: -1e-5, ..norm },
            "layer_norm: eps: it must be a finite number of at least 0, not -0.00001",
        ),
        (LayerNorm { eps: f32::NAN, ..norm }, "not NaN"),
        (LayerNorm { eps: f32::INFINITY, ..norm }, "not inf"),
    ] {
        assert!(of(wrong).contains(words), "{}", of(wrong));
    }
    let empty = said(ops::rms_norm(&t(&[3, 0]), RmsNorm::default()).unwrap_err());
    assert_eq!(empty, "rms_norm: the normalised axes must not be empty; got [3, 0]");
    let residual = said(ops::layer_norm_residual(&x, &t(&[4, 5]), norm).unwrap_err());
    assert!(
        residual.contains("the residual must have the shape of the operand; got [4, 6] and [4, 5]"),
        "{residual}"
    );

    let mut normed = ops::layer_norm_with_statistics(&x, norm).unwrap();
    let error = said(ops::layer_norm_backward(&x, &normed, norm, &t(&[6, 4])).unwrap_err());
    assert!(
        error.contains("the gradient must have the shape of the operand; got [6, 4] and [4, 6]"),
        "{error}"
    );
    normed.rstd = t(&[5]);
    let error = said(ops::layer_norm_backward(&x, &normed, norm, &x).unwrap_err());
    assert!(error.contains("layer_norm_backward: rstd must have the shape of the rows"), "{error}");

    let norm = BatchNorm { momentum: -0.1, ..BatchNorm::default() };
    let error = said(ops::batch_norm_training(&x, None, norm).unwrap_err());
    assert_eq!(error, "batch_norm_training: momentum: it must be a finite number of at least 0, not -0.1");
    let error = said(ops::batch_norm_training(&t(&[1, 6]), None, BatchNorm::default()).unwrap_err());
    assert!(error.contains("there must be at least two rows"), "{error}");
    let error = said(ops::group_norm(&x, GroupNorm::new(4)).unwrap_err());
    assert!(
        error.contains("the number of groups must divide the channels, the last axis; got [4, 6] and [4]"),
        "{error}"
    );
    let error = said(ops::group_norm(&t(&[3, 0, 4]), GroupNorm::new(4)).unwrap_err());
    assert_eq!(error, "group_norm: the normalised axes must not be empty; got [3, 0, 4]");

    let other = support::noop();
    let far = other.zeros::<f32>([6]).unwrap();
    let norm = LayerNorm { gamma: Some(&far), ..LayerNorm::default() };
    assert!(matches!(ops::layer_norm(&x, norm), Err(Error::Gpu { op: "layer_norm", .. })));
}
