//! Every operation of networks in a capture and in an application's encoder: the bits of eager work, and no uploads.

use super::{bits, random};
use support::watchdog::in_time;
use tilewise::ops::{
    self, BatchNorm, CrossEntropy, Expr, GroupNorm, LayerNorm, Reduction, RmsNorm, Rotary, RotaryPairs,
    Softmax,
};
use tilewise::planning::ops::{TensorCall, real_calls, tensor_calls};
use tilewise::{Activation, Error, Gpu, Linear, Result, Tensor};

/// What operations use next to x, a tensor (6, 8, 16).
struct World {
    gamma: Tensor<f32>,
    /// The shape of x.
    other: Tensor<f32>,
    rows: Tensor<f32>,
    /// Classes of rows (48); one of them is ignored.
    classes: Tensor<i32>,
    /// Indices (5) into axis 0; one is out of range.
    indices: Tensor<i32>,
    linear: Linear<f32>,
    /// Nine positions of rows of 16.
    rotary: Rotary,
}

impl World {
    fn new(gpu: &Gpu) -> Result<Self> {
        let classes: Vec<i32> = (0..48).map(|i| if i == 7 { -100 } else { i % 16 }).collect();
        Ok(Self {
            gamma: random(gpu, &[16], 2),
            other: random(gpu, &[6, 8, 16], 3),
            rows: random(gpu, &[5, 8, 16], 4),
            classes: gpu.tensor(&classes, [48])?,
            indices: gpu.tensor(&[3, 0, 3, 9, 5], [5])?,
            linear: Linear::new(random(gpu, &[16, 16], 5), Some(random(gpu, &[16], 6)), Activation::Gelu)?,
            rotary: Rotary::new(gpu, RotaryPairs::Halves, 8, 1e4, 9)?,
        })
    }
}

/// An operation that is written out, or a function of the table.
#[derive(Clone, Copy)]
enum Work {
    Of(fn(&Tensor<f32>, &World) -> Result<Tensor<f32>>),
    Function(TensorCall<f32>),
}

impl Work {
    fn run(self, x: &Tensor<f32>, it: &World) -> Result<Tensor<f32>> {
        let mask = |of: &Tensor<f32>| ops::greater(of, 0.0);
        match self {
            Self::Of(operation) => operation(x, it),
            Self::Function(TensorCall::One(op)) => op(x),
            Self::Function(TensorCall::Two(op)) => op(x, &it.other),
            Self::Function(TensorCall::Three(op)) => op(x, &it.other, &it.gamma),
            Self::Function(TensorCall::Compare(op)) => op(x, &it.other)?.cast(),
            Self::Function(TensorCall::Mask(op)) => op(&mask(x)?)?.cast(),
            Self::Function(TensorCall::Masks(op)) => op(&mask(x)?, &mask(&it.other)?)?.cast(),
        }
    }
}

