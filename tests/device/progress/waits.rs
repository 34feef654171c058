//! Waiting for the device, and operations of many launches.

use support::TestGpu;
use support::failure::says;
use support::progress::{assert_cancellable, assert_whole, cancelled_at, recorded};
use tilewise::{Error, Fill, Gemm, Gpu, Result, Tensor, matmul};

/// Products that take a software device some tenths of a second.
fn slow(gpu: &Gpu) -> Result<Tensor<f32>> {
    let a = gpu.random::<f32>([1024, 1024], Fill::Integers, 1)?;
    let mut c = matmul(&a, &a)?;
    for _ in 0..3 {
        c.assign(|| matmul(&a, &a))?;
    }
    Ok(c)
}

#[test]
fn a_wait_for_the_device_can_be_cancelled() -> Result<()> {
    // Work that is predicted to be short is submitted with the read. NOTE: a submission to lavapipe waits for earlier ones.
    let speed = || Some("NVIDIA A100-SXM4-40GB".into());
    let Some(gpu) = support::own(|options| options.assume.speed_of = speed()) else { return Ok(()) };
    let expected = slow(&gpu)?.to_vec()?;
    let (waited, all) = recorded(|| {
        slow(&gpu)?;
        gpu.wait()
    });
    waited?;
    if all.is_empty() {
        println!("skipped: the device is too fast");
        return Ok(());
    }
    assert_whole(&all);
    assert!(all.iter().all(|told| told.call == "wait"), "{all:#?}");
    let c = slow(&gpu)?;
    let (waited, _) = cancelled_at(|| gpu.wait(), |_| true);
    assert!(matches!(waited, Err(Error::Cancelled { op: "wait", .. })));
    assert_eq!(c.to_vec()?, expected, "what was submitted has run");

    let (read, all) = recorded(|| slow(&gpu)?.to_vec());
    assert_eq!(read?, expected);
    assert_whole(&all);
    assert!(all.iter().all(|told| told.call == "to_vec"), "{all:#?}");
    let c = slow(&gpu)?;
    let mut out = vec![0.0; c.len()];
    let (read, _) = cancelled_at(|| c.read_into(&mut out), |_| true);
    assert!(matches!(read, Err(Error::Cancelled { op: "read_into", .. })));
    assert!(out.iter().all(|&x| x == 0.0), "nothing is half read");
    c.read_into(&mut out)?;
    assert_eq!(out, expected);
    Ok(())
}

/// A device whose windows are so small that products take many panels.
fn limited() -> Option<TestGpu> {
    support::adopted(|desc| desc.required_limits.max_storage_buffer_binding_size = 1 << 20)
}

#[test]
fn a_product_in_panels_can_be_cancelled_between_them() -> Result<()> {
    let Some(gpu) = support::first_driver().and_then(|()| limited()) else { return Ok(()) };
    let [a, b] = [1, 2].map(|seed| gpu.random::<f32>([1024, 1024], Fill::Integers, seed).unwrap());
    let plan = Gemm::new(&a, &b).plan()?;
    if plan.seconds() < 0.06 || plan.steps().len() < 4 {
        println!(
            "skipped: the product is predicted to take {} s in {} steps",
            plan.seconds(),
            plan.steps().len()
        );
        return Ok(());
    }
    let (product, all) = recorded(|| matmul(&a, &b));
    assert!(all.len() > 2, "{all:#?}");
    assert!(all.iter().all(|told| told.call == "matmul" && told.total == plan.steps().len() as u64));
    let expected = product?.to_vec()?;
    assert_cancellable(&gpu, "matmul", || matmul(&a, &b)?.to_vec());

    // An output that was to be overwritten has no contents until it is written again.
    let mut c = gpu.zeros::<f32>([1024, 1024])?;
    let (product, _) = cancelled_at(|| c.assign(|| matmul(&a, &b)), |told| told.done > 0);
    assert!(matches!(product, Err(Error::Cancelled { op: "matmul", .. })));
    says(c.to_vec(), &["cancelled"]);
    c.assign(|| matmul(&a, &b))?;
    assert_eq!(c.to_vec()?, expected);
    // By a plan too.
    let views =
        |c: &mut Tensor<f32>| -> Result<()> { gpu.execute(&plan, &[a.view(), b.view(), c.view_mut()?], &[]) };
    let (executed, _) = cancelled_at(|| views(&mut c), |told| told.done > 0);
    assert!(matches!(executed, Err(Error::Cancelled { .. } | Error::Input { .. })), "{executed:?}");
    Ok(())
}

/// Nothing runs in the closure of a capture or of an application's encoder, so nothing is reported there.
#[test]
fn recordings_report_nothing() -> Result<()> {
    let Some(gpu) = limited() else { return Ok(()) };
    let a = gpu.random::<f32>([1024, 1024], Fill::Integers, 1)?;
    let expected = matmul(&a, &a)?.to_vec()?;
    let submits = gpu.stats().submits;
    let (replay, all) = recorded(|| gpu.capture(&[a.view()], || matmul(&a, &a)));
    assert!(all.is_empty() && gpu.stats().submits == submits, "{all:#?}");
    let mut replay = replay?;
    let (_, all) = recorded(|| replay.run(&[a.view()]).map(drop));
    assert!(all.is_empty(), "{all:#?}");
    assert_eq!(replay.outputs().to_vec()?, expected);
    gpu.wait()?;
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let submits = gpu.stats().submits;
    let (product, all) = recorded(|| gpu.record_into(&mut encoder, || matmul(&a, &a)));
    assert!(all.is_empty() && gpu.stats().submits == submits, "{all:#?}");
    gpu.queue().submit([encoder.finish()]);
    assert_eq!(product?.to_vec()?, expected);
    Ok(())
}
