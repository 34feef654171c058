//! Every quotient by a sum that may be zero, and what it gives: 0, NaN, or an error that says why.

use Gives::{Fails, Nan, Values};
use tilewise::attention::{AttentionOptions, attention_with_lse};
use tilewise::clifford::layer::{MvLayerNorm, MvNormalization};
use tilewise::clifford::{BladeAxis, Multivector, Multivectors, Signature};
use tilewise::ops::{
    self, BatchNorm, CrossEntropy, GroupNorm, InstanceNorm, LayerNorm, Reduction, RmsNorm, RunningStatistics,
    Softmax,
};
use tilewise::{Gpu, Result, Tensor, sketch};

/// What a quotient gives.
#[derive(Debug)]
enum Gives {
    /// These numbers.
    Values(&'static [f32]),
    /// NaN, everywhere.
    Nan,
    /// An error with these words.
    Fails(&'static str),
}

type Quotient = (&'static str, fn(&Gpu) -> Result<Vec<f32>>, Gives);

const ZERO: Gives = Values(&[0.0]);
const ZEROS: Gives = Values(&[0.0; 4]);

/// Losses.
const LOSSES: [Quotient; 16] = [
    ("the mean cross-entropy of ignored rows", |gpu| entropy(gpu, [9, 9], [1.0, 1.0], 0.0), ZEROS),
    ("the same with smoothing", |gpu| entropy(gpu, [9, 9], [1.0, 1.0], 0.1), ZEROS),
    ("of targets of weight 0", |gpu| entropy(gpu, [0, 0], [0.0, 1.0], 0.0), ZEROS),
    ("of targets of weight 0, with smoothing", |gpu| entropy(gpu, [0, 0], [0.0, 1.0], 0.1), ZEROS),
    ("of targets of weight 0, all spread", |gpu| entropy(gpu, [0, 0], [0.0, 1.0], 1.0), ZEROS),
    ("of weights that cancel", |gpu| entropy(gpu, [0, 1], [-1.0, 1.0], 0.1), ZEROS),
    ("of one row of weight 0 and one ignored", |gpu| entropy(gpu, [0, 9], [0.0, 1.0], 0.1), ZEROS),
    (
        "of an infinite loss of weight 0",
        |gpu| {
            let logits = gpu.tensor(&[0.0, f32::NEG_INFINITY], [1, 2])?;
            let (targets, weights) = (gpu.tensor(&[0], [1])?, gpu.tensor(&[0.0f32, 1.0], [2])?);
            let entropy = CrossEntropy::new().class_weights(&weights).label_smoothing(0.1);
            Ok([entropy.run(&logits, &targets)?.loss.to_vec()?, vec![0.0; 3]].concat())
        },
        ZEROS,
    ),
    (
        "of a target that is no class",
        |gpu| {
            let logits = gpu.zeros::<f32>([1, 2])?;
            CrossEntropy::new().ignore_index(9).run(&logits, &gpu.tensor(&[2], [1])?)?.loss.to_vec()
        },
        Nan,
    ),
    (
        "of no rows",
        |gpu| ops::cross_entropy(&gpu.zeros::<f32>([0, 2])?, &gpu.zeros::<i32>([0])?)?.to_vec(),
        Fails("the mean of no rows"),
    ),
    (
        "the sum of no rows",
        |gpu| {
            let (logits, targets) = (gpu.zeros::<f32>([0, 2])?, gpu.zeros::<i32>([0])?);
            CrossEntropy::new().reduction(Reduction::Sum).run(&logits, &targets)?.loss.to_vec()
        },
        ZERO,
    ),
    (
        "the mean squared error of nothing",
        |gpu| ops::mse(&none(gpu)?, &none(gpu)?, Reduction::Mean)?.to_vec(),
        Fails("the mean of no elements"),
    ),
    (
        "the Huber loss of nothing",
        |gpu| ops::huber(&none(gpu)?, &none(gpu)?, 1.0, Reduction::Mean)?.to_vec(),
        Fails("the mean of no elements"),
    ),
    (
        "the binary cross-entropy of nothing",
        |gpu| ops::bce_with_logits(&none(gpu)?, &none(gpu)?, None, Reduction::Mean)?.to_vec(),
        Fails("the mean of no elements"),
    ),
    (
        "the sum of squared errors of nothing",
        |gpu| ops::mse(&none(gpu)?, &none(gpu)?, Reduction::Sum)?.to_vec(),
        ZERO,
    ),
    (
        "the sum of the binary cross-entropy of nothing",
        |gpu| ops::bce_with_logits(&none(gpu)?, &none(gpu)?, None, Reduction::Sum)?.to_vec(),
        ZERO,
    ),
];

/// Reductions, and shares of sums.
const SHARES: [Quotient; 11] = [
    ("the mean of nothing", |gpu| ops::mean(&none(gpu)?, 1)?.to_vec(), Nan),
    ("the variance of nothing", |gpu| ops::var(&none(gpu)?, 1, 0)?.to_vec(), Nan),
    ("the unbiased variance of one element", |gpu| ops::var(&gpu.zeros::<f32>([2, 1])?, 1, 1)?.to_vec(), Nan),
    ("the norm of nothing", |gpu| ops::norm(&none(gpu)?, 1)?.to_vec(), Values(&[0.0; 2])),
    ("softmax where all is minus infinity", |gpu| ops::softmax(&masked(gpu)?, 1)?.to_vec(), Nan),
    ("its logarithm", |gpu| ops::log_softmax(&masked(gpu)?, 1)?.to_vec(), Nan),
    (
        "softmax with a mask of minus infinity",
        |gpu| Softmax::new(&gpu.zeros::<f32>([1, 4])?, 1).mask(&masked(gpu)?).run()?.to_vec(),
        Nan,
    ),
    (
        "softmax with a mask of the lowest number",
        |gpu| {
            let mask = gpu.tensor(&[f32::MIN; 4], [1, 4])?;
            Softmax::new(&gpu.zeros::<f32>([1, 4])?, 1).mask(&mask).run()?.to_vec()
        },
        Values(&[0.25; 4]),
    ),
    (
        "attention of a query that attends nothing",
        |gpu| {
            let (x, mask) = (gpu.tensor(&[1.0f32; 4], [1, 1, 1, 4])?, gpu.tensor(&[f32::NEG_INFINITY], [1])?);
            attention_with_lse(&x, &x, &x, &AttentionOptions::new().bias(&mask))?.0.to_vec()
        },
        ZEROS,
    ),
    (
        "its largest score and logarithm",
        |gpu| {
            let (x, mask) = (gpu.tensor(&[1.0f32; 4], [1, 1, 1, 4])?, gpu.tensor(&[f32::NEG_INFINITY], [1])?);
            attention_with_lse(&x, &x, &x, &AttentionOptions::new().bias(&mask))?.1.to_vec()
        },
        Values(&[f32::NEG_INFINITY; 2]),
    ),
    (
        "attention without keys",
        |gpu| {
            let (q, k) = (gpu.tensor(&[1.0f32; 4], [1, 1, 1, 4])?, gpu.zeros::<f32>([1, 1, 0, 4])?);
            attention_with_lse(&q, &k, &k, &AttentionOptions::new())?.0.to_vec()
        },
        ZEROS,
    ),
];

/// Norms of equal elements, or of zeros, with nothing added to the variance and with what is usual.
const NORMS: [Quotient; 12] = [
    ("layer norm, eps 0", |gpu| LayerNorm::new().eps(0.0).run(&ones(gpu)?)?.to_vec(), Nan),
    ("layer norm", |gpu| LayerNorm::new().run(&ones(gpu)?)?.to_vec(), ZEROS),
    ("RMS norm, eps 0", |gpu| RmsNorm::new().eps(0.0).run(&gpu.zeros::<f32>([1, 4])?)?.to_vec(), Nan),
    ("RMS norm", |gpu| RmsNorm::new().run(&gpu.zeros::<f32>([1, 4])?)?.to_vec(), ZEROS),
    ("group norm, eps 0", |gpu| GroupNorm::new(1).eps(0.0).run(&ones(gpu)?)?.to_vec(), Nan),
    ("group norm", |gpu| GroupNorm::new(1).run(&ones(gpu)?)?.to_vec(), ZEROS),
    (
        "instance norm, eps 0",
        |gpu| InstanceNorm::new().eps(0.0).run(&ones(gpu)?.reshape([1, 2, 2])?)?.to_vec(),
        Nan,
    ),
    ("instance norm", |gpu| InstanceNorm::new().run(&ones(gpu)?.reshape([1, 2, 2])?)?.to_vec(), ZEROS),
    (
        "batch norm in training, eps 0",
        |gpu| {
            let norm = BatchNorm::new().eps(0.0);
            norm.training(&ones(gpu)?.reshape([2, 2])?, None)?.y.to_vec()
        },
        Nan,
    ),
    (
        "batch norm in training",
        |gpu| BatchNorm::new().training(&ones(gpu)?.reshape([2, 2])?, None)?.y.to_vec(),
        ZEROS,
    ),
    (
        "batch norm of one row",
        |gpu| BatchNorm::new().training(&ones(gpu)?, None)?.y.to_vec(),
        Fails("at least two rows"),
    ),
    (
        "batch norm in evaluation, variance 0, eps 0",
        |gpu| {
            let running =
                RunningStatistics { mean: gpu.tensor(&[1.0f32; 4], [4])?, variance: gpu.zeros([4])? };
            BatchNorm::new().eps(0.0).run(&ones(gpu)?, &running)?.to_vec()
        },
        Nan,
    ),
];

/// Multivectors and matrices of zeros.
const ZERO_OPERANDS: [Quotient; 8] = [
    (
        "a multivector of zeros, scaled to norm 1",
        |gpu| multivectors(gpu)?.normalized()?.tensor().to_vec(),
        Nan,
    ),
    ("its inverse", |gpu| multivectors(gpu)?.inverse()?.tensor().to_vec(), Nan),
    (
        "in f64, scaled",
        |_| Multivector::scalar_of(Signature::CL2, 0.0).normalized().map(|_| Vec::new()),
        Fails("norm"),
    ),
    (
        "in f64, its inverse",
        |_| Multivector::scalar_of(Signature::CL2, 0.0).inverse().map(|_| Vec::new()),
        Fails("null"),
    ),
    (
        "a layer norm of multivectors",
        |gpu| {
            MvLayerNorm::new(Signature::CL2, gpu.tensor(&[1.0f32], [1])?)?
                .forward(&multivectors(gpu)?)?
                .tensor()
                .to_vec()
        },
        ZEROS,
    ),
    (
        "a normalization of multivectors",
        |gpu| {
            MvNormalization::new(Signature::CL2, gpu.zeros::<f32>([1, 3])?)?
                .forward(&multivectors(gpu)?)?
                .tensor()
                .to_vec()
        },
        ZEROS,
    ),
    (
        "the relative residual of a decomposition",
        |gpu| {
            #[expect(clippy::cast_possible_truncation, reason = "0 is exact")]
            sketch::rsvd(&gpu.zeros([8, 8])?, 2).map(|svd| vec![svd.rel_residual as f32])
        },
        ZERO,
    ),
    (
        "a solution of least squares",
        |gpu| sketch::lstsq(&gpu.zeros([16, 4])?, &gpu.tensor(&[1.0; 16], [16])?)?.x.to_vec(),
        ZEROS,
    ),
];

/// The mean cross-entropy with smoothing of two rows of two classes, of which 9 is ignored; then its gradient, but for the last number.
fn entropy(gpu: &Gpu, targets: [i32; 2], weights: [f32; 2], smoothing: f32) -> Result<Vec<f32>> {
    let logits = gpu.tensor(&[0.5f32, -0.25, 0.125, 1.0], [2, 2])?;
    let (targets, weights) = (gpu.tensor(&targets, [2])?, gpu.tensor(&weights, [2])?);
    let entropy = CrossEntropy::new().class_weights(&weights).label_smoothing(smoothing).ignore_index(9);
    let (loss, gradient) = entropy.run_with_gradient(&logits, &targets, 1.0)?;
    let gradient = gradient.to_vec()?;
    assert_eq!(gradient[3], 0.0, "the gradient {gradient:?}");
    Ok([loss.loss.to_vec()?, gradient[..3].to_vec()].concat())
}

fn none(gpu: &Gpu) -> Result<Tensor<f32>> {
    gpu.zeros([2, 0])
}

fn ones(gpu: &Gpu) -> Result<Tensor<f32>> {
    gpu.tensor(&[1.0; 4], [1, 4])
}

fn masked(gpu: &Gpu) -> Result<Tensor<f32>> {
    gpu.tensor(&[f32::NEG_INFINITY; 4], [1, 4])
}

/// One multivector of zeros.
fn multivectors(gpu: &Gpu) -> Result<Multivectors<f32>> {
    Multivectors::new(gpu.zeros([4, 1, 1])?, &Signature::CL2.blades(), BladeAxis::First)
}

#[test]
fn quotients_by_zero_are_as_they_were_decided() {
    let Some(gpu) = support::gpu() else { return };
    let mut wrong = Vec::new();
    for (name, quotient, gives) in LOSSES.iter().chain(&SHARES).chain(&NORMS).chain(&ZERO_OPERANDS) {
        let found = quotient(&gpu);
        let is_right = match (&found, gives) {
            (Ok(found), Values(want)) => found == want,
            (Ok(found), Nan) => !found.is_empty() && found.iter().all(|x| x.is_nan()),
            (Err(error), Fails(words)) => error.to_string().contains(words),
            _ => false,
        };
        if !is_right {
            wrong.push(format!("{name}: {found:?}, not {gives:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
