//! Asks the device which of our submissions it has run last. This proves to another thread that a submission was made, while
//! the thread that made it is still inside wgpu's `submit`, in a callback that waits.

use super::Gpu;
use super::fault::caught;
use super::lock::foreign;

/// Turn numbers are compared modulo this.
const NUMBERS: u32 = 4096;

/// Every submission ends with a copy of its turn's number.
pub(super) struct Progress {
    /// All the numbers from 0 on, to copy from.
    numbers: wgpu::Buffer,
    /// The number of the submission that has run last.
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

    /// Appends the copy to a submission: once that has run, `now` has the number of its turn.
    pub(super) fn encode(&self, encoder: &mut wgpu::CommandEncoder, ticket: u64) {
        let number = ticket % u64::from(NUMBERS);
        encoder.copy_buffer_to_buffer(&self.numbers, number * 4, &self.now, 0, 4);
    }
}

impl Gpu {
    /// Whether this turn's submission is the last of ours that the device has run. Asks the device with a further submission,
    /// and waits for the answer. In the browser, where waiting is impossible, it returns false; no callback runs inside
    /// `submit` there, so nobody needs to ask.
    pub(super) fn has_run(&self, ticket: u64) -> bool {
        if cfg!(target_arch = "wasm32") {
            return false;
        }
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
