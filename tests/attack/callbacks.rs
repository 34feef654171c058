//! Calls of ours in callbacks of wgpu, which runs them inside whatever call finds that work is done: a submit of ours too.

use crate::actor::Actor;
use crate::api;
use crate::held::{elements, integers};
use crate::model::Model;
use crate::random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::watchdog::doing;
use tilewise::gemm::GemmKernel;
use tilewise::gpu::Polling;
use tilewise::{Error, Gemm, Gpu, Result, Tensor, ops, wgpu};

/// What a callback does with a tensor that it alone holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    Drop,
    Stats,
    Flush,
    Wait,
    Trim,
    Upload,
    Write,
    Product,
    ToVec,
    Read,
    AbandonRead,
    Time,
    Thread,
    Again,
}

impl Act {
    pub(crate) const ALL: [Self; 14] = [
        Self::Drop,
        Self::Stats,
        Self::Flush,
        Self::Wait,
        Self::Trim,
        Self::Upload,
        Self::Write,
        Self::Product,
        Self::ToVec,
        Self::Read,
        Self::AbandonRead,
        Self::Time,
        Self::Thread,
        Self::Again,
    ];

    /// Does it, and checks what comes of it.
    fn run(self, gpu: &Gpu, polling: Polling, mut a: Tensor<f32>, model: &Model) -> Result<()> {
        let product = |a: &Tensor<f32>| Gemm::new(a, &a.t()).kernel(GemmKernel::Naive).run();
        let want = model.matmul(&model.t(), 1 << 20).expect("small").values;
        match self {
            Self::Drop => drop(a),
            Self::Stats => assert!(gpu.stats().bytes_in_use > 0),
            Self::Flush => gpu.flush()?,
            Self::Wait => gpu.wait()?,
            Self::Trim => api::trim(gpu),
            Self::Upload => drop(gpu.tensor(&[1.0f32; 100], [10, 10])?),
            Self::Write => {
                let new: Vec<i32> = model.values.iter().map(|v| v + 1).collect();
                a.write(&elements::<f32>(&new))?;
                assert_eq!(integers(&a.to_vec()?), new, "written in a callback");
            }
            Self::Product => drop(product(&a)?),
            Self::ToVec => assert_eq!(integers(&product(&a)?.to_vec()?), want, "read in a callback"),
            Self::Read => {
                // An operation on elements is not cut into panels.
                let is_bound = 4 * a.len() as u64 <= gpu.caps().limits.binding_bytes;
                let sum = match ops::add(&a, &a) {
                    Err(Error::Limit { .. }) if !is_bound => return Ok(()),
                    sum => sum?,
                };
                let read = sum.read();
                let read = match polling {
                    Polling::Tilewise => api::finish(read),
                    // This may be the very thread that polls.
                    Polling::Application => api::finish_polling(gpu, read),
                }?;
                let twice: Vec<i32> = model.values.iter().map(|v| 2 * v).collect();
                assert_eq!(integers(&read), twice, "an asynchronous read in a callback");
            }
            Self::AbandonRead => drop(product(&a)?.read()),
            Self::Time => match gpu.time(|| product(&a)) {
                Ok((c, _)) => assert_eq!(integers(&c.to_vec()?), want, "timed in a callback"),
                // Another thread is timing too, or has submitted what was timed.
                Err(Error::Input { what, .. }) if what == "Gpu::time" => {}
                Err(error) => return Err(error),
            },
            Self::Thread => {
                let (gpu, model) = (gpu.clone(), model.clone());
                let run = move || {
                    let _doing = doing("a thread that a callback waits for");
                    gpu.flush().and_then(|()| Self::ToVec.run(&gpu, polling, a, &model))
                };
                return std::thread::spawn(run).join().expect("the thread does not panic");
            }
            Self::Again => {
                // NOTE: a callback that registers itself for ever would keep the device busy: once more only.
                let (clone, model) = (gpu.clone(), model.clone());
                gpu.queue().on_submitted_work_done(move || {
                    let _doing = doing("a callback of a callback");
                    if let Err(error) = Self::Flush.run(&clone, polling, a, &model) {
                        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
                    }
                });
            }
        }
        Ok(())
    }
}

