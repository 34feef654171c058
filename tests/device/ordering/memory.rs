//! Memory of taken work: its buffers are not handed out to work that might run earlier, and come back when it is submitted
//! or dropped.

use super::{SIZE, data, encoder, is_unsubmitted, on_every_device, product, taken_product, tensor};
use tilewise::{Fill, Gpu, GpuOptions, Precision, matmul, ops};

#[test]
fn buffers_of_dropped_tensors_stay_out_of_the_pool_until_the_work_is_submitted() {
    on_every_device("dropped tensors", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        for round in 0..10 {
            let c = tensor(gpu, 3);
            let mut encoder = encoder(gpu);
            let d = gpu.record_into(&mut encoder, || matmul(&matmul(&a, &b)?, &c)).unwrap();
            drop(c);
            let in_use = gpu.stats().bytes_in_use;
            // None of these may get the buffers of `c` or of the product between: they run earlier.
            let others: Vec<_> = (0..8).map(|at| matmul(&tensor(gpu, 10 + at), &b).unwrap()).collect();
            others.iter().for_each(|other| drop(other.to_vec().unwrap()));
            drop(others);
            assert_eq!(gpu.stats().bytes_in_use, in_use, "{gpu:?}");
            let commands = encoder.finish();
            if round % 2 == 0 {
                gpu.queue().submit([commands]);
                let want = product(&product(&data(1), &data(2)), &data(3));
                assert_eq!(d.to_vec().unwrap(), want, "{gpu:?}, round {round}");
            } else {
                drop(commands);
            }
            assert!(gpu.stats().bytes_in_use < in_use, "{gpu:?}: they are back");
        }
    });
}

#[test]
fn buffers_that_were_free_before_work_is_taken_are_part_of_it() {
    on_every_device("freed before it is taken", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        for round in 0..10 {
            let between = matmul(&a, &b).unwrap();
            let c = matmul(&between, &b).unwrap();
            drop(between); // its buffer is free for work that is recorded later
            let mut early = (round % 2 == 0).then(|| gpu.empty::<f32>([SIZE; 2]).unwrap());
            let commands = gpu.take_commands().unwrap();
            if let Some(early) = &mut early {
                // It has the buffer of the product between, which the commands still write.
                is_unsubmitted(early.write(&data(3)), "write", "`take_commands`");
                is_unsubmitted(early.buffer(), "buffer", "`take_commands`");
                is_unsubmitted(early.assign(|| matmul(&a, &b)), "matmul", "`take_commands`");
            }
            // Neither of these gets it: they run before the commands.
            let uploaded = tensor(gpu, 4);
            let others: Vec<_> = (0..4).map(|_| matmul(&b, &a).unwrap()).collect();
            assert_eq!(others[0].to_vec().unwrap(), product(&data(2), &data(1)), "{gpu:?}");
            if round % 3 == 0 {
                drop(commands);
                assert!(c.to_vec().is_err());
            } else {
                gpu.queue().submit([commands]);
                assert_eq!(c.to_vec().unwrap(), product(&product(&data(1), &data(2)), &data(2)), "{gpu:?}");
            }
            assert_eq!(uploaded.to_vec().unwrap(), data(4), "{gpu:?}");
            for other in others {
                assert_eq!(other.to_vec().unwrap(), product(&data(2), &data(1)), "{gpu:?}");
            }
            if let Some(mut early) = early {
                early.write(&data(3)).unwrap();
                assert_eq!(early.to_vec().unwrap(), data(3), "{gpu:?}");
            }
        }
    });
}

#[test]
fn two_pieces_of_work_that_share_an_operand_keep_it_until_the_last() {
    on_every_device("a shared operand", |gpu| {
        let b = tensor(gpu, 2);
        let shared = tensor(gpu, 1);
        let (first, c) = taken_product(gpu, &shared, &b);
        let (second, d) = taken_product(gpu, &b, &shared);
        drop(shared);
        let in_use = gpu.stats().bytes_in_use;
        gpu.queue().submit([second]);
        assert_eq!(gpu.stats().bytes_in_use, in_use, "{gpu:?}: the first still reads it");
        let others: Vec<_> = (0..4).map(|at| tensor(gpu, 10 + at)).collect();
        gpu.wait().unwrap();
        gpu.queue().submit([first]);
        assert!(gpu.stats().bytes_in_use < in_use + 4 * 4 * (SIZE * SIZE) as u64, "{gpu:?}");
        drop(others);
        assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}");
        assert_eq!(d.to_vec().unwrap(), product(&data(2), &data(1)), "{gpu:?}");
    });
}

