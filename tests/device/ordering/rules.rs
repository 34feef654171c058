//! What is an error until taken work is submitted, and what the closure of `record_into` cannot do.

use super::{SIZE, data, encoder, is_unsubmitted, on_every_device, product, taken_product, tensor};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::failure::says;
use tilewise::{Error, Fill, Result, Tensor, matmul, ops};

#[test]
fn what_taken_work_writes_cannot_be_used_before_it_is_submitted() {
    on_every_device("outputs", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let (commands, mut c) = taken_product(gpu, &a, &b);
        let by = "`record_into`";
        is_unsubmitted(c.to_vec(), "to_vec", by);
        is_unsubmitted(pollster::block_on(c.read()), "read", by);
        is_unsubmitted(c.t().slice(0, 1..3).and_then(|part| part.to_vec()), "to_vec", by);
        is_unsubmitted(c.buffer(), "buffer", by);
        is_unsubmitted(c.write(&data(3)), "write", by);
        is_unsubmitted(matmul(&c, &a), "matmul", by);
        is_unsubmitted(c.assign(|| matmul(&a, &b)), "matmul", by);
        is_unsubmitted(ops::add(&a, &c), "add", by);
        is_unsubmitted(gpu.record_into(&mut encoder(gpu), || matmul(&c, &a)), "matmul", by);
        let view = c.clone();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| is_unsubmitted(matmul(&view, &a), "matmul", by));
            other.join().expect("the other thread has checked");
        });
        // Nothing of that was recorded, and everything is as usual after the submission.
        gpu.queue().submit([commands]);
        let want = product(&data(1), &data(2));
        assert_eq!(c.to_vec().unwrap(), want, "{gpu:?}");
        assert_eq!(matmul(&view, &a).unwrap().to_vec().unwrap(), product(&want, &data(1)), "{gpu:?}");
        drop(view);
        c.write(&data(3)).unwrap();
        assert_eq!(c.to_vec().unwrap(), data(3), "{gpu:?}");
    });
}

#[test]
fn what_taken_work_reads_can_be_read_and_not_written() {
    on_every_device("inputs", |gpu| {
        let [mut a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let c = matmul(&a, &b).unwrap();
        let commands = gpu.take_commands().unwrap();
        let by = "`take_commands`";
        is_unsubmitted(a.write(&data(3)), "write", by);
        is_unsubmitted(a.assign(|| matmul(&b, &b)), "matmul", by);
        is_unsubmitted(gpu.record_into(&mut encoder(gpu), || a.assign(|| matmul(&b, &b))), "matmul", by);
        assert_eq!(a.to_vec().unwrap(), data(1), "{gpu:?}");
        assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), product(&data(1), &data(1)), "{gpu:?}");
        a.buffer().unwrap();
        gpu.queue().submit([commands]);
        a.assign(|| matmul(&b, &b)).unwrap();
        a.write(&data(4)).unwrap();
        assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}");
        assert_eq!(a.to_vec().unwrap(), data(4), "{gpu:?}");
    });
}

#[test]
fn recorded_work_is_submitted_before_a_scope_begins() {
    on_every_device("earlier work", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let c = matmul(&a, &b).unwrap();
        let submits = gpu.stats().submits;
        let (commands, d) = taken_product(gpu, &c, &b);
        assert_eq!(gpu.stats().submits - submits, 1, "{gpu:?}");
        // What is recorded and read meanwhile does not wait for the frame.
        let e = matmul(&c, &c).unwrap();
        let ab = product(&data(1), &data(2));
        assert_eq!(e.to_vec().unwrap(), product(&ab, &ab), "{gpu:?}");
        gpu.queue().submit([commands]);
        assert_eq!(d.to_vec().unwrap(), product(&ab, &data(2)), "{gpu:?}");
    });
}

/// Checks that a call is refused in a scope, and that the scope goes on.
fn is_refused_inside(gpu: &tilewise::Gpu, call: &str, work: impl FnOnce(&Tensor<f32>) -> Result<()>) {
    let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
    let submits = gpu.stats().submits;
    let mut encoder = encoder(gpu);
    let c = gpu.record_into(&mut encoder, || {
        let error = work(&a).expect_err("it would submit or wait");
        assert!(matches!(error, Error::Input { .. }), "{error}");
        let said = error.to_string();
        assert!(said.contains(call) && said.contains("the closure of `record_into`"), "{call}: {said}");
        matmul(&a, &b)
    });
    gpu.queue().submit([encoder.finish()]);
    assert_eq!(gpu.stats().submits, submits, "{call}");
    assert_eq!(c.unwrap().to_vec().unwrap(), product(&data(1), &data(2)), "{call}");
}

