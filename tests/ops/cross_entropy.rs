//! Cross-entropy against its definition: every type and layout, on devices with f16 and without.

use crate::bits::bytes;
use support::forms::{self, Forms};
use support::strided::{Lay, Placed};
use support::values::{assert_ok, for_all_types, values};
use tilewise::ops::{self, CrossEntropy, Reduction, Targets};
use tilewise::reference::{CrossEntropyReference, TargetValues};
use tilewise::{Gpu, Real, f16};

const REDUCTIONS: [Reduction; 3] = [Reduction::Mean, Reduction::Sum, Reduction::None];

/// Classes of rows, some of which are ignored.
fn classes_of(rows: usize, classes: usize) -> Vec<i32> {
    let class = |row: usize| if row % 5 == 3 { -7 } else { i32::try_from(row * 7 % classes).unwrap() };
    (0..rows).map(class).collect()
}

#[test]
fn losses_and_gradients_agree_with_their_definition() {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        let shapes: [&[usize]; 9] = [
            &[1, 1],
            &[7],
            &[5, 3],
            &[33, 10],
            &[3, 64],
            &[2, 1030],
            &[4, 3, 31],
            &[2, 2, 1, 3, 2, 8],
            &[300, 2],
        ];
        for (case, shape) in shapes.into_iter().enumerate() {
            let (classes, of_rows) = (shape[shape.len() - 1], &shape[..shape.len() - 1]);
            let rows: usize = of_rows.iter().product();
            let x = values::<T>(shape, [1.0, 8.0, 100.0][case % 3], 3);
            let weights: Vec<f32> = (0..classes).map(|class| 0.5 + 0.25 * (class % 7) as f32).collect();
            let labels = classes_of(rows, classes);
            let reduction = REDUCTIONS[case % 3];
            let g: Vec<f32> = match reduction {
                Reduction::None => (0..rows).map(|row| 0.5 + row as f32).collect(),
                _ => vec![-1.5],
            };
            let of_g = if reduction == Reduction::None { of_rows } else { &[] };
            // Probabilities, which need not add up to 1.
            let p: Vec<T> =
                values::<T>(shape, 0.5, 5).iter().map(|p| T::from_f64(p.to_f64().abs())).collect();
            let smoothing = [0.0, 0.25, 1.0, 0.0][case % 4];
            let placed = |gpu: &Gpu| {
                let logits = Placed::new(gpu, &x, shape, Lay::ALL[case % 5]).tensor;
                let weight = Placed::new(gpu, &weights, &[classes], Lay::ALL[(case + 2) % 5]).tensor;
                let probabilities = Placed::new(gpu, &p, shape, Lay::ALL[(case + 1) % 5]).tensor;
                let (targets, g) = (gpu.tensor(&labels, of_rows).unwrap(), gpu.tensor(&g, of_g).unwrap());
                (logits, weight, probabilities, targets, g)
            };
            let plain = CrossEntropy::new().reduction(reduction).label_smoothing(smoothing);
            let run = |gpu: &Gpu| {
                let (logits, weight, probabilities, targets, g) = placed(gpu);
                let entropy = if case % 2 == 1 { plain.class_weights(&weight) } else { plain };
                let of_probabilities = Targets::Probabilities(&probabilities);
                drop(entropy.run_with_gradient(&logits, of_probabilities, &g).unwrap());
                let entropy = entropy.ignore_index(-7);
                drop(entropy.run_with_gradient(&logits, &targets, &g).unwrap());
                if case % 3 == 0 {
                    drop(entropy.run(&logits, &targets).unwrap());
                }
            };
            if !forms.takes(gpu, shape, run) {
                continue;
            }
            let (logits, weight, probabilities, targets, g_tensor) = placed(gpu);
            let g: Vec<f64> = g.into_iter().map(f64::from).collect();
            let entropy = if case % 2 == 1 { plain.class_weights(&weight) } else { plain };
            let mut reference = CrossEntropyReference {
                classes,
                smoothing: f64::from(smoothing),
                reduction,
                ..CrossEntropyReference::default()
            };
            if case % 2 == 1 {
                reference.weights = weights.iter().copied().map(f64::from).collect();
            }
            let p: Vec<f64> = p.iter().map(|p| p.to_f64()).collect();
            let of_probabilities = reference.run(&x, TargetValues::Probabilities(&p), &g);
            let found = entropy
                .run_with_gradient(&logits, Targets::Probabilities(&probabilities), &g_tensor)
                .unwrap();
            let what = (T::DTYPE, shape, reduction, smoothing);
            assert_ok(&of_probabilities.loss.compare(&found.0.loss.to_vec().unwrap()), what);
            assert_ok(&of_probabilities.gradient.compare(&found.1.to_vec().unwrap()), what);

            let entropy = entropy.ignore_index(-7);
            reference.ignored = Some(-7);
            let want = reference.run(&x, TargetValues::Classes(&labels), &g);
            let before = gpu.stats().launches;
            let (found, gradient) = entropy.run_with_gradient(&logits, &targets, &g_tensor).unwrap();
            let launches = match reduction {
                Reduction::Mean => 3,
                Reduction::Sum => 2,
                Reduction::None => 1,
            };
            assert_eq!(gpu.stats().launches - before, launches, "{what:?}");
            let of_loss = if reduction == Reduction::None { of_rows } else { &[] };
            assert_eq!(
                (found.loss.shape(), found.log_sums.shape(), gradient.shape()),
                (of_loss, of_rows, shape)
            );
            assert_ok(&want.loss.compare(&found.loss.to_vec().unwrap()), what);
            assert_ok(&want.log_sums.compare(&found.log_sums.to_vec().unwrap()), what);
            assert_ok(&want.gradient.compare(&gradient.to_vec().unwrap()), what);
            if case % 3 != 0 {
                continue;
            }
            // The loss alone, and targets with gaps: the same bits.
            let gaps: Vec<i32> = labels.iter().flat_map(|&label| [label, 1 << 30]).collect();
            let mut strides: Vec<usize> = targets.strides().iter().map(|stride| 2 * stride).collect();
            strides.truncate(of_rows.len());
            let apart = gpu.tensor(&gaps, [gaps.len()]).unwrap().as_strided(of_rows, &strides, 0).unwrap();
            let again = entropy.run(&logits, &apart).unwrap();
            assert_eq!(again.loss.to_vec().unwrap(), found.loss.to_vec().unwrap(), "{what:?}");
            assert_eq!(again.log_sums.to_vec().unwrap(), found.log_sums.to_vec().unwrap(), "{what:?}");
        }
    }
    forms::sweep(24, |turn, forms| for_all_types!(turn, test, forms));
}

