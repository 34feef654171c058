//! Captures the launches of a closure.

use super::replay_kept::KeptCapture;
use super::runs::Replay;
use crate::gpu::buffers::failures::Reason;
use crate::gpu::buffers::taken_work::{TakenStage, TakenWork};
use crate::gpu::handle::gpu::{Allocation, Gpu};
use crate::gpu::handle::same_gpu::check_same_gpu;
use crate::gpu::record::captured::Captured;
use crate::gpu::record::input_mark::{InputMark, MarkedInput};
use crate::gpu::record::replay_input::ReplayInput;
use crate::gpu::record::scope::{Scope, Sink};
use crate::gpu::views::view::View;
use crate::progress::unreported;
use crate::{Error, Result};
use std::sync::Arc;

/// The function that errors name.
const OP: &str = "capture";

impl Gpu {
    /// Records the launches of `work` into a [`Replay`], which runs them any number of times without planning,
    /// allocating or binding again. None of them runs now.
    ///
    /// `inputs` are the tensors that change from run to run. Each run reads those that are passed to [`Replay::run`]. All
    /// other tensors that `work` reads, such as weights, are the same in every run, and a run reads their contents at
    /// that time. The tensors that `work` returns are the outputs: they have contents after the first run.
    ///
    /// Numbers are captured with their present values: scales, seeds, shapes, and every decision of the host. Put a value
    /// that changes from run to run into a tensor; a tensor of one element is enough: operations on elements repeat it along
    /// all axes, [`ops::copy_into_at`](crate::ops::copy_into_at) and [`ops::slice_at`](crate::ops::slice_at) read a position
    /// from it, and [`Sketch::seeded_by`](crate::sketch::Sketch::seeded_by) a seed. A [`KeyValueCache`](crate::attention::KeyValueCache)
    /// must be [`replayable`](crate::attention::KeyValueCache::replayable): its position is in a tensor.
    ///
    /// The memory that `work` allocates belongs to the replay until it is dropped. Only launches of the calling thread
    /// are captured.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::Activation;
    /// use tilewise::{matmul, ops};
    ///
    /// let weight = gpu.tensor(&[2.0f32, 0.0, 0.0, 2.0], [2, 2])?;
    /// let x = gpu.tensor(&[1.0f32, -1.0], [1, 2])?;
    /// let mut layer = gpu.capture(&[x.view()], || ops::activate(&matmul(&x, &weight)?, Activation::Relu))?;
    /// assert_eq!(layer.run(&[x.view()])?.to_vec()?, [2.0, 0.0]);
    ///
    /// layer.write(0, &[3.0f32, 4.0])?; // new contents of x
    /// assert_eq!(layer.run(&[x.view()])?.to_vec()?, [6.0, 8.0]);
    ///
    /// let y = gpu.tensor(&[5.0f32, 5.0], [1, 2])?; // another tensor
    /// assert_eq!(layer.run(&[y.view()])?.to_vec()?, [10.0, 10.0]);
    /// # Ok(())
    /// # }
    /// ```
    /// # Errors
    /// The errors of `work`. [`Error::Input`] if two inputs share a buffer, if `work` launches nothing that reads an input,
    /// reads a part of its buffer that is not the input, or writes to it, or if what `work` returns or keeps is a clone or a
    /// view of it; and inside `work` for what would run now or
    /// depends on what the host has now: reads, uploads ([`Gpu::tensor`], [`Gpu::zeros`], [`Gpu::random`] of what the host makes,
    /// [`upload_async`](Self::upload_async), [`Tensor::write`](crate::Tensor::write),
    /// [`Tensor::write_from`](crate::Tensor::write_from)), [`flush`](Self::flush), [`wait`](Self::wait), [`time`](Self::time),
    /// `capture`, [`Replay::run`], [`record_into`](Self::record_into) and [`take_commands`](Self::take_commands).
    /// [`Error::Gpu`] if an input belongs to another `Gpu`; [`Error::OutOfMemory`] if the memory budget does not suffice
    /// for what `work` allocates; [`Error::Device`] if the device is lost.
    pub fn capture<R>(&self, inputs: &[View<'_>], work: impl FnOnce() -> Result<R>) -> Result<Replay<R>> {
        self.inner.status.check()?;
        self.check_outside_scope(OP, "begins another scope")?;
        inputs.iter().try_for_each(|view| check_same_gpu(OP, self, view.gpu()))?;
        let inputs: Vec<ReplayInput> = inputs.iter().map(View::as_input).collect();
        for (at, input) in inputs.iter().enumerate() {
            if let Some(other) =
                inputs[..at].iter().position(|other| other.storage.buffer == input.storage.buffer)
            {
                let why = "they share a buffer: pass the tensor that contains both, or copy one of them";
                return Err(Error::input(format!("{OP}: inputs {other} and {at}"), why));
            }
        }
        let capture = OpenCapture::begin(self, &inputs);
        let outputs = unreported(work);
        let mut kept = capture.end(outputs.as_ref().err());
        let marked = std::mem::take(&mut kept.captured.inputs);
        let outputs = outputs?;
        marked.iter().try_for_each(|input| input.check(OP))?;
        drop(marked);
        Replay::new(kept, &inputs, outputs)
    }
}

impl Allocation {
    /// The mark for a tensor that the calling thread makes of this buffer; None outside of a capture that has it as an
    /// input.
    pub(crate) fn input_mark(&self) -> Option<InputMark> {
        if !self.storage().is_marked() {
            return None;
        }
        let mut state = self.gpu.inner.recorder.lock();
        let Some(Scope { sink: Sink::Capture(captured), .. }) = state.scope() else { return None };
        captured.inputs.iter().find_map(|input| input.mark_of(self.storage()))
    }
}

/// A capture that the closure is running in. Its drop ends it, even after a panic.
struct OpenCapture<'a> {
    gpu: &'a Gpu,
    work: Arc<TakenWork>,
}

impl<'a> OpenCapture<'a> {
    fn begin(gpu: &'a Gpu, inputs: &[ReplayInput]) -> Self {
        let work = TakenWork::new(OP, None, &gpu.inner.spares);
        work.begin_capture();
        let captured = Captured { inputs: MarkedInput::all(inputs), ..Captured::default() };
        gpu.inner.recorder.lock().scopes.push(Scope::new(work.clone(), Sink::Capture(captured)));
        Self { gpu, work }
    }

    /// Ends the scope. The outputs of the closure have no contents.
    fn end(self, error: Option<&Error>) -> KeptCapture {
        let why = match error {
            None => "`capture` runs nothing: call `Replay::run`".to_owned(),
            Some(error) => {
                format!("the closure of `capture` failed ({error}), so nothing that it launched will run")
            }
        };
        self.kept(&why.into())
    }

    fn kept(&self, why: &Reason) -> KeptCapture {
        let ended = self.gpu.inner.recorder.lock().end_scope(&self.work);
        let captured = match ended {
            Some(Sink::Capture(captured)) => captured,
            _ => Captured::default(), // It has ended already.
        };
        KeptCapture::new(self.gpu, self.work.clone(), captured, why)
    }
}

impl Drop for OpenCapture<'_> {
    /// After [`end`](OpenCapture::end), nothing is left.
    fn drop(&mut self) {
        if self.work.stage() == TakenStage::Unsubmitted {
            drop(self.kept(&"the closure of `capture` panicked".into()));
        }
    }
}
