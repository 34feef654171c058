//! Timeline semaphores order the shared queue against the host and against the application's own submissions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::failure::{Kind, fails, says};
use support::vulkan::{Application, Ask};
use support::vulkan_buffer::{signal_by, wait_for};
use tilewise::gpu::ash::vk;
use tilewise::wgpu::BufferUsages;
use tilewise::{Gpu, Tensor, matmul};

fn application() -> Option<Application> {
    let application = Application::new(Ask::default())?;
    if !application.features.timeline_semaphore {
        println!("skipped: no timeline semaphores");
        return None;
    }
    Some(application)
}

fn ones(gpu: &Gpu) -> Tensor<f32> {
    gpu.tensor(&[1.0f32; 64], [8, 8]).unwrap()
}

#[test]
fn a_thread_of_the_application_waits_for_a_product() {
    let Some(application) = application() else { return };
    let (gpu, semaphore) = (application.adopt(), application.timeline());
    let c = matmul(&ones(&gpu), &ones(&gpu)).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| application.wait_on_host(semaphore, 7));
        signal_by(&gpu, semaphore, 7).unwrap();
        gpu.flush().unwrap();
        assert!(waiting.join().expect("it waits"), "nothing signalled the semaphore");
    });
    assert_eq!(c.to_vec().unwrap(), [8.0; 64]);
    application.destroy(semaphore);
}

#[test]
fn a_product_waits_for_the_host() {
    let Some(application) = application() else { return };
    let (gpu, semaphore) = (application.adopt(), application.timeline());
    let a = ones(&gpu);
    gpu.wait().unwrap();
    let signalled = AtomicBool::new(false);
    std::thread::scope(|scope| {
        wait_for(&gpu, semaphore, 1).unwrap();
        let c = matmul(&a, &a).unwrap();
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            signalled.store(true, Ordering::SeqCst);
            application.signal(semaphore, 1);
        });
        assert_eq!(c.to_vec().unwrap(), [8.0; 64]);
        assert!(signalled.load(Ordering::SeqCst), "the product did not wait");
    });
    application.destroy(semaphore);
}

/// Two turns, with no other order between the two sides than the semaphore: neither waits, and neither has barriers.
#[test]
fn submissions_of_both_sides_wait_for_each_other() {
    let Some(application) = application() else { return };
    let (buffer, read_back) = (application.buffer_of(&[0.0f32; 64]), application.buffer_of(&[0.0f32; 64]));
    let (gpu, semaphore) = (application.adopt(), application.timeline());
    let usages = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
    let a = Tensor::<f32>::from_buffer(&gpu, buffer.wrapped(&gpu, usages).unwrap(), .., [8, 8]).unwrap();
    for (turn, value) in [(0, 2.0f32), (1, 5.0)] {
        let [filled, computed, read] = [1, 2, 3].map(|step| 3 * turn + step);
        application.submit(
            Some((semaphore, 3 * turn)),
            Some((semaphore, filled)),
            |application, commands| {
                application.fill(commands, &buffer, value.to_bits());
            },
        );
        wait_for(&gpu, semaphore, filled).unwrap();
        signal_by(&gpu, semaphore, computed).unwrap();
        let c = matmul(&a, &a).unwrap();
        gpu.flush().unwrap();
        let raw = gpu.vk_buffer(c.buffer().unwrap().0).unwrap();
        application.submit(Some((semaphore, computed)), Some((semaphore, read)), |application, commands| {
            application.copy(commands, raw, &read_back);
            application.barrier(commands);
        });
        assert!(application.wait_on_host(semaphore, read));
        assert_eq!(read_back.read::<f32>(64), [8.0 * value * value; 64]);
    }
    drop(a);
    application.destroy(semaphore);
}

#[test]
fn semaphores_that_cannot_be_used_are_refused() {
    let Some(application) = application() else { return };
    let gpu = application.adopt();
    let error = wait_for(&gpu, vk::Semaphore::null(), 1).unwrap_err();
    assert_eq!(error.to_string(), "wait_for_semaphore: semaphore: it is VK_NULL_HANDLE");
    let error = signal_by(&gpu, vk::Semaphore::null(), 1).unwrap_err();
    assert_eq!(error.to_string(), "signal_semaphore: semaphore: it is VK_NULL_HANDLE");
    let semaphore = application.timeline();
    fails(signal_by(&support::noop(), semaphore, 1), Kind::Unsupported, &["^signal_semaphore cannot run"]);
    let ask = Ask { features: |features| features.timeline_semaphore = false, ..Ask::default() };
    let Some(without) = Application::new(ask) else { return };
    says(wait_for(&without.adopt(), semaphore, 1), &["timelineSemaphore"]);
    application.destroy(semaphore);
}
