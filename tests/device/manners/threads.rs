//! A `Gpu` and its tensors are used and dropped in any thread, and in callbacks.

use super::{square, work};
use std::sync::mpsc::channel;
use std::thread;
use support::watchdog::{doing, in_time};
use tilewise::clifford::Multivectors;
use tilewise::clifford::layer::CliffordLayer;
use tilewise::gemm::{GemmKernel, Linear};
use tilewise::gpu::CoopRow;
use tilewise::io::SafetensorsWriter;
use tilewise::sketch::SkLinear;
use tilewise::{Activation, Caps, Error, Fill, Gemm, Gpu, Plan, Tensor, f16, matmul, wgpu};

fn is_shared<T: Send + Sync + 'static>() {}
fn is_sent<T: Send>(_: &T) {}

#[test]
fn handles_go_to_any_thread() {
    is_shared::<(Gpu, Tensor<f32>, Tensor<f16>, Tensor<i8>, Plan, Caps, Error)>();
    is_shared::<(Linear<f32>, SkLinear<f32>, CliffordLayer<f32>, Multivectors<f32>)>();
    let gpu = support::noop();
    is_sent(&square(&gpu).read());
    is_sent(&Gpu::open_async());
    let _: fn(&CliffordLayer<f32>, &SkLinear<f32>, [SafetensorsWriter; 2]) = saves_are_sent;
}

fn saves_are_sent(layer: &CliffordLayer<f32>, sketched: &SkLinear<f32>, [a, b]: [SafetensorsWriter; 2]) {
    is_sent(&layer.save_async(a, ""));
    is_sent(&sketched.save_async(b, ""));
}

/// Runs this in a new thread, and returns what it returns.
fn elsewhere<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    let run = move || {
        let _doing = doing("a thread of its own");
        work()
    };
    thread::spawn(run).join().expect("no panic")
}

#[test]
fn a_device_is_adopted_used_and_dropped_in_different_threads() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    for _ in 0..3 {
        let (adapter, device, queue) = (adapter.clone(), device.clone(), queue.clone());
        let gpu = elsewhere(move || Gpu::adopt(&adapter, device, queue).unwrap());
        let (gpu, a) = elsewhere(move || {
            let a = square(&gpu);
            (gpu, a)
        });
        let (gpu, c) = elsewhere(move || {
            let c = matmul(&a, &a).unwrap();
            (gpu, c)
        });
        let values = elsewhere(move || pollster::block_on(c.read()).unwrap());
        assert_eq!(values.len(), 64);
        elsewhere(move || drop(gpu));
    }
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
}

#[test]
fn the_last_gpu_is_dropped_inside_a_callback() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    in_time("a last drop inside a callback", || {
        for recorded in [false, true] {
            let gpu = Gpu::adopt(&adapter, device.clone(), queue.clone()).unwrap();
            let a = square(&gpu);
            // A waiting thread of ours has started, and ends in the drop.
            assert_eq!(pollster::block_on(a.read()).unwrap().len(), 64);
            let c = matmul(&a, &a).unwrap();
            if !recorded {
                gpu.flush().unwrap();
            }
            let (sender, receiver) = channel();
            queue.submit([]);
            queue.on_submitted_work_done(move || {
                drop((a, c, gpu));
                sender.send(()).unwrap();
            });
            device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            receiver.recv().expect("the callback has run");
        }
        work(&Gpu::adopt(&adapter, device.clone(), queue.clone()).unwrap());
    });
}

/// Threads that need the same modules first: all get the same results.
#[test]
fn threads_begin_with_the_same_modules() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let is_able = gpu.caps().spirv && gpu.caps().rows.iter().any(CoopRow::is_used_in_spirv);
    if !is_able {
        println!("unable: {} has no matrices for modules of SPIR-V", gpu.caps().adapter);
        return;
    }
    let a = gpu.random::<i8>([70, 100], Fill::Uniform, 1).unwrap();
    let b = gpu.random::<i8>([100, 36], Fill::Uniform, 2).unwrap();
    let layer = |kernel| {
        let product = Gemm::new(&a, &b).activation(Activation::Relu).out::<f32>();
        product.kernel(kernel).run().unwrap().to_vec().unwrap()
    };
    let _doing = doing("threads with the same modules");
    let found: Vec<Vec<f32>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| layer(GemmKernel::CoopKhr))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let want = layer(GemmKernel::Dot);
    assert!(found.iter().all(|found| *found == want));
}
