//! Group, instance and batch norm.

use super::operands;
use super::rows::bits;
use support::forms::{self, Forms};
use support::strided::{Lay, Placed};
use support::turn::Turn;
use support::values::{assert_ok, for_all_types, values};
use tilewise::ops::{BatchNorm, GroupNorm, InstanceNorm, RunningStatistics};
use tilewise::{Gpu, Real, reference};

const LAYS: [Lay; 6] = [Lay::Plain, Lay::Reversed, Lay::Gaps, Lay::Even, Lay::Odd, Lay::Vectors];

/// Shapes and groups: of one launch forward, with groups that share a workgroup, that have one, and that have more channels
/// than its invocations hold; of rows that fit its registers and that do not, in whole turns and others; of three launches; without an axis of rows.
fn shapes() -> Vec<(&'static [usize], usize)> {
    let all: Vec<(&[usize], usize)> = vec![
        (&[2, 50, 40], 4),
        (&[1, 8192, 8], 4),
        (&[2, 256, 32], 4),
        (&[2, 300, 16], 4),
        (&[2, 3, 2202], 2),
        (&[1, 2, 1100], 2),
        (&[1, 16_500, 4], 2),
        (&[1, 3000, 8], 4),
        (&[1, 2, 2200], 1),
        (&[3, 9], 9),
        (&[2, 5, 7, 12], 3),
    ];
    support::by_sweep(all.clone(), all.clone(), all[..5].to_vec())
}

/// One sweep, so that all of it shares kernels.
#[test]
fn norms_of_channels_agree_with_their_definitions() {
    forms::sweep(82, |turn, forms| {
        group_norm_and_its_gradients_agree_with_their_definitions(turn, forms);
        batch_norm_and_its_gradients_agree_with_their_definitions(turn, forms);
    });
}

fn group_norm_and_its_gradients_agree_with_their_definitions(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (case, (shape, groups)) in shapes().into_iter().enumerate() {
            let channels = shape[shape.len() - 1];
            let inner: usize = shape[1..shape.len() - 1].iter().product();
            let planes = [shape[0], inner, channels];
            let (xs, g) = (operands::<T>(shape, case), values::<T>(shape, 1.0, 2));
            let (gamma, beta) = (values::<T>(&[channels], 2.0, 3), values::<T>(&[channels], 1.0, 4));
            let lay = |step: usize| LAYS[(case + step) % LAYS.len()];
            let placed = |gpu: &Gpu, x: &Vec<T>| {
                let [a, grad] =
                    [(x, 5), (&g, 3)].map(|(of, step)| Placed::new(gpu, of, shape, lay(step)).tensor);
                let [of_gamma, of_beta] = [(&gamma, 2), (&beta, 3)]
                    .map(|(of, step)| Placed::new(gpu, of, &[channels], lay(step)).tensor);
                [a, grad, of_gamma, of_beta]
            };
            let eps = f64::from(1e-3f32);
            for groups in [groups, channels] {
                let weights = [Some(&gamma[..]), (groups < channels).then_some(&beta[..])];
                let is_instance = groups == channels;
                let run = |gpu: &Gpu, x: &Vec<T>| {
                    let [a, grad, of_gamma, of_beta] = placed(gpu, x);
                    let (gamma, beta) = (Some(&of_gamma), weights[1].map(|_| &of_beta));
                    if is_instance {
                        let norm = InstanceNorm::new().gamma(gamma).beta(beta).eps(1e-3);
                        let normed = norm.with_statistics(&a).unwrap();
                        let found = norm.backward(&a, &normed, &grad).unwrap();
                        return (norm.run(&a).unwrap(), normed, found);
                    }
                    let norm = GroupNorm::new(groups).gamma(gamma).beta(beta).eps(1e-3);
                    let normed = norm.with_statistics(&a).unwrap();
                    let found = norm.backward(&a, &normed, &grad).unwrap();
                    (norm.run(&a).unwrap(), normed, found)
                };
                if !forms.takes(gpu, ("groups", shape, groups), |gpu| run(gpu, &xs[0])) {
                    continue;
                }
                for (which, x) in xs.iter().enumerate() {
                    let what = (T::DTYPE, shape, groups, lay(5), which);
                    let (y, normed, found) = run(gpu, x);
                    let want = reference::group_norm(x, planes, groups, weights, eps);
                    assert_ok(&want.y.compare(&normed.y.to_vec().unwrap()), what);
                    assert_eq!((normed.y.shape(), normed.mean.shape()), (shape, &[shape[0], groups][..]));
                    assert_ok(&want.mean.compare(&normed.mean.to_vec().unwrap()), what);
                    assert_ok(&want.rstd.compare(&normed.rstd.to_vec().unwrap()), what);
                    assert_eq!(bits(&y), bits(&normed.y), "{what:?}");
                    let want = reference::group_norm_backward(x, planes, groups, weights[0], eps, &g);
                    assert_ok(&want.x.compare(&found.0.to_vec().unwrap()), what);
                    assert_ok(&want.gamma.compare(&found.1.get("gamma").unwrap().to_vec().unwrap()), what);
                    assert_eq!(found.1.get("beta").is_some(), weights[1].is_some());
                    if let Some(beta) = found.1.get("beta") {
                        assert_ok(&want.beta.compare(&beta.to_vec().unwrap()), what);
                    }
                }
            }
        }
    }
    for_all_types!(turn, test, forms);
}

