//! Layer norm and RMS norm.

use super::operands;
use support::failure::says;
use support::forms::{self, Forms};
use support::strided::{Lay, Placed};
use support::turn::Turn;
use support::values::{assert_ok, for_all_types, values};
use tilewise::ops::{self, BatchNorm, GroupNorm, InstanceNorm, LayerNorm, RmsNorm, RunningStatistics};
use tilewise::{DType, Element, Fill, Gpu, Real, Result, Tensor, reference};

const LAYS: [Lay; 6] = [Lay::Plain, Lay::Reversed, Lay::Gaps, Lay::Even, Lay::Odd, Lay::Vectors];

/// Shapes, with the number of normalised axes: rows of an invocation, of some, of a workgroup, and longer ones; partial sums
/// of one workgroup and of several.
const SHAPES: [(&[usize], usize); 7] = [
    (&[2, 9001], 1),
    (&[3, 2, 4, 8], 2),
    (&[200, 65], 1),
    (&[3, 4], 1),
    (&[2, 5, 64], 1),
    (&[7, 1], 1),
    (&[3, 512], 1),
];

/// The first three in a short sweep.
fn shapes() -> &'static [(&'static [usize], usize)] {
    &SHAPES[..support::by_sweep(7, 7, 3)]
}

/// One sweep, so that all of it shares kernels.
#[test]
fn norms_of_rows_agree_with_their_definitions() {
    forms::sweep(89, |turn, forms| {
        layer_norm_and_its_gradients_agree_with_their_definitions(turn, forms);
        rms_norm_and_its_gradients_agree_with_their_definitions(turn, forms);
        a_residual_is_added_first_with_the_bits_of_two_operations(turn, forms);
    });
}

fn layer_norm_and_its_gradients_agree_with_their_definitions(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (case, &(shape, axes)) in shapes().iter().enumerate() {
            let row = &shape[shape.len() - axes..];
            let rows = &shape[..shape.len() - axes];
            let length: usize = row.iter().product();
            let (xs, g) = (operands::<T>(shape, case), values::<T>(shape, 1.0, 2));
            let (gamma, beta) = (values::<T>(row, 2.0, 3), values::<T>(row, 1.0, 4));
            let lay = |step: usize| LAYS[(case + step) % LAYS.len()];
            let placed = |gpu: &Gpu, x: &Vec<T>| {
                let [a, grad] =
                    [(x, 0), (&g, 1)].map(|(of, step)| Placed::new(gpu, of, shape, lay(step)).tensor);
                let [of_gamma, of_beta] =
                    [(&gamma, 2), (&beta, 3)].map(|(of, step)| Placed::new(gpu, of, row, lay(step)).tensor);
                [a, grad, of_gamma, of_beta]
            };
            for (has_gamma, has_beta) in [(true, true), (case % 2 == 0, false)]
                .into_iter()
                .take(1 + usize::from(case < 2 && !support::is_short_sweep()))
            {
                let run = |gpu: &Gpu, x: &Vec<T>| {
                    let [a, grad, of_gamma, of_beta] = placed(gpu, x);
                    let (gamma, beta) = (has_gamma.then_some(&of_gamma), has_beta.then_some(&of_beta));
                    let norm = LayerNorm::new().axes(axes).gamma(gamma).beta(beta).eps(1e-3);
                    let y = norm.run(&a).unwrap();
                    let normed = norm.with_statistics(&a).unwrap();
                    let gradients = norm.backward(&a, &normed, &grad).unwrap();
                    (y, normed, gradients)
                };
                // Each combination with one shape at least.
                if !forms.takes(gpu, ("layer", shape, has_gamma), |gpu| run(gpu, &xs[0])) {
                    continue;
                }
                let eps = f64::from(1e-3f32);
                let weights = [has_gamma.then_some(&gamma[..]), has_beta.then_some(&beta[..])];
                for (which, x) in xs.iter().enumerate() {
                    let what = (T::DTYPE, shape, lay(0), has_gamma, has_beta, which);
                    let want = reference::layer_norm(x, length, weights, eps);
                    let (y, normed, found) = run(gpu, x);
                    assert_eq!(y.shape(), shape);
                    assert_ok(&want.y.compare(&y.to_vec().unwrap()), what);
                    assert_eq!(bits(&normed.y), bits(&y), "{what:?}");
                    assert_eq!((normed.mean.shape(), normed.rstd.shape()), (rows, rows));
                    assert_ok(&want.mean.compare(&normed.mean.to_vec().unwrap()), what);
                    assert_ok(&want.rstd.compare(&normed.rstd.to_vec().unwrap()), what);
                    let want = reference::layer_norm_backward(x, length, weights[0], eps, &g);
                    assert_ok(&want.x.compare(&found.0.to_vec().unwrap()), what);
                    assert_eq!(
                        (found.1.get("gamma").is_some(), found.1.get("beta").is_some()),
                        (has_gamma, has_beta)
                    );
                    for (found, want) in
                        [(found.1.get("gamma"), &want.gamma), (found.1.get("beta"), &want.beta)]
                    {
                        let Some(found) = found else { continue };
                        assert_eq!(found.shape(), row);
                        assert_ok(&want.compare(&found.to_vec().unwrap()), what);
                    }
                    assert_eq!(bits(&run(gpu, x).2.0), bits(&found.0), "same plan, same bits");
                }
            }
        }
    }
    for_all_types!(turn, test, forms);
}

