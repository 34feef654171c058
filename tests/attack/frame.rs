//! Steps that take work: frames of `record_into`, and commands of `take_commands`, submitted, used too early, or dropped.

use crate::actor::{Actor, Writing};
use std::sync::atomic::Ordering;
use tilewise::{Error, wgpu};

/// What the application does with the commands that it took.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Submitted,
    /// Something uses their results before.
    UsedTooEarly,
    Dropped,
}

impl Actor {
    /// Steps that compute, taken in one of two ways.
    pub(crate) fn frame(&mut self) {
        let fate = [Fate::Submitted, Fate::UsedTooEarly, Fate::Dropped][self.random.below(3)];
        // `take_commands` takes the work of all threads and callbacks.
        let is_alone = self.world.threads == 1 && self.world.callbacks.load(Ordering::Acquire) == 0;
        let commands = if is_alone && self.random.chance(50) { self.take() } else { self.record() };
        self.say(format!("{fate:?}"));
        match fate {
            Fate::Submitted => _ = self.world.gpu.queue().submit([commands]),
            Fate::UsedTooEarly => {
                self.use_too_early();
                self.world.gpu.queue().submit([commands]);
            }
            Fate::Dropped => {
                drop(commands);
                self.drop_failed();
            }
        }
    }

    fn record(&mut self) -> wgpu::CommandBuffer {
        self.say("record_into");
        let gpu = self.world.gpu.clone();
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let recorded = gpu.record_into(&mut encoder, || {
            self.compute_some();
            if self.random.chance(40) {
                self.write_some(Writing::Staged);
                self.compute_some();
            }
            if let Some(at) = self.some_texture() {
                self.read_texture(at);
            }
            Ok(())
        });
        recorded.expect("the device is there");
        encoder.finish()
    }

    fn take(&mut self) -> wgpu::CommandBuffer {
        self.say("take_commands");
        // What earlier steps have recorded would have the same fate.
        self.world.gpu.flush().expect("nothing failed before");
        self.compute_some();
        self.world.gpu.take_commands().expect("the device is there")
    }

    fn compute_some(&mut self) {
        for _ in 0..=self.random.below(4) {
            self.compute();
        }
    }

    /// Reads what the frame has made, which is an error unless it had to compute nothing for it.
    fn use_too_early(&mut self) {
        let step = self.step;
        let items =
            self.items.iter().filter(|item| item.made == step).map(|item| (item.name(), item.check()));
        let reals = self.reals.iter().filter(|real| real.made == step);
        for (name, read) in items.chain(reals.map(|real| (real.name.clone(), real.check()))) {
            match read {
                Ok(()) => {}
                Err(Error::Input { why, .. }) => {
                    assert!(why.contains("have not been submitted"), "{name}: {why}");
                }
                // No room for the copy of a view.
                Err(Error::OutOfMemory { .. }) => {}
                Err(error) => panic!("{name}, before its frame: {error}"),
            }
        }
    }

    /// Drops what the frame should have made.
    fn drop_failed(&mut self) {
        let step = self.step;
        let items = self.items.extract_if(.., |item| item.made == step);
        let reals = self.reals.extract_if(.., |real| real.made == step);
        for (name, read) in items
            .map(|item| (item.name(), item.check()))
            .chain(reals.map(|real| (real.name.clone(), real.check())))
        {
            match read {
                Ok(()) => {}
                Err(Error::Device(why)) => {
                    let why = why.to_string();
                    assert!(why.contains("dropped without being submitted"), "{name}: {why}");
                }
                Err(Error::OutOfMemory { .. }) => {}
                Err(error) => panic!("{name}, after its frame was dropped: {error}"),
            }
        }
    }
}
