//! Steps of the application: its own writes, copies and reads on the same queue, between our launches.

use crate::actor::Actor;
use crate::api;
use crate::held::{Held, elements, integers};
use crate::model::Model;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use tilewise::gemm::GemmKernel;
use tilewise::{DType, Error, Gemm, Gpu, Tensor, wgpu};

impl Actor {
    pub(crate) fn application(&mut self) {
        match self.random.below(8) {
            0 | 1 => self.write_as_application(),
            2 => self.fill_empty(),
            3 => self.copy_as_application(),
            4 | 5 => self.read_as_application(),
            6 => drop(self.world.gpu.queue().submit([])),
            _ => drop(self.world.gpu.device().poll(wgpu::PollType::Poll).expect("the device is there")),
        }
    }

    /// The place of some f32 tensor that is its whole buffer and nobody else's.
    fn own_buffer(&mut self) -> Option<usize> {
        self.find(|item| matches!(item.tensor, Held::F32(_)) && item.tensor.is_plain() && !item.is_shared())
    }

    fn write_as_application(&mut self) {
        let Some(at) = self.own_buffer() else { return };
        let name = self.items[at].name();
        self.say(format!("write into {name}"));
        let model = Model::random(&mut self.random, &self.items[at].model.shape);
        let Held::F32(tensor) = &self.items[at].tensor else { return };
        write_behind(&self.world.gpu, tensor, &model.values);
        self.items[at].model = model;
    }

    /// A tensor of unspecified elements, all written by the application.
    fn fill_empty(&mut self) {
        let shape = [self.random.extent(), self.random.extent()];
        let model = Model::random(&mut self.random, &shape);
        self.say(format!("fill {shape:?}"));
        let filled = self.world.gpu.empty::<f32>(shape).map(|tensor| {
            write_behind(&self.world.gpu, &tensor, &model.values);
            Held::F32(tensor)
        });
        self.keep(filled, model);
    }

    /// Copies a tensor into another of the same size.
    fn copy_as_application(&mut self) {
        let Some(to) = self.own_buffer() else { return };
        let target = self.items.swap_remove(to);
        let shape = &target.model.shape;
        let fits = |held: &Held| matches!(held, Held::F32(_)) && held.is_plain();
        let from = self.find(|item| item.model.shape == *shape && fits(&item.tensor));
        if let Some(from) = from {
            let (Held::F32(source), Held::F32(tensor)) = (&self.items[from].tensor, &target.tensor) else {
                return;
            };
            let gpu = &self.world.gpu;
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            let (source, bytes) = api::buffer(source).expect("nothing failed before");
            let (tensor, into) = api::buffer(tensor).expect("nothing failed before");
            // What is recorded and not submitted comes before the copy.
            gpu.flush().expect("nothing failed before");
            encoder.copy_buffer_to_buffer(source, bytes.start, tensor, into.start, bytes.end - bytes.start);
            gpu.queue().submit([encoder.finish()]);
            let model = self.items[from].model.clone();
            self.say(format!("copy {shape:?}"));
            self.items.push(crate::held::Item { model, ..target });
        } else {
            self.items.push(target);
        }
    }

    /// Reads a tensor through a staging buffer of the application's own.
    fn read_as_application(&mut self) {
        let fits = |held: &Held| matches!(held, Held::F32(_)) && held.is_plain();
        let Some(at) = self.find(|item| fits(&item.tensor)) else { return };
        let Held::F32(tensor) = &self.items[at].tensor else { return };
        let gpu = &self.world.gpu;
        let (buffer, bytes) = api::buffer(tensor).expect("nothing failed before");
        gpu.flush().expect("nothing failed before");
        let size = bytes.end - bytes.start;
        let staging = support::app::buffer(
            gpu.device(),
            size,
            wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        );
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, bytes.start, &staging, 0, size);
        gpu.queue().submit([encoder.finish()]);
        let (sender, mapped) = std::sync::mpsc::channel();
        staging.map_async(wgpu::MapMode::Read, .., move |mapped| {
            let _ = sender.send(mapped);
        });
        gpu.device().poll(wgpu::PollType::wait_indefinitely()).expect("the device is there");
        // Another thread that polls may be the one that calls back, after the wait has ended.
        mapped.recv().expect("it is called back").expect("the buffer maps");
        let view = staging.get_mapped_range(..).expect("the buffer is mapped");
        let values: Vec<f32> = bytemuck::pod_collect_to_vec(&view);
        let item = &self.items[at];
        assert_eq!(integers(&values), item.model.values, "{}, read by the application", item.name());
        let name = self.items[at].name();
        self.say(format!("read {name}"));
    }

    /// Calls that wait, submit, time or count.
    pub(crate) fn control(&mut self) {
        let gpu = self.world.gpu.clone();
        let kind = self.random.below(7);
        self.say(["flush", "wait", "trim", "time", "panic while timing", "stats", "other threads"][kind]);
        match kind {
            0 => gpu.flush().expect("nothing failed before"),
            1 => gpu.wait().expect("nothing failed before"),
            2 => api::trim(&gpu),
            3 => self.time(),
            4 => {
                // NOTE: without the hook's message, which would look like a failure.
                let timed = || gpu.time(|| -> tilewise::Result<()> { resume_unwind(Box::new("on purpose")) });
                let panicked = catch_unwind(AssertUnwindSafe(timed));
                match panicked {
                    Err(panic) => assert_eq!(panic.downcast_ref(), Some(&"on purpose")),
                    // Another thread is timing; or the pool has no room for the time stamps.
                    Ok(Err(Error::Input { what, .. })) if what == "Gpu::time" => {}
                    Ok(timed) => self.excuse(timed.expect_err("it panics")),
                }
            }
            5 => {
                let stats = gpu.stats();
                let most = self.world.budget.unwrap_or(1 << 32);
                let sane = stats.bytes_in_use <= stats.bytes_peak && stats.bytes_peak <= most;
                assert!(sane && stats.bytes_cached <= most, "{stats:?}");
            }
            _ => std::thread::yield_now(),
        }
    }

    fn time(&mut self) {
        let gpu = self.world.gpu.clone();
        let model = Model::random(&mut self.random, &[4, 5]);
        let want = model.matmul(&model.t(), 1 << 20).expect("small");
        let a = match gpu.tensor(&elements::<f32>(&model.values), &model.shape) {
            Ok(a) => a,
            Err(error) => return self.excuse(error),
        };
        match gpu.time(|| Gemm::new(&a, &a.t()).kernel(GemmKernel::Naive).run()) {
            Ok((c, timing)) => {
                assert!(timing.seconds.is_finite() && timing.seconds >= 0.0, "{timing:?}");
                self.keep(Ok(Held::F32(c)), want);
            }
            // Another thread is timing too, or has submitted what was timed.
            Err(Error::Input { what, .. }) if what == "Gpu::time" => {}
            Err(error) => self.excuse(error),
        }
    }
}

/// Writes a whole tensor as an application does, through its buffer.
pub(crate) fn write_behind(gpu: &Gpu, tensor: &Tensor<f32>, values: &[i32]) {
    assert_eq!(tensor.layout().len(), values.len());
    let (buffer, bytes) = api::buffer(tensor).expect("nothing failed before");
    assert_eq!(bytes.end - bytes.start, (values.len() * DType::F32.size()) as u64);
    gpu.queue().write_buffer(buffer, bytes.start, bytemuck::cast_slice(&elements::<f32>(values)));
}
