//! The plans of operations that read back between their stages.

use tilewise::sketch::{self, SkLinear};
use tilewise::{Fill, Gpu, Result, Tensor};

/// An operation with host steps, on matrices that it can work with.
type Operation = (&'static str, fn(&Gpu) -> Result<()>);

fn random(gpu: &Gpu, shape: [usize; 2]) -> Result<Tensor<f32>> {
    gpu.random(shape, Fill::Uniform, 1)
}

const OPERATIONS: [Operation; 6] = [
    ("rsvd", |gpu| sketch::rsvd(&random(gpu, [300, 40])?, 8).map(drop)),
    ("lstsq", |gpu| sketch::lstsq(&random(gpu, [400, 20])?, &random(gpu, [400, 1])?).map(drop)),
    ("cqrrpt", |gpu| sketch::cqrrpt(&random(gpu, [400, 20])?).map(drop)),
    ("range", |gpu| sketch::range(&random(gpu, [300, 40])?, 8).map(drop)),
    ("trace", |gpu| sketch::trace(&random(gpu, [40, 40])?, 8, 1).map(drop)),
    ("fit", |gpu| SkLinear::<f32>::builder(1, 8).fit(&random(gpu, [64, 48])?).map(drop)),
];

#[test]
fn operations_with_host_steps_tell_the_plans_of_their_stages() {
    let Some(gpu) = support::own(|_| ()) else { return };
    for (what, operation) in OPERATIONS {
        let before = gpu.stats().launches;
        let (result, plans) = gpu.plans_of(|| operation(&gpu));
        result.unwrap_or_else(|error| panic!("{what}: {error}"));
        let steps: usize = plans.iter().map(|plan| plan.steps().len()).sum();
        assert_eq!(gpu.stats().launches - before, steps as u64, "{what}: every launch is a step of a plan");
        assert!(plans.len() > 1, "{what}: {plans:?}");
        for plan in &plans {
            assert!(plan.work().bytes() > 0 && plan.seconds() > 0.0, "{what}: {plan}");
        }
    }
}
