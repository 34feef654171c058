//! Sketched layers from trained weights: how near they are, against the best there is.

use crate::spectrum::{figure, normal, place, read, tail, with_spectrum};
use faer::Mat;
use support::failure::{Kind, fails};
use tilewise::io::Safetensors;
use tilewise::sketch::SkLinear;
use tilewise::{Error, Fill, Gpu, Tensor, f16};

fn relative(off: &Mat<f64>, of: &Mat<f64>) -> f64 {
    off.norm_l2() / of.norm_l2()
}

/// Against the exact decomposition: flat spectra, where a search has the least to go by, decaying ones and steps.
#[test]
fn a_fit_is_within_two_per_cent_of_the_best_for_ten_shapes() {
    let Some(gpu) = support::gpu() else { return };
    let decaying = |n: usize| (0..n).map(|i| 0.9f64.powf(i as f64)).collect::<Vec<_>>();
    let slow = |n: usize| (0..n).map(|i| 1.0 / (1.0 + i as f64).sqrt()).collect::<Vec<_>>();
    let steps = |n: usize| (0..n).map(|i| if i < 12 { 1.0 } else { 0.1 }).collect::<Vec<_>>();
    /// Shape, singular values, terms and rank.
    type Fitted = ([usize; 2], Option<Vec<f64>>, usize, usize);
    let cases: [Fitted; 10] = [
        ([60, 200], None, 1, 8),
        ([200, 60], None, 2, 4),
        ([128, 128], None, 1, 16),
        ([300, 40], Some(decaying(40)), 1, 5),
        ([40, 300], Some(decaying(40)), 2, 2),
        ([150, 150], Some(slow(150)), 3, 6),
        ([257, 131], Some(slow(131)), 1, 20),
        ([90, 110], Some(steps(90)), 1, 4),
        ([33, 500], Some(steps(33)), 1, 6),
        ([500, 33], None, 1, 7),
    ];
    let mut worst = 0.0f64;
    for (i, (shape, spectrum, terms, rank)) in cases.into_iter().enumerate() {
        let a = match &spectrum {
            Some(s) => with_spectrum(shape, s, i as u64),
            None => normal(shape, 50 + i as u64),
        };
        let (weight, a) = place(&gpu, &a);
        let fitted = SkLinear::fit(&weight, terms, rank).unwrap();
        let best = tail(&a.singular_values().unwrap(), 2 * terms * rank) / a.norm_l2();
        let own = relative(&(read(&fitted.layer.to_weight().unwrap()) - &a), &a);
        let ratio = own / best;
        println!("{shape:?}, {terms} terms of rank {rank}: {own:.4}, the best {best:.4}");
        assert!((own - fitted.weight_rel_error).abs() < 1e-5, "{own}, reported {}", fitted.weight_rel_error);
        assert!(ratio <= 1.02, "{shape:?}: {ratio} times the best");
        worst = worst.max(ratio);
    }
    figure("fit over the best", worst);
}

/// The signs as a matrix of f64, over the root of the rank.
fn f64_of(x: &Tensor<f32>) -> Mat<f64> {
    read(&x.contiguous().unwrap())
}

#[test]
fn least_squares_leaves_what_lies_in_neither_span() {
    let Some(gpu) = support::gpu() else { return };
    for (shape, terms, rank) in [([80, 120], 2, 4), ([40, 6], 1, 2)] {
        let (weight, w) = place(&gpu, &normal(shape, 9));
        let builder = SkLinear::builder(terms, rank).seed(3);
        let squares = builder.least_squares(&weight).unwrap();
        let outside = |u: &Mat<f64>| {
            let q = u.qr().compute_thin_Q();
            Mat::<f64>::identity(u.nrows(), u.nrows()) - &q * q.transpose()
        };
        let u1 = f64_of(&squares.layer.u1().unwrap()).transpose().to_owned();
        let best =
            (outside(&u1) * &w * outside(&f64_of(&squares.layer.u2().unwrap()))).norm_l2() / w.norm_l2();
        let own = relative(&(read(&squares.layer.to_weight().unwrap()) - &w), &w);
        assert!((own - best).abs() < 2e-5, "{shape:?}: {own}, the least {best}");
        assert!((own - squares.weight_rel_error).abs() < 1e-5);
        let copied = builder.panther(&weight).unwrap();
        let fitted = builder.fit(&weight).unwrap();
        println!("{shape:?}: {:.3}, {own:.3}, {:.3}", copied.weight_rel_error, fitted.weight_rel_error);
        assert!(fitted.weight_rel_error < own && own < 1.0 && own < copied.weight_rel_error);
    }
}

/// S of Panther's copy, in f64.
#[test]
fn a_copied_weight_is_sketched_from_both_sides() {
    let Some(gpu) = support::gpu() else { return };
    let (weight, w) = place(&gpu, &normal([30, 50], 4));
    let layer = SkLinear::builder(1, 6).seed(2).panther(&weight).unwrap().layer;
    let [u1, u2] = [layer.u1().unwrap(), layer.u2().unwrap()].map(|u| f64_of(&u));
    let [s1, s2] = [layer.s1().unwrap(), layer.s2().unwrap()].map(|s| f64_of(&s));
    assert!(relative(&(s1 - w.transpose() * u1.transpose()), &w) < 1e-5);
    assert!(relative(&(s2 - u2.transpose() * w.transpose()), &w) < 1e-5);
}

