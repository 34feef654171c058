//! Factorisations, fits and advice report their progress and can be cancelled.

use support::progress::{assert_cancellable, assert_whole, recorded};
use tilewise::sketch::{Budget, Cqrrpt, Lstsq, RangeFinder, Rsvd, SkLinear, Svd, recommend_rank, trace};
use tilewise::{Error, Fill, Gpu, Result, Tensor};

fn matrix(gpu: &Gpu, shape: [usize; 2], seed: u64) -> Tensor<f32> {
    gpu.random(shape, Fill::Uniform, seed).unwrap()
}

fn values(svd: Result<Svd>) -> Result<(Vec<f64>, Vec<f32>)> {
    let svd = svd?;
    Ok((svd.s, svd.u.to_vec()?))
}

#[test]
fn decompositions_can_be_cancelled() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    let a = matrix(&gpu, [180, 90], 1);
    assert_cancellable(&gpu, "rsvd", || values(Rsvd::new(&a).rank(20).block(8).power(2).run()));
    assert_cancellable(&gpu, "rsvd", || values(Rsvd::new(&a).tolerance(0.5).run()));
    assert_cancellable(&gpu, "range", || RangeFinder::new(&a, 12).run()?.to_vec());
    let parts = |qr: tilewise::sketch::PivotedQr| Ok((qr.pivots, qr.q.to_vec()?));
    assert_cancellable(&gpu, "cqrrpt", || parts(Cqrrpt::new(&a).run()?));
    let b = matrix(&gpu, [180, 2], 2);
    assert_cancellable(&gpu, "lstsq", || Lstsq::new(&a, &b).run()?.x.to_vec());
    let square = matrix(&gpu, [90, 90], 3);
    assert_cancellable(&gpu, "trace", || trace(&square, 16, 1));
}

#[test]
fn a_decomposition_of_zeros_and_of_no_columns_is_whole() {
    let Some(gpu) = support::gpu() else { return };
    let zeros = gpu.zeros::<f32>([20, 10]).unwrap();
    let calls: [&dyn Fn() -> Result<()>; 4] = [
        &|| Rsvd::new(&zeros).rank(3).run().map(drop),
        &|| RangeFinder::new(&zeros, 0).run().map(drop),
        &|| Cqrrpt::new(&zeros).run().map(drop),
        &|| Lstsq::new(&zeros, &zeros).iterations(usize::MAX).run().map(drop),
    ];
    for call in calls {
        let (result, all) = recorded(call);
        result.unwrap();
        assert_whole(&all);
    }
}

#[test]
fn fits_and_advice_can_be_cancelled() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    let weight = matrix(&gpu, [96, 64], 1);
    let x = matrix(&gpu, [40, 64], 2);
    let layer = |terms| SkLinear::<f32>::builder(terms, 8);
    let error =
        |fitted: tilewise::sketch::FittedLayer<f32>| (fitted.weight_rel_error, fitted.output_rel_error);
    assert_cancellable(&gpu, "SkLinear::fit", || layer(1).fit(&weight).map(error));
    assert_cancellable(&gpu, "SkLinear::fit_to", || layer(1).fit_to(&weight, &x).map(error));
    assert_cancellable(&gpu, "SkLinear::panther", || layer(2).panther(&weight).map(error));
    assert_cancellable(&gpu, "SkLinear::least_squares", || layer(1).least_squares(&weight).map(error));
    for budget in [Budget::Params(0.5), Budget::Error(0.5)] {
        assert_cancellable(&gpu, "recommend_rank", || recommend_rank(&weight, budget));
    }
}

/// A call inside another one: the parts of the inner one advance a part of the outer one.
#[test]
fn parts_of_parts_are_counted_by_their_share() {
    let Some(gpu) = support::gpu() else { return };
    let a = matrix(&gpu, [120, 80], 1);
    let (svd, all) = recorded(|| Rsvd::new(&a).rank(8).oversampling(0).power(3).run());
    svd.unwrap();
    // One block of five parts, between the check and the last products.
    let block: Vec<_> = all.iter().filter(|told| told.what == "block 1").collect();
    assert!(block.len() >= 6, "{all:#?}");
    assert!(block.iter().all(|told| (told.done, told.total) == (1, 3)), "{all:#?}");
    for parts in 0..5 {
        let share = (1.0 + f64::from(parts) / 5.0) / 3.0;
        assert!(block.iter().any(|told| (told.fraction - share).abs() < 1e-12), "{share}: {all:#?}");
    }
}

#[test]
fn a_callback_that_cancels_ends_all_that_follows_in_its_scope() {
    let Some(gpu) = support::gpu() else { return };
    let a = matrix(&gpu, [60, 40], 1);
    let mut results = Vec::new();
    let (_, all) = support::progress::cancelled_at(
        || (0..3).for_each(|_| results.push(Rsvd::new(&a).rank(4).run().map(drop))),
        |_| true,
    );
    assert_eq!(all.len(), 1, "nothing is reported after it: {all:#?}");
    assert!(results.iter().all(|result| matches!(result, Err(Error::Cancelled { op: "rsvd", .. }))));
    assert!(Rsvd::new(&a).rank(4).run().is_ok());
}
