//! Threads that poll the device while an asynchronous read or self-test waits, so that it completes under any executor.

use super::Gpu;
use super::fault::Fault;
use super::lock::Lock;
use super::read::Arrival;
use super::wait::poll;
use crate::{Error, Result};
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// So many threads wait at most. Another one starts where all are busy: a callback that one of them runs may wait for a
/// read of another thread's.
const THREADS_AT_MOST: usize = 8;

/// An idle thread looks this often whether it has missed a call. It never does; waiting has a limit all the same.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

thread_local! {
    /// Whether this is one of the threads here.
    static IS_WAITER: Cell<bool> = const { Cell::new(false) };
}

/// Threads start with the first asynchronous read. They end before the last drop of the `Gpu` returns; where that is in
/// one of them, in a callback, this one ends after it.
#[derive(Default)]
pub(super) struct Waiter {
    queue: Arc<Queue>,
    threads: Lock<Vec<JoinHandle<()>>>,
}

/// What the threads take their work from.
#[derive(Default)]
struct Queue {
    state: Lock<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    awaited: VecDeque<Awaited>,
    /// Threads that have nothing to do.
    idle: usize,
    has_ended: bool,
}

/// The submission to wait for, and the future to tell.
struct Awaited {
    /// None: all submissions so far.
    index: Option<wgpu::SubmissionIndex>,
    arrival: Arc<Arrival>,
}

impl Waiter {
    /// Tells `arrival` when the submission is done.
    pub(super) fn wait_for(
        &self,
        gpu: &Gpu,
        index: Option<wgpu::SubmissionIndex>,
        arrival: &Arc<Arrival>,
    ) -> Result<()> {
        let awaited = Awaited { index, arrival: arrival.clone() };
        if IS_WAITER.get() {
            // A callback in one of the threads, or a task that it runs, keeps the thread busy in any case.
            awaited.wait(&gpu.inner.device, &gpu.inner.fault);
            return Ok(());
        }
        let mut state = self.queue.state.lock();
        state.awaited.push_back(awaited);
        let needs_thread = state.idle < state.awaited.len();
        drop(state);
        self.queue.changed.notify_one();
        if needs_thread { self.start(gpu) } else { Ok(()) }
    }

    /// Starts another thread, unless there are as many as may be. One that cannot be started is missed only if it is the
    /// first.
    fn start(&self, gpu: &Gpu) -> Result<()> {
        let mut threads = self.threads.lock();
        if threads.len() == THREADS_AT_MOST {
            return Ok(());
        }
        let queue = self.queue.clone();
        // NOTE: the thread holds device and fault, not the Gpu, which would keep itself alive.
        let (device, fault) = (gpu.inner.device.clone(), gpu.inner.fault.clone());
        let work = move || {
            IS_WAITER.set(true);
            while let Some(awaited) = queue.next() {
                awaited.wait(&device, &fault);
            }
        };
        match thread::Builder::new().name("tilewise waiter".into()).spawn(work) {
            Ok(thread) => threads.push(thread),
            Err(error) if threads.is_empty() => return Err(Error::device(error)),
            Err(_) => {}
        }
        Ok(())
    }
}

impl Queue {
    /// The next to wait for, as soon as there is one. None: the `Gpu` is gone.
    fn next(&self) -> Option<Awaited> {
        let mut state = self.state.lock();
        loop {
            if let Some(awaited) = state.awaited.pop_front() {
                return Some(awaited);
            }
            if state.has_ended {
                return None;
            }
            state.idle += 1;
            state = state.wait(&self.changed, LOOK_AGAIN);
            state.idle -= 1;
        }
    }
}

impl Awaited {
    /// Waits, and tells. Callbacks that run in here may panic.
    fn wait(self, device: &wgpu::Device, fault: &Fault) {
        let Self { index, arrival } = self;
        // Where a callback of the application's has panicked, the submission is done nevertheless.
        match catch_unwind(AssertUnwindSafe(|| poll(device, index.as_ref(), None))) {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => fault.mark_lost(error.to_string()),
            Err(_) => log::error!("a callback of the application has panicked"),
        }
        arrival.tell();
    }
}

impl Drop for Waiter {
    /// NOTE: the threads must end here. Otherwise one might be the last to hold the device, and destroy it while the process
    /// exits and the driver shuts down: a crash after the end of `main`.
    fn drop(&mut self) {
        self.queue.state.lock().has_ended = true;
        self.queue.changed.notify_all();
        for thread in std::mem::take(&mut *self.threads.lock()) {
            // An executor may drop the last Gpu in a callback, which is in this very thread.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}
