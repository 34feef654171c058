//! The compiled kernels of a device. Bindings are read from the shader, layouts are shared, and pipelines are cached by kernel
//! and across runs: within a run a bounded number of them.

use super::known_pipelines::KnownPipelines;
use super::pipeline::{BindingLayouts, DimsPassing, Pipeline};
use super::stored_pipelines::StoredPipelines;
use crate::gpu::GpuOptions;
use crate::gpu::driver::driver_times::{DriverCall, DriverClock};
use crate::gpu::driver::error_scope::in_error_scope;
use crate::gpu::driver::lock::{Lock, foreign};
use crate::gpu::options::gpu_options::Checks;
use crate::gpu::raw;
use crate::kernel::{Code, Kernel, ShaderInterface};
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Kernels share layouts with the same key: whether each operand is written, and how dims are passed.
type LayoutKey = (Vec<bool>, DimsPassing);

/// All pipelines of a device.
pub(in crate::gpu) struct Pipelines {
    known: KnownPipelines,
    layouts: Lock<HashMap<LayoutKey, Arc<BindingLayouts>>>,
    ring_layout: wgpu::BindGroupLayout,
    checks: Checks,
    compiled: AtomicU64,
    stored: Option<StoredPipelines>,
    clock: Arc<DriverClock>,
}

/// Whether pipelines were dropped to make room for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum Evicted {
    None,
    Some,
}

impl Pipelines {
    pub(in crate::gpu) fn new(
        device: &wgpu::Device,
        adapter: &wgpu::Adapter,
        options: &GpuOptions,
        clock: Arc<DriverClock>,
    ) -> Self {
        Self {
            known: KnownPipelines::new(options.pipeline_limit()),
            layouts: Lock::default(),
            ring_layout: ring_layout(device),
            checks: options.checks,
            compiled: AtomicU64::new(0),
            stored: StoredPipelines::new(device, adapter, options),
            clock,
        }
    }

    /// Number of pipelines compiled so far.
    pub(in crate::gpu) fn compiled(&self) -> u64 {
        self.compiled.load(Ordering::Relaxed)
    }

    /// Number of pipelines that are kept for later launches.
    pub(in crate::gpu) fn kept(&self) -> u64 {
        self.known.len() as u64
    }

    /// A launch of this pipeline is recorded at this sequence.
    pub(in crate::gpu) fn note_use(&self, pipeline: &Pipeline, sequence: u64) {
        self.known.note_use(pipeline, sequence);
    }

    /// Whether the pipeline of `kernel` is there.
    pub(in crate::gpu) fn knows(&self, kernel: &Kernel) -> bool {
        self.known.get(kernel).is_some()
    }

    /// The pipeline of `kernel`, compiled on first use, and whether others had to make room for it.
    pub(in crate::gpu) fn get(
        &self,
        device: &wgpu::Device,
        kernel: &Kernel,
    ) -> Result<(Arc<Pipeline>, Evicted)> {
        if let Some(pipeline) = self.known.get(kernel) {
            return Ok((pipeline, Evicted::None));
        }
        let compiled = Arc::new(self.compile(device, kernel)?);
        self.compiled.fetch_add(1, Ordering::Relaxed);
        let (pipeline, evicted) = self.known.insert(kernel, compiled);
        // No lock is held: the last drop of a pipeline is a call of wgpu.
        Ok((pipeline, if evicted.is_empty() { Evicted::None } else { Evicted::Some }))
    }

    /// Drops the pipelines that nothing uses now, the layouts that no other pipeline has, and the driver's pipeline cache,
    /// which is stored first. The caller holds no lock.
    pub(in crate::gpu) fn trim(&self) {
        drop(self.known.forget_unused());
        let mut layouts = Vec::new();
        self.layouts.lock().retain(|_, layout| {
            let is_used = Arc::strong_count(layout) > 1;
            if !is_used {
                layouts.push(layout.clone());
            }
            is_used
        });
        drop(layouts); // outside the lock
        self.stored.iter().for_each(StoredPipelines::close);
    }

    fn compile(&self, device: &wgpu::Device, kernel: &Kernel) -> Result<Pipeline> {
        let code = kernel.code()?;
        let name = format!("tilewise {}", kernel.shader());
        let failed = |error: &dyn std::fmt::Display| {
            Error::device(format!("tilewise {kernel} does not compile: {error}"))
        };
        let ShaderInterface { writes, immediates } = code.interface().map_err(|why| failed(&why))?;
        let dims = immediates.map_or(DimsPassing::Ring, DimsPassing::Immediates);
        let stored = self.stored.as_ref().and_then(|stored| stored.cache(device));
        let compiled = in_error_scope(device, || {
            let layout = self.layout(device, &writes, dims);
            let module = self.clock.time(DriverCall::Modules, || self.module(device, &name, &code));
            let _timed = self.clock.start(DriverCall::Pipelines);
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(&name),
                layout: Some(&layout.pipeline),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: self.checks == Checks::Checked,
                    ..Default::default()
                },
                cache: stored.as_ref(),
            });
            (layout, pipeline)
        });
        let (layout, pipeline) = compiled.map_err(|error| failed(&error))?;
        log::debug!("compiled tilewise {kernel}");
        let (subgroup_size, last_use) = (OnceLock::new(), AtomicU64::new(0));
        Ok(Pipeline { name, pipeline, layout, writes, dims, subgroup_size, last_use })
    }

    fn module(&self, device: &wgpu::Device, name: &str, code: &Code) -> wgpu::ShaderModule {
        let text = match code {
            Code::Wgsl(text) => text.as_str(),
            Code::Spirv(words) => return raw::module(device, name, words),
        };
        let desc =
            wgpu::ShaderModuleDescriptor { label: Some(name), source: wgpu::ShaderSource::Wgsl(text.into()) };
        match self.checks {
            Checks::Trusted => raw::trusted_module(device, desc),
            Checks::Checked => device.create_shader_module(desc),
        }
    }

    fn layout(&self, device: &wgpu::Device, writes: &[bool], dims: DimsPassing) -> Arc<BindingLayouts> {
        let key = (writes.to_vec(), dims);
        if let Some(layout) = self.layouts.lock().get(&key) {
            return layout.clone();
        }
        // No lock is held during these calls: if the device fails, wgpu calls the application.
        let entries: Vec<_> =
            (0..).zip(writes).map(|(binding, &writes)| storage_entry(binding, writes)).collect();
        let desc = wgpu::BindGroupLayoutDescriptor { label: Some("tilewise operands"), entries: &entries };
        let operands = foreign(|| device.create_bind_group_layout(&desc));
        let (ring, immediate_size) = match dims {
            DimsPassing::Immediates(bytes) => (None, bytes),
            DimsPassing::Ring => (Some(&self.ring_layout), 0),
        };
        let groups: Vec<_> = [Some(&operands), ring].into_iter().flatten().map(Some).collect();
        let desc = wgpu::PipelineLayoutDescriptor {
            label: Some("tilewise"),
            bind_group_layouts: &groups,
            immediate_size,
        };
        let pipeline = foreign(|| device.create_pipeline_layout(&desc));
        let layout = Arc::new(BindingLayouts { operands, pipeline });
        self.layouts.lock().entry(key).or_insert(layout).clone()
    }
}

/// The bind group layout of the ring, which carries dims on devices without immediates.
pub(in crate::gpu) fn ring_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("tilewise dims"),
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: true,
                min_binding_size: None,
            },
            count: None,
        }],
    })
}

pub(in crate::gpu) fn storage_entry(binding: u32, writes: bool) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: !writes },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}