/// Shapes of one launch forward and, with many rows, of three.
fn batches() -> Vec<&'static [usize]> {
    let all: Vec<&[usize]> = vec![&[4, 5, 6, 8], &[8192, 8], &[37, 13], &[1, 700, 4], &[16_600, 4]];
    support::by_sweep(all.clone(), all.clone(), all[..3].to_vec())
}

fn batch_norm_and_its_gradients_agree_with_their_definitions(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (case, shape) in batches().into_iter().enumerate() {
            let channels = shape[shape.len() - 1];
            let rows: usize = shape[..shape.len() - 1].iter().product();
            let planes = [1, rows, channels];
            let (xs, g) = (operands::<T>(shape, case), values::<T>(shape, 1.0, 2));
            let x = &xs[0];
            let (gamma, beta) = (values::<T>(&[channels], 2.0, 3), values::<T>(&[channels], 1.0, 4));
            let lay = |step: usize| LAYS[(case + step) % LAYS.len()];
            let (eps, what) = (f64::from(1e-3f32), (T::DTYPE, shape, lay(5)));
            let means = values::<f32>(&[channels], 1.0, 5);
            let variances: Vec<f32> =
                values::<f32>(&[channels], 1.0, 6).iter().map(|x| x.abs() + 0.5).collect();
            let run = |gpu: &Gpu, x: &Vec<T>, is_training: bool| {
                let [a, grad] =
                    [(x, 5), (&g, 0)].map(|(of, step)| Placed::new(gpu, of, shape, lay(step)).tensor);
                let [gamma, beta] = [(&gamma, 2), (&beta, 3)]
                    .map(|(of, step)| Placed::new(gpu, of, &[channels], lay(step)).tensor);
                let norm = BatchNorm::new().gamma(&gamma).beta(&beta).eps(1e-3).momentum(0.25);
                let [mean, variance] =
                    [&means, &variances].map(|of| Placed::new(gpu, of, &[channels], Lay::Gaps).tensor);
                let running = RunningStatistics { mean, variance };
                if is_training {
                    let normed = norm.training(&a, Some(&running)).unwrap();
                    let found = norm.training_backward(&a, &normed, &grad).unwrap();
                    let plain = norm.training(&a, None).unwrap().y;
                    return (plain, Some(normed), found);
                }
                let found = norm.backward(&a, &running, &grad).unwrap();
                (norm.run(&a, &running).unwrap(), None, found)
            };
            if forms.takes(gpu, ("evaluation", shape), |gpu| run(gpu, x, false)) {
                let (y, _, found) = run(gpu, x, false);
                let given = [&means[..], &variances[..]];
                let want = reference::batch_norm(x, given, [Some(&gamma), Some(&beta)], eps);
                assert_ok(&want.compare(&y.to_vec().unwrap()), what);
                let want = reference::batch_norm_backward(x, given, Some(&gamma), eps, &g);
                assert_ok(&want.x.compare(&found.0.to_vec().unwrap()), what);
                assert_ok(&want.gamma.compare(&found.1.get("gamma").unwrap().to_vec().unwrap()), what);
                assert_ok(&want.beta.compare(&found.1.get("beta").unwrap().to_vec().unwrap()), what);
            }
            if !forms.takes(gpu, ("training", shape), |gpu| run(gpu, x, true)) {
                continue;
            }
            for (which, x) in xs.iter().enumerate() {
                let what = (what, which);
                let (plain, normed, found) = run(gpu, x, true);
                let normed = normed.unwrap();
                let want = reference::group_norm(x, planes, channels, [Some(&gamma), Some(&beta)], eps);
                assert_ok(&want.y.compare(&normed.y.to_vec().unwrap()), what);
                assert_ok(&want.mean.compare(&normed.mean.to_vec().unwrap()), what);
                assert_ok(&want.variance.compare(&normed.variance.to_vec().unwrap()), what);
                assert_ok(&want.rstd.compare(&normed.rstd.to_vec().unwrap()), what);
                let updated = normed.running.as_ref().unwrap();
                let unbiased = rows as f64 / (rows - 1) as f64;
                for (found, old, batch, by) in [
                    (&updated.mean, &means, &want.mean, 1.0),
                    (&updated.variance, &variances, &want.variance, unbiased),
                ] {
                    for (c, found) in found.to_vec().unwrap().into_iter().enumerate() {
                        let want = 0.75 * f64::from(old[c]) + 0.25 * by * batch.value[c];
                        let bound = 0.25 * by * batch.tolerance[c] + 1e-6 * (want.abs() + 1.0);
                        assert!((f64::from(found) - want).abs() <= bound, "{what:?}: {found}, not {want}");
                    }
                }
                // Without running statistics there are fewer bindings.
                assert_ok(&want.y.compare(&plain.to_vec().unwrap()), what);
                let want = reference::group_norm_backward(x, planes, channels, Some(&gamma), eps, &g);
                assert_ok(&want.x.compare(&found.0.to_vec().unwrap()), what);
                assert_ok(&want.gamma.compare(&found.1.get("gamma").unwrap().to_vec().unwrap()), what);
                assert_ok(&want.beta.compare(&found.1.get("beta").unwrap().to_vec().unwrap()), what);
            }
        }
    }
    for_all_types!(turn, test, forms);
}

