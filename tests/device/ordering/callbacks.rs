//! Callbacks of the application that call us inside its own `submit`, and commands that are submitted in callbacks.

use super::{data, encoder, on_every_device, product, taken_product, tensor};
use std::sync::mpsc::channel;
use support::failure::says;
use support::watchdog::in_time;
use tilewise::{Gpu, matmul, wgpu};

#[test]
fn a_callback_inside_the_submit_of_taken_commands_may_call_us() {
    on_every_device("a callback inside the application's submit", |gpu| {
        for _ in 0..10 {
            let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
            // Earlier work, whose callback runs inside a later submit, at the latest in the last wait.
            matmul(&a, &b).unwrap();
            gpu.flush().unwrap();
            let (done, called) = channel();
            let (commands, c) = taken_product(gpu, &a, &b);
            let (inside, output) = (gpu.clone(), c.clone());
            gpu.queue().on_submitted_work_done(move || {
                let own = tensor(&inside, 5);
                let square = matmul(&own, &own).unwrap();
                assert_eq!(square.to_vec().unwrap(), product(&data(5), &data(5)));
                // Inside that very submit it does not count as submitted; later it does.
                match output.to_vec() {
                    Ok(values) => assert_eq!(values, product(&data(1), &data(2))),
                    Err(error) => assert!(error.to_string().contains("have not been submitted"), "{error}"),
                }
                let mut encoder = encoder(&inside);
                let d = inside.record_into(&mut encoder, || matmul(&own, &square)).unwrap();
                inside.queue().submit([encoder.finish()]);
                assert_eq!(d.to_vec().unwrap(), product(&data(5), &product(&data(5), &data(5))));
                done.send(()).unwrap();
            });
            gpu.queue().submit([commands]);
            assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}");
            gpu.wait().unwrap();
            gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
            called.recv().expect("it has checked");
        }
    });
}

#[test]
fn a_callback_that_runs_inside_a_scope_is_not_part_of_it() {
    on_every_device("a callback inside a scope", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let mut inside_a_scope = 0;
        for _ in 0..100 {
            let (commands, c) = taken_product(gpu, &a, &b);
            gpu.queue().submit([commands]);
            let (inside, (done, called)) = (gpu.clone(), channel());
            gpu.queue().on_submitted_work_done(move || {
                let own = tensor(&inside, 5);
                let square = matmul(&own, &own).unwrap();
                inside.flush().unwrap();
                assert_eq!(square.to_vec().unwrap(), product(&data(5), &data(5)));
                inside.wait().unwrap();
                done.send(()).unwrap();
            });
            // If the work is done by then, and nobody has polled, the first use of its result calls back.
            std::thread::sleep(std::time::Duration::from_millis(20));
            let mut encoder = encoder(gpu);
            let d = gpu.record_into(&mut encoder, || {
                let d = matmul(&c, &b)?;
                inside_a_scope += usize::from(called.try_recv().is_ok());
                matmul(&d, &b)
            });
            gpu.queue().submit([encoder.finish()]);
            let [x, y] = [data(1), data(2)];
            let want = product(&product(&product(&x, &y), &y), &y);
            assert_eq!(d.unwrap().to_vec().unwrap(), want, "{gpu:?}");
            gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
            if inside_a_scope == 3 {
                return;
            }
        }
        assert!(inside_a_scope > 0, "{gpu:?}: no callback ran inside a scope");
    });
}

#[test]
fn commands_are_dropped_or_submitted_in_a_callback() {
    on_every_device("commands in a callback", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let (submitted, c) = taken_product(gpu, &a, &b);
        let (dropped, d) = taken_product(gpu, &a, &b);
        let inside = gpu.clone();
        gpu.queue().on_submitted_work_done(move || {
            drop(dropped);
            inside.queue().submit([submitted]);
        });
        gpu.queue().submit([]);
        gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
        assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}");
        says(d.to_vec(), &["were dropped without being submitted"]);
    });
}

#[test]
fn the_last_gpu_may_be_dropped_before_the_commands_are_submitted() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    in_time("the Gpu is dropped first", || {
        let gpu = Gpu::adopt(&adapter, device.clone(), queue.clone()).unwrap();
        let [a, b] = [tensor(&gpu, 1), tensor(&gpu, 2)];
        let (commands, c) = taken_product(&gpu, &a, &b);
        let (dropped, d) = taken_product(&gpu, &a, &b);
        drop(([a, b, c, d], gpu));
        queue.submit([commands]);
        drop(dropped);
        device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    });
}