fn rms_norm_and_its_gradients_agree_with_their_definitions(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (case, &(shape, axes)) in shapes().iter().enumerate() {
            let row = &shape[shape.len() - axes..];
            let length: usize = row.iter().product();
            let (xs, g, gamma) =
                (operands::<T>(shape, case), values::<T>(shape, 1.0, 2), values::<T>(row, 2.0, 3));
            let lay = |step: usize| LAYS[(case + step) % LAYS.len()];
            let run = |gpu: &Gpu, x: &Vec<T>| {
                let [a, grad] =
                    [(x, 5), (&g, 3)].map(|(of, step)| Placed::new(gpu, of, shape, lay(step)).tensor);
                let weights = Placed::new(gpu, &gamma, row, Lay::Plain).tensor;
                let norm = RmsNorm::new().axes(axes).gamma(&weights);
                let normed = norm.with_statistics(&a).unwrap();
                let gradients = norm.backward(&a, &normed, &grad).unwrap();
                (norm.run(&a).unwrap(), normed, gradients)
            };
            if !forms.takes(gpu, ("rms", shape), |gpu| run(gpu, &xs[0])) {
                continue;
            }
            for (which, x) in xs.iter().enumerate() {
                let (what, eps) = ((T::DTYPE, shape, lay(5), which), f64::from(1e-6f32));
                let want = reference::rms_norm(x, length, Some(&gamma), eps);
                let (y, normed, found) = run(gpu, x);
                assert_ok(&want.y.compare(&normed.y.to_vec().unwrap()), what);
                assert_ok(&want.rstd.compare(&normed.rstd.to_vec().unwrap()), what);
                assert_eq!(bits(&y), bits(&normed.y));
                let want = reference::rms_norm_backward(x, length, Some(&gamma), eps, &g);
                assert_ok(&want.x.compare(&found.0.to_vec().unwrap()), what);
                assert_ok(&want.gamma.compare(&found.1.get("gamma").unwrap().to_vec().unwrap()), what);
                assert!(found.1.get("beta").is_none());
            }
        }
    }
    for_all_types!(turn, test, forms);
}

fn a_residual_is_added_first_with_the_bits_of_two_operations(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (shape, lays) in [([5, 64], [Lay::Vectors, Lay::Plain]), ([6, 33], [Lay::Gaps, Lay::Reversed])] {
            let [x, r] = [1, 2].map(|seed| values::<T>(&shape, 2.0, seed));
            let weights = values::<T>(&[shape[1]], 2.0, 3);
            let placed = |gpu: &Gpu| {
                let gamma = gpu.tensor(&weights, [shape[1]]).unwrap();
                ([(&x, lays[0]), (&r, lays[1])].map(|(of, lay)| Placed::new(gpu, of, &shape, lay)), gamma)
            };
            let run = |gpu: &Gpu| {
                let ([a, b], gamma) = placed(gpu);
                let norm = LayerNorm::new().gamma(&gamma);
                let (total, normed) = norm.residual(&a.tensor, &b.tensor).unwrap();
                let norm = RmsNorm::new().gamma(&gamma);
                let (also, rms) = norm.residual(&a.tensor, &b.tensor).unwrap();
                (ops::add(&a.tensor, &b.tensor).unwrap(), [total, also], [normed.y, rms.y])
            };
            if !forms.takes(gpu, ("residual", shape), run) {
                continue;
            }
            let launches = gpu.stats().launches;
            let (sum, totals, found) = run(gpu);
            assert_eq!(gpu.stats().launches - launches, 3, "one launch each");
            for total in totals {
                assert_eq!(bits(&total), bits(&sum), "{} {shape:?}", T::DTYPE);
            }
            let sum = sum.to_vec().unwrap();
            let close = [
                reference::layer_norm(&sum, shape[1], [Some(&weights), None], 1e-5),
                reference::rms_norm(&sum, shape[1], Some(&weights), 1e-6),
            ];
            for (found, close) in found.iter().zip(close) {
                assert_ok(&close.y.compare(&found.to_vec().unwrap()), (T::DTYPE, shape));
            }
        }
    }
    for_all_types!(turn, test, forms);
}