type Operation = (&'static str, fn(&Tensor<f32>, &World) -> Result<Tensor<f32>>);

const OPERATIONS: [Operation; 26] = [
    ("numbers", |x, _| &(&(2.0 * x)? + 1)? / 3),
    ("map", |x, it| ops::map(&[x, &it.other], |[x, y]: [Expr; 2]| x.less(&y).select(x.exp() * 0.5, y.sin()))),
    ("select", |x, it| ops::select(&ops::greater(x, &it.other)?, x, 0.25)),
    ("mean", |x, _| ops::mean(x, [0, 2])),
    ("sum of all", |x, _| ops::sum(x, ..)),
    ("variance", |x, _| ops::var(x, 1, 1)),
    ("largest", |x, _| ops::argmax(x, 2)?.cast()),
    ("cumulative sums", |x, _| ops::cumsum(x, 1)),
    ("softmax", |x, it| Softmax::new(x, 1).mask(&it.other).scale(0.5).run()),
    ("softmax backward", |x, it| ops::softmax_backward(&ops::softmax(x, 2)?, &it.other, 2)),
    ("rotation", |x, it| &it.rotary.apply(x, 1)? + &it.rotary.backward(&it.other, 0)?),
    ("layer norm", |x, it| {
        let norm = LayerNorm { gamma: Some(&it.gamma), beta: Some(&it.gamma), ..LayerNorm::default() };
        let normed = ops::layer_norm_with_statistics(x, norm)?;
        let gradients = ops::layer_norm_backward(x, &normed, norm, &it.other)?;
        &gradients.x * &gradients.gamma.expect("there is a gamma")
    }),
    ("RMS norm", |x, it| {
        let (sum, normed) = ops::rms_norm_residual(x, &it.other, RmsNorm::default())?;
        &sum + &normed.y
    }),
    ("group norm", |x, it| {
        let norm = GroupNorm { gamma: Some(&it.gamma), ..GroupNorm::new(4) };
        let normed = ops::group_norm_with_statistics(x, norm)?;
        &ops::group_norm_backward(x, &normed, norm, &it.other)?.x + &normed.y
    }),
    ("batch norm", |x, it| {
        let norm = BatchNorm { gamma: Some(&it.gamma), ..BatchNorm::default() };
        let normed = ops::batch_norm_training(x, None, norm)?;
        &ops::batch_norm_training_backward(x, &normed, norm, &it.other)?.x + &normed.y
    }),
    ("cross-entropy", |x, it| {
        let entropy = CrossEntropy::new().class_weights(&it.gamma).ignore_index(-100).label_smoothing(0.1);
        let (found, gradient) = entropy.run_with_gradient(&x.reshape([48, 16])?, &it.classes, 2.0)?;
        &gradient + &found.loss
    }),
    ("squared error", |x, it| {
        let (loss, gradient) = ops::mse_and_gradient(x, &it.other, Reduction::Mean, 0.5)?;
        &gradient + &loss
    }),
    ("Huber", |x, it| ops::huber(x, &it.other, 0.5, Reduction::Sum)),
    ("rows by index", |x, it| ops::index_select(x, 0, &it.indices)),
    ("embedding backward", |x, it| {
        ops::embedding_backward(&it.indices.slice(0, ..3)?, &x.reshape([6, 128])?.slice(0, ..3)?, 4, Some(0))
    }),
    ("rows added", |x, it| {
        let mut sums = ops::activate(x, Activation::None)?;
        ops::index_add(&mut sums, 0, &it.indices, &it.rows)?;
        Ok(sums)
    }),
    ("padding", |x, _| ops::pad(x, &[(1, 0), (0, 2), (3, 1)], -1.0)),
    ("repeats", |x, _| ops::repeat(x, 1, 3)),
    ("one-hot", |_, it| ops::one_hot(&it.indices, 6)),
    ("a layer", |x, it| it.linear.forward_with_residual(&x.reshape([48, 16])?, &it.other.reshape([48, 16])?)),
    ("a layer, backward", |x, it| {
        let (x_gradient, gradients) =
            it.linear.backward(&x.reshape([48, 16])?, &it.other.reshape([48, 16])?)?;
        &x_gradient + &gradients.bias.expect("there is a bias")
    }),
];

#[test]
fn every_operation_has_the_bits_of_eager_work_in_a_capture_and_in_an_encoder() {
    if support::is_left_to_the_first_driver() {
        return;
    }
    let devices = [support::own(|_| ()), support::bare()];
    for gpu in devices.into_iter().flatten() {
        in_time("every operation", || {
            let it = World::new(&gpu).unwrap();
            let (x, new) = (random::<f32>(&gpu, &[6, 8, 16], 7), random::<f32>(&gpu, &[6, 8, 16], 8));
            let written = OPERATIONS.map(|(name, operation)| (name, Work::Of(operation)));
            let functions = tensor_calls().into_iter().chain(real_calls());
            let functions = functions.map(|(function, call)| (function.name(), Work::Function(call)));
            for (name, work) in written.into_iter().chain(functions) {
                let operation = |x: &Tensor<f32>, it: &World| work.run(x, it);
                let eager = match operation(&new, &it) {
                    Ok(eager) => eager,
                    Err(Error::Unsupported { .. } | Error::Limit { .. }) => {
                        println!("{name}: this device lacks what it needs");
                        continue;
                    }
                    Err(error) => panic!("{name}: {error}"),
                };
                let want = bits(&eager);
                check_capture(&gpu, name, &|x| operation(x, &it), [&x, &new], &want);
                let mut encoder = gpu.device().create_command_encoder(&Default::default());
                let recorded = gpu.record_into(&mut encoder, || operation(&new, &it));
                let recorded = recorded.unwrap_or_else(|error| panic!("{name} in an encoder: {error}"));
                gpu.queue().submit([encoder.finish()]);
                assert_eq!(bits(&recorded), want, "{name} in an encoder");
            }
        });
    }
}

/// An operation that reads x is captured with one tensor and run with another.
fn check_capture(
    gpu: &Gpu,
    name: &str,
    operation: &dyn Fn(&Tensor<f32>) -> Result<Tensor<f32>>,
    [x, new]: [&Tensor<f32>; 2],
    want: &[u8],
) {
    let reads_x = name != "one-hot";
    let [captured, given]: [&[_]; 2] = if reads_x { [&[x.view()], &[new.view()]] } else { [&[], &[]] };
    let replay = gpu.capture(captured, || operation(x));
    let mut replay = replay.unwrap_or_else(|error| panic!("{name} in a capture: {error}"));
    for run in 0..2 {
        let before = gpu.stats();
        let found = replay.run(given).unwrap_or_else(|error| panic!("{name}: {error}")).clone();
        let after = gpu.stats();
        assert_eq!(
            (after.plans, after.buffers_created, after.bytes_staged),
            (before.plans, before.buffers_created, before.bytes_staged),
            "{name}"
        );
        assert_eq!(bits(&found), want, "{name}, run {run}");
    }
}
