//! Compiled pipelines: at most so many are kept, the least recently used make room, and nothing grows with the number of
//! distinct kernels.

use support::{TestGpu, process};
use tilewise::{Gpu, GpuOptions, Tensor, ops};

/// Expressions of so many operations after the first.
const OPERATIONS: usize = 13;
/// The most memory, in KiB, that more distinct kernels may take.
const MOST: i64 = 20 << 10;

fn operand(gpu: &Gpu) -> Tensor<f32> {
    gpu.tensor(&[1.0, -2.0, 0.5], [3]).unwrap()
}

/// The `number`th of 8,192 distinct expressions: each has a kernel of its own.
fn map(x: &Tensor<f32>, number: usize) -> Tensor<f32> {
    let is_sum = |at: usize| number >> at & 1 == 1;
    ops::map(&[x], |[x]| {
        (0..OPERATIONS).fold(x.clone() * 2.0, |e, at| if is_sum(at) { e + x.clone() } else { e * x.clone() })
    })
    .unwrap()
}

/// The same on the host. Every step is exact.
fn expected(number: usize) -> [f32; 3] {
    [1.0f32, -2.0, 0.5]
        .map(|x| (0..OPERATIONS).fold(x * 2.0, |e, at| if number >> at & 1 == 1 { e + x } else { e * x }))
}

fn bounded(limit: usize) -> Option<TestGpu> {
    support::own(|options| options.max_pipelines = Some(limit))
}

/// Pipelines that this work compiles.
fn compiled(gpu: &Gpu, work: impl FnOnce()) -> u64 {
    let before = gpu.stats().pipelines;
    work();
    gpu.stats().pipelines - before
}

#[test]
fn a_second_round_of_600_kernels_compiles_nothing() {
    let Some(()) = support::first_driver() else { return };
    let gpu = support::noop();
    let x = operand(&gpu);
    let round = || (0..600).for_each(|number| drop(map(&x, number)));
    assert_eq!((compiled(&gpu, round), compiled(&gpu, round)), (600, 0));
    assert_eq!(gpu.stats().pipelines_kept, 600);
    (600..2000).for_each(|number| drop(map(&x, number)));
    gpu.wait().unwrap();
    drop(map(&x, 2000));
    assert!(gpu.stats().pipelines_kept <= 1024, "{:?}", gpu.stats());
    let latest = || (1400..2001).for_each(|number| drop(map(&x, number)));
    assert_eq!(compiled(&gpu, latest), 0, "the latest are kept");
}

#[test]
fn the_least_recently_used_pipeline_makes_room() {
    let Some(gpu) = bounded(4) else { return };
    let x = operand(&gpu);
    let run = |numbers: &[usize]| {
        numbers.iter().for_each(|&number| assert_eq!(map(&x, number).to_vec().unwrap(), expected(number)));
    };
    assert_eq!(compiled(&gpu, || run(&[0, 1, 2, 3])), 4);
    assert_eq!(compiled(&gpu, || run(&[2, 0, 3])), 0);
    assert_eq!(compiled(&gpu, || run(&[4])), 1, "in the place of 1");
    assert_eq!(compiled(&gpu, || run(&[0, 2, 3, 4])), 0);
    assert_eq!(compiled(&gpu, || run(&[1])), 1, "in the place of 0");
    assert_eq!(compiled(&gpu, || run(&[2, 3, 4, 1])), 0);
    assert_eq!(compiled(&gpu, || run(&[0])), 1);
    assert_eq!(gpu.stats().pipelines_kept, 4);
}

#[test]
fn pipelines_of_a_replay_count_and_stay() {
    let Some(gpu) = bounded(2) else { return };
    let x = operand(&gpu);
    let mut replay = gpu.capture(&[x.view()], || Ok([1, 2, 3].map(|number| map(&x, number)))).unwrap();
    let kept = || gpu.stats().pipelines_kept;
    assert_eq!(kept(), 3, "the replay has all of them");
    for number in 4..10 {
        assert_eq!(map(&x, number).to_vec().unwrap(), expected(number));
        gpu.trim();
        let none = compiled(&gpu, || {
            for (output, number) in replay.run(&[x.view()]).unwrap().iter().zip(1..) {
                assert_eq!(output.to_vec().unwrap(), expected(number));
            }
        });
        assert_eq!((none, kept()), (0, 3));
    }
    drop(replay);
    gpu.trim();
    assert_eq!(kept(), 0);
    assert_eq!(compiled(&gpu, || assert_eq!(map(&x, 1).to_vec().unwrap(), expected(1))), 1);
}

#[test]
fn an_evicted_pipeline_serves_the_work_that_has_it() {
    let Some(gpu) = bounded(1) else { return };
    let x = operand(&gpu);
    // In the open recording, and in a plan that is cached.
    let recorded: Vec<_> = (0..6).chain(0..6).map(|number| (number, map(&x, number))).collect();
    gpu.trim();
    for (number, y) in &recorded {
        assert_eq!(y.to_vec().unwrap(), expected(*number));
    }
    // In a command buffer, and in an application's encoder.
    let taken: Vec<_> = (6..9).map(|number| (number, map(&x, number))).collect();
    let commands = gpu.take_commands().unwrap();
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let framed = gpu
        .record_into(&mut encoder, || Ok((9..12).map(|number| (number, map(&x, number))).collect::<Vec<_>>()))
        .unwrap();
    (12..15).for_each(|number| assert_eq!(map(&x, number).to_vec().unwrap(), expected(number)));
    gpu.trim();
    gpu.queue().submit([commands, encoder.finish()]);
    for (number, y) in taken.iter().chain(&framed) {
        assert_eq!(y.to_vec().unwrap(), expected(*number));
    }
    gpu.wait().unwrap();
    drop(map(&x, 0));
    assert_eq!(gpu.stats().pipelines_kept, 1);
}

