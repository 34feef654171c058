//! Problems that are tuned at their first use.

use super::{executed, only, operands, problem, without_files};
use support::{TestGpu, watchdog};
use tilewise::gpu::Tuning;
use tilewise::planning::TimeSource;
use tilewise::{Fill, Gemm, matmul, ops};

fn tuning_now() -> Option<TestGpu> {
    without_files(Tuning::Now)
}

#[test]
fn a_problem_is_tuned_at_its_first_use_and_then_known() {
    let Some(gpu) = tuning_now() else { return };
    let (plan, first) = executed(&gpu);
    assert_eq!(plan.signature(), only(&gpu).winner().unwrap().signature);
    assert_eq!(plan.time_source(), TimeSource::Measured);
    let before = gpu.stats();
    let (again, second) = executed(&gpu);
    assert_eq!((again.signature(), second), (plan.signature(), first));
    let after = gpu.stats();
    assert_eq!(after.launches - before.launches, plan.steps().len() as u64, "nothing is tuned again");
    assert_eq!(after.pipelines, before.pipelines);
    // A family with one plan.
    let x = gpu.random::<f32>([8, 8], Fill::Uniform, 1).unwrap();
    ops::softmax(&x, 1).unwrap().to_vec().unwrap();
    only(&gpu);
}

#[test]
fn nothing_is_tuned_in_a_capture_and_the_first_use_after_it_is() {
    let Some(gpu) = tuning_now() else { return };
    let [a, b] = operands(&gpu);
    let mut replay = gpu.capture(&[a.view()], || Gemm::new(&a, &b).run()).unwrap();
    assert!(gpu.tuned().is_empty());
    let captured = replay.run(&[a.view()]).unwrap().to_vec().unwrap();
    let (_, timing) = gpu.time(|| Gemm::new(&a, &b).run()).unwrap();
    assert!(timing.seconds > 0.0 && gpu.tuned().is_empty(), "nor while something is timed");
    let (_, result) = executed(&gpu);
    only(&gpu);
    let near = |(x, y): (&f32, &f32)| (x - y).abs() <= 1e-4;
    assert!(captured.iter().zip(&result).all(near));
}

#[test]
fn threads_that_use_a_problem_at_once_all_go_on() {
    let Some(gpu) = tuning_now() else { return };
    let gpu = &gpu;
    watchdog::in_time("threads tune", || {
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(move || {
                    for _ in 0..3 {
                        let [a, b] = operands(gpu);
                        matmul(&a, &b).unwrap().to_vec().unwrap();
                    }
                });
            }
        });
    });
    assert!(gpu.tuned().len() <= 1, "at most once: a disturbed measurement is given up");
    let before = gpu.stats().launches;
    let (plan, _) = executed(gpu);
    let launches = gpu.stats().launches - before;
    assert!(gpu.tuned().len() == 1 || launches == plan.steps().len() as u64, "not tuned for ever");
}

#[test]
fn reads_that_are_dropped_do_no_harm() {
    let Some(gpu) = tuning_now() else { return };
    let [a, b] = operands(&gpu);
    let read = a.read();
    drop(read);
    let c = matmul(&a, &b).unwrap();
    drop(c.read());
    only(&gpu);
    let in_use = gpu.stats().bytes_in_use;
    drop((a, b, c));
    gpu.wait().unwrap();
    assert!(in_use > 0);
    assert_eq!(gpu.stats().bytes_in_use, 0);
}

#[test]
fn a_lost_device_tunes_nothing() {
    let Some(gpu) = tuning_now() else { return };
    let [a, b] = operands(&gpu);
    let of = problem(&gpu);
    gpu.wait().unwrap();
    gpu.mark_lost("the test says so");
    assert!(matmul(&a, &b).is_err());
    assert!(gpu.tune(&of).unwrap_err().to_string().contains("the test says so"));
    assert!(gpu.tuned().is_empty());
}

/// What does not fit into memory together with the operands of the trial is not tuned, and computed all the same.
#[test]
fn a_problem_without_room_for_a_trial_is_computed_as_predicted() {
    let Some(gpu) = support::own(|options| {
        options.tuning = Tuning::Now;
        options.cache = tilewise::gpu::CacheFolder::Off;
        options.memory_budget = Some(3 * 64 * 64 * 4 + 512);
    }) else {
        return;
    };
    let [a, b] = operands(&gpu);
    for _ in 0..2 {
        assert!(matmul(&a, &b).unwrap().to_vec().unwrap().iter().all(|c| c.is_finite()));
    }
    assert!(gpu.tuned().is_empty());
}
