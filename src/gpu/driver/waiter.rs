//! Threads that poll the device during an asynchronous read or self-test, so that it completes under any executor.

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

/// Maximum number of threads. If all are busy, another one is started, because a callback that runs in one of them may
/// wait for a read of another thread.
const MAX_THREADS: usize = 8;

/// Time limit of an idle thread's wait for work. A precaution: no notification is ever missed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(1);

/// Time that the last drop of a `Gpu` on a lost device waits for a thread to end.
const JOIN_TIMEOUT_WHEN_LOST: Duration = Duration::from_millis(200);

thread_local! {
    /// Whether the current thread is one of the waiter's threads.
    static IS_WAITER: Cell<bool> = const { Cell::new(false) };
}

/// A pool of threads, which start with the first asynchronous read. They end before the last drop of the `Gpu` returns.
/// There are two exceptions: if that drop happens in a callback in one of the threads, this thread ends after it; and
/// on a lost device, a thread that is blocked may end later.
pub(in crate::gpu) struct Waiter {
    status: Arc<DeviceStatus>,
    queue: Arc<Queue>,
    threads: Lock<Vec<JoinHandle<()>>>,
}

/// The threads' work queue.
#[derive(Default)]
struct Queue {
    state: Lock<WaiterState>,
    changed: Condvar,
}

#[derive(Default)]
struct WaiterState {
    awaited: VecDeque<Awaited>,
    /// Number of threads without work.
    idle: usize,
    has_ended: bool,
}

/// The submission to wait for, and the future to signal.
struct Awaited {
    /// None: all submissions so far.
    index: Option<wgpu::SubmissionIndex>,
    completion: Arc<Completion>,
}

impl Waiter {
    /// A waiter for a device with this status.
    pub(in crate::gpu) fn new(status: Arc<DeviceStatus>) -> Self {
        Self { status, queue: Arc::default(), threads: Lock::default() }
    }

    /// Signals `completion` when the submission is done.
    pub(in crate::gpu) fn wait_for(
        &self,
        device: &wgpu::Device,
        index: Option<wgpu::SubmissionIndex>,
        completion: &Arc<Completion>,
    ) -> Result<()> {
        let awaited = Awaited { index, completion: completion.clone() };
        if IS_WAITER.get() {
            // The caller is a callback that runs in one of the threads, or a task that such a callback runs. It
            // occupies the thread anyway, so wait here.
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

    /// Starts another thread, up to the maximum. A failure to start one is an error only if there is no other thread.
    fn start(&self, device: &wgpu::Device) -> Result<()> {
        let mut threads = self.threads.lock();
        if threads.len() == MAX_THREADS {
            return Ok(());
        }
        let queue = self.queue.clone();
        // NOTE: the thread holds the device and its status, but not the Gpu, which would then keep itself alive.
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

    /// Waits until a thread has ended, so that joining it does not block. Returns false if it must not be joined.
    ///
    /// NOTE: on a lost device the caller may be the callback by which wgpu reports the loss. The thread may then need a
    /// lock that wgpu holds during the callback, so joining it could be a deadlock. It ends by itself, because every
    /// wait for a lost device returns soon.
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
    /// Waits for the next item of work. None: the `Gpu` was dropped.
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
    /// Waits for the submission, then signals. Callbacks that run during the wait may panic.
    fn wait(self, device: &wgpu::Device, status: &DeviceStatus) {
        let Self { index, completion } = self;
        // If a callback of the application panics, the submission is done nevertheless.
        match catch_unwind(AssertUnwindSafe(|| poll(device, index.as_ref()))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => status.mark_lost_by(&error),
            Err(_) => log::error!("a callback of the application has panicked"),
        }
        completion.signal();
    }
}

impl Drop for Waiter {
    /// NOTE: the threads must end here. Otherwise one of them might be the last owner of the device and destroy it
    /// while the process exits and the driver shuts down: a crash after the end of `main`.
    fn drop(&mut self) {
        self.queue.state.lock().has_ended = true;
        self.queue.changed.notify_all();
        // The lock is not held while this thread joins the others, because they may run foreign code.
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            // An executor may drop the last Gpu in a callback in one of these threads, which cannot join itself.
            if thread.thread().id() != thread::current().id() && self.ends(&thread) {
                let _ = foreign(|| thread.join());
            }
        }
    }
}
