//! Threads that poll the device while an asynchronous read or self-test waits, so that it completes under any executor.

use super::arrival::Arrival;
use super::fault::Fault;
use super::lock::{Lock, foreign};
use super::poll::poll;
use crate::{Error, Result};
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// So many threads wait at most. Another one starts where all are busy: a callback that one of them runs may wait for a
/// read of another thread's.
const THREADS_AT_MOST: usize = 8;

/// An idle thread looks this often whether it has missed a call. It never does; waiting has a limit all the same.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// On a lost device the last drop waits this long for a thread to end.
const PATIENCE_WHEN_LOST: Duration = Duration::from_millis(200);

thread_local! {
    /// Whether this is one of the threads here.
    static IS_WAITER: Cell<bool> = const { Cell::new(false) };
}

/// Threads start with the first asynchronous read. They end before the last drop of the `Gpu` returns; where that is in
/// one of them, in a callback, this one ends after it. On a lost device one that is held up may end later, too.
pub(super) struct Waiter {
    fault: Arc<Fault>,
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
    /// Of a device with this fault.
    pub(super) fn new(fault: Arc<Fault>) -> Self {
        Self { fault, queue: Arc::default(), threads: Lock::default() }
    }

    /// Tells `arrival` when the submission is done.
    pub(super) fn wait_for(
        &self,
        device: &wgpu::Device,
        index: Option<wgpu::SubmissionIndex>,
        arrival: &Arc<Arrival>,
    ) -> Result<()> {
        let awaited = Awaited { index, arrival: arrival.clone() };
        if IS_WAITER.get() {
            // A callback in one of the threads, or a task that it runs, keeps the thread busy in any case.
            awaited.wait(device, &self.fault);
            return Ok(());
        }
        let mut state = self.queue.state.lock();
        state.awaited.push_back(awaited);
        let needs_thread = state.idle < state.awaited.len();
        drop(state);
        self.queue.changed.notify_one();
        if needs_thread { self.start(device) } else { Ok(()) }
    }

    /// Starts another thread, unless there are as many as may be. One that cannot be started is missed only if it is the
    /// first.
    fn start(&self, device: &wgpu::Device) -> Result<()> {
        let mut threads = self.threads.lock();
        if threads.len() == THREADS_AT_MOST {
            return Ok(());
        }
        let queue = self.queue.clone();
        // NOTE: the thread holds device and fault, not the Gpu, which would keep itself alive.
        let (device, fault) = (device.clone(), self.fault.clone());
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

    /// Waits until a thread has ended, so that a join does not wait. NOTE: on a lost device this may be the callback
    /// that wgpu tells it by, and the thread may need a lock that wgpu holds meanwhile: then it is not waited for. It
    /// ends by itself, as no wait for a lost device lasts.
    fn ends(&self, thread: &JoinHandle<()>) -> bool {
        let begun = Instant::now();
        while self.fault.is_lost() && !thread.is_finished() {
            if begun.elapsed() > PATIENCE_WHEN_LOST {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
        true
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
        match catch_unwind(AssertUnwindSafe(|| poll(device, index.as_ref()))) {
            Ok(Ok(())) => {}
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
        // The lock is not held while they are waited for: they may run foreign code.
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            // An executor may drop the last Gpu in a callback, which is in this very thread.
            if thread.thread().id() != thread::current().id() && self.ends(&thread) {
                let _ = foreign(|| thread.join());
            }
        }
    }
}
