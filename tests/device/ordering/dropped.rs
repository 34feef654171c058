//! Taken work that never runs: the closure fails or panics, the commands are dropped, wgpu refuses them, the device is
//! lost. Its outputs have no result, nothing hangs, and its memory comes back.

use super::{SIZE, data, devices, encoder, on_every_device, product, taken_product, tensor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use support::failure::says;
use support::watchdog::in_time;
use tilewise::{Error, Gpu, Result, Tensor, matmul, wgpu};

/// Checks that the device still computes, and that it takes work.
fn goes_on(gpu: &Gpu) {
    let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
    let (commands, c) = taken_product(gpu, &a, &b);
    gpu.queue().submit([commands]);
    assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}");
}

/// Checks that an output has no result until it is written again.
fn has_no_result(gpu: &Gpu, mut output: Tensor<f32>, why: &str) {
    says(output.to_vec(), &[why]);
    says(matmul(&output, &output), &[why]);
    says(output.buffer(), &[why]);
    output.write(&data(7)).unwrap();
    assert_eq!(output.to_vec().unwrap(), data(7), "{gpu:?}");
    goes_on(gpu);
}

#[test]
fn a_closure_that_fails_encodes_nothing() {
    on_every_device("a closure fails", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let wide = gpu.zeros::<f32>([SIZE, SIZE + 1]).unwrap();
        let mut c = gpu.zeros::<f32>([SIZE; 2]).unwrap();
        let mut encoder = encoder(gpu);
        let failed: Result<()> = gpu.record_into(&mut encoder, || {
            c.assign(|| matmul(&a, &b))?;
            matmul(&wide, &a).map(drop)
        });
        assert!(matches!(failed, Err(Error::Shape { .. })), "{failed:?}");
        gpu.queue().submit([encoder.finish()]);
        has_no_result(gpu, c, "nothing that it recorded was encoded");
    });
}

#[test]
fn a_closure_that_panics_encodes_nothing() {
    on_every_device("a closure panics", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let mut c = gpu.zeros::<f32>([SIZE; 2]).unwrap();
        let mut encoder = encoder(gpu);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            gpu.record_into(&mut encoder, || -> Result<()> {
                c.assign(|| matmul(&a, &b))?;
                std::panic::resume_unwind(Box::new("on purpose"))
            })
        }));
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"on purpose"));
        gpu.queue().submit([encoder.finish()]);
        has_no_result(gpu, c, "panicked");
    });
}

#[test]
fn dropped_commands_leave_no_result() {
    on_every_device("dropped", |gpu| {
        let why = "were dropped without being submitted";
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let (commands, c) = taken_product(gpu, &a, &b);
        drop(commands);
        has_no_result(gpu, c, why);
        let mut unfinished = encoder(gpu);
        let c = gpu.record_into(&mut unfinished, || matmul(&a, &b)).unwrap();
        drop(unfinished);
        has_no_result(gpu, c, why);
        let c = matmul(&a, &b).unwrap();
        drop(gpu.take_commands().unwrap());
        has_no_result(gpu, c, why);
        // Operands are as they were.
        assert_eq!([a, b].map(|operand| operand.to_vec().unwrap()), [data(1), data(2)]);
    });
}

/// What an application is told of its own errors.
fn told(device: &wgpu::Device) -> Arc<Mutex<Vec<String>>> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let teller = told.clone();
    device.on_uncaptured_error(Arc::new(move |error| teller.lock().unwrap().push(error.to_string())));
    told
}