/// Where a callback is registered.
#[derive(Clone, Copy, Debug)]
enum At {
    /// On the queue, for all that is submitted.
    WorkDone,
    /// On a buffer of the application's own.
    Mapped,
}

fn register(gpu: &Gpu, at: At, callback: impl FnOnce() + Send + 'static) {
    match at {
        At::WorkDone => gpu.queue().on_submitted_work_done(callback),
        At::Mapped => {
            let buffer = support::app::buffer(
                gpu.device(),
                256,
                wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            );
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            encoder.clear_buffer(&buffer, 0, None);
            gpu.queue().submit([encoder.finish()]);
            let held = buffer.clone();
            buffer.map_async(wgpu::MapMode::Read, .., move |mapped| {
                mapped.expect("the buffer maps");
                drop(held);
                callback();
            });
        }
    }
}

impl Actor {
    pub(crate) fn register_callback(&mut self) {
        if self.world.is_rough {
            return; // what a callback records would fail with what is destroyed there
        }
        let act = Act::ALL[self.random.below(Act::ALL.len())];
        let at = if self.random.chance(70) { At::WorkDone } else { At::Mapped };
        self.say(format!("{act:?} at {at:?}"));
        let shape = [self.random.extent(), self.random.extent()];
        let model = Model::random(&mut self.random, &shape);
        let world = self.world.clone();
        let a = match world.gpu.tensor(&elements::<f32>(&model.values), shape) {
            Ok(a) => a,
            Err(error) => return self.excuse(error),
        };
        let name =
            format!("a callback of {} that does {act:?} at {at:?}, made in step {}", world.name, self.step);
        world.callbacks.fetch_add(1, Ordering::AcqRel);
        register(&self.world.gpu, at, move || {
            let _doing = doing(name.as_str());
            match catch_unwind(AssertUnwindSafe(|| act.run(&world.gpu, world.polling, a, &model))) {
                Ok(Ok(())) => {}
                Ok(Err(Error::OutOfMemory { .. })) if world.budget.is_some() => {}
                Ok(Err(error)) => world.fail(format!("{name}: {error}")),
                Err(panic) => {
                    let why = panic.downcast_ref::<String>().map_or("a panic", String::as_str);
                    world.fail(format!("{name}: {why}"));
                }
            }
            world.callbacks.fetch_sub(1, Ordering::AcqRel);
        });
    }
}

#[test]
fn every_call_works_in_callbacks_that_our_own_submits_run() {
    for (name, gpu) in ["opened", "adopted", "bare"].into_iter().zip(support::every_device()) {
        let gpu: Gpu = gpu.clone();
        for (round, act) in (0..3).flat_map(|round| Act::ALL.map(|act| (round, act))) {
            let at = if round == 2 { At::Mapped } else { At::WorkDone };
            let what = format!("{name}: {act:?} in a callback at {at:?}, round {round}");
            let outer = doing(what.clone());
            let mut random = Random::new(&[round]);
            let model = Model::random(&mut random, &[6, 9]);
            let a = gpu.tensor(&elements::<f32>(&model.values), [6, 9]).unwrap();
            let x = gpu.tensor(&elements::<f32>(&model.values), [6, 9]).unwrap();
            let (clone, of_act, done) = (gpu.clone(), model.clone(), Arc::new(AtomicBool::new(false)));
            let told = done.clone();
            // Something is under way, so that the callback waits for it.
            drop(ops::add(&x, &x).unwrap());
            gpu.flush().unwrap();
            register(&gpu, at, move || {
                let _doing = doing(format!("the callback of {what}"));
                act.run(&clone, Polling::Tilewise, a, &of_act)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                told.store(true, Ordering::Release);
            });
            let mut sums = Vec::new();
            while !done.load(Ordering::Acquire) {
                sums.push(ops::add(&x, &x).unwrap());
                gpu.flush().unwrap();
                std::thread::sleep(Duration::from_micros(200));
            }
            let twice: Vec<i32> = model.values.iter().map(|v| 2 * v).collect();
            for sum in sums.iter().rev().take(3) {
                assert_eq!(integers(&sum.to_vec().unwrap()), twice, "around a callback");
            }
            drop(outer);
        }
        gpu.wait().unwrap();
        gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
        assert_eq!(gpu.stats().bytes_in_use, 0, "{name}: all is dropped");
    }
}
