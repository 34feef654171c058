//! Threads that poll the device while an asynchronous read or self-test waits, so that it completes under any executor.

use super::completion::Completion;
use super::device_status::DeviceStatus;
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
const MAX_THREADS: usize = 8;

/// An idle thread looks this often whether it has missed a call. It never does; waiting has a limit all the same.
const IDLE_TIMEOUT: Duration = Duration::from_secs(1);

/// On a lost device the last drop waits this long for a thread to end.
const JOIN_TIMEOUT_WHEN_LOST: Duration = Duration::from_millis(200);

thread_local! {
    /// Whether this is one of the threads here.
    static IS_WAITER: Cell<bool> = const { Cell::new(false) };
}

/// Threads start with the first asynchronous read. They end before the last drop of the `Gpu` returns; where that is in
/// one of them, in a callback, this one ends after it. On a lost device one that is held up may end later, too.
pub(super) struct Waiter {
    status: Arc<DeviceStatus>,
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
    completion: Arc<Completion>,
}

impl Waiter {
    /// Of a device with this status.
    pub(super) fn new(status: Arc<DeviceStatus>) -> Self {
        Self { status, queue: Arc::default(), threads: Lock::default() }
    }

    /// Tells `completion` when the submission is done.
    pub(super) fn wait_for(
        &self,
        device: &wgpu::Device,
        index: Option<wgpu::SubmissionIndex>,
        completion: &Arc<Completion>,
    ) -> Result<()> {
        let awaited = Awaited { index, completion: completion.clone() };
        if IS_WAITER.get() {
            // A callback in one of the threads, or a task that it runs, keeps the thread busy in any case.
            awaited.wait(device, &self.status);
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
        if threads.len() == MAX_THREADS {
            return Ok(());
        }
        let queue = self.queue.clone();
        // NOTE: the thread holds device and status, not the Gpu, which would keep itself alive.
        let (device, status) = (device.clone(), self.status.clone());
        let work = move || {
            IS_WAITER.set(true);
            while let Some(awaited) = queue.next() {
                awaited.wait(&device, &status);
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
        while self.status.is_lost() && !thread.is_finished() {
            if begun.elapsed() > JOIN_TIMEOUT_WHEN_LOST {
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
            state = state.wait(&self.changed, IDLE_TIMEOUT);
            state.idle -= 1;
        }
    }
}

impl Awaited {
    /// Waits, and tells. Callbacks that run in here may panic.
    fn wait(self, device: &wgpu::Device, status: &DeviceStatus) {
        let Self { index, completion } = self;
        // Where a callback of the application's has panicked, the submission is done nevertheless.
        match catch_unwind(AssertUnwindSafe(|| poll(device, index.as_ref()))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => status.mark_lost(error.to_string()),
            Err(_) => log::error!("a callback of the application has panicked"),
        }
        completion.signal();
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
