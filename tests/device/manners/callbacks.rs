//! The application's callbacks and error scopes on a device that is adopted afterwards.

use super::{mistake, square, work};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use support::failure::says;
use support::watchdog::in_time;
use tilewise::{Error, Gpu, matmul, ops, wgpu};
use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};

/// The callback of the book's page: it marks the `Gpu` as lost, and does not keep it.
#[test]
fn a_callback_with_a_weak_gpu_is_freed_with_the_device() {
    for loses in [false, true] {
        let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
        let gpu = Gpu::adopt(&adapter, device.clone(), queue.clone()).unwrap();
        let told = Arc::new(gpu.clone());
        let (lost, kept): (Weak<Gpu>, _) = (Arc::downgrade(&told), Arc::new(()));
        let inside = kept.clone();
        device.set_device_lost_callback(move |_, why| {
            let _inside = &inside;
            if let Some(gpu) = lost.upgrade() {
                gpu.mark_lost(format!("told: {why}"));
            }
        });
        in_time("the end of a device", || {
            let a = square(&gpu);
            work(&gpu);
            if loses {
                device.destroy();
                let _ = device.poll(wgpu::PollType::Poll);
                says(a.to_vec(), &["told: "]);
            }
            drop((a, gpu, told, device, queue));
        });
        assert_eq!(Arc::strong_count(&kept), 1, "something keeps the callback, and so the device");
    }
}

#[test]
fn adopting_replaces_no_callback_and_each_is_called_once() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    let (errors, losses) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (of_errors, of_losses) = (errors.clone(), losses.clone());
    device.on_uncaptured_error(Arc::new(move |_| {
        of_errors.fetch_add(1, Ordering::SeqCst);
    }));
    device.set_device_lost_callback(move |_, _| {
        of_losses.fetch_add(1, Ordering::SeqCst);
    });
    in_time("an adopted device with callbacks", || {
        let gpu = Gpu::adopt(&adapter, device.clone(), queue.clone()).unwrap();
        work(&gpu);
        assert_eq!(errors.load(Ordering::SeqCst), 0, "our work raises nothing");
        mistake(&device);
        assert_eq!(errors.load(Ordering::SeqCst), 1, "its own mistake is told to it once");
        drop(gpu);
        mistake(&device);
        assert_eq!(errors.load(Ordering::SeqCst), 2, "and after the last Gpu is dropped");
        assert_eq!(losses.load(Ordering::SeqCst), 0, "the device outlives the Gpu");
        let again = Gpu::adopt(&adapter, device.clone(), queue).unwrap();
        work(&again);
        device.destroy();
        assert!(again.wait().is_err());
        let _ = device.poll(wgpu::PollType::Poll);
        assert_eq!(losses.load(Ordering::SeqCst), 1, "the loss is told to it once");
        assert_eq!(errors.load(Ordering::SeqCst), 2, "a loss is no error of its own");
    });
}

#[test]
fn error_scopes_of_the_application_hold_its_own_errors_only() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    in_time("error scopes", || {
        let outer = device.push_error_scope(Validation);
        let inner = [Internal, OutOfMemory, Validation].map(|filter| device.push_error_scope(filter));
        let gpu = Gpu::adopt(&adapter, device.clone(), queue).unwrap();
        work(&gpu);
        for scope in inner.into_iter().rev() {
            let caught = pollster::block_on(scope.pop());
            assert!(caught.is_none(), "our calls, those that fail included, leave nothing: {caught:?}");
        }
        mistake(&device);
        work(&gpu);
        let inside = device.push_error_scope(Validation);
        work(&gpu);
        mistake(&device);
        drop(gpu);
        let caught =
            [inside, outer].map(|scope| pollster::block_on(scope.pop()).map(|error| error.to_string()));
        assert!(
            caught.iter().all(Option::is_some),
            "each scope has the mistake that was made in it: {caught:?}"
        );
    });
}

#[test]
fn calls_that_fail_inside_wgpu_leave_the_applications_error_scopes_alone() {
    for gpu in support::every_device() {
        in_time("error scopes of a lost device", || {
            let a = square(&gpu);
            a.to_vec().unwrap();
            let recorded = matmul(&a, &a).unwrap();
            let scopes =
                [Internal, OutOfMemory, Validation].map(|filter| gpu.device().push_error_scope(filter));
            gpu.device().destroy();
            // The device is lost without a word: wgpu refuses new buffers, pipelines and submissions.
            let errors = [
                gpu.tensor(&[1.0f32; 5000], [5000]).and_then(|b| b.to_vec()).err(),
                ops::softmax(&a, 1).and_then(|b| b.to_vec()).err(),
                recorded.to_vec().err(),
                gpu.wait().err(),
            ];
            assert!(errors.iter().all(|error| matches!(error, Some(Error::Device(_)))), "{errors:?}");
            for scope in scopes.into_iter().rev() {
                let caught = pollster::block_on(scope.pop());
                assert!(caught.is_none(), "the errors of our calls are ours: {caught:?}");
            }
        });
    }
}
