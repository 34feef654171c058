//! Polling the device, which runs callbacks.

use super::lock::foreign;
use crate::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// How long a thread sleeps that looks again and again whether the device is done.
const BETWEEN_POLLS: Duration = Duration::from_micros(200);

/// Waits for a submission, or for all.
pub(super) fn poll(device: &wgpu::Device, index: Option<&wgpu::SubmissionIndex>) -> Result<()> {
    // NOTE: no wait has a timeout. wgpu 30 panics, and loses callbacks, where one ends in the moment in which another thread
    // finds the submission done.
    let wait = wgpu::PollType::Wait { submission_index: index.cloned(), timeout: None };
    poll_as(device, wait)
}

/// Polls the device again and again until `is_done`, for so long at most. Returns whether it is done.
pub(super) fn poll_until(device: &wgpu::Device, is_done: impl Fn() -> bool, limit: Duration) -> Result<bool> {
    let begun = Instant::now();
    while !is_done() {
        poll_as(device, wgpu::PollType::Poll)?;
        if begun.elapsed() > limit {
            return Ok(is_done());
        }
        std::thread::sleep(BETWEEN_POLLS);
    }
    Ok(true)
}

/// NOTE: wgpu panics where the device is lost while it waits; that is caught here. A panic of a callback, the application's
/// own, goes on.
fn poll_as(device: &wgpu::Device, poll: wgpu::PollType) -> Result<()> {
    match foreign(|| catch_unwind(AssertUnwindSafe(|| device.poll(poll)))) {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(wgpu::PollError::Timeout)) => {
            Err(Error::device("the device was not waited for: please report this"))
        }
        // A device that is lost takes no submission, and says so only here: there is nothing with that index.
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
