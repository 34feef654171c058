//! Kernels that are compiled ahead, several at a time.

use tilewise::gemm::GemmKernel;
use tilewise::planning::Problem;
use tilewise::planning::fixtures;
use tilewise::planning::gemm::{GemmProblem, GemmTypes, Pin};
use tilewise::{DType, Error, Fill, Gpu, Plan, Result, Tensor, matmul, ops};

/// What a model might do: operations of several kernels, some of them the same.
fn work(gpu: &Gpu) -> Result<Vec<f32>> {
    let a = gpu.random::<f32>([70, 300], Fill::Uniform, 1)?;
    let mut all = matmul(&a, &a.t())?.to_vec()?;
    let shares = ops::softmax(&a, 1)?;
    all.extend(ops::sum(&shares, 0)?.to_vec()?);
    for number in 0..6 {
        all.extend(mapped(&a, number)?.to_vec()?);
    }
    all.extend(ops::sum(&ops::exp(&a)?, 1)?.to_vec()?);
    Ok(all)
}

/// An expression with a kernel of its own for each number.
fn mapped(x: &Tensor<f32>, number: usize) -> Result<Tensor<f32>> {
    ops::map(&[x], |[x]| (0..number).fold(x.clone() * 0.5, |sum, _| sum + x.clone()))
}

fn plans(gpu: &Gpu) -> Result<(Vec<f32>, Vec<Plan>)> {
    let (values, plans) = gpu.plans_of(|| work(gpu));
    Ok((values?, plans))
}

#[test]
fn what_is_warmed_up_compiles_nothing_and_has_the_same_bits() -> Result<()> {
    let (Some(cold), Some(warm)) = (support::own(|_| ()), support::own(|_| ())) else { return Ok(()) };
    let (values, plans) = plans(&cold)?;
    let compiled = cold.stats().pipelines;
    assert!(compiled > 8, "{compiled}");
    warm.warm_up(&plans)?;
    assert_eq!(warm.stats().pipelines, compiled, "each kernel once");
    assert_eq!(warm.stats().launches, 0);
    warm.warm_up(&plans)?;
    warm.warm_up(&[])?;
    assert_eq!(work(&warm)?, values);
    assert_eq!(warm.stats().pipelines, compiled);
    Ok(())
}

#[test]
fn several_threads_warm_up_at_the_same_time() -> Result<()> {
    let gpu = support::noop();
    let x = gpu.zeros::<f32>([4])?;
    let (_, plans) = gpu.plans_of(|| (0..40).for_each(|number| drop(mapped(&x, number))));
    assert_eq!(plans.len(), 40);
    let other = support::noop();
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(|| other.warm_up(&plans))).collect();
        all.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    assert_eq!(other.stats().pipelines_kept, 40);
    let before = other.stats().pipelines;
    let y = other.zeros::<f32>([4])?;
    (0..40).for_each(|number| drop(mapped(&y, number)));
    assert_eq!(other.stats().pipelines, before);
    Ok(())
}

#[test]
fn a_plan_that_this_device_cannot_run_is_an_error_before_anything_is_compiled() -> Result<()> {
    let Some(gpu) = support::bare() else { return Ok(()) };
    let c = gpu.zeros::<f32>([64, 64])?;
    let problem =
        GemmProblem::new(c.layout(), c.layout(), c.layout(), GemmTypes::new(DType::F16, DType::F32))?;
    let plan = problem.pinned(Pin::Kernel(GemmKernel::Coop)).plan(&fixtures::rtx_4090())?;
    let compiled = gpu.stats().pipelines;
    assert!(matches!(gpu.warm_up(&[plan]), Err(Error::Unsupported { .. })));
    assert_eq!(gpu.stats().pipelines, compiled);
    Ok(())
}

#[test]
fn warming_up_inside_of_a_recording_waits_for_nobody() -> Result<()> {
    let (Some(cold), Some(gpu)) = (support::own(|_| ()), support::own(|_| ())) else { return Ok(()) };
    let (values, plans) = plans(&cold)?;
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    gpu.record_into(&mut encoder, || gpu.warm_up(&plans))?;
    gpu.queue().submit([encoder.finish()]);
    assert_eq!(work(&gpu)?, values);
    Ok(())
}
