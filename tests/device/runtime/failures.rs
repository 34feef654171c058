//! A launch that fails in the midst of others: its result stays an error, whatever is not at fault is right.

use super::{SIZE, data, devices, product, tensor};
use support::failure::{Kind, fails};
use tilewise::gemm::SplitK;
use tilewise::gpu::Submission;
use tilewise::{Element, Error, Fill, Gemm, Gpu, Tensor, matmul, ops, reference};

fn sum(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// A tensor whose buffer the application has destroyed: what uses it is refused when it is submitted, and not before.
fn destroyed(x: Tensor<f32>) -> Tensor<f32> {
    x.buffer().unwrap().0.destroy();
    x
}

#[test]
fn a_failed_launch_spoils_its_own_result_and_what_is_made_of_it() {
    for gpu in devices() {
        let [a, b] = [tensor(&gpu, 1), tensor(&gpu, 2)];
        let bad = destroyed(tensor(&gpu, 3));
        let before = matmul(&a, &b).unwrap();
        let failed = ops::add(&a, &bad).unwrap();
        let made_of_it = ops::add(&failed, &b).unwrap();
        let after = matmul(&b, &a).unwrap();
        let further = ops::add(&after, &before).unwrap();
        let [ab, ba] = [product(&data(1), &data(2)), product(&data(2), &data(1))];
        for _ in 0..2 {
            assert_eq!(before.to_vec().unwrap(), ab);
            assert_eq!(after.to_vec().unwrap(), ba);
            assert_eq!(further.to_vec().unwrap(), sum(&ab, &ba));
            fails(failed.to_vec(), Kind::Device, &["elementwise", "failed", "destroyed"]);
            fails(made_of_it.to_vec(), Kind::Device, &["elementwise", "failed"]);
            fails(pollster::block_on(failed.t().read()), Kind::Device, &["failed"]);
            fails(failed.buffer(), Kind::Device, &["failed"]);
        }
        fails(ops::add(&failed, &b), Kind::Device, &["elementwise", "failed", "destroyed"]);
        fails(matmul(&a, &failed), Kind::Device, &["failed"]);
        fails(gpu.flush(), Kind::Device, &["elementwise", "failed"]);
        gpu.flush().expect("a failure is told once where nobody reads its result");
        assert_eq!(matmul(&a, &b).unwrap().to_vec().unwrap(), ab);
    }
}

#[test]
fn what_was_recorded_later_than_a_failure_and_read_nothing_of_it_is_right() {
    for gpu in devices() {
        let [a, b] = [tensor(&gpu, 1), tensor(&gpu, 2)];
        let bad = destroyed(tensor(&gpu, 3));
        let mut c = tensor(&gpu, 4);
        // The same storage: a launch that fails, and behind it one that writes all of it anew.
        c.assign(|| ops::add(&a, &bad)).unwrap();
        let of_the_failed = ops::add(&c, &a).unwrap();
        c.assign(|| ops::add(&a, &b)).unwrap();
        let of_the_next = ops::add(&c, &a).unwrap();
        let want = sum(&data(1), &data(2));
        assert_eq!(c.to_vec().unwrap(), want);
        assert_eq!(of_the_next.to_vec().unwrap(), sum(&want, &data(1)));
        fails(of_the_failed.to_vec(), Kind::Device, &["failed"]);
    }
}

#[test]
fn only_what_is_written_again_of_a_failed_result_is_good() {
    for gpu in devices() {
        let [a, b] = [tensor(&gpu, 1), tensor(&gpu, 2)];
        let bad = destroyed(tensor(&gpu, 3));
        let fail = |c: &mut Tensor<f32>| {
            c.assign(|| ops::add(&a, &bad)).unwrap();
            fails(c.to_vec(), Kind::Device, &["failed"]);
        };
        let mut c = tensor(&gpu, 4);
        let want = sum(&data(1), &data(2));
        fail(&mut c);
        fails(ops::add_assign(&mut c, &a), Kind::Device, &["failed"]);
        fails(Gemm::new(&a, &b).beta(1.0).run_into(&mut c), Kind::Device, &["failed"]);
        fails(c.to_vec(), Kind::Device, &["failed"]);
        c.assign(|| ops::add(&a, &b)).unwrap();
        assert_eq!(c.to_vec().unwrap(), want);
        fail(&mut c);
        c.write(&data(5)).unwrap();
        assert_eq!(c.to_vec().unwrap(), data(5));
        fail(&mut c);
        Gemm::new(&a, &b).run_into(&mut c).unwrap();
        assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)));
        fail(&mut c);
        let [half, rest] = [c.slice(0, ..SIZE / 2).unwrap(), c.slice(0, SIZE / 2..).unwrap()];
        let [top_a, top_b] = [&a, &b].map(|x| x.slice(0, ..SIZE / 2).unwrap());
        fails(ops::add_assign(&mut half.writable_view(), &top_a), Kind::Device, &["failed"]);
        half.writable_view().assign(|| ops::add(&top_a, &top_b)).unwrap();
        assert_eq!(half.to_vec().unwrap(), want[..SIZE * SIZE / 2]);
        fails(rest.to_vec(), Kind::Device, &["failed"]);
        fails(c.to_vec(), Kind::Device, &["failed"]);
        drop((half, rest, c));
        // The pool hands the buffer out again, and nothing of the failure with it.
        for _ in 0..20 {
            assert_eq!(matmul(&a, &b).unwrap().to_vec().unwrap(), product(&data(1), &data(2)));
        }
    }
}

