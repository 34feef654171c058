//! The thread that waits for submissions while a read or a self-test does, so that these complete under any executor.

use super::Gpu;
use super::lock::Lock;
use super::read::Arrival;
use super::submit::poll;
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

/// Starts with the first asynchronous read, and ends before the `Gpu` is dropped.
#[derive(Default)]
pub(super) struct Waiter {
    thread: Lock<Option<Thread>>,
}

struct Thread {
    awaited: Sender<Awaited>,
    handle: std::thread::JoinHandle<()>,
}

/// What somebody waits for, and whom to tell.
struct Awaited {
    /// None: all that has been submitted.
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
        let mut thread = self.thread.lock();
        let running = match thread.take() {
            Some(running) => running,
            None => Thread::start(gpu)?,
        };
        let running = thread.insert(running);
        // A callback that waits in this very thread would wait for ever: the caller polls instead.
        let in_waiter = running.handle.thread().id() == std::thread::current().id();
        if in_waiter {
            drop(thread);
            poll(&gpu.inner.device, index.as_ref())?;
            arrival.tell();
            return Ok(());
        }
        let sent = running.awaited.send(Awaited { index, arrival: arrival.clone() });
        sent.map_err(|_| Error::device("the waiting thread has ended"))
    }
}

impl Thread {
    fn start(gpu: &Gpu) -> Result<Self> {
        let (awaited, receiver) = channel::<Awaited>();
        // NOTE: the thread holds device and fault, not the Gpu, which would keep itself alive.
        let (device, fault) = (gpu.inner.device.clone(), gpu.inner.fault.clone());
        let wait = move || {
            while let Ok(Awaited { index, arrival }) = receiver.recv() {
                // A callback of the application's that panics has run in here; the submission is done nevertheless.
                let polled = catch_unwind(AssertUnwindSafe(|| poll(&device, index.as_ref())));
                match polled {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => fault.mark_lost(error.to_string()),
                    Err(_) => log::error!("a callback of the application has panicked"),
                }
                arrival.tell();
            }
        };
        let thread = std::thread::Builder::new().name("tilewise waiter".into());
        Ok(Self { awaited, handle: thread.spawn(wait).map_err(Error::device)? })
    }
}

impl Drop for Waiter {
    /// NOTE: left alone, the thread might be the last to hold the device, and destroy it while the process exits and
    /// the driver takes itself down: a crash behind the end of `main`.
    fn drop(&mut self) {
        let thread = self.thread.lock().take();
        if let Some(Thread { awaited, handle }) = thread {
            drop(awaited);
            // An executor may drop the last Gpu in a callback, which is in this very thread.
            if handle.thread().id() != std::thread::current().id() {
                let _ = handle.join();
            }
        }
    }
}