#[test]
fn refused_commands_leave_no_result() {
    for gpu in devices() {
        let gpu = (*gpu).clone();
        in_time("refused", || {
            let told = told(gpu.device());
            let [a, b] = [tensor(&gpu, 1), tensor(&gpu, 2)];
            let buffer = |usage| support::app::buffer(gpu.device(), 8, usage);
            // The encoder is in order, and the submission is not: a buffer is gone.
            let gone = buffer(wgpu::BufferUsages::COPY_DST);
            let mut encoder = encoder(&gpu);
            let c = gpu.record_into(&mut encoder, || matmul(&a, &b)).unwrap();
            encoder.clear_buffer(&gone, 0, None);
            let commands = encoder.finish();
            gone.destroy();
            gpu.queue().submit([commands]);
            has_no_result(&gpu, c, "refused when they were submitted");
            // The encoder is invalid: it has a copy that is not allowed.
            let readable = buffer(wgpu::BufferUsages::COPY_SRC);
            let mut encoder = super::encoder(&gpu);
            let c = gpu.record_into(&mut encoder, || matmul(&a, &b)).unwrap();
            encoder.clear_buffer(&readable, 0, None);
            gpu.queue().submit([encoder.finish()]);
            has_no_result(&gpu, c, "refused when they were submitted");
            let told = std::mem::take(&mut *told.lock().unwrap());
            assert!(told.len() >= 2 && told.iter().all(|error| !error.contains("tilewise")), "{told:?}");
        });
    }
}

#[test]
fn an_encoder_of_another_device_leaves_no_result() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    let second = pollster::block_on(adapter.request_device(&Gpu::device_descriptor(&adapter)));
    let (other_device, other_queue) = second.expect("the adapter opens two devices");
    let adopt = |device: &wgpu::Device, queue: &wgpu::Queue| {
        Gpu::adopt(&adapter, device.clone(), queue.clone()).unwrap()
    };
    let [gpu, other] = [adopt(&device, &queue), adopt(&other_device, &other_queue)];
    let _told = [told(gpu.device()), told(other.device())];
    let [a, b] = [tensor(&gpu, 1), tensor(&gpu, 2)];
    let mut encoder = encoder(&other);
    let c = gpu.record_into(&mut encoder, || matmul(&a, &b)).unwrap();
    other.queue().submit([encoder.finish()]);
    has_no_result(&gpu, c, "refused when they were submitted");
    goes_on(&other);
    // A device of another instance, which wgpu notices by a panic, if at all.
    let Some((_, foreign, _queue)) = support::stranger() else { return };
    let mut c = gpu.zeros::<f32>([SIZE; 2]).unwrap();
    let mut encoder = foreign.create_command_encoder(&Default::default());
    says(
        gpu.record_into(&mut encoder, || c.assign(|| matmul(&a, &b))),
        &["must belong to the device of this `Gpu`"],
    );
    has_no_result(&gpu, c, "could not encode");
}

#[test]
fn a_submission_that_is_refused_while_the_device_is_busy() {
    on_every_device("refused while busy", |gpu| {
        let _told = told(gpu.device());
        let large = gpu.zeros::<f32>([256; 2]).unwrap();
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        matmul(&large, &large).unwrap();
        gpu.flush().unwrap();
        for _ in 0..4 {
            matmul(&large, &large).unwrap();
            gpu.flush().unwrap();
            let gone = support::app::buffer(gpu.device(), 8, wgpu::BufferUsages::COPY_DST);
            let mut encoder = encoder(gpu);
            let c = gpu.record_into(&mut encoder, || matmul(&a, &b)).unwrap();
            encoder.clear_buffer(&gone, 0, None);
            let commands = encoder.finish();
            gone.destroy();
            gpu.queue().submit([commands]);
            // The first use already is refused: nothing is computed from it.
            says(matmul(&c, &a), &["refused when they were submitted"]);
        }
    });
}

#[test]
fn a_lost_device_ends_taken_work() {
    for gpu in
        [Some(support::noop()), support::adopted(|_| ()).map(|gpu| (*gpu).clone())].into_iter().flatten()
    {
        in_time("lost", || {
            let _told = told(gpu.device());
            let [a, b] = [tensor(&gpu, 1), tensor(&gpu, 2)];
            let (commands, c) = taken_product(&gpu, &a, &b);
            let (unsubmitted, d) = taken_product(&gpu, &a, &b);
            gpu.device().destroy();
            gpu.mark_lost("on purpose");
            gpu.queue().submit([commands]);
            says(c.to_vec(), &["lost"]);
            says(d.to_vec(), &["lost"]);
            says(gpu.record_into(&mut encoder(&gpu), || matmul(&a, &b)), &["lost"]);
            says(gpu.take_commands(), &["lost"]);
            drop(unsubmitted);
            drop([a, b, c, d]);
            assert_eq!(gpu.stats().bytes_in_use, 0);
        });
    }
}
