//! Several calls of `record_into` with one encoder: its commands run in order, the application's own between them.

use super::{SIZE, data, encoder, is_unsubmitted, on_every_device, product, tensor};
use tilewise::{Error, Gpu, Tensor, matmul, ops, wgpu};

/// A tensor in the application's buffer, and the buffer.
fn own_tensor(gpu: &Gpu) -> (wgpu::Buffer, Tensor<f32>) {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let buffer = support::app::buffer(gpu.device(), (SIZE * SIZE * 4) as u64, usage);
    let tensor = Tensor::from_buffer(gpu, buffer.clone(), .., [SIZE; 2]).unwrap();
    (buffer, tensor)
}

#[test]
fn the_applications_commands_run_between_two_layers() {
    on_every_device("two layers", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let (buffer, mut y) = own_tensor(gpu);
        matmul(&a, &b).unwrap().to_vec().unwrap();
        let before = gpu.stats();
        let mut encoder = encoder(gpu);
        gpu.record_into(&mut encoder, || y.assign(|| matmul(&a, &b))).unwrap();
        encoder.clear_buffer(&buffer, 0, Some((SIZE * 4) as u64));
        let z = gpu.record_into(&mut encoder, || matmul(&y, &b)).unwrap();
        let after = gpu.stats();
        assert_eq!((after.submits, after.launches - before.launches), (before.submits, 2), "{gpu:?}");
        is_unsubmitted(y.to_vec(), "to_vec", "`record_into`");
        is_unsubmitted(matmul(&z, &b), "matmul", "`record_into`");
        gpu.queue().submit([encoder.finish()]);
        let mut want = product(&data(1), &data(2));
        want[..SIZE].fill(0.0);
        assert_eq!(y.to_vec().unwrap(), want, "{gpu:?}");
        assert_eq!(z.to_vec().unwrap(), product(&want, &data(2)), "{gpu:?}");
    });
}

#[test]
fn what_one_call_wrote_another_may_write_again() {
    on_every_device("written twice", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let mut y = gpu.zeros::<f32>([SIZE; 2]).unwrap();
        gpu.wait().unwrap();
        let mut encoder = encoder(gpu);
        gpu.record_into(&mut encoder, || y.assign(|| matmul(&a, &b))).unwrap();
        let first = gpu.record_into(&mut encoder, || ops::add(&y, &a)).unwrap();
        // `a` is read by the calls before.
        let mut a = a;
        gpu.record_into(&mut encoder, || a.assign(|| matmul(&b, &b))).unwrap();
        gpu.record_into(&mut encoder, || y.assign(|| matmul(&a, &b))).unwrap();
        gpu.queue().submit([encoder.finish()]);
        let [x, w] = [data(1), data(2)];
        let sum: Vec<f32> = product(&x, &w).iter().zip(&x).map(|(y, a)| y + a).collect();
        assert_eq!(first.to_vec().unwrap(), sum, "{gpu:?}");
        assert_eq!(a.to_vec().unwrap(), product(&w, &w), "{gpu:?}");
        assert_eq!(y.to_vec().unwrap(), product(&product(&w, &w), &w), "{gpu:?}");
    });
}

#[test]
fn another_encoder_still_has_to_wait_for_the_submission() {
    on_every_device("another encoder", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let [mut first, mut second] = [encoder(gpu), encoder(gpu)];
        let c = gpu.record_into(&mut first, || matmul(&a, &b)).unwrap();
        is_unsubmitted(gpu.record_into(&mut second, || matmul(&c, &b)), "matmul", "`record_into`");
        let commands = first.finish();
        // A new encoder may take the place of the finished one.
        let mut third = encoder(gpu);
        is_unsubmitted(gpu.record_into(&mut third, || matmul(&c, &b)), "matmul", "`record_into`");
        gpu.queue().submit([commands]);
        let d = gpu.record_into(&mut third, || matmul(&c, &b)).unwrap();
        gpu.queue().submit([third.finish(), second.finish()]);
        assert_eq!(d.to_vec().unwrap(), product(&product(&data(1), &data(2)), &data(2)), "{gpu:?}");
    });
}

#[test]
fn all_calls_of_an_encoder_that_is_dropped_or_refused_have_failed() {
    on_every_device("dropped and refused", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        for refused in [false, true] {
            let mut encoder = encoder(gpu);
            let y = gpu.record_into(&mut encoder, || matmul(&a, &b)).unwrap();
            let z = gpu.record_into(&mut encoder, || matmul(&y, &b)).unwrap();
            if refused {
                let (buffer, _) = own_tensor(gpu);
                encoder.clear_buffer(&buffer, 0, None);
                let commands = encoder.finish();
                buffer.destroy();
                let scope = gpu.device().push_error_scope(wgpu::ErrorFilter::Validation);
                gpu.queue().submit([commands]);
                pollster::block_on(scope.pop()).expect("wgpu refuses it");
            } else {
                drop(encoder);
            }
            for (tensor, words) in
                [(&z, ["were refused", "were dropped"]), (&y, ["were refused", "were dropped"])]
            {
                let error = tensor.to_vec().expect_err("it never ran");
                assert!(words.iter().any(|words| error.to_string().contains(words)), "{error}");
            }
        }
    });
}

#[test]
fn a_call_whose_closure_fails_leaves_the_calls_before_it() {
    on_every_device("a closure that fails", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let mut encoder = encoder(gpu);
        let y = gpu.record_into(&mut encoder, || matmul(&a, &b)).unwrap();
        let mut z = None;
        let failed = gpu.record_into(&mut encoder, || {
            z = Some(matmul(&y, &b)?);
            matmul(&y, &gpu.zeros::<f32>([3, 3])?)
        });
        assert!(matches!(failed, Err(Error::Shape { .. })), "{failed:?}");
        let w = gpu.record_into(&mut encoder, || matmul(&y, &a)).unwrap();
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(w.to_vec().unwrap(), product(&product(&data(1), &data(2)), &data(1)), "{gpu:?}");
        assert!(z.unwrap().to_vec().is_err());
    });
}
