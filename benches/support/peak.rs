//! The peaks of a device, measured.

use serde::{Deserialize, Serialize};
use std::time::Instant;
use tilewise::planning::peak::measure_rates;
use tilewise::wgpu;
use tilewise::{Gpu, Result};

/// What the device reaches at best, per second: bytes, and operations, two for a multiply-add.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Peaks {
    /// Bytes read plus bytes written, by a copy.
    pub copy: f64,
    /// Multiply-adds of f32 outside cooperative matrices.
    pub f32: f64,
    /// The same of f16, if shaders have it.
    pub f16: Option<f64>,
    /// Multiply-adds of packed i8.
    pub i8: Option<f64>,
    /// Multiply-adds of f16 with sums in f32 on cooperative matrices, if the device has a usable row of them.
    pub matrices: Option<f64>,
}

impl Peaks {
    /// The higher of two measurements: other work on the machine can only lower one.
    pub fn or_higher(self, other: Self) -> Self {
        let higher = |one: Option<f64>, other: Option<f64>| one.into_iter().chain(other).reduce(f64::max);
        Self {
            copy: self.copy.max(other.copy),
            f32: self.f32.max(other.f32),
            f16: higher(self.f16, other.f16),
            i8: higher(self.i8, other.i8),
            matrices: higher(self.matrices, other.matrices),
        }
    }
}

/// Number of measurements. The result is the fastest, because other work on the machine can only slow one down.
const ROUNDS: usize = 5;

/// Measures the peaks: multiply-adds as the library does, and a copy by plain wgpu. Nothing is remembered for later runs.
pub fn measure(gpu: &Gpu) -> Result<Peaks> {
    let rates = measure_rates(gpu)?;
    // Two operands that no cache holds, if the memory is large enough.
    let limits = &gpu.caps().limits;
    let room = gpu.caps().memory.unwrap_or(1 << 30) / 8;
    let bytes = limits.binding_bytes.min(limits.buffer_bytes).min(room).min(1 << 30) / 4096 * 4096;
    let copier = Copier::of(gpu, &Buffers::new(gpu, bytes), bytes);
    Ok(Peaks {
        copy: 2.0 * bytes as f64 / fastest(|| copier.seconds(gpu)),
        f32: rates.f32_flops.unwrap_or_default(),
        f16: rates.f16_flops,
        i8: rates.i8_flops,
        matrices: rates.matrix_flops,
    })
}

/// What a program is bound to.
struct Buffers {
    params: wgpu::Buffer,
    source: wgpu::Buffer,
    target: wgpu::Buffer,
}

impl Buffers {
    /// Source and target of this number of bytes.
    fn new(gpu: &Gpu, bytes: u64) -> Self {
        let buffer = |label, size| {
            gpu.device().create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        Self { params: buffer("params", 8), source: buffer("source", bytes), target: buffer("target", bytes) }
    }

    fn program(&self, gpu: &Gpu, entry_point: &str) -> Program {
        let module = gpu.device().create_shader_module(wgpu::include_wgsl!("peak.wgsl"));
        Program::new(gpu, &module, entry_point, [&self.params, &self.source, &self.target])
    }
}

/// A copy, as a baseline for operations that move memory.
pub struct Copier {
    copy: Program,
    grid: [u32; 2],
}

impl Copier {
    /// A copy of this number of bytes, a multiple of 1024.
    pub fn new(gpu: &Gpu, bytes: u64) -> Self {
        let copier = Self::of(gpu, &Buffers::new(gpu, bytes), bytes);
        copier.seconds(gpu);
        copier
    }

    fn of(gpu: &Gpu, buffers: &Buffers, bytes: u64) -> Self {
        let groups = u32::try_from(bytes / 16 / 64).expect("at most 2^20");
        // As few workgroups too many as possible: they take time, too.
        let y = groups.div_ceil(u32::from(u16::MAX));
        let grid = [groups.div_ceil(y), y];
        Self { copy: buffers.program(gpu, "copy"), grid }
    }

    /// Seconds of one copy, which reads as many bytes as it writes.
    pub fn seconds(&self, gpu: &Gpu) -> f64 {
        self.copy.seconds(gpu, self.grid)
    }
}

/// The fastest of some runs, after one that does not count.
fn fastest(run: impl Fn() -> f64) -> f64 {
    run();
    (0..ROUNDS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// An entry point of the shader that is ready to run.
struct Program {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    /// If the device has timestamps: the queries, the resolved ticks, and a copy of them for the host.
    clock: Option<(wgpu::QuerySet, wgpu::Buffer, wgpu::Buffer)>,
}

impl Program {
    fn new(gpu: &Gpu, module: &wgpu::ShaderModule, entry_point: &str, buffers: [&wgpu::Buffer; 3]) -> Self {
        let device = gpu.device();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[(0, true), (1, true), (2, false)].map(|(binding, read_only)| {
                wgpu::BindGroupLayoutEntry {
                    binding,
                    visibility: wgpu::ShaderStages::COMPUTE,
                    ty: wgpu::BindingType::Buffer {
                        ty: wgpu::BufferBindingType::Storage { read_only },
                        has_dynamic_offset: false,
                        min_binding_size: None,
                    },
                    count: None,
                }
            }),
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            bind_group_layouts: &[Some(&layout)],
            ..Default::default()
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry_point),
            layout: Some(&pipeline_layout),
            module,
            entry_point: Some(entry_point),
            compilation_options: Default::default(),
            cache: None,
        });
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 16,
                usage,
                mapped_at_creation: false,
            })
        };
        let clock = gpu.caps().timestamps.then(|| {
            let ty = wgpu::QueryType::Timestamp;
            let queries = device.create_query_set(&wgpu::QuerySetDescriptor { label: None, ty, count: 2 });
            use wgpu::BufferUsages as U;
            (queries, buffer(U::QUERY_RESOLVE | U::COPY_SRC), buffer(U::MAP_READ | U::COPY_DST))
        });
        Self { pipeline, bind_group, clock }
    }

    /// Runs it once; seconds on the device's clock, or on the host's if it has none.
    fn seconds(&self, gpu: &Gpu, [x, y]: [u32; 2]) -> f64 {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: None,
            timestamp_writes: self.clock.as_ref().map(|(query_set, ..)| wgpu::ComputePassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: Some(0),
                end_of_pass_write_index: Some(1),
            }),
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.dispatch_workgroups(x, y, 1);
        drop(pass);
        if let Some((queries, resolved, read)) = &self.clock {
            encoder.resolve_query_set(queries, 0..2, resolved, 0);
            encoder.copy_buffer_to_buffer(resolved, 0, read, 0, 16);
        }
        let start = Instant::now();
        gpu.queue().submit([encoder.finish()]);
        let wait = || gpu.device().poll(wgpu::PollType::wait_indefinitely()).expect("the device is there");
        wait();
        let Some((_, _, read)) = &self.clock else { return start.elapsed().as_secs_f64() };
        read.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("the ticks can be read"));
        wait();
        let bytes = read.get_mapped_range(..).expect("the ticks are mapped");
        let ticks: [u64; 2] = bytemuck::pod_read_unaligned(&bytes);
        drop(bytes);
        read.unmap();
        ticks[1].wrapping_sub(ticks[0]) as f64 * f64::from(gpu.queue().get_timestamp_period()) * 1e-9
    }
}