#[test]
fn nothing_submits_or_waits_inside_a_scope() {
    on_every_device("refused inside", |gpu| {
        let is_refused =
            |call: &str, work: &dyn Fn(&Tensor<f32>) -> Result<()>| is_refused_inside(gpu, call, work);
        is_refused("to_vec", &|a| a.to_vec().map(drop));
        is_refused("read", &|a| pollster::block_on(a.read()).map(drop));
        is_refused("flush", &|_| gpu.flush());
        is_refused("wait", &|_| gpu.wait());
        is_refused("Gpu::time", &|a| gpu.time(|| matmul(a, a)).map(drop));
        is_refused("take_commands", &|_| gpu.take_commands().map(drop));
        is_refused("record_into", &|a| gpu.record_into(&mut encoder(gpu), || matmul(a, a)).map(drop));
        is_refused("rsvd", &|a| tilewise::sketch::rsvd(a, 2).map(drop));
        is_refused("tensor", &|_| gpu.tensor(&vec![0.0f32; 16 << 20], [16 << 20]).map(drop));
    });
}

#[test]
fn uploads_inside_a_scope_run_before_its_work_or_are_errors() {
    on_every_device("uploads inside", |gpu| {
        let b = tensor(gpu, 2);
        let mut fresh = tensor(gpu, 5);
        gpu.wait().unwrap();
        let submits = gpu.stats().submits;
        let mut encoder = encoder(gpu);
        let mut used = tensor(gpu, 3);
        let recorded = gpu.record_into(&mut encoder, || {
            let a = gpu.tensor(&data(1), [SIZE; 2])?;
            let c = matmul(&a, &b)?;
            drop(a); // its buffer is read by the work, so no upload gets it
            let d = gpu.tensor(&data(4), [SIZE; 2])?;
            let e = matmul(&d, &used)?;
            // An upload would run before the product that reads the tensor.
            is_unsubmitted(used.write(&data(6)), "write", "`record_into`");
            // This one is not used yet.
            fresh.write(&data(6))?;
            Ok([c, e, matmul(&fresh, &b)?])
        });
        let [c, e, f] = recorded.unwrap();
        assert!(gpu.stats().bytes_staged < 1 << 20);
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(gpu.stats().submits, submits, "{gpu:?}");
        assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}");
        assert_eq!(e.to_vec().unwrap(), product(&data(4), &data(3)), "{gpu:?}");
        assert_eq!(f.to_vec().unwrap(), product(&data(6), &data(2)), "{gpu:?}");
    });
}

#[test]
fn uploads_of_many_frames_do_not_count_as_waiting() {
    on_every_device("uploads of frames", |gpu| {
        const LEN: usize = 1 << 20;
        let one = gpu.zeros::<f32>([1]).unwrap().as_strided(&[LEN], &[0], 0).unwrap();
        ops::add(&one, &one).unwrap();
        gpu.wait().unwrap();
        let submits = gpu.stats().submits;
        // Together more than the 64 MiB at which uploads are submitted.
        for frame in 0..40u8 {
            let mut encoder = encoder(gpu);
            let values = vec![f32::from(frame); LEN];
            let sum = gpu.record_into(&mut encoder, || ops::add(&gpu.tensor(&values, [LEN])?, &one));
            gpu.queue().submit([encoder.finish()]);
            let _ = sum.unwrap();
        }
        assert_eq!(gpu.stats().submits, submits, "{gpu:?}");
        assert_eq!(gpu.stats().bytes_staged, 0, "{gpu:?}");
    });
}

#[test]
fn timed_work_is_not_taken() {
    on_every_device("timed", |gpu| {
        let a = tensor(gpu, 1);
        matmul(&a, &a).unwrap().to_vec().unwrap();
        if !gpu.caps().timestamps {
            return;
        }
        let timed = gpu.time(|| {
            let c = matmul(&a, &a)?;
            says(gpu.take_commands(), &["being timed"]);
            Ok(c)
        });
        assert_eq!(timed.unwrap().0.to_vec().unwrap(), product(&data(1), &data(1)), "{gpu:?}");
    });
}

#[test]
fn the_hosts_clock_waits_for_timed_work_that_the_application_has_submitted() {
    on_every_device("the host's clock", |gpu| {
        if gpu.caps().timestamps {
            return;
        }
        let a = gpu.random::<f32>([256, 256], Fill::Uniform, 1).unwrap();
        for _ in 0..5 {
            let has_run: Arc<AtomicBool> = Arc::default();
            let tell = has_run.clone();
            let submitted = gpu.time(|| {
                let first = matmul(&a, &a)?;
                let mut encoder = encoder(gpu);
                let last = gpu.record_into(&mut encoder, || matmul(&matmul(&first, &a)?, &a))?;
                gpu.queue().submit([encoder.finish()]);
                gpu.queue().on_submitted_work_done(move || tell.store(true, Ordering::Release));
                Ok(last)
            });
            submitted.unwrap();
            assert!(has_run.load(Ordering::Acquire), "{gpu:?}");
        }
    });
}
