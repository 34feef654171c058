//! Handing over an adapter, a device and a queue that do not belong together, or a device that computes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tilewise::{Error, Gpu, Result, matmul, wgpu};

/// What an application may mix up: two devices of one adapter, with their queues.
fn two_devices() -> Option<(wgpu::Adapter, [(wgpu::Device, wgpu::Queue); 2])> {
    let (adapter, first, queue) = support::application(|_| ())?;
    let desc = Gpu::device_descriptor(&adapter);
    let second = pollster::block_on(adapter.request_device(&desc)).expect("a second device opens");
    Some((adapter, [(first, queue), second]))
}

fn is_refused(adopted: Result<Gpu>, words: &str) {
    let error = adopted.expect_err("they do not belong together");
    assert!(matches!(error, Error::Input { .. } | Error::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn the_queue_must_be_the_devices_own() {
    let Some((adapter, [(first, first_queue), (second, second_queue)])) = two_devices() else { return };
    let told = Arc::new(AtomicUsize::new(0));
    for device in [&first, &second] {
        let told = told.clone();
        device.on_uncaptured_error(Arc::new(move |_| _ = told.fetch_add(1, Ordering::Relaxed)));
    }
    is_refused(Gpu::adopt(&adapter, first.clone(), second_queue.clone()), "the queue of another device");
    let before = told.load(Ordering::Relaxed);
    for (device, queue) in [(first, first_queue), (second, second_queue)] {
        let gpu = Gpu::adopt(&adapter, device, queue).unwrap();
        let x = gpu.tensor(&[3.0f32], [1, 1]).unwrap();
        assert_eq!(matmul(&x, &x).unwrap().to_vec().unwrap(), [9.0]);
    }
    assert_eq!(told.load(Ordering::Relaxed), before, "adopting a device reports no error to the application");
}

#[test]
fn the_queue_must_be_of_the_devices_instance() {
    let Some((adapter, device, _)) = support::application(|_| ()) else { return };
    let Some((_, _, queue)) = support::stranger() else { return };
    is_refused(Gpu::adopt(&adapter, device, queue), "the queue of another device");
}

#[test]
fn the_adapter_must_be_the_one_that_the_device_was_opened_from() {
    let Some((_, device, queue)) = support::application(|_| ()) else { return };
    let name = device.adapter_info().name;
    let Some(other) = Gpu::adapters().into_iter().find(|adapter| adapter.get_info().name != name) else {
        return println!("skipped: one adapter only");
    };
    is_refused(Gpu::adopt(&other, device, queue), "but the device was opened from");
}

#[test]
fn a_device_without_compute_shaders_is_refused() {
    let limits = wgpu::Limits::downlevel_webgl2_defaults();
    let opened = support::application(|desc| {
        desc.required_features = wgpu::Features::empty();
        desc.required_limits = limits;
        desc.experimental_features = wgpu::ExperimentalFeatures::disabled();
    });
    let Some((adapter, device, queue)) = opened else { return };
    is_refused(Gpu::adopt(&adapter, device, queue), "needs compute shaders");
}

#[test]
fn caps_name_what_the_device_was_not_opened_with() {
    let Some(bare) = support::bare() else { return };
    let adapters = Gpu::adapters();
    let adapter = adapters.iter().find(|adapter| adapter.get_info().name == bare.caps().adapter).unwrap();
    let wanted = Gpu::device_descriptor(adapter).required_features;
    let names: Vec<_> = wanted.iter_names().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(bare.caps().not_enabled, names);
    assert!(names.is_empty() || bare.caps().to_string().contains(&format!("not enabled      {}", names[0])));
    let whole = support::adopted(|_| ()).unwrap();
    assert_eq!(whole.caps().not_enabled, [""; 0]);
}