#[test]
fn a_read_of_a_destroyed_buffer_is_the_readers_error_alone() {
    for gpu in devices() {
        let [a, b] = [tensor(&gpu, 1), tensor(&gpu, 2)];
        let c = matmul(&a, &b).unwrap();
        let bad = destroyed(tensor(&gpu, 3));
        fails(bad.to_vec(), Kind::Device, &["destroyed"]);
        fails(pollster::block_on(bad.read()), Kind::Device, &["destroyed"]);
        gpu.flush().expect("no launch has failed");
        assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)));
    }
}

#[test]
fn work_that_fails_while_it_is_timed_is_an_error_and_timing_goes_on() {
    for gpu in devices() {
        let a = tensor(&gpu, 1);
        let bad = destroyed(tensor(&gpu, 3));
        fails(gpu.time(|| ops::add(&a, &bad)), Kind::Device, &["failed"]);
        let _ = gpu.flush();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            gpu.time::<()>(|| {
                matmul(&a, &a)?;
                panic!("the panic under test")
            })
        }));
        assert!(panicked.is_err());
        let nested = gpu.time(|| gpu.time(|| matmul(&a, &a)).map(|_| ()));
        if gpu.caps().timestamps {
            fails(nested, Kind::Input, &[]);
        }
        let submits = gpu.stats().submits;
        (0..70).for_each(|_| _ = matmul(&a, &a).unwrap());
        assert!(gpu.stats().submits > submits, "work is submitted by itself again");
        let (c, timing) = gpu.time(|| matmul(&a, &a)).unwrap();
        assert!(timing.seconds > 0.0);
        assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(1)));
    }
}

#[test]
fn a_failure_does_not_reach_behind_the_writes_that_follow_it() {
    for gpu in devices() {
        let [a, b] = [tensor(&gpu, 1), tensor(&gpu, 2)];
        let bad = destroyed(tensor(&gpu, 3));
        let want = sum(&data(1), &data(2));
        let mut c = tensor(&gpu, 4);
        c.assign(|| ops::add(&a, &bad)).unwrap();
        fails(c.to_vec(), Kind::Device, &["failed"]);
        c.assign(|| ops::add(&a, &b)).unwrap();
        let of_the_good = ops::add(&c, &a).unwrap();
        c.assign(|| ops::add(&b, &b)).unwrap();
        assert_eq!(of_the_good.to_vec().unwrap(), sum(&want, &data(1)));
        c.assign(|| ops::add(&a, &b)).unwrap();
        let read = c.read();
        c.assign(|| ops::add(&b, &b)).unwrap();
        assert_eq!(pollster::block_on(read).unwrap(), want, "what was read was good");
    }
}

