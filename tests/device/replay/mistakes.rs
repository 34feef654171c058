//! What a capture and a run refuse, and that nothing is left of it.

use super::{bits, on_every_device, random};
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::failure::{Kind, fails, says};
use tilewise::{Error, Tensor, matmul, ops, wgpu};

/// Inside a capture: what would run now, and what depends on the host.
#[test]
fn a_capture_neither_runs_nor_uploads() {
    on_every_device("inside a capture", |gpu| {
        let [x, weight] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let mut own = random::<f32>(gpu, &[8, 8], 3);
        let mut other = gpu.capture(&[x.view()], || matmul(&x, &weight)).unwrap();
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let before = gpu.stats();
        let replay = gpu.capture(&[x.view()], || {
            let product = matmul(&x, &weight)?;
            says(product.to_vec(), &["the closure of `capture` cannot"]);
            says(x.to_vec(), &["the closure of `capture` cannot"]);
            says(pollster::block_on(x.read()), &["the closure of `capture` cannot"]);
            says(gpu.flush(), &["the closure of `capture` cannot"]);
            says(gpu.wait(), &["the closure of `capture` cannot"]);
            says(gpu.time(|| Ok(())), &["the closure of `capture` cannot"]);
            says(gpu.take_commands(), &["the closure of `capture` cannot"]);
            says(gpu.record_into(&mut encoder, || Ok(())), &["the closure of `capture` cannot"]);
            says(gpu.capture(&[], || Ok(())), &["the closure of `capture` cannot"]);
            says(other.run(&[x.view()]), &["a capture cannot contain a run"]);
            says(gpu.tensor(&[1.0f32], [1]), &["a replay would not repeat"]);
            says(gpu.zeros::<f32>([3]), &["a replay would not repeat"]);
            says(gpu.random::<f32>([3], tilewise::Fill::Uniform, 1), &["a replay would not repeat"]);
            says(own.write(&[0.0; 64]), &["a replay would not repeat"]);
            says(other.write(0, &[0.0f32; 64]), &["a replay would not repeat"]);
            Ok(product)
        });
        let mut replay = replay.unwrap();
        let after = gpu.stats();
        assert_eq!((after.launches, after.submits), (before.launches, before.submits), "{gpu:?}");
        says(replay.outputs().to_vec(), &["`capture` runs nothing"]);
        says(matmul(replay.outputs(), &x), &["`capture` runs nothing"]);
        assert_eq!(bits(replay.run(&[x.view()]).unwrap()), bits(&matmul(&x, &weight).unwrap()), "{gpu:?}");
    });
}

#[test]
fn inputs_that_do_not_fit_are_errors() {
    on_every_device("inputs", |gpu| {
        let [x, weight] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let mut replay = gpu.capture(&[x.view()], || matmul(&x, &weight)).unwrap();
        says(replay.run(&[]), &["it was captured with 1, not 0"]);
        let wrong = random::<f32>(gpu, &[8, 9], 3);
        assert!(matches!(replay.run(&[wrong.view()]), Err(Error::Shape { .. })));
        let wrong = gpu.zeros::<i32>([8, 8]).unwrap();
        says(replay.run(&[wrong.view()]), &["it was captured as f32, not i32"]);
        says(replay.run(&[x.t().view()]), &["its strides"]);
        let output = replay.outputs().clone();
        says(replay.run(&[output.view()]), &["a buffer that the replay writes to"]);
        says(replay.write(1, &[0.0f32; 64]), &["the replay has 1 inputs, counted from 0"]);
        says(replay.write(0, &[0; 64]), &["its elements are f32, not i32"]);
        assert!(matches!(replay.write(0, &[0.0f32; 63]), Err(Error::Shape { .. })));
        let y = x.clone();
        says(gpu.capture(&[x.view(), y.view()], || matmul(&x, &y)), &["they share a buffer"]);
        says(gpu.capture(&[x.view()], || matmul(&weight, &weight)), &["nothing that the closure launches"]);
        let halves = [0..4, 4..8].map(|rows| x.slice(0, rows).unwrap());
        says(
            gpu.capture(&[halves[0].view()], || ops::add(&halves[0], &halves[1])),
            &["another part of its buffer"],
        );
        let mut z = random::<f32>(gpu, &[8, 8], 4);
        let view = z.clone();
        drop(view);
        let same = z.writable_view();
        let mut written = same.writable_view();
        says(
            gpu.capture(&[same.view()], || {
                let sum = ops::add(&same, &x)?;
                written.assign(|| matmul(&sum, &x))
            }),
            &["the closure writes to it"],
        );
        drop((same, written));
        assert_eq!(bits(replay.run(&[x.view()]).unwrap()), bits(&matmul(&x, &weight).unwrap()), "{gpu:?}");
        z.write(&[1.0; 64]).unwrap();
    });
}

#[test]
fn a_closure_that_fails_or_panics_leaves_nothing() {
    on_every_device("closures that fail", |gpu| {
        let x = random::<f32>(gpu, &[8, 8], 1);
        let mut target = random::<f32>(gpu, &[8, 8], 2);
        let before = bits(&target);
        let mut inner = None;
        let failed = gpu.capture(&[x.view()], || {
            inner = Some(matmul(&x, &x)?);
            target.assign(|| matmul(&x, &x))?;
            matmul(&x, &x.slice(0, 0..3)?)
        });
        assert!(matches!(failed, Err(Error::Shape { .. })), "{failed:?}");
        says(inner.unwrap().to_vec(), &["the closure of `capture` failed"]);
        assert_eq!(bits(&target), before, "a tensor of the caller's is as it was");
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            gpu.capture(&[x.view()], || -> tilewise::Result<()> {
                drop(matmul(&x, &x)?);
                panic!("on purpose")
            })
        }));
        assert!(panicked.is_err());
        assert_eq!(bits(&matmul(&x, &x).unwrap()), bits(&matmul(&x, &x).unwrap()));
    });
}