#[test]
fn the_mean_without_options_is_two_launches() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let logits = gpu.tensor(&values::<f32>(&[6, 8], 2.0, 1), [6, 8]).unwrap();
    let targets = gpu.tensor(&[0, 1, 2, 3, 4, 7], [6]).unwrap();
    let before = gpu.stats().launches;
    let (loss, _) = ops::cross_entropy_and_gradient(&logits, &targets).unwrap();
    assert_eq!(gpu.stats().launches - before, 2);
    assert_eq!(loss.to_vec().unwrap(), ops::cross_entropy(&logits, &targets).unwrap().to_vec().unwrap());
}

/// Four storage bindings are what Vulkan guarantees: several launches compute what one does elsewhere, to the bit.
#[test]
fn a_device_with_four_bindings_computes_the_same_bits() {
    fn test<T: Real>(gpus: [&Gpu; 2]) {
        for (case, shape) in [&[5, 3][..], &[70, 10], &[3, 64], &[2, 3, 130]].into_iter().enumerate() {
            let (classes, of_rows) = (shape[shape.len() - 1], &shape[..shape.len() - 1]);
            let rows: usize = of_rows.iter().product();
            let (x, p) = (values::<T>(shape, 8.0, 3), values::<T>(shape, 0.5, 5));
            let weights: Vec<f32> = (0..classes).map(|class| 0.5 + 0.25 * (class % 7) as f32).collect();
            let labels = classes_of(rows, classes);
            for (at, reduction) in REDUCTIONS.into_iter().enumerate() {
                let g: Vec<f32> = (0..if at == 2 { rows } else { 1 }).map(|row| 0.5 + row as f32).collect();
                let computed = gpus.map(|gpu| {
                    let logits = Placed::new(gpu, &x, shape, Lay::ALL[(case + at) % 5]);
                    let probabilities = Placed::new(gpu, &p, shape, Lay::ALL[(case + at + 1) % 5]);
                    let weight = Placed::new(gpu, &weights, &[classes], Lay::Gaps);
                    let targets = gpu.tensor(&labels, of_rows).unwrap();
                    let g = gpu.tensor(&g, if at == 2 { of_rows } else { &[] }).unwrap();
                    let all = CrossEntropy::new().reduction(reduction).class_weights(&weight.tensor);
                    let ignoring = CrossEntropy::new().reduction(reduction).ignore_index(-7);
                    let plain = CrossEntropy::new().reduction(reduction).label_smoothing(0.25);
                    let probable = Targets::Probabilities(&probabilities.tensor);
                    [
                        all.run_with_gradient(&logits.tensor, probable, &g),
                        all.ignore_index(-7).run_with_gradient(&logits.tensor, &targets, &g),
                        ignoring.run_with_gradient(&logits.tensor, &targets, 1.5),
                        plain.run_with_gradient(&logits.tensor, probable, 1.5),
                        ignoring.run(&logits.tensor, &targets).map(|loss| (loss, logits.tensor.clone())),
                    ]
                    .map(|found| {
                        let (found, gradient) = found.unwrap();
                        let numbers =
                            [found.loss, found.log_sums].map(|t| bytes(&t.to_vec().unwrap()).to_vec());
                        (numbers, bytes(&gradient.to_vec().unwrap()).to_vec())
                    })
                });
                assert!(computed[0] == computed[1], "{} {shape:?} {reduction:?}", T::DTYPE);
            }
        }
    }
    let adopted = |bindings: u32| {
        support::adopted(|desc| desc.required_limits.max_storage_buffers_per_shader_stage = bindings)
    };
    let (Some(few), Some(all)) = (adopted(4), adopted(8)) else { return };
    assert_eq!([&few, &all].map(|gpu| gpu.caps().limits.storage_bindings), [4, 8]);
    test::<f32>([&few, &all]);
    test::<f16>([&few, &all]);
    // Without anything else to read, the numbers 1 need no copies: losses, gradient, logarithms, mean.
    let logits = few.tensor(&values::<f32>(&[6, 8], 2.0, 1), [6, 8]).unwrap();
    let targets = few.tensor(&[0, 1, 2, 3, 4, 7], [6]).unwrap();
    let before = few.stats().launches;
    ops::cross_entropy_and_gradient(&logits, &targets).unwrap();
    assert_eq!(few.stats().launches - before, 4);
}

