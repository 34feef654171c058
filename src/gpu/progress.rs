//! Asks the device which of our submissions it has run last. This proves to another thread that a submission was made, while
//! the thread that made it is still inside wgpu's `submit`, in a callback that waits.

use super::fault::caught_beside;
use super::lock::foreign;
use super::poll::{poll, poll_until};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Turns are told apart modulo this.
pub(super) const NUMBERS: u32 = 4096;

/// Every submission of a recording ends with a copy of its turn's number.
pub(super) struct Progress {
    /// The numbers 1, 2, ..., to copy from.
    numbers: wgpu::Buffer,
    /// The number of the submission that has run last.
    now: wgpu::Buffer,
}

/// What the device says of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ran {
    /// It has run, and no later one of ours has.
    Yes,
    /// The device has the number of another: when it was asked, this submission had not been made.
    No,
    /// The question has not come back.
    Unknown,
}

impl Progress {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let filled = |label, values: &[u32], usage| {
            let buffer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: size_of_val(values) as u64,
                usage: usage | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            });
            if let Ok(mut view) = buffer.get_mapped_range_mut(..) {
                view.copy_from_slice(bytemuck::cast_slice(values));
            }
            buffer.unmap();
            buffer
        };
        let all: Vec<u32> = (1..=NUMBERS).collect();
        let numbers = filled("tilewise numbers", &all, wgpu::BufferUsages::empty());
        // No turn has this number, and it is not the zero of a buffer that nothing was copied to.
        let now = filled("tilewise progress", &[NUMBERS + 1], wgpu::BufferUsages::COPY_DST);
        Self { numbers, now }
    }

    /// Appends the copy to a submission: once that has run, `now` has the number of its turn.
    pub(super) fn encode(&self, encoder: &mut wgpu::CommandEncoder, ticket: u64) {
        let place = ticket % u64::from(NUMBERS);
        encoder.copy_buffer_to_buffer(&self.numbers, place * 4, &self.now, 0, 4);
    }

    /// Asks the device, with a submission of its own, whether the submission of this turn has run, and waits for the answer:
    /// for so long at most, if a limit is given. wgpu runs callbacks meanwhile. An error that one of them raises is logged.
    ///
    /// In the browser nobody waits, and nobody needs to ask: it calls back outside of `submit`.
    pub(super) fn has_run(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        ticket: u64,
        limit: Option<Duration>,
    ) -> Ran {
        if cfg!(target_arch = "wasm32") {
            return Ran::Unknown;
        }
        let has_mapped = Arc::new(AtomicBool::new(false));
        let tell = {
            let has_mapped = has_mapped.clone();
            move |_| has_mapped.store(true, Ordering::Release)
        };
        let ((answer, index), error) = caught_beside(device, || {
            let answer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("tilewise progress"),
                size: 4,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(&self.now, 0, &answer, 0, 4);
            let commands = encoder.finish();
            let index = foreign(|| queue.submit([commands]));
            foreign(|| answer.map_async(wgpu::MapMode::Read, .., tell));
            (answer, index)
        });
        if let Some(error) = error {
            log::error!("an error while the device was asked what has run: {error}");
        }
        let has_come = match limit {
            Some(limit) => poll_until(device, || has_mapped.load(Ordering::Acquire), limit),
            None => poll(device, Some(&index)).map(|()| true),
        };
        if !matches!(has_come, Ok(true)) {
            return Ran::Unknown;
        }
        let Ok(view) = answer.get_mapped_range(..) else { return Ran::Unknown };
        match bytemuck::pod_read_unaligned::<u32>(&view) {
            0 => Ran::Unknown, // Nothing was copied.
            number if u64::from(number - 1) == ticket % u64::from(NUMBERS) => Ran::Yes,
            _ => Ran::No,
        }
    }
}
