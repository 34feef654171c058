//! Gives recorded work to an application as a command buffer.

use super::taken_encode::{Taking, is_timed};
use crate::Result;
use crate::gpu::buffers::storage::note_uses;
use crate::gpu::buffers::taken_work::{TakenStage, TakenWork};
use crate::gpu::driver::lock::foreign;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::recording::Recording;
use std::sync::Arc;

const CALL: &str = "take_commands";

impl Gpu {
    /// Takes the recorded work that is not yet submitted, as a command buffer that the application submits between its
    /// own. The command buffer is empty if nothing is recorded. Work is submitted automatically after 64 launches or
    /// about 2 ms of predicted work; such work runs before the application's next submission.
    ///
    /// Until the application has submitted the command buffer, a tensor that it writes cannot be used, and a tensor that
    /// it reads cannot be written: both are errors. So work that depends on taken work is recorded after the application
    /// has submitted the taken work, and command buffers that are taken one after another may be submitted in any order.
    /// The other rules are those of [`record_into`](Self::record_into).
    ///
    /// It takes the launches of all threads. If another thread is recording an operation at that moment, the first launch
    /// or the memory of that operation may be taken, and the operation then returns the same error. So if several threads
    /// record, prefer `record_into`.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// let c = tilewise::matmul(&a, &a)?;
    /// let commands = gpu.take_commands()?;
    /// gpu.queue().submit([commands]); // by the application, with its own commands before and after
    /// assert_eq!(c.to_vec()?, [7.0, 10.0, 15.0, 22.0]);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) inside the closure of [`record_into`](Self::record_into), and while work is
    /// being timed; [`Error::Device`](crate::Error::Device) if the device is lost or the driver refuses the commands, and
    /// then the outputs have no result.
    pub fn take_commands(&self) -> Result<wgpu::CommandBuffer> {
        self.inner.status.check()?;
        self.check_outside_scope(CALL, "takes what is recorded")?;
        let desc = wgpu::CommandEncoderDescriptor { label: Some("tilewise commands") };
        let mut encoder = self.caught(|| self.inner.device.create_command_encoder(&desc))?;
        if let Some(taking) = self.take_recording()? {
            taking.encode(&mut encoder)?;
        }
        // NOTE: if this fails, the drop of the commands marks the outputs as failed.
        self.caught(|| foreign(|| encoder.finish()))
    }

    /// Takes the open recording, if anything is recorded, once all earlier ones are submitted.
    fn take_recording(&self) -> Result<Option<Taking<'_>>> {
        loop {
            let mut state = self.inner.recorder.lock();
            if state.timed {
                return Err(is_timed(CALL));
            }
            let number = state.open.number;
            if state.done_up_to < number - 1 {
                drop(state);
                self.submit_up_to(number - 1)?;
                continue;
            }
            if state.open.len() == 0 {
                return Ok(None);
            }
            let recording = std::mem::replace(&mut state.open, Recording::new(number + 1));
            let work = TakenWork::new(CALL, None, &self.inner.spares);
            work.hold_back(&self.inner.pool, number);
            // It does not count as recorded any more. Its storages refer to the taken work instead.
            state.done_up_to = number;
            let is_over = |(_, work): &mut (u64, Arc<TakenWork>)| work.stage() != TakenStage::Unsubmitted;
            let over: Vec<_> = state.taken.extract_if(.., is_over).collect();
            state.taken.push((number, work.clone()));
            let uses = recording.bound().iter().map(|bound| (&*bound.storage, bound.taken_access()));
            note_uses(&work, uses);
            work.hold_uploads(state.uploads.take_staged());
            drop(state);
            drop(over);
            let why = "a panic while commands were encoded".into();
            return Ok(Some(Taking { gpu: self, work, recording, why }));
        }
    }
}