#[test]
fn rows_that_do_not_count_and_classes_that_do_not_exist() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let logits = gpu.tensor(&values::<f32>(&[4, 6], 2.0, 1), [4, 6]).unwrap();
    let mean = CrossEntropy::new().ignore_index(9);
    let run = |entropy: CrossEntropy<'_>, targets: [i32; 4]| {
        let targets = gpu.tensor(&targets, [4]).unwrap();
        let (found, gradient) = entropy.run_with_gradient(&logits, &targets, 1.0).unwrap();
        (found.loss.to_vec().unwrap(), gradient.to_vec().unwrap())
    };
    // All rows are ignored: 0.
    assert_eq!(run(mean, [9; 4]), (vec![0.0], vec![0.0; 24]));
    // A class that does not exist: its row is NaN, and so are sums and means. Nothing outside is read.
    for wrong in [6, -1, i32::MAX, i32::MIN] {
        let (loss, gradient) = run(CrossEntropy::new().reduction(Reduction::None), [0, wrong, 5, 1]);
        let is_nan: Vec<bool> = loss.iter().map(|x| x.is_nan()).collect();
        assert_eq!(is_nan, [false, true, false, false], "{loss:?}");
        assert!(gradient.chunks(6).zip(&is_nan).all(|(row, nan)| row.iter().all(|x| x.is_nan() == *nan)));
        assert!(run(mean, [0, wrong, 9, 1]).0[0].is_nan());
        assert!(run(mean, [9, wrong, 9, 9]).0[0].is_nan());
    }
    // Logits of minus infinity have no part, unless they are the target's.
    let minus = f32::NEG_INFINITY;
    let rows =
        [[0.0, minus, 0.0], [0.0, minus, 0.0], [minus; 3], [f32::NAN, 0.0, 0.0], [f32::INFINITY, 0.0, 0.0]];
    let logits = gpu.tensor(rows.as_flattened(), [5, 3]).unwrap();
    let targets = gpu.tensor(&[2, 1, 0, 1, 1], [5]).unwrap();
    let entropy = CrossEntropy::new().reduction(Reduction::None);
    let (found, gradient) = entropy.run_with_gradient(&logits, &targets, 1.0).unwrap();
    let loss = found.loss.to_vec().unwrap();
    assert!((loss[0] - 2f32.ln()).abs() < 1e-6 && loss[1] == f32::INFINITY, "{loss:?}");
    assert!(loss[2..].iter().all(|x| x.is_nan()), "{loss:?}");
    assert_eq!(gradient.to_vec().unwrap()[..6], [0.5, 0.0, -0.5, 0.5, -1.0, 0.5]);
}