#[test]
fn a_norm_is_one_launch_and_its_gradients_are_two() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    for length in [64, 5000] {
        let shape = [300, length];
        let x = gpu.tensor(&values::<f32>(&shape, 1.0, 1), shape).unwrap();
        let gamma = gpu.tensor(&values::<f32>(&[length], 1.0, 2), [length]).unwrap();
        let norm = LayerNorm::new().gamma(&gamma).beta(&gamma);
        let count = |work: &dyn Fn()| {
            let before = gpu.stats().launches;
            work();
            gpu.stats().launches - before
        };
        let normed = norm.with_statistics(&x).unwrap();
        assert_eq!(count(&|| drop(norm.run(&x).unwrap())), 1);
        assert_eq!(count(&|| drop(norm.with_statistics(&x).unwrap())), 1);
        assert_eq!(count(&|| drop(norm.backward(&x, &normed, &x).unwrap())), 2);
        let plain = LayerNorm::new();
        assert_eq!(count(&|| drop(plain.backward(&x, &normed, &x).unwrap())), 1);
        // Another number is no other pipeline.
        let pipelines = gpu.stats().pipelines;
        drop(norm.eps(0.5).run(&x).unwrap());
        drop(norm.run(&x.slice(0, 3..).unwrap()).unwrap());
        assert_eq!(gpu.stats().pipelines, pipelines);
    }
}

#[test]
fn rows_of_special_values_and_of_none() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let [inf, nan] = [f32::INFINITY, f32::NAN];
    let x = gpu.tensor(&[1.0, nan, 2.0, inf, 7.0, 7.0, 0.0, 0.0], [4, 2]).unwrap();
    let of = |eps| LayerNorm::new().eps(eps).run(&x).unwrap().to_vec().unwrap();
    assert!(of(1e-5)[..4].iter().all(|y| y.is_nan()));
    assert_eq!(of(1e-5)[4..], [0.0; 4]);
    assert!(of(0.0).iter().all(|y| y.is_nan()));
    let y = RmsNorm::new().run(&x).unwrap().to_vec().unwrap();
    assert!(
        y[..2].iter().all(|y| y.is_nan()) && y[2] == 0.0 && y[3].is_nan() && y[6..] == [0.0, 0.0],
        "{y:?}"
    );

    let none = gpu.zeros::<f32>([0, 3]).unwrap();
    let gamma = gpu.zeros::<f32>([3]).unwrap();
    let norm = LayerNorm::new().gamma(&gamma);
    let normed = norm.with_statistics(&none).unwrap();
    assert_eq!((normed.y.shape(), normed.mean.shape()), (&[0, 3][..], &[0][..]));
    let gradients = norm.backward(&none, &normed, &none).unwrap();
    assert_eq!(gradients.1.get("gamma").unwrap().to_vec().unwrap(), [0.0; 3]);
    let scalar = LayerNorm::new().axes(2).with_statistics(&x).unwrap();
    assert_eq!(scalar.mean.shape(), [0; 0]);
}

/// The bits of a tensor.
pub(super) fn bits<T: Element>(of: &tilewise::Tensor<T>) -> Vec<u8> {
    assert!(T::DTYPE != DType::I32);
    bytemuck::cast_slice(&of.to_vec().unwrap()).to_vec()
}

#[test]
fn a_result_is_written_in_place_with_the_same_bits() {
    let Some(gpu) = support::gpu() else { return };
    let x = gpu.random::<f32>([3, 4, 8], Fill::Normal, 1).unwrap();
    let gamma = gpu.random::<f32>([8], Fill::Normal, 2).unwrap();
    let running = RunningStatistics { mean: gamma.clone(), variance: ops::square(&gamma).unwrap() };
    let (layer, rms) = (LayerNorm::new().gamma(&gamma).beta(&gamma), RmsNorm::new().gamma(&gamma));
    let (group, instance) = (GroupNorm::new(2).gamma(&gamma), InstanceNorm::new().beta(&gamma));
    let batch = BatchNorm::new().gamma(&gamma).beta(&gamma);
    type Case<'a> = (Tensor<f32>, &'a dyn Fn(&mut Tensor<f32>) -> Result<()>);
    let norms: [Case<'_>; 5] = [
        (layer.run(&x).unwrap(), &|y| y.assign(|| layer.run(&x))),
        (rms.run(&x).unwrap(), &|y| y.assign(|| rms.run(&x))),
        (group.run(&x).unwrap(), &|y| y.assign(|| group.run(&x))),
        (instance.run(&x).unwrap(), &|y| y.assign(|| instance.run(&x))),
        (batch.run(&x, &running).unwrap(), &|y| y.assign(|| batch.run(&x, &running))),
    ];
    // Group norms make statistics with the result: it is copied.
    for ((want, into), most) in norms.into_iter().zip([1, 1, 2, 2, 1]) {
        let mut y = gpu.zeros([3, 4, 8]).unwrap();
        let launches = gpu.stats().launches;
        into(&mut y).unwrap();
        assert_eq!(gpu.stats().launches - launches, most);
        assert_eq!(bits(&y), bits(&want));
        // A part that begins where no binding may begin, and columns.
        let all = gpu.zeros::<f32>([4, 4, 8]).unwrap();
        into(&mut all.slice(0, 1..).unwrap().writable_view()).unwrap();
        assert_eq!(bits(&all.slice(0, 1..).unwrap()), bits(&want));
        let turned = gpu.zeros::<f32>([8, 4, 3]).unwrap().permute(&[2, 1, 0]).unwrap();
        into(&mut turned.writable_view()).unwrap();
        assert_eq!(bits(&turned), bits(&want));
        says(into(&mut gpu.zeros([3, 4]).unwrap()), &["the output must have the shape of the result"]);
    }
}
