//! What norms refuse.

use tilewise::Error;
use tilewise::ops::{BatchNorm, GroupNorm, LayerNorm, RmsNorm};

#[test]
fn what_does_not_fit_is_an_error_that_says_so() {
    let gpu = support::noop();
    let t = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    let (x, gamma, short) = (t(&[4, 6]), t(&[6]), t(&[5]));
    let norm = LayerNorm::new().gamma(&gamma);
    let said = |error: Error| error.to_string();
    let of = |norm: LayerNorm<'_, f32>| said(norm.run(&x).unwrap_err());
    for (wrong, words) in [
        (
            norm.gamma(&short),
            "LayerNorm::run: gamma and beta must have the shape of the normalised axes; got [5] and [6]",
        ),
        (norm.beta(&short), "got [5] and [6]"),
        (norm.axes(0), "from 1 to the operand's number of axes; got [4, 6] and [0]"),
        (norm.axes(3), "got [4, 6] and [3]"),
        (norm.eps(-1e-5), "LayerNorm::run: eps: it must be a finite number of at least 0, not -0.00001"),
        (norm.eps(f32::NAN), "not NaN"),
        (norm.eps(f32::INFINITY), "not inf"),
    ] {
        assert!(of(wrong).contains(words), "{}", of(wrong));
    }
    let empty = said(RmsNorm::new().run(&t(&[3, 0])).unwrap_err());
    assert_eq!(empty, "RmsNorm::run: the normalised axes must not be empty; got [3, 0]");
    let residual = said(norm.residual(&x, &t(&[4, 5])).unwrap_err());
    assert!(
        residual.contains("the residual must have the shape of the operand; got [4, 5] and [4, 6]"),
        "{residual}"
    );

    let mut normed = norm.with_statistics(&x).unwrap();
    let error = said(norm.backward(&x, &normed, &t(&[6, 4])).unwrap_err());
    assert!(
        error.contains("the gradient must have the shape of the operand; got [6, 4] and [4, 6]"),
        "{error}"
    );
    normed.rstd = t(&[5]);
    let error = said(norm.backward(&x, &normed, &x).unwrap_err());
    assert!(error.contains("LayerNorm::backward: rstd must have the shape of the rows"), "{error}");

    let norm = BatchNorm::new().momentum(-0.1);
    let error = said(norm.training(&x, None).unwrap_err());
    assert_eq!(error, "BatchNorm::training: momentum: it must be a finite number of at least 0, not -0.1");
    let error = said(BatchNorm::new().training(&t(&[1, 6]), None).unwrap_err());
    assert!(error.contains("there must be at least two rows"), "{error}");
    let error = said(GroupNorm::new(4).run(&x).unwrap_err());
    assert!(
        error.contains("the number of groups must divide the channels, the last axis; got [4, 6] and [4]"),
        "{error}"
    );
    let error = said(GroupNorm::new(4).run(&t(&[3, 0, 4])).unwrap_err());
    assert_eq!(error, "GroupNorm::run: the normalised axes must not be empty; got [3, 0, 4]");

    let other = support::noop();
    let far = other.zeros::<f32>([6]).unwrap();
    let norm = LayerNorm::new().gamma(&far);
    assert!(matches!(norm.run(&x), Err(Error::Gpu { op: "LayerNorm::run", .. })));
}
