//! Calls of the runtime that take seconds.

use crate::tuning::{operands, without_files};
use support::progress::{Told, assert_cancellable, assert_whole, cancelled_at, recorded};
use tilewise::gpu::{CacheFolder, Tuning};
use tilewise::{Error, Gemm, Gpu, Plan, Result, Tensor, matmul, ops};

/// An expression with a kernel of its own for each number.
fn mapped(x: &Tensor<f32>, number: usize) -> Result<Tensor<f32>> {
    ops::map(&[x], |[x]| (0..number).fold(x.clone() * 0.5, |sum, _| sum + x.clone()))
}

fn plans(gpu: &Gpu) -> Vec<Plan> {
    let x = gpu.tensor(&[1.0f32, 2.0, 3.0], [3]).unwrap();
    gpu.plans_of(|| (0..12).for_each(|number| drop(mapped(&x, number)))).1
}

fn works(gpu: &Gpu) {
    let x = gpu.tensor(&[1.0f32, 2.0, 3.0], [3]).unwrap();
    assert_eq!(mapped(&x, 3).unwrap().to_vec().unwrap(), [3.5, 7.0, 10.5]);
}

#[test]
fn kernels_that_are_compiled_ahead_can_be_cancelled() {
    let Some(cold) = support::own(|_| ()) else { return };
    let plans = plans(&cold);
    let kinds: [fn(&Told) -> bool; 3] = [|_| true, |told| told.done > 0, Told::is_last];
    for (is_it, least) in kinds.into_iter().zip([0, 1, 12]) {
        let Some(gpu) = support::own(|_| ()) else { return };
        let (warm, all) = cancelled_at(|| gpu.warm_up(&plans), is_it);
        assert!(matches!(warm, Err(Error::Cancelled { op: "warm_up", .. })), "{all:#?}");
        let compiled = gpu.stats().pipelines;
        assert!(compiled >= least && (least > 0 || compiled == 0), "{compiled}: {all:#?}");
        works(&gpu);
        let (warm, all) = recorded(|| gpu.warm_up(&plans));
        warm.unwrap();
        assert_whole(&all);
        assert_eq!(gpu.stats().pipelines_kept, 12);
    }
    assert_cancellable(&cold, "warm_up", || cold.warm_up(&plans));
    // One kernel, which no other thread compiles, and none.
    assert_cancellable(&cold, "warm_up", || cold.warm_up(&plans[..1]));
    assert_whole(&recorded(|| cold.warm_up(&[])).1);
}

#[test]
fn a_measurement_of_the_device_can_be_cancelled() {
    let Some(gpu) =
        support::first_driver().and_then(|()| support::own(|options| options.cache = CacheFolder::Off))
    else {
        return;
    };
    assert_cancellable(&gpu, "measure_machine", || gpu.measure_machine().map(|machine| machine.cores));
}

#[test]
fn tuning_can_be_cancelled_and_remembers_nothing_then() {
    let Some(()) = support::first_driver() else { return };
    let Some(gpu) = without_files(Tuning::Remembered) else { return };
    let [a, b] = operands(&gpu);
    let problem = Gemm::new(&a, &b).problem().unwrap();
    let expected = matmul(&a, &b).unwrap().to_vec().unwrap();
    let kinds: [fn(&Told) -> bool; 5] = [
        |_| true,
        |told| told.what == "checking results",
        |told| told.what == "measuring",
        |told| told.fraction > 0.5,
        Told::is_last,
    ];
    for is_it in kinds {
        let (tuned, all) = cancelled_at(|| gpu.tune(&problem), is_it);
        assert!(matches!(tuned, Err(Error::Cancelled { op: "tune", .. })), "{tuned:?}: {all:#?}");
        assert!(gpu.tuned().is_empty() && gpu.tuned_for(&problem).is_none());
        assert_eq!(matmul(&a, &b).unwrap().to_vec().unwrap(), expected);
    }
    assert_cancellable(&gpu, "tune", || gpu.tune(&problem).map(|tuned| tuned.tried.len()));
}

/// A product that tunes itself at its first use is cancelled with the tuning, and tunes itself later.
#[test]
fn tuning_at_the_first_use_can_be_cancelled() {
    let Some(gpu) = without_files(Tuning::Now) else { return };
    let [a, b] = operands(&gpu);
    let (product, all) = cancelled_at(|| matmul(&a, &b), |told| told.what == "measuring");
    assert!(matches!(product, Err(Error::Cancelled { op: "matmul", .. })), "{all:#?}");
    assert!(gpu.tuned().is_empty());
    let (product, all) = recorded(|| matmul(&a, &b));
    assert_eq!(gpu.tuned().len(), 1, "it is not given up");
    assert!(all.iter().all(|told| told.call == "tune"), "{all:#?}");
    assert_whole(&all);
    assert_eq!(product.unwrap().shape(), [64, 64]);
}