#[test]
fn a_scope_does_not_get_buffers_of_work_that_runs_later() {
    on_every_device("buffers of recorded work", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let mut encoder = encoder(gpu);
        let (c, later) = gpu
            .record_into(&mut encoder, || {
                // Another thread's work that is recorded and frees a buffer, but may run after the scope's.
                let later = || matmul(&matmul(&b, &a)?, &a);
                let later = std::thread::scope(|scope| scope.spawn(later).join().expect("no panic"))?;
                Ok((matmul(&matmul(&a, &b)?, &b)?, later))
            })
            .unwrap();
        gpu.queue().submit([encoder.finish()]);
        gpu.wait().unwrap();
        assert_eq!(c.to_vec().unwrap(), product(&product(&data(1), &data(2)), &data(2)), "{gpu:?}");
        assert_eq!(later.to_vec().unwrap(), product(&product(&data(2), &data(1)), &data(1)), "{gpu:?}");
    });
}

#[test]
fn a_scope_reuses_what_its_own_launches_have_freed() {
    on_every_device("reuse in a scope", |gpu| {
        let one = gpu.tensor(&[1.0f32; 60], [60]).unwrap();
        ops::add(&one, &one).unwrap().to_vec().unwrap();
        let before = gpu.stats();
        let mut encoder = encoder(gpu);
        let sum = gpu.record_into(&mut encoder, || {
            let mut sum = ops::add(&one, &one)?;
            for _ in 0..50 {
                sum = ops::add(&sum, &one)?;
                // One that no launch writes, in a buffer that launches use.
                drop(gpu.empty::<f32>([60])?);
            }
            Ok(sum)
        });
        let sum = sum.unwrap();
        assert!(gpu.stats().buffers_created - before.buffers_created <= 4, "{gpu:?}");
        let outside = gpu.tensor(&[7.0f32; 60], [60]).unwrap();
        gpu.wait().unwrap();
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(sum.to_vec().unwrap(), [52.0; 60], "{gpu:?}");
        assert_eq!(outside.to_vec().unwrap(), [7.0; 60], "{gpu:?}");
    });
}

#[test]
fn temporaries_of_plans_are_part_of_it() {
    on_every_device("temporaries", |gpu| {
        let random = |shape: [usize; 2], seed| gpu.random::<f32>(shape, Fill::Integers, seed).unwrap();
        let [a, b] = [random([16, 4096], 1), random([4096, 16], 2)];
        let fast = || tilewise::Gemm::new(&a, &b).precision(Precision::Fast).run();
        let want = fast().unwrap().to_vec().unwrap();
        for _ in 0..5 {
            let mut encoder = encoder(gpu);
            let c = gpu.record_into(&mut encoder, fast).unwrap();
            let other = fast().unwrap();
            assert_eq!(other.to_vec().unwrap(), want, "{gpu:?}");
            gpu.queue().submit([encoder.finish()]);
            assert_eq!(c.to_vec().unwrap(), want, "{gpu:?}");
        }
    });
}

fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/statm").ok()?;
    status.split_whitespace().nth(1)?.parse::<u64>().ok().map(|pages| pages * 4096)
}

/// A thousand frames, of which the application drops every `dropped`th.
fn thousand_frames(gpu: &Gpu, dropped: usize) {
    let (a, mut b) = (tensor(gpu, 1), tensor(gpu, 2));
    let mut last = None;
    let mut frame = |at: usize| {
        b.write(&data(2)).unwrap();
        let mut encoder = encoder(gpu);
        let c = gpu.record_into(&mut encoder, || {
            let scale = gpu.tensor(&data(3), [SIZE; 2])?;
            matmul(&matmul(&a, &b)?, &scale)
        });
        let commands = encoder.finish();
        if at % dropped == dropped - 1 {
            drop(commands);
        } else {
            gpu.queue().submit([commands]);
        }
        last = Some(c.unwrap());
        // As an application does that shows frames: it does not run ahead of the device.
        gpu.device().poll(tilewise::wgpu::PollType::wait_indefinitely()).unwrap();
    };
    (0..200).for_each(&mut frame);
    let (stats, resident) = (gpu.stats(), resident_bytes());
    (200..support::by_sweep(1200, 1200, 400)).for_each(&mut frame);
    let after = gpu.stats();
    assert_eq!(after.buffers_created, stats.buffers_created, "{gpu:?}");
    assert_eq!((after.bytes_in_use, after.bytes_cached), (stats.bytes_in_use, stats.bytes_cached), "{gpu:?}");
    assert_eq!(after.submits, stats.submits, "{gpu:?}");
    if let (Some(before), Some(after)) = (resident, resident_bytes()) {
        // Other tests of this process run meanwhile.
        println!("{gpu:?}: {} KiB more after 1,000 frames", after.saturating_sub(before) >> 10);
    }
}

#[test]
fn a_thousand_frames_do_not_grow_memory() {
    on_every_device("a thousand frames", |gpu| {
        thousand_frames(gpu, usize::MAX);
        thousand_frames(gpu, 3);
    });
}

#[test]
fn a_thousand_frames_fit_in_a_small_budget() {
    let options = |options: &mut GpuOptions| options.memory_budget = Some(32 << 10);
    let Some(gpu) = support::own(options) else { return };
    thousand_frames(&gpu, 7);
}
