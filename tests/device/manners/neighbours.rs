//! Several `Gpu`s of one device, and several devices and instances of one process.

use super::{square, work};
use std::thread;
use support::watchdog::in_time;
use tilewise::gpu::Submission;
use tilewise::{Error, Gpu, GpuOptions, Precision, matmul};

#[test]
fn gpus_of_one_device_share_no_options_no_counters_and_no_fate() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    let adopt = |change: fn(&mut GpuOptions)| {
        let mut options = GpuOptions::from_env().unwrap();
        change(&mut options);
        Gpu::adopt_with(&adapter, device.clone(), queue.clone(), options).unwrap()
    };
    in_time("two Gpus of one device", || {
        let plain = adopt(|_| ());
        let small = adopt(|options| {
            options.memory_budget = Some(100_000);
            options.precision = Precision::Fast;
            options.submission = Submission::EachLaunch;
        });
        assert_eq!([plain.precision(), small.precision()], [Precision::Strict, Precision::Fast]);
        assert!(!plain.is_same(&small));
        let before = plain.stats();
        assert!(matches!(small.zeros::<f32>([100_000]), Err(Error::OutOfMemory { .. })));
        let a = square(&small);
        let c = matmul(&a, &a).unwrap();
        assert_eq!(plain.stats(), before, "what one does, the other does not count");
        let large = plain.zeros::<f32>([100_000]).unwrap();
        let (x, y) = (square(&plain), square(&plain));
        let launched = plain.stats();
        let z = matmul(&x, &y).unwrap();
        assert_eq!(plain.stats().submits, launched.submits, "only the other submits each launch");
        assert!(matches!(matmul(&x, &a), Err(Error::Gpu { .. })), "operands of two Gpus do not meet");
        assert_eq!(z.to_vec().unwrap().len(), 64);
        small.mark_lost("this one only");
        assert!(matches!(c.to_vec(), Err(Error::Device(_))));
        drop((a, c, small));
        assert_eq!(large.to_vec().unwrap().len(), 100_000);
        work(&plain);
    });
}

#[test]
fn devices_of_several_instances_work_side_by_side() {
    let Some(first) = support::own(|_| ()) else { return };
    let gpus: Vec<Gpu> = [Some(Gpu::clone(&first)), support::own(|_| ()).map(|gpu| Gpu::clone(&gpu))]
        .into_iter()
        .flatten()
        .chain([support::noop(), support::noop()])
        .collect();
    in_time("four devices", || {
        thread::scope(|scope| {
            for gpu in &gpus {
                scope.spawn(|| (0..5).for_each(|_| work(gpu)));
            }
        });
        let operands: Vec<_> = gpus.iter().map(square).collect();
        for (at, a) in operands.iter().enumerate() {
            for b in &operands[at + 1..] {
                assert!(
                    matches!(matmul(a, b), Err(Error::Gpu { .. })),
                    "operands of two devices do not meet"
                );
            }
        }
        gpus[0].device().destroy();
        assert!(gpus[0].wait().is_err());
        gpus[1..].iter().for_each(work);
    });
}
