//! Losses of elements against their definitions: every type and layout, on devices with f16 and without.

use support::forms::{self, Forms};
use support::strided::{Lay, Placed, repeated};
use support::values::{assert_ok, for_all_types, values};
use tilewise::ops::{self, Reduction};
use tilewise::reference::LossReference;
use tilewise::{DType, Gpu, Real, Result, Tensor};

const REDUCTIONS: [Reduction; 3] = [Reduction::Mean, Reduction::Sum, Reduction::None];
const LOSSES: [LossReference; 4] = [
    LossReference::Mse,
    LossReference::L1,
    LossReference::Huber { delta: 0.75 },
    LossReference::BceWithLogits,
];

/// The loss and its gradient.
fn run<T: Real>(
    loss: LossReference,
    [x, t]: [&Tensor<T>; 2],
    weights: &Tensor<f32>,
    reduction: Reduction,
    g: &Tensor<f32>,
) -> Result<(Tensor<f32>, Tensor<T>)> {
    match loss {
        LossReference::Mse => ops::mse_and_gradient(x, t, reduction, g),
        LossReference::L1 => ops::l1_and_gradient(x, t, reduction, g),
        LossReference::Huber { .. } => ops::huber_and_gradient(x, t, 0.75, reduction, g),
        _ => ops::bce_with_logits_and_gradient(x, t, Some(weights), reduction, g),
    }
}

/// The loss alone.
fn run_alone<T: Real>(
    loss: LossReference,
    [x, t]: [&Tensor<T>; 2],
    weights: &Tensor<f32>,
    reduction: Reduction,
) -> Result<Tensor<f32>> {
    match loss {
        LossReference::Mse => ops::mse(x, t, reduction),
        LossReference::L1 => ops::l1(x, t, reduction),
        LossReference::Huber { .. } => ops::huber(x, t, 0.75, reduction),
        _ => ops::bce_with_logits(x, t, Some(weights), reduction),
    }
}

#[test]
fn losses_and_gradients_agree_with_their_definition() {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        // The shape, and that of the weights.
        let shapes: [[&[usize]; 2]; 9] = [
            [&[], &[]],
            [&[5], &[1]],
            [&[33, 10], &[10]],
            [&[7, 64], &[7, 1]],
            [&[3, 64], &[64]],
            [&[9000], &[]],
            [&[4, 3, 31], &[3, 1]],
            [&[2, 2, 1, 3, 2, 8], &[2, 1, 1, 2, 8]],
            [&[90, 200], &[90, 200]],
        ];
        for (case, [shape, of_weights]) in shapes.into_iter().enumerate() {
            let (x, t) = (values::<T>(shape, 4.0, 1), values::<T>(shape, 2.0, 2));
            let weights: Vec<f32> = values::<f32>(of_weights, 1.0, 3).iter().map(|w| w.abs() + 0.5).collect();
            let wide: Vec<f64> = repeated(&weights, of_weights, shape).into_iter().map(f64::from).collect();
            // Types, functions, layouts and shapes take turns: half of the functions of f32, one of the others.
            let turn = if T::DTYPE == DType::F32 { 2 } else { 4 };
            for (which, loss) in
                LOSSES.into_iter().enumerate().filter(|(which, _)| which % turn == case % turn)
            {
                // Every loss meets every layout, not every shape in each.
                let lay = Lay::ALL[(case + which) % 5];
                let other = if case % 3 == 0 { lay } else { Lay::ALL[(case + 2 * which + 1) % 5] };
                let reduction = REDUCTIONS[(case + which) % 3];
                let g = match reduction {
                    Reduction::None => values::<f32>(shape, 3.0, 4),
                    _ => vec![-1.5],
                };
                let of_g: &[usize] = if reduction == Reduction::None { shape } else { &[1] };
                let placed = |gpu: &Gpu| {
                    let x = Placed::new(gpu, &x, shape, lay).tensor;
                    let t = Placed::new(gpu, &t, shape, other).tensor;
                    let w = Placed::new(gpu, &weights, of_weights, Lay::ALL[case % 5]).tensor;
                    let g = Placed::new(gpu, &g, of_g, Lay::ALL[(case + 1) % 5]).tensor.contiguous().unwrap();
                    (x, t, w, g)
                };
                let run_all = |gpu: &Gpu| {
                    let (x, t, w, g) = placed(gpu);
                    drop(run(loss, [&x, &t], &w, reduction, &g).unwrap());
                    if case % 3 == 0 {
                        drop(run_alone(loss, [&x, &t], &w, reduction).unwrap());
                    }
                };
                if !forms.takes(gpu, shape, run_all) {
                    continue;
                }
                let (of_x, of_t, of_w, g_tensor) = placed(gpu);
                let operands = [&of_x, &of_t];
                let g: Vec<f64> = g.into_iter().map(f64::from).collect();
                let want = loss.run([&x, &t], &wide, &g, reduction);
                let before = gpu.stats().launches;
                let (found, gradient) = run(loss, operands, &of_w, reduction, &g_tensor).unwrap();
                let launches = gpu.stats().launches - before;
                let is_long = reduction != Reduction::None && x.len() > 8192;
                assert!(launches == 1 || (is_long && launches == 2), "{launches} launches for {shape:?}");
                let what = (loss, T::DTYPE, shape, lay, reduction);
                let of_loss = if reduction == Reduction::None { shape } else { &[] };
                assert_eq!((found.shape(), gradient.shape()), (of_loss, shape), "{what:?}");
                let values = found.to_vec().unwrap();
                assert_ok(&want.loss.compare(&values), what);
                assert_ok(&want.gradient.compare(&gradient.to_vec().unwrap()), what);
                if case % 3 == 0 {
                    let alone = run_alone(loss, operands, &of_w, reduction).unwrap();
                    assert_eq!(alone.to_vec().unwrap(), values, "{what:?}: the same bits");
                }
            }
        }
    }
    forms::sweep(16, |turn, forms| for_all_types!(turn, test, forms));
}

#[test]
fn what_is_no_number_or_infinite_stays_so() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let [nan, inf] = [f32::NAN, f32::INFINITY];
    let x = gpu.tensor(&[nan, inf, 0.0, -inf, 100.0, -100.0], [6]).unwrap();
    let t = gpu.tensor(&[0.0, 0.0, nan, 0.0, 1.0, 0.0], [6]).unwrap();
    let ones = gpu.tensor(&[1.0], []).unwrap();
    for loss in LOSSES {
        let g = gpu.tensor(&[1.0; 6], [6]).unwrap();
        let (found, gradient) = run(loss, [&x, &t], &ones, Reduction::None, &g).unwrap();
        let (found, gradient) = (found.to_vec().unwrap(), gradient.to_vec().unwrap());
        assert!(found[0].is_nan() && found[2].is_nan(), "{loss:?}: {found:?}");
        assert!(gradient[0].is_nan() && gradient[2].is_nan(), "{loss:?}: {gradient:?}");
        assert_eq!(found[1], inf, "{loss:?}: {found:?}");
        if loss == LossReference::BceWithLogits {
            assert_eq!([found[4], gradient[1], gradient[4]], [0.0, 1.0, 0.0]);
        } else {
            assert_eq!(found[3], inf, "{loss:?}: {found:?}");
        }
    }
    // Where x is the target the absolute error has slope 0.
    let (_, gradient) = ops::l1_and_gradient(&t, &t, Reduction::Sum, 1.0).unwrap();
    assert_eq!(gradient.to_vec().unwrap()[..2], [0.0; 2]);
}