#[test]
fn a_plan_may_have_more_kernels_than_are_kept() {
    let Some(gpu) = bounded(1) else { return };
    let n = 1 << 20;
    let x = gpu.tensor(&vec![1i32; n], [n]).unwrap();
    let sum = i32::try_from(n).unwrap();
    for round in 0..3 {
        assert_eq!(ops::sum(&x, ..).unwrap().to_vec().unwrap(), [sum], "round {round}");
        let kinds = ops::softmax(&gpu.tensor(&[0.0f32; 7], [7]).unwrap(), 0).unwrap();
        assert_eq!(kinds.to_vec().unwrap(), [1.0 / 7.0; 7]);
    }
}

#[test]
fn an_executed_plan_is_compiled_again_if_it_has_to_be() {
    use tilewise::planning::Problem;
    use tilewise::planning::ops::{Elementwise, ElementwiseProblem};
    let Some(gpu) = bounded(1) else { return };
    let x = operand(&gpu);
    let mut sum = gpu.empty::<f32>([3]).unwrap();
    let layouts = [x.layout(), x.layout()];
    let problem =
        ElementwiseProblem::of_one_type(Elementwise::ADD, &layouts, sum.layout(), tilewise::DType::F32);
    let plan = problem.unwrap().plan(gpu.caps()).unwrap();
    for number in 0..3 {
        gpu.execute(&plan, &[sum.view_mut().unwrap(), x.view(), x.view()], &[]).unwrap();
        assert_eq!(sum.to_vec().unwrap(), [2.0, -4.0, 1.0]);
        assert_eq!(map(&x, number).to_vec().unwrap(), expected(number));
        gpu.trim();
    }
}

#[test]
fn threads_that_take_each_others_places_have_right_results() {
    let Some(gpu) = bounded(2) else { return };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let gpu = &gpu;
            scope.spawn(move || {
                let x = operand(gpu);
                for number in (thread..thread + 5).chain(thread..thread + 5) {
                    assert_eq!(map(&x, number).to_vec().unwrap(), expected(number));
                }
            });
        }
    });
}

/// KiB that the process has resident and, where the C library tells, allocated.
#[derive(Debug)]
struct Memory {
    resident: i64,
    allocated: Option<i64>,
}

impl Memory {
    fn now() -> Option<Self> {
        let kib = |bytes: u64| i64::try_from(bytes >> 10).unwrap();
        Some(Self { resident: kib(process::resident()?), allocated: process::allocated().map(kib) })
    }

    /// After so many distinct expressions.
    fn after(gpu: &Gpu, x: &Tensor<f32>, numbers: std::ops::Range<usize>) -> Option<Self> {
        for number in numbers {
            drop(map(x, number));
            if number % 50 == 0 {
                gpu.wait().unwrap();
            }
        }
        gpu.wait().unwrap();
        Self::now()
    }

    /// Checks how much more than `before` this is.
    fn is_within(&self, resident: i64, before: &Self) {
        let more = self.allocated.zip(before.allocated).map_or(0, |(now, before)| now - before);
        assert!(more < MOST, "{more} KiB more are allocated: {before:?}, then {self:?}");
        let more = self.resident - before.resident;
        assert!(more < resident, "{more} KiB more are resident: {before:?}, then {self:?}");
    }
}

fn is_alone(test: &str) -> bool {
    process::is_alone(&format!("{}::{test}", module_path!()))
}

/// What a device keeps of 5,000 expressions is what it keeps of 1,500: here without a driver's part.
#[test]
fn memory_does_not_grow_with_the_number_of_expressions() {
    let Some(()) = support::first_driver() else { return };
    if !is_alone("memory_does_not_grow_with_the_number_of_expressions") {
        return;
    }
    let gpu = support::noop_with(GpuOptions::default(), |_| ());
    let x = operand(&gpu);
    let Some(before) = Memory::after(&gpu, &x, 0..1500) else { return };
    Memory::after(&gpu, &x, 1500..5000).unwrap().is_within(MOST, &before);
}

/// The same on the driver, with a smaller bound. Unbounded, 210 kernels take 100 MB on lavapipe.
#[test]
fn a_drivers_memory_does_not_grow_either_and_is_trimmed() {
    if !is_alone("a_drivers_memory_does_not_grow_either_and_is_trimmed") {
        return;
    }
    let (limit, first, all) = if support::is_full_sweep() { (1024, 1500, 5000) } else { (60, 90, 300) };
    let Some(gpu) = bounded(limit) else { return };
    let x = operand(&gpu);
    assert_eq!(map(&x, 8191).to_vec().unwrap(), expected(8191));
    let Some(start) = Memory::now() else { return };
    let before = Memory::after(&gpu, &x, 0..first).unwrap();
    let after = Memory::after(&gpu, &x, first..all).unwrap();
    gpu.trim();
    gpu.wait().unwrap();
    let trimmed = Memory::now().unwrap();
    println!("{start:?}, with {first} kernels {before:?}, with {all} {after:?}, trimmed {trimmed:?}");
    // Allocations that take the place of others have touched pages that the first ones had not.
    after.is_within(2 * MOST, &before);
    trimmed.is_within(MOST, &start);
    assert_eq!(map(&x, 7).to_vec().unwrap(), expected(7));
}