#[test]
fn a_fit_to_activations_is_no_worse_on_them() {
    let Some(gpu) = support::gpu() else { return };
    let (weight, w) = place(&gpu, &normal([60, 80], 1));
    // Activations that live in few directions, and fewer rows than the rank.
    for (x, gain) in [
        (with_spectrum([100, 80], &(0..80).map(|i| 0.9f64.powi(i)).collect::<Vec<_>>(), 5), 0.5),
        (normal([100, 80], 6), 1.0),
        (normal([5, 80], 7), 1e-3),
    ] {
        let (samples, x) = place(&gpu, &x);
        let output_error = |layer: &SkLinear<f32>| {
            let off = read(&layer.to_weight().unwrap()) - &w;
            (&x * off.transpose()).norm_l2() / (&x * w.transpose()).norm_l2()
        };
        let aware = SkLinear::builder(1, 8).fit_to(&weight, &samples).unwrap();
        let plain = SkLinear::fit(&weight, 1, 8).unwrap();
        let [own, other] = [output_error(&aware.layer), output_error(&plain.layer)];
        println!("{:?}: {own:.4}, without them {other:.4}", samples.shape());
        assert!(own <= gain * other, "{own}, not {gain} of {other}");
        assert!((own - aware.output_rel_error.unwrap()).abs() < 1e-5);
        let best = {
            let y = &x * w.transpose();
            tail(&y.singular_values().unwrap(), 16.min(x.nrows())) / y.norm_l2()
        };
        assert!(own <= 1.02 * best + 1e-5, "{own}, the best {best}");
    }
}

#[test]
fn trained_weights_of_every_type_are_fitted() {
    let Some(gpu) = support::gpu() else { return };
    let file =
        Safetensors::read(support::root().join("examples/data/minilm_layer2_ffn.safetensors")).unwrap();
    let halves = file.tensor::<f16>(&gpu, "intermediate.dense.weight").unwrap();
    let weight = halves.cast::<f32>().unwrap();
    let exact = read(&weight).singular_values().unwrap();
    for (terms, rank) in if support::is_full_sweep() { vec![(1, 16), (2, 32)] } else { vec![(1, 32)] } {
        let best = tail(&exact, 2 * terms * rank) / tail(&exact, 0);
        let own = SkLinear::fit(&weight, terms, rank).unwrap().weight_rel_error;
        let own_f16 = SkLinear::fit(&halves, terms, rank).unwrap().weight_rel_error;
        println!("rank {rank}: {own:.4}, in f16 {own_f16:.4}, the best {best:.4}");
        assert!(own <= 1.02 * best && own_f16 <= 1.02 * best);
    }
}

#[test]
fn weights_that_are_no_weights_are_refused() {
    let Some(gpu) = support::gpu() else { return };
    let refuse = |weight: &Tensor<f32>, terms: usize, rank: usize| {
        let builder = SkLinear::builder(terms, rank);
        let errors = [
            builder.panther(weight).unwrap_err(),
            builder.least_squares(weight).unwrap_err(),
            builder.fit(weight).unwrap_err(),
            builder.fit_to(weight, &gpu.zeros::<f32>([3, 20]).unwrap()).unwrap_err(),
        ];
        let [first, ..] = errors.each_ref().map(Error::to_string);
        let said = |call: &str| first.replace("SkLinear::panther", call);
        let calls = ["SkLinear::panther", "SkLinear::least_squares", "SkLinear::fit", "SkLinear::fit_to"];
        assert_eq!(errors.each_ref().map(Error::to_string), calls.map(said), "each names its own call");
        first
    };
    let weight = |poison: f32| {
        let mut values = Fill::Uniform.values::<f32>(30 * 20, 1);
        values[47] = poison;
        gpu.tensor(&values, [30, 20]).unwrap()
    };
    assert!(refuse(&weight(f32::NAN), 1, 2).contains("[2, 7]"));
    assert!(refuse(&weight(f32::INFINITY), 1, 2).contains("inf"));
    let good = weight(0.0);
    let says = refuse(&good, 1, 6);
    assert!(says.contains("600") && says.contains("saves nothing"), "{says}");
    assert!(SkLinear::builder(1, 6).allow_larger().fit(&good).is_ok());
    assert!(refuse(&good, 0, 2).contains("one term"));
    assert!(refuse(&good, 1, 0).contains("a rank"));
    assert!(refuse(&good, 1, 21).contains("inputs and outputs"));
    assert!(refuse(&gpu.zeros::<f32>([4]).unwrap(), 1, 1).contains("matrix"));
    fails(SkLinear::builder(1, 2).fit_to(&good, &gpu.zeros::<f32>([3, 21]).unwrap()), Kind::Shape, &[]);
    // More rank than there is: exact, and the rest zeros.
    let whole = SkLinear::builder(2, 20).allow_larger().fit(&good).unwrap();
    assert!(whole.weight_rel_error < 1e-5, "{}", whole.weight_rel_error);
    let nothing = SkLinear::fit(&gpu.zeros::<f32>([30, 20]).unwrap(), 1, 2).unwrap();
    assert_eq!(nothing.weight_rel_error, 0.0);
}

/// What is fitted is a device's own business: another gets the same numbers from the same seed.
#[test]
fn the_same_seed_builds_the_same_layer() {
    let Some(gpu) = support::gpu() else { return };
    let build = |gpu: &Gpu, seed: u64| {
        let weight = gpu.random::<f32>([40, 50], Fill::Uniform, 1).unwrap();
        let layer = SkLinear::builder(1, 4).seed(seed).panther(&weight).unwrap().layer;
        [layer.s1().unwrap(), layer.u1().unwrap(), layer.u2().unwrap()].map(|x| x.to_vec().unwrap())
    };
    assert_eq!(build(&gpu, 1), build(&gpu, 1));
    let [one, other] = [build(&gpu, 1), build(&gpu, 2)];
    assert!(one[1] != other[1] && one[2] != other[2]);
}
