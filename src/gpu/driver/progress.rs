//! Asks the device which submission of this crate it ran last. The answer can prove to another thread that a submission
//! was made while the submitting thread is still inside wgpu's `submit`, in a callback that waits.

use super::error_scope::result_and_error;
use super::lock::foreign;
use super::poll::{poll, poll_until};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Number of distinct values that identify turns: tickets are taken modulo this.
pub(in crate::gpu) const TICKET_MODULUS: u32 = 4096;

/// Size of the largest buffer that every device needs.
pub(in crate::gpu) const NUMBERS_BYTES: u64 = 4 * TICKET_MODULUS as u64;

/// Progress of the queue. Every submission of a recording ends with a copy of its turn's number to `now`.
pub(in crate::gpu) struct QueueProgress {
    /// The numbers 1, 2, ..., as the source of the copies.
    numbers: wgpu::Buffer,
    /// The number of the submission that ran last.
    now: wgpu::Buffer,
}

/// The device's answer about a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum HasRun {
    /// It has run, and no later submission of this crate has.
    Yes,
    /// The device holds another submission's number: when it answered, this submission had not been made.
    No,
    /// There was no answer.
    Unknown,
}

impl QueueProgress {
    pub(in crate::gpu) fn new(device: &wgpu::Device) -> Self {
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
        let all: Vec<u32> = (1..=TICKET_MODULUS).collect();
        let numbers = filled("tilewise numbers", &all, wgpu::BufferUsages::empty());
        // No turn has this number. It also differs from 0, the value of a buffer that nothing was copied to.
        let now = filled("tilewise progress", &[TICKET_MODULUS + 1], wgpu::BufferUsages::COPY_DST);
        Self { numbers, now }
    }

    /// A buffer that is bound where one is required but not used.
    pub(in crate::gpu) fn placeholder(&self) -> wgpu::Buffer {
        self.numbers.clone()
    }

    /// Appends the copy to a submission. After that has run, `now` contains the number of its turn.
    pub(in crate::gpu) fn encode(&self, encoder: &mut wgpu::CommandEncoder, ticket: u64) {
        let place = ticket % u64::from(TICKET_MODULUS);
        encoder.copy_buffer_to_buffer(&self.numbers, place * 4, &self.now, 0, 4);
    }

    /// Appends a copy of a number from 1 to [`TICKET_MODULUS`] to a buffer.
    pub(in crate::gpu) fn encode_number(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        number: u32,
        to: &wgpu::Buffer,
    ) {
        encoder.copy_buffer_to_buffer(&self.numbers, u64::from(number - 1) * 4, to, 0, 4);
    }

    /// Asks the device, by a submission of its own, whether the submission of this turn has run, and waits for the
    /// answer, at most for `limit` if there is one. wgpu runs callbacks during the wait. If one of them raises an
    /// error, the error is logged.
    ///
    /// In the browser nothing may block, and there is no need to ask: the browser runs callbacks outside of `submit`.
    pub(in crate::gpu) fn has_run(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        ticket: u64,
        limit: Option<Duration>,
    ) -> HasRun {
        if cfg!(target_arch = "wasm32") {
            return HasRun::Unknown;
        }
        let has_mapped = Arc::new(AtomicBool::new(false));
        let tell = {
            let has_mapped = has_mapped.clone();
            move |_| has_mapped.store(true, Ordering::Release)
        };
        let ((answer, index), error) = result_and_error(device, || {
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
            log::error!("an error while the device was asked for its progress: {error}");
        }
        let has_answer = match limit {
            Some(limit) => poll_until(device, || has_mapped.load(Ordering::Acquire), limit),
            None => poll(device, Some(&index)).map(|()| true),
        };
        if !matches!(has_answer, Ok(true)) {
            return HasRun::Unknown;
        }
        let Ok(view) = answer.get_mapped_range(..) else { return HasRun::Unknown };
        match bytemuck::pod_read_unaligned::<u32>(&view) {
            0 => HasRun::Unknown, // Nothing was copied.
            number if u64::from(number - 1) == ticket % u64::from(TICKET_MODULUS) => HasRun::Yes,
            _ => HasRun::No,
        }
    }
}
