//! Normal values: the bits of the host, with one launch and no upload, and the distribution.

use crate::bits::bytes;
use support::failure::{Kind, fails};
use tilewise::{Element, Fill, Gpu, bf16, f16};

#[test]
fn the_device_makes_the_values_of_the_host_without_an_upload() {
    fn check<T: Element>(gpu: &Gpu) {
        for (len, seed) in [(1, 0), (3, 1), (4, u64::MAX), (1003, 0x1234_5678_9abc_def0), (70_001, 5)] {
            let before = gpu.stats();
            let c = gpu.random::<T>([len], Fill::Normal, seed).unwrap();
            let after = gpu.stats();
            assert_eq!(after.launches - before.launches, 1);
            assert_eq!(after.bytes_staged, before.bytes_staged);
            let want = Fill::Normal.values::<T>(len, seed);
            assert_eq!(bytes(&c.to_vec().unwrap()), bytes(&want), "{len} of {}, seed {seed}", T::DTYPE);
        }
    }
    for gpu in support::turn().iter() {
        // The table that the kernel reads is uploaded once.
        drop(gpu.random::<f32>([1], Fill::Normal, 1).unwrap());
        support::of_reals!(check, gpu);
        let pipelines = gpu.stats().pipelines;
        let shaped = gpu.random::<f32>([2, 3, 1, 5], Fill::Normal, 9).unwrap();
        assert_eq!((shaped.shape(), gpu.stats().pipelines), (&[2, 3, 1, 5][..], pipelines));
        // Integers are made on the host.
        let integers = gpu.random::<i8>([100], Fill::Normal, 3).unwrap();
        assert_eq!(integers.to_vec().unwrap(), Fill::Normal.values::<i8>(100, 3));
        assert!(gpu.random::<f32>([3, 0], Fill::Normal, 3).unwrap().is_empty());
        let x = gpu.zeros::<f32>([8]).unwrap();
        let mut noisy =
            gpu.capture(&[x.view()], || tilewise::ops::add(&x, &gpu.random([8], Fill::Normal, 4)?)).unwrap();
        assert_eq!(noisy.run(&[x.view()]).unwrap().to_vec().unwrap(), Fill::Normal.values::<f32>(8, 4));
    }
}

/// P(Z < z) of a standard normal number.
fn below(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

/// Moments within five standard deviations of what they estimate, and the largest distance between the distributions within the
/// bound of Kolmogorov and Smirnov that one in a million samples exceeds, and what f16 and bf16 round.
#[test]
fn the_values_are_normal() {
    fn check<T: Element>(rounded: f64) {
        let len = 1 << 18;
        for seed in [1, 77] {
            let mut values: Vec<f64> =
                Fill::Normal.values::<T>(len, seed).into_iter().map(T::to_f64).collect();
            let n = len as f64;
            let moment = |p: i32| values.iter().map(|x| x.powi(p)).sum::<f64>() / n;
            // The variance of x^p is E[x^2p] - E[x^p]^2: 1, 2, 15 and 96.
            for (p, want, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0f64)] {
                let allowed = 5.0 * (variance / n).sqrt() + 3e-4 + rounded;
                assert!((moment(p) - want).abs() < allowed, "{} E[x^{p}] is {}", T::DTYPE, moment(p));
            }
            // Neighbours have nothing in common.
            let product = values.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / n;
            assert!(product.abs() < 5.0 / n.sqrt(), "{product}");
            values.sort_by(f64::total_cmp);
            let distance = (0u32..).zip(&values).map(|(at, &x)| {
                let (low, high) = (f64::from(at) / n, f64::from(at + 1) / n);
                (below(x) - low).abs().max((below(x) - high).abs())
            });
            let distance = distance.fold(0.0, f64::max);
            let allowed = (0.5 * (2e6f64).ln() / n).sqrt() + rounded;
            assert!(distance < allowed, "{}: {distance} of {allowed}", T::DTYPE);
        }
    }
    check::<f32>(1e-4);
    check::<f16>(1e-3);
    check::<bf16>(8e-3);
}

#[test]
fn mistakes_are_errors_that_name_the_call() {
    let gpu = support::noop();
    fails(gpu.random::<f32>([1; 7], Fill::Normal, 1), Kind::Shape, &["^random: "]);
    fails(gpu.random::<f32>([1 << 31], Fill::Normal, 1), Kind::Limit, &["^random: "]);
    assert_eq!(gpu.stats().launches, 0);
}
