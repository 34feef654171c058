//! An application's own buffers, in both directions, without a copy.

use support::failure::{Kind, fails, says};
use support::vulkan::{Application, Ask};
use support::vulkan_buffer::AppBuffer;
use tilewise::gpu::ash::vk::{self, Handle};
use tilewise::wgpu::BufferUsages;
use tilewise::{Element, Fill, Gpu, Tensor, f16, matmul, reference};

const USAGES: BufferUsages =
    BufferUsages::STORAGE.union(BufferUsages::COPY_SRC).union(BufferUsages::COPY_DST);

fn tensor<T: Element>(gpu: &Gpu, buffer: &AppBuffer<'_>, shape: [usize; 2]) -> Tensor<T> {
    Tensor::from_buffer(gpu, buffer.wrapped(gpu, USAGES).unwrap(), .., shape).unwrap()
}

#[test]
fn a_product_runs_in_the_applications_buffers() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let shape @ [m, n, k] = [37, 29, 41];
    let (a, b) = (Fill::Integers.values::<f32>(m * k, 1), Fill::Integers.values::<f32>(k * n, 2));
    let want: Vec<f32> = reference::gemm(&a, &b, shape).value.iter().map(|&v| f32::from_f64(v)).collect();
    let [a, b, c] = [a, b, vec![f32::NAN; m * n]].map(|values| application.buffer_of(&values));
    let gpu = application.adopt();
    {
        let [a, b] = [(&a, [m, k]), (&b, [k, n])].map(|(buffer, shape)| tensor::<f32>(&gpu, buffer, shape));
        let mut c = tensor::<f32>(&gpu, &c, [m, n]);
        let before = gpu.stats();
        c.assign(|| matmul(&a, &b)).unwrap();
        gpu.flush().unwrap();
        let after = gpu.stats();
        assert_eq!(after.launches - before.launches, 1);
        assert_eq!(after.submits - before.submits, 1);
        assert_eq!(
            (after.bytes_in_use, after.buffers_created),
            (before.bytes_in_use, before.buffers_created)
        );
    }
    application.submit(None, None, |application, commands| application.barrier(commands));
    application.wait();
    assert_eq!(c.read::<f32>(m * n), want);
}

#[test]
fn a_result_is_a_vulkan_buffer_for_the_applications_commands() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let gpu = application.adopt();
    let [m, n, k] = [16, 12, 20];
    let (a, b) = (Fill::Integers.values::<f32>(m * k, 1), Fill::Integers.values::<f32>(k * n, 2));
    let want: Vec<f32> = reference::gemm(&a, &b, [m, n, k]).value.iter().map(|&v| f32::from_f64(v)).collect();
    let c = matmul(&gpu.tensor(&a, [m, k]).unwrap(), &gpu.tensor(&b, [k, n]).unwrap()).unwrap();
    gpu.flush().unwrap();
    let (buffer, bytes) = c.buffer().unwrap();
    assert_eq!(bytes.start, 0);
    let raw = gpu.vk_buffer(buffer).unwrap();
    let read_back = application.buffer_of(&vec![f32::NAN; m * n]);
    application.submit(None, None, |application, commands| {
        application.barrier(commands);
        application.copy(commands, raw, &read_back);
        application.barrier(commands);
    });
    application.wait();
    assert_eq!(read_back.read::<f32>(m * n), want);
}

#[test]
fn what_the_applications_commands_write_is_what_a_product_reads() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let buffer = application.buffer_of(&[0.0f32; 64]);
    let gpu = application.adopt();
    let a = tensor::<f32>(&gpu, &buffer, [8, 8]);
    for value in [1.0f32, 3.0, -2.0] {
        application.submit(None, None, |application, commands| {
            application.barrier(commands);
            application.fill(commands, &buffer, value.to_bits());
            application.barrier(commands);
        });
        assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), [8.0 * value * value; 64]);
    }
}

