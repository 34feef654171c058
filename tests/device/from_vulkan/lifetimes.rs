//! The application owns its device: nothing of it is destroyed, and nothing is left behind.

use std::time::{Duration, Instant};
use support::failure::{Kind, fails, says};
use support::process;
use support::vulkan::{Application, Ask};
use tilewise::gpu::{AdoptOptions, CacheFolder};
use tilewise::{GpuOptions, Tensor, matmul};

#[test]
fn the_device_is_the_applications_before_and_after() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let gpu = application.adopt();
    let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let c = matmul(&a, &a).unwrap();
    let clone = gpu.clone();
    drop(gpu);
    assert_eq!(c.to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
    drop((a, clone));
    let wgpus = c.gpu().device().clone();
    drop(c);
    assert!(application.described().adapter.is_adopted(), "wgpu's device is alive");
    drop(wgpus);
    assert!(!application.described().adapter.is_adopted());
    application.wait();
    let again = application.adopt();
    let a = again.tensor(&[2.0f32], [1, 1]).unwrap();
    assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), [4.0]);
}

#[test]
fn a_read_that_is_given_up_leaves_nothing_on_the_device() {
    use std::future::Future;
    use std::task::{Context, Waker};
    let Some(application) = Application::new(Ask::default()) else { return };
    for _ in 0..8 {
        let gpu = application.adopt();
        let a = gpu.tensor(&[1.0f32; 64], [8, 8]).unwrap();
        let c = matmul(&a, &a).unwrap();
        let mut read = Box::pin(c.read());
        // Ready or not: what is asserted is what the drop leaves behind.
        let _ = read.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        drop((read, a, c, gpu));
        assert!(!application.described().adapter.is_adopted(), "a thread still has the device");
    }
}

#[test]
fn two_adoptions_of_one_device_take_turns() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let gpus = [application.adopt(), application.adopt()];
    for round in 0..4u8 {
        for gpu in &gpus {
            let a = gpu.tensor(&[f32::from(round), 1.0, 0.0, 2.0], [2, 2]).unwrap();
            let want = [f32::from(round).powi(2), f32::from(round) + 2.0, 0.0, 4.0];
            assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), want);
        }
    }
    let [a, b] = gpus.each_ref().map(|gpu| gpu.tensor(&[1.0f32], [1, 1]).unwrap());
    fails(matmul(&a, &b), Kind::Gpu, &["adopted twice"]);
    // Each adoption has an instance of wgpu of its own, so the other one's buffers are strange to it.
    says(
        Tensor::<f32>::from_buffer(&gpus[0], b.buffer().unwrap().0.clone(), .., [1, 1]),
        &["another adoption"],
    );
    // So is its encoder: at once, or else when it is finished.
    let mut encoder = gpus[1].device().create_command_encoder(&Default::default());
    let mixed = gpus[0].record_into(&mut encoder, || matmul(&a, &a));
    drop(encoder);
    assert!(mixed.and_then(|c| c.to_vec()).is_err());
    assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), [1.0], "the operands are as usable as before");
}

#[test]
fn several_applications_live_in_one_process() {
    let Some(first) = Application::new(Ask::default()) else { return };
    let second =
        Application::new(Ask { features: |features| features.shader_float16 = false, ..Ask::default() });
    let Some(second) = second else { return };
    let (a, b) = (first.adopt(), second.adopt());
    assert_eq!([a.caps().f16, b.caps().f16], [first.features.shader_float16, false]);
    drop(a);
    let x = b.tensor(&[3.0f32], [1, 1]).unwrap();
    assert_eq!(matmul(&x, &x).unwrap().to_vec().unwrap(), [9.0]);
}

/// Host memory that 900 adoptions may add: less than 4 KiB each. The validation layer and the drivers keep some.
const GROWTH: u64 = 900 * 4096;

/// In a process of its own, because it measures the process.
#[test]
fn a_thousand_adoptions_leave_nothing_behind() {
    if support::first_driver().is_none()
        || !process::is_alone(concat!(module_path!(), "::a_thousand_adoptions_leave_nothing_behind"))
    {
        return;
    }
    let Some(application) = Application::new(Ask::default()) else { return };
    let folder = support::folder("from-vulkan");
    let options = GpuOptions { cache: CacheFolder::At(folder.clone()), ..GpuOptions::default() };
    let round = || {
        let begun = Instant::now();
        let gpu = application.try_adopt(AdoptOptions::from(options.clone())).expect("it is adopted");
        let took = begun.elapsed();
        let a = gpu.tensor(&[2.0f32; 256], [16, 16]).unwrap();
        drop(a);
        took
    };
    let mut took: Vec<Duration> = (0..100).map(|_| round()).collect();
    let before = process::bytes("VmRSS");
    took.extend((0..900).map(|_| round()));
    let after = process::bytes("VmRSS");
    took.sort();
    println!("median {:?}, slowest {:?}; VmRSS {before:?}, then {after:?}", took[500], took[999]);
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after < before + GROWTH, "{before} bytes of memory became {after}");
    }
    assert!(took[500] < Duration::from_millis(20), "adopting with known verdicts took {:?}", took[500]);
    let _ = std::fs::remove_dir_all(folder);
}
