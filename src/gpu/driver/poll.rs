//! Polls the device, which runs callbacks.

use super::lock::foreign;
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// Interval at which a thread polls while it waits with a time limit.
const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// Waits for a submission, or for all if `index` is None.
pub(in crate::gpu) fn poll(device: &wgpu::Device, index: Option<&wgpu::SubmissionIndex>) -> Result<()> {
    // NOTE: no wait has a timeout. wgpu 30 panics and loses callbacks if a wait times out at the moment at which
    // another thread finds the submission done.
    let wait = wgpu::PollType::Wait { submission_index: index.cloned(), timeout: None };
    poll_as(device, wait)
}

/// Polls the device once, without waiting.
pub(in crate::gpu) fn poll_once(device: &wgpu::Device) -> Result<()> {
    poll_as(device, wgpu::PollType::Poll)
}

/// Polls the device repeatedly until `is_done` or until `limit` has passed. Returns whether it is done.
pub(in crate::gpu) fn poll_until(
    device: &wgpu::Device,
    is_done: impl Fn() -> bool,
    limit: Duration,
) -> Result<bool> {
    let begun = Instant::now();
    while !is_done() {
        poll_as(device, wgpu::PollType::Poll)?;
        if begun.elapsed() > limit {
            return Ok(is_done());
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(true)
}

/// NOTE: wgpu panics if the device is lost during a wait; this function catches that panic and returns an error. It
/// lets any other panic continue, because that comes from a callback of the application.
fn poll_as(device: &wgpu::Device, poll: wgpu::PollType) -> Result<()> {
    match foreign(|| catch_unwind(AssertUnwindSafe(|| device.poll(poll)))) {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(wgpu::PollError::Timeout)) => {
            Err(Error::device("a wait for the device timed out: please report this"))
        }
        // A lost device accepts no submission, and reports that only here: it knows no submission with that index.
        Ok(Err(wgpu::PollError::WrongSubmissionIndex(..))) => {
            Err(Error::device("the device was lost before the submission"))
        }
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map_or("", String::as_str);
            if said.contains("Device::poll") {
                return Err(Error::device("the device was lost while waiting for it"));
            }
            resume_unwind(panic)
        }
    }
}
