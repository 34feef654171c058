//! Frames into a texture: checked, counted, timed, and written as PNG files.

use crate::application::{Application, adapter, failed, flags};
use crate::check::{Found, check};
use crate::network::Network;
use crate::report::{Counts, Report};
use crate::scene::{Scene, Time};
use pictures::picture::{unwritable, write_png};
use std::collections::VecDeque;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;
use tilewise::gemm::Operand;
use tilewise::{Real, Result, Tensor, wgpu};

/// Frames that the device may have to draw at once.
const IN_FLIGHT: usize = 3;
/// The format of the pictures.
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// A frame that was submitted.
struct Submitted<T: Real> {
    index: u32,
    submission: wgpu::SubmissionIndex,
    /// The picture, once it is drawn.
    picture: wgpu::Buffer,
    hidden: Vec<Tensor<T>>,
    begun: Instant,
}

/// Draws one period in `frames` frames: each alone first, then with others in flight.
pub(crate) fn run<T: Operand + Real>(
    size: [u32; 2],
    frames: u32,
    seed: u64,
    out: Option<&Path>,
) -> Result<Report> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: wgpu::Backends::PRIMARY,
        flags: flags(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let app = Application::open(&adapter(&instance, None)?)?;
    let network = Rc::new(Network::<T>::new(&app.gpu, seed)?);
    let mut scene = Scene::new(&app, network, size, FORMAT)?;
    if let Some(folder) = out {
        std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    }
    let mut film = Film { app: &app, scene: &mut scene, frames, counts: Counts::default(), host: Vec::new() };
    let (mut pictures, mut seconds) = (Vec::new(), Vec::new());
    let mut found = Found::default();
    for index in 0..frames {
        let frame = film.submit(index)?;
        app.wait(frame.submission.clone())?;
        seconds.push(frame.begun.elapsed().as_secs_f64());
        let picture = film.read(&frame)?;
        found = found.and(check(film.scene, &film.time(index), &frame.hidden, &picture)?);
        if let Some(folder) = out {
            let opaque: Vec<u8> = picture.chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied().collect();
            write_png(&folder.join(format!("frame-{index:04}.png")), size, &opaque)?;
        }
        pictures.push(digest(&picture));
    }
    let (mut same_bits, mut in_flight) = (true, VecDeque::new());
    let begun = Instant::now();
    for index in 0..frames {
        let mut frame = film.submit(index)?;
        frame.hidden.clear(); // at once, as an application would
        in_flight.push_back(frame);
        if in_flight.len() == IN_FLIGHT {
            same_bits &= film.is_same(in_flight.pop_front(), &pictures)?;
        }
    }
    while !in_flight.is_empty() {
        same_bits &= film.is_same(in_flight.pop_front(), &pictures)?;
    }
    let seconds_in_flight = begun.elapsed().as_secs_f64() / f64::from(frames);
    let (counts, host_seconds) = (film.counts, film.host);
    Ok(Report {
        gpu: app.gpu.clone(),
        dtype: T::DTYPE,
        size,
        frames,
        plans: scene.plans,
        counts,
        found,
        same_bits,
        host_seconds,
        seconds,
        seconds_in_flight,
    })
}

/// Draws frames and counts what they cost.
struct Film<'a, T: Real> {
    app: &'a Application,
    scene: &'a mut Scene<T>,
    frames: u32,
    counts: Counts,
    /// Seconds of the host for each frame.
    host: Vec<f64>,
}

impl<T: Operand + Real> Film<'_, T> {
    fn time(&self, index: u32) -> Time {
        Time::at(f64::from(index) / f64::from(self.frames))
    }

    /// Encodes and submits a frame: one encoder, one submission.
    fn submit(&mut self, index: u32) -> Result<Submitted<T>> {
        let (begun, before, time) = (Instant::now(), self.app.gpu.stats(), self.time(index));
        let Application { device, queue, .. } = self.app;
        let [width, height] = self.scene.size;
        let extent = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
            size: extent,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let picture = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("picture"),
            size: u64::from(row_bytes(width)) * u64::from(height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let hidden = self.scene.encode(self.app, &mut encoder, &time, &view)?;
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(row_bytes(width)),
            rows_per_image: None,
        };
        let target = wgpu::TexelCopyBufferInfo { buffer: &picture, layout };
        encoder.copy_texture_to_buffer(texture.as_image_copy(), target, extent);
        let submission = queue.submit([encoder.finish()]);
        self.host.push(begun.elapsed().as_secs_f64());
        let after = self.app.gpu.stats();
        self.counts.frames += 1;
        self.counts.launches += after.launches - before.launches;
        self.counts.submits += after.submits - before.submits;
        self.counts.uploaded += after.bytes_staged.saturating_sub(before.bytes_staged);
        self.counts.created_last = after.buffers_created - before.buffers_created;
        Ok(Submitted { index, submission, picture, hidden, begun })
    }

    /// The bytes of a frame's picture, four for each pixel. Waits for the frame.
    fn read(&self, frame: &Submitted<T>) -> Result<Vec<u8>> {
        frame.picture.map_async(wgpu::MapMode::Read, .., |_| ());
        self.app.wait(frame.submission.clone())?;
        let view = frame.picture.get_mapped_range(..).map_err(failed)?;
        let width = self.scene.size[0];
        let rows = view.chunks_exact(row_bytes(width) as usize);
        Ok(rows.flat_map(|row| &row[..4 * width as usize]).copied().collect())
    }

    /// Whether a frame, if there is one, has the picture that it had alone.
    fn is_same(&self, frame: Option<Submitted<T>>, pictures: &[u64]) -> Result<bool> {
        let Some(frame) = frame else { return Ok(true) };
        Ok(pictures.get(frame.index as usize) == Some(&digest(&self.read(&frame)?)))
    }
}

/// Bytes of a row of the picture in a buffer: wgpu copies textures to rows of whole 256 bytes.
fn row_bytes(width: u32) -> u32 {
    (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT)
}

/// FNV-1a.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