#[test]
fn norms_of_channels_are_these_launches() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    // A device with few storage bindings updates running statistics in a launch of its own.
    let bindings = gpu.caps().limits.storage_bindings;
    for (shape, forward) in [([2, 400, 8], 1), ([1, 20_000, 8], 3)] {
        let with_running = if bindings < 11 { 3 } else { forward };
        let x = gpu.tensor(&values::<f32>(&shape, 1.0, 1), shape).unwrap();
        let gamma = gpu.tensor(&values::<f32>(&[8], 1.0, 2), [8]).unwrap();
        let count = |work: &dyn Fn()| {
            let before = gpu.stats().launches;
            work();
            gpu.stats().launches - before
        };
        let norm = GroupNorm::new(2).gamma(&gamma);
        let normed = norm.with_statistics(&x).unwrap();
        assert_eq!(count(&|| drop(norm.run(&x).unwrap())), forward);
        assert_eq!(count(&|| drop(norm.backward(&x, &normed, &x).unwrap())), 4);
        let norm = BatchNorm::new().gamma(&gamma);
        let normed = norm.training(&x, None).unwrap();
        let running = RunningStatistics { mean: normed.mean.clone(), variance: normed.variance.clone() };
        assert_eq!(count(&|| drop(norm.training(&x, None).unwrap())), forward);
        assert_eq!(count(&|| drop(norm.training(&x, Some(&running)).unwrap())), with_running);
        assert_eq!(count(&|| drop(norm.training_backward(&x, &normed, &x).unwrap())), 3);
        assert_eq!(count(&|| drop(norm.run(&x, &running).unwrap())), 1);
        assert_eq!(count(&|| drop(norm.backward(&x, &running, &x).unwrap())), 3);
        assert_eq!(count(&|| drop(BatchNorm::new().backward(&x, &running, &x).unwrap())), 1);
    }
}

#[test]
fn a_batch_norm_of_no_channels_has_no_elements_by_definition() {
    let none: [f32; 0] = [];
    let y = reference::batch_norm(&none, [&none; 2], [Some(&none); 2], 1e-5);
    let gradients = reference::batch_norm_backward(&none, [&none; 2], Some(&none), 1e-5, &none);
    assert!([y, gradients.x, gradients.gamma, gradients.beta].iter().all(|of| of.value.is_empty()));
}