#[test]
fn the_handle_of_a_wrapped_buffer_is_the_applications() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let buffer = application.buffer_of(&[f16::ONE; 24]);
    let gpu = application.adopt();
    let wrapped = buffer.wrapped(&gpu, USAGES).unwrap();
    assert_eq!(gpu.vk_buffer(&wrapped).unwrap(), buffer.handle);
    drop(wrapped);
    // Wrapped again and again, it stays the application's.
    for _ in 0..3 {
        let a = tensor::<f16>(&gpu, &buffer, [4, 6]);
        assert_eq!(a.to_vec().unwrap(), [f16::ONE; 24]);
    }
}

#[test]
fn wrong_buffers_are_refused() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let buffer = application.buffer_of(&[1.0f32; 64]);
    let gpu = application.adopt();
    let refused = |handle: vk::Buffer, size: u64, usages: BufferUsages, text: &str| {
        says(buffer.wrapped_as(&gpu, handle, size, usages), &[text]);
    };
    refused(vk::Buffer::null(), 256, USAGES, "wrap_vk_buffer: buffer: it is VK_NULL_HANDLE");
    refused(buffer.handle, 0, USAGES, "wrap_vk_buffer: size: it is 0; a size is a multiple of 4");
    refused(buffer.handle, 6, USAGES, "wrap_vk_buffer: size: it is 6;");
    refused(buffer.handle, 256, BufferUsages::empty(), "wrap_vk_buffer: usages");
    refused(buffer.handle, 256, BufferUsages::MAP_READ | BufferUsages::COPY_DST, "cannot map");
    refused(buffer.handle, 1 << 60, USAGES, "the size of the buffer in bytes is");
    // What a tensor needs of it.
    let without = buffer.wrapped(&gpu, BufferUsages::COPY_SRC).unwrap();
    says(Tensor::<f32>::from_buffer(&gpu, without, .., [8, 8]), &["STORAGE"]);
    let wrapped = buffer.wrapped(&gpu, USAGES).unwrap();
    says(Tensor::<f32>::from_buffer(&gpu, wrapped.clone(), .., [8, 9]), &["256"]);
    fails(Tensor::<f32>::from_buffer(&gpu, wrapped.clone(), 2.., [8, 7]), Kind::Input, &[]);
    // The device is as usable as before.
    assert_eq!(Tensor::<f32>::from_buffer(&gpu, wrapped, .., [8, 8]).unwrap().to_vec().unwrap(), [1.0; 64]);
}

#[test]
fn buffers_of_other_devices_are_refused() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let gpu = application.adopt();
    let Some(other) = support::gpu() else { return };
    let elsewhere = other.tensor(&[1.0f32; 64], [8, 8]).unwrap();
    fails(gpu.vk_buffer(elsewhere.buffer().unwrap().0), Kind::Gpu, &["^vk_buffer: "]);
}

#[test]
fn devices_of_other_apis_have_no_vulkan_buffers() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let (buffer, noop) = (application.buffer_of(&[1.0f32; 4]), support::noop());
    fails(buffer.wrapped(&noop, USAGES), Kind::Unsupported, &["^wrap_vk_buffer cannot run"]);
    let tensor = noop.zeros::<f32>([4, 4]).unwrap();
    fails(noop.vk_buffer(tensor.buffer().unwrap().0), Kind::Unsupported, &["^vk_buffer cannot run"]);
    let _ = buffer.handle.as_raw();
}

#[test]
fn a_lost_device_refuses_everything_and_drops_cleanly() {
    let Some(application) = Application::new(Ask::default()) else { return };
    let buffer = application.buffer_of(&[1.0f32; 64]);
    let gpu = application.adopt();
    let wrapped = buffer.wrapped(&gpu, USAGES).unwrap();
    let a = Tensor::<f32>::from_buffer(&gpu, wrapped.clone(), .., [8, 8]).unwrap();
    gpu.mark_lost("the test says so");
    for error in [
        buffer.wrapped(&gpu, USAGES).map(|_| ()),
        matmul(&a, &a).map(|_| ()),
        a.to_vec().map(|_| ()),
        gpu.vk_buffer(&wrapped).map(|_| ()),
        support::vulkan_buffer::signal_by(&gpu, vk::Semaphore::null(), 1),
        support::vulkan_buffer::wait_for(&gpu, vk::Semaphore::null(), 1),
    ] {
        fails(error, Kind::Device, &[]);
    }
}
