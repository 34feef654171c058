//! Threads that poll the device while an asynchronous read or self-test waits, so that it completes under any executor.

use super::Gpu;
use super::lock::Lock;
use super::read::Arrival;
use super::submit::poll;
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

/// There are at most this many threads. A further one starts only if all are busy: a callback that one runs may itself wait
/// for a read.
const THREADS_AT_MOST: usize = 8;

/// Threads start with the first asynchronous read, and end before the `Gpu` is dropped.
#[derive(Default)]
pub(super) struct Waiter {
    threads: Lock<Vec<Thread>>,
}

struct Thread {
    awaited: Sender<Awaited>,
    /// How many waits were sent to the thread and are not done.
    busy: Arc<AtomicUsize>,
    handle: std::thread::JoinHandle<()>,
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
        let mut threads = self.threads.lock();
        let load = |thread: &Thread| thread.busy.load(Ordering::Acquire);
        if threads.len() < THREADS_AT_MOST && threads.iter().all(|thread| load(thread) > 0) {
            threads.push(Thread::start(gpu)?);
        }
        let least = threads.iter().min_by_key(|thread| load(thread));
        let sent = least.is_some_and(|thread| {
            thread.busy.fetch_add(1, Ordering::AcqRel);
            thread.awaited.send(Awaited { index, arrival: arrival.clone() }).is_ok()
        });
        if sent { Ok(()) } else { Err(Error::device("the waiting thread has ended")) }
    }
}

impl Thread {
    fn start(gpu: &Gpu) -> Result<Self> {
        let (awaited, receiver) = channel::<Awaited>();
        // NOTE: the thread holds device and fault, not the Gpu, which would keep itself alive.
        let (device, fault) = (gpu.inner.device.clone(), gpu.inner.fault.clone());
        let busy = Arc::<AtomicUsize>::default();
        let done = busy.clone();
        let wait = move || {
            while let Ok(Awaited { index, arrival }) = receiver.recv() {
                // A callback of the application's that panics has run in here; the submission is done nevertheless.
                let polled = catch_unwind(AssertUnwindSafe(|| poll(&device, index.as_ref())));
                match polled {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => fault.mark_lost(error.to_string()),
                    Err(_) => log::error!("a callback of the application has panicked"),
                }
                // A waker is foreign code too: an executor may run its task in here.
                if catch_unwind(AssertUnwindSafe(|| arrival.tell())).is_err() {
                    log::error!("a task has panicked on the waiting thread");
                }
                done.fetch_sub(1, Ordering::AcqRel);
            }
        };
        let thread = std::thread::Builder::new().name("tilewise waiter".into());
        Ok(Self { awaited, busy, handle: thread.spawn(wait).map_err(Error::device)? })
    }
}

impl Drop for Waiter {
    /// NOTE: the threads must end here. Otherwise one might be the last to hold the device, and destroy it while the process
    /// exits and the driver shuts down: a crash after the end of `main`.
    fn drop(&mut self) {
        let threads = std::mem::take(&mut *self.threads.lock());
        for Thread { awaited, handle, .. } in threads {
            drop(awaited);
            // An executor may drop the last Gpu in a callback, which is in this very thread.
            if handle.thread().id() != std::thread::current().id() {
                let _ = handle.join();
            }
        }
    }
}
