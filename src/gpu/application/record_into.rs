//! Records work into an application's command encoder.

use super::taken_encode::Taking;
use crate::Result;
use crate::gpu::buffers::taken_work::{EncoderId, TakenWork};
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::record::recording::Recording;
use crate::gpu::record::scope::{Scope, Sink};
use crate::progress::unreported;
use std::sync::Arc;

const CALL: &str = "record_into";

impl Gpu {
    /// Records the launches of `work` into the application's command encoder, in a separate compute pass, and its staged
    /// writes ([`Tensor::write_from`](crate::Tensor::write_from)), in order. This function neither submits nor waits: the
    /// launches run when the application submits the encoder's commands, between the commands that the application has
    /// encoded before and after.
    ///
    /// Work that was recorded before this call is submitted first. Uploads go to the queue with the next submission of
    /// anyone, so they run before the encoder's commands. Only launches that the calling thread records through this
    /// `Gpu` or its clones go into the encoder. Meanwhile other threads record as usual, and so does another `Gpu`, even
    /// inside `work`: its launches do not go into the encoder.
    ///
    /// A later `record_into` with the same encoder may read the tensors that this one writes, and write those that it reads: the
    /// encoder's commands run in order, the application's own between them. For everything else, until the application has
    /// submitted the encoder's commands, a tensor that they write cannot be used, and a tensor that they read cannot be written:
    /// both are errors. This includes callbacks that run inside that very `submit`. After the submission these restrictions end. If
    /// the encoder or its command buffer is dropped, or wgpu refuses the submission, the elements that the work should have written
    /// count as never computed. Reading them is an error until they are written again, or until
    /// [`Tensor::revert`](crate::Tensor::revert) makes the previous elements valid again. Memory of temporaries and of tensors that
    /// are dropped returns to the pool when the commands are submitted or dropped. In a browser, which reports errors later, a
    /// refused submission is not noticed, and the contents of its outputs are unspecified.
    ///
    /// Compiling a kernel takes milliseconds and, for cooperative matrices on a device with several subgroup sizes, also
    /// submits a test launch and waits for it ([`Stats::proofs`](crate::gpu::Stats::proofs)). That test launch runs before
    /// the recorded work and does not affect it. Run the work once before the first frame, or call [`Gpu::prepare`] or
    /// [`Gpu::warm_up`], to avoid it.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
    /// let submits = gpu.stats().submits;
    /// let mut encoder = gpu.device().create_command_encoder(&Default::default());
    /// let c = gpu.record_into(&mut encoder, || tilewise::matmul(&a, &a))?;
    /// assert!(c.to_vec().is_err()); // its commands have not been submitted
    /// gpu.queue().submit([encoder.finish()]); // by the application
    /// assert_eq!(gpu.stats().submits, submits);
    /// assert_eq!(c.to_vec()?, [7.0, 10.0, 15.0, 22.0]);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// The errors of `work`: then none of its launches is encoded, and its outputs have no result. Inside `work`,
    /// reading a tensor, [`flush`](Self::flush), [`wait`](Self::wait), [`time`](Self::time), `record_into`,
    /// [`take_commands`](Self::take_commands), and an upload after which 64 MiB or more wait for a submission, return
    /// [`Error::Input`](crate::Error::Input), because they would submit or wait; so does writing a tensor from the host
    /// that the recorded work uses, because that would run before the work. [`Error::Device`](crate::Error::Device) if
    /// the device is lost.
    ///
    /// wgpu reports an encoder that is invalid or belongs to another device when the application finishes or submits it.
    pub fn record_into<R>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        work: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        self.inner.status.check()?;
        self.check_outside_scope(CALL, "begins another scope")?;
        self.submit_launches()?;
        let scope = OpenScope::begin(self, EncoderId::of(encoder));
        let result = unreported(work).map_err(|error| scope.failed(error))?;
        scope.take().encode(encoder)?;
        self.inner.status.check()?;
        Ok(result)
    }

    /// Submits all recorded launches. Uploads alone are not submitted: they go to the queue with any submission.
    pub(in crate::gpu) fn submit_launches(&self) -> Result<()> {
        let mut state = self.inner.recorder.lock();
        let number = if state.open.len() > 0 { state.close(None) } else { state.open.number - 1 };
        drop(state);
        self.submit_up_to(number)
    }
}

/// The scope of the calling thread. Its drop ends the scope, even after a panic, and marks the outputs as failed.
struct OpenScope<'a> {
    gpu: &'a Gpu,
    work: Arc<TakenWork>,
    /// The error of the closure.
    why: std::cell::OnceCell<String>,
}

impl<'a> OpenScope<'a> {
    fn begin(gpu: &'a Gpu, encoder: EncoderId) -> Self {
        let work = TakenWork::new(CALL, Some(encoder), &gpu.inner.spares);
        gpu.inner.recorder.lock().scopes.push(Scope::new(work.clone(), Sink::recording()));
        Self { gpu, work, why: std::cell::OnceCell::new() }
    }

    fn failed(&self, error: crate::Error) -> crate::Error {
        let _ = self.why.set(format!("failed ({error})"));
        error
    }

    /// Ends the scope, if it has not ended: the work is now to be encoded.
    fn take(&self) -> Taking<'a> {
        let (gpu, work) = (self.gpu, self.work.clone());
        let mut state = gpu.inner.recorder.lock();
        let sink = state.end_scope(&work);
        if let Some(Sink::Recording(recording)) = &sink
            && recording.len() > 0
        {
            work.hold_uploads(state.uploads.take_staged());
        }
        drop(state);
        let ended = self.why.get().map_or("panicked", String::as_str);
        let why =
            format!("the closure of `record_into` {ended}, so nothing that it recorded was encoded").into();
        // `begin` has made the scope.
        let recording = match sink {
            Some(Sink::Recording(recording)) => recording,
            _ => Recording::new(0),
        };
        Taking { gpu, work, recording, why }
    }
}

impl Drop for OpenScope<'_> {
    /// After [`end`](OpenScope::end) there is no scope to take.
    fn drop(&mut self) {
        drop(self.take());
    }
}