/// A tensor that the closure writes, and that is not an input, has its old contents until a run.
#[test]
fn a_capture_does_not_touch_the_tensors_of_its_caller() {
    on_every_device("the caller's tensors", |gpu| {
        let x = random::<f32>(gpu, &[8, 8], 1);
        let mut target = random::<f32>(gpu, &[8, 8], 2);
        let before = bits(&target);
        let mut replay = gpu.capture(&[x.view()], || target.assign(|| matmul(&x, &x))).unwrap();
        assert_eq!(bits(&target), before);
        replay.run(&[x.view()]).unwrap();
        assert_eq!(bits(&target), bits(&matmul(&x, &x).unwrap()), "{gpu:?}");
        drop(replay);
        target.write(&[0.0; 64]).unwrap();
    });
}

#[test]
fn another_gpu_is_an_error() {
    let (Some(gpu), Some(other)) = (support::own(|_| ()), support::own(|_| ())) else { return };
    let [x, y] = [&gpu, &other].map(|gpu| random::<f32>(gpu, &[4, 4], 1));
    let mut replay = gpu.capture(&[x.view()], || matmul(&x, &x)).unwrap();
    assert!(matches!(replay.run(&[y.view()]), Err(Error::Gpu { .. })));
    assert!(matches!(gpu.capture(&[y.view()], || matmul(&y, &y)), Err(Error::Gpu { .. })));
    says(gpu.capture(&[x.view()], || matmul(&y, &y)), &["nothing that the closure launches"]);
}

#[test]
fn a_failed_input_spoils_the_outputs_of_that_run_only() {
    on_every_device("a failed input", |gpu| {
        let [x, weight] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let mut replay = gpu.capture(&[x.view()], || matmul(&x, &weight)).unwrap();
        let mut lost = None;
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        gpu.record_into(&mut encoder, || {
            lost = Some(matmul(&x, &x)?);
            Ok(())
        })
        .unwrap();
        drop(encoder);
        says(replay.run(&[lost.unwrap().view()]), &["were dropped"]);
        assert_eq!(bits(replay.run(&[x.view()]).unwrap()), bits(&matmul(&x, &weight).unwrap()), "{gpu:?}");
    });
}

#[test]
fn an_input_in_a_destroyed_buffer_fails_its_run_only() {
    on_every_device("a destroyed buffer", |gpu| {
        let [x, weight] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let buffer = support::app::buffer(
            gpu.device(),
            256,
            wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        );
        let own = Tensor::<f32>::from_buffer(gpu, buffer.clone(), .., [8, 8]).unwrap();
        let mut replay = gpu.capture(&[own.view()], || matmul(&own, &weight)).unwrap();
        assert_eq!(replay.run(&[own.view()]).unwrap().to_vec().unwrap(), [0.0; 64]);
        buffer.destroy();
        fails(replay.run(&[own.view()]).and_then(|output| output.to_vec()), Kind::Device, &[]);
        assert_eq!(bits(replay.run(&[x.view()]).unwrap()), bits(&matmul(&x, &weight).unwrap()), "{gpu:?}");
    });
}

#[test]
fn a_replay_says_what_it_does() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let [x, weight] = [1, 2].map(|seed| random::<f32>(&gpu, &[8, 8], seed));
    let replay = gpu.capture(&[x.view()], || ops::add(&matmul(&x, &weight)?, &x)).unwrap();
    let (short, long) = (replay.to_string(), format!("{replay:#}"));
    let lines: Vec<&str> = short.lines().collect();
    assert!(lines[0].starts_with("replay: 2 operations in 2 launches, predicted "), "{short}");
    assert!(lines[0].ends_with(", 512 bytes of its own"), "{short}");
    assert_eq!(lines[1], "  input 0: f32 [8, 8]");
    assert!(
        lines[2].starts_with("  1. gemm: 1 step, predicted ") || lines[2].starts_with("  1. "),
        "{short}"
    );
    assert!(lines[3].starts_with("  2. add: 1 step"), "{short}");
    assert_eq!(lines.len(), 4, "{short}");
    assert!(long.lines().count() == 6, "{long}");
}

#[test]
fn a_run_shows_its_plans() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let [x, weight] = [1, 2].map(|seed| random::<f32>(&gpu, &[8, 8], seed));
    let work = || ops::add(&matmul(&x, &weight)?, &x);
    let (_, eager) = gpu.plans_of(|| work().unwrap());
    let mut replay = gpu.capture(&[x.view()], work).unwrap();
    let (_, replayed) = gpu.plans_of(|| (0..2).for_each(|_| drop(replay.run(&[x.view()]).unwrap().clone())));
    let shown = |plans: &[tilewise::Plan]| plans.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(shown(&replayed), [shown(&eager), shown(&eager)].concat());
    assert!(gpu.plans_of(|| replay.run(&[]).is_err()).1.is_empty(), "what is refused executes nothing");
}

#[test]
fn replays_move_between_threads() {
    fn moves<T: Send + Sync>(_: &T) {}
    let Some(gpu) = support::own(|_| ()) else { return };
    let x = random::<f32>(&gpu, &[8, 8], 1);
    let mut replay = gpu.capture(&[x.view()], || matmul(&x, &x)).unwrap();
    moves(&replay);
    let here = bits(&matmul(&x, &x).unwrap());
    let run = move || bits(replay.run(&[x.view()]).unwrap());
    assert_eq!(std::thread::spawn(run).join().unwrap(), here);
}
