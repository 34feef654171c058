//! Which of our submissions the device has run last, as the device itself says: proof that a submission is with the queue,
//! while the thread that has made it is still inside wgpu's `submit`, in a callback that waits.

use super::Gpu;
use super::fault::caught;
use super::lock::foreign;

/// Turns are told apart modulo this.
const NUMBERS: u32 = 4096;

/// Every submission ends with a copy of its turn's number.
pub(super) struct Progress {
    /// The numbers, to copy from.
    numbers: wgpu::Buffer,
    /// That of the submission that has run last.
    now: wgpu::Buffer,
}

impl Progress {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let numbers = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("tilewise numbers"),
            size: u64::from(NUMBERS) * 4,
            usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: true,
        });
        if let Ok(mut view) = numbers.get_mapped_range_mut(..) {
            let values: Vec<u32> = (0..NUMBERS).collect();
            view.copy_from_slice(bytemuck::cast_slice(&values));
        }
        numbers.unmap();
        let now = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("tilewise progress"),
            size: 4,
            usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Self { numbers, now }
    }

    /// Ends a submission: when it has run, `now` is the number of its turn.
    pub(super) fn encode(&self, encoder: &mut wgpu::CommandEncoder, ticket: u64) {
        let number = ticket % u64::from(NUMBERS);
        encoder.copy_buffer_to_buffer(&self.numbers, number * 4, &self.now, 0, 4);
    }
}

impl Gpu {
    /// Whether the submission of this turn has run. Asks the device, with a submission of its own, and waits for the answer.
    pub(super) fn has_run(&self, ticket: u64) -> bool {
        let (device, queue) = (&self.inner.device, &self.inner.queue);
        let asked = caught(device, || {
            let answer = device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("tilewise progress"),
                size: 4,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(&self.inner.progress.now, 0, &answer, 0, 4);
            let commands = encoder.finish();
            let index = foreign(|| queue.submit([commands]));
            foreign(|| answer.map_async(wgpu::MapMode::Read, .., |_| ()));
            (answer, index)
        });
        let Ok((answer, index)) = asked else { return false };
        if self.wait_for(&index).is_err() {
            return false;
        }
        let number = u32::try_from(ticket % u64::from(NUMBERS)).ok();
        let view = answer.get_mapped_range(..).ok();
        view.is_some_and(|view| bytemuck::pod_read_unaligned::<u32>(&view) == number.unwrap_or(NUMBERS))
    }
}