/// The device is asked by a number that comes again after 4,096 turns.
#[test]
fn no_read_of_thousands_that_are_refused_goes_through() {
    for gpu in devices() {
        let bad = destroyed(tensor(&gpu, 3));
        for at in 0..4200 {
            assert!(bad.to_vec().is_err(), "read {at}");
        }
        assert_eq!(tensor(&gpu, 1).to_vec().unwrap(), data(1));
    }
}

#[test]
fn a_launch_that_is_submitted_with_another_tells_its_own_failure() {
    let Some(gpu) = support::own(|options| options.submission = Submission::EachLaunch) else { return };
    let [a, b] = [tensor(&gpu, 1), tensor(&gpu, 2)];
    let bad = destroyed(tensor(&gpu, 3));
    // What is timed and fails leaves its launch recorded.
    let mut sum_of_both = None;
    let timed = gpu.time(|| {
        sum_of_both = Some(ops::add(&a, &b)?);
        Err::<(), _>(Error::Device("the test says so".into()))
    });
    timed.expect_err("what is timed fails");
    fails(ops::add(&a, &bad), Kind::Device, &["elementwise", "destroyed"]);
    assert_eq!(sum_of_both.unwrap().to_vec().unwrap(), sum(&data(1), &data(2)));
    assert_eq!(ops::add(&a, &b).unwrap().to_vec().unwrap(), sum(&data(1), &data(2)));
}

/// A product in parts is two launches. The second, which alone reads the bias, is the one that fails.
fn fails_in_its_second_launch(gpu: &Gpu) {
    const K: usize = 320;
    let values = Fill::Integers.values::<f32>(SIZE * K, 5);
    let columns: Vec<f32> = (0..K * SIZE).map(|i| values[i % SIZE * K + i / SIZE]).collect();
    let want = reference::gemm(&values, &columns, [SIZE, SIZE, K]).value;
    let want: Vec<f32> = want.into_iter().map(f32::from_f64).collect();
    let whole = gpu.tensor(&values, [SIZE, K]).unwrap();
    let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
    let (bias, bad) = (gpu.zeros::<f32>([SIZE]).unwrap(), destroyed(gpu.zeros::<f32>([SIZE]).unwrap()));
    let at = whole.t();
    let product = || Gemm::new(&whole, &at).split_k(SplitK::Splits(4));
    let launches = gpu.stats().launches;
    let before = product().bias(&bias).run().unwrap();
    assert_eq!(gpu.stats().launches - launches, 2);
    let mut c = tensor(gpu, 4);
    let of_the_old = ops::add(&c, &a).unwrap();
    let failed = product().bias(&bad).run_into(&mut c);
    let made_of_it = ops::add(&c, &a);
    let after = product().bias(&bias).run().unwrap();
    let beside = ops::add(&a, &b).unwrap();
    for _ in 0..2 {
        fails(c.to_vec(), Kind::Device, &["failed", "destroyed"]);
        assert_eq!(before.to_vec().unwrap(), want);
        assert_eq!(after.to_vec().unwrap(), want);
        assert_eq!(beside.to_vec().unwrap(), sum(&data(1), &data(2)));
        assert_eq!(of_the_old.to_vec().unwrap(), sum(&data(4), &data(1)));
    }
    fails(made_of_it.and_then(|made| made.to_vec()), Kind::Device, &["failed"]);
    fails(failed.and_then(|()| gpu.flush()), Kind::Device, &["failed", "destroyed"]);
    product().bias(&bias).run_into(&mut c).unwrap();
    assert_eq!(c.to_vec().unwrap(), want, "it is written anew");
    gpu.flush().expect("each failure has been told");
}

#[test]
fn an_operation_that_fails_between_its_launches_spoils_its_own_result_alone() {
    devices().iter().for_each(|gpu| fails_in_its_second_launch(gpu));
    if let Some(gpu) = support::own(|options| options.submission = Submission::EachLaunch) {
        fails_in_its_second_launch(&gpu);
    }
}
