//! Compiled kernels: bindings read from the shader, layouts shared, pipelines kept by kernel and across runs.

use super::cache_file::{CacheFile, digest, seal, unseal};
use super::fault::caught;
use super::lock::{Lock, foreign};
use super::options::Checks;
use super::{GpuOptions, raw};
use crate::kernel::{Kernel, Signature, signature};
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A compiled kernel and how to bind its operands.
pub(super) struct Pipeline {
    pub(super) name: String,
    pub(super) pipeline: wgpu::ComputePipeline,
    layout: Arc<Layout>,
    /// Per operand, whether the kernel writes it.
    pub(super) writes: Vec<bool>,
    /// How the kernel gets its dims.
    pub(super) dims: Dims,
}

/// How a kernel gets its dims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Dims {
    /// As this many bytes of immediates.
    Immediates(u32),
    /// In the ring of the recording, at a dynamic offset.
    Ring,
}

struct Layout {
    operands: wgpu::BindGroupLayout,
    pipeline: wgpu::PipelineLayout,
}

/// What layouts are shared by: the kinds of the operands, and of the dims.
type Kinds = (Vec<bool>, Dims);

/// All pipelines of a device.
pub(super) struct Pipelines {
    by_kernel: Lock<HashMap<Kernel, Arc<Pipeline>>>,
    layouts: Lock<HashMap<Kinds, Arc<Layout>>>,
    ring_layout: wgpu::BindGroupLayout,
    checks: Checks,
    compiled: AtomicU64,
    kept: Option<Kept>,
}

/// The cache of an earlier run, and where this run leaves its own.
struct Kept {
    cache: wgpu::PipelineCache,
    file: CacheFile,
    /// The device, driver and version that the pipelines are compiled for.
    made_for: String,
    /// The digest of the file that was read, if any: if the pipelines have not changed, it is not written again.
    start: Option<[u8; 32]>,
}

/// Files of pipelines that are larger, in bytes, are not read.
const KEPT_BYTES: u64 = 1 << 28;

impl Pipeline {
    /// Binds the operands, in the order in which the shader declares them.
    pub(super) fn bind<'a>(
        &self,
        device: &wgpu::Device,
        operands: impl Iterator<Item = wgpu::BindingResource<'a>>,
    ) -> wgpu::BindGroup {
        let entries: Vec<_> = (0..)
            .zip(operands)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&self.name),
            layout: &self.layout.operands,
            entries: &entries,
        })
    }
}

impl Pipelines {
    pub(super) fn new(device: &wgpu::Device, adapter: &wgpu::Adapter, options: &GpuOptions) -> Self {
        Self {
            by_kernel: Lock::default(),
            layouts: Lock::default(),
            ring_layout: ring_layout(device),
            checks: options.checks,
            compiled: AtomicU64::new(0),
            kept: Kept::open(device, adapter, options),
        }
    }

    /// Pipelines compiled so far.
    pub(super) fn compiled(&self) -> u64 {
        self.compiled.load(Ordering::Relaxed)
    }

    /// The pipeline of `kernel`, compiled on first use.
    pub(super) fn get(&self, device: &wgpu::Device, kernel: &Kernel) -> Result<Arc<Pipeline>> {
        if let Some(pipeline) = self.by_kernel.lock().get(kernel) {
            return Ok(pipeline.clone());
        }
        let compiled = Arc::new(self.compile(device, kernel)?);
        self.compiled.fetch_add(1, Ordering::Relaxed);
        Ok(self.by_kernel.lock().entry(kernel.clone()).or_insert(compiled).clone())
    }

    fn compile(&self, device: &wgpu::Device, kernel: &Kernel) -> Result<Pipeline> {
        let text = kernel.specialize()?;
        let name = format!("tilewise {kernel}");
        let failed =
            |error: &dyn std::fmt::Display| Error::device(format!("{name} does not compile: {error}"));
        let Signature { writes, immediates } = signature(&text).map_err(|why| failed(&why))?;
        let dims = immediates.map_or(Dims::Ring, Dims::Immediates);
        let compiled = caught(device, || {
            let layout = self.layout(device, &writes, dims);
            let desc = wgpu::ShaderModuleDescriptor {
                label: Some(&name),
                source: wgpu::ShaderSource::Wgsl(text.as_str().into()),
            };
            let module = match self.checks {
                Checks::Trusted => raw::trusted_module(device, desc),
                Checks::Checked => device.create_shader_module(desc),
            };
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(&name),
                layout: Some(&layout.pipeline),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: self.checks == Checks::Checked,
                    ..Default::default()
                },
                cache: self.kept.as_ref().map(|kept| &kept.cache),
            });
            (layout, pipeline)
        });
        let (layout, pipeline) = compiled.map_err(|error| failed(&error))?;
        log::debug!("compiled {name}");
        Ok(Pipeline { name, pipeline, layout, writes, dims })
    }

    fn layout(&self, device: &wgpu::Device, writes: &[bool], dims: Dims) -> Arc<Layout> {
        let key = (writes.to_vec(), dims);
        if let Some(layout) = self.layouts.lock().get(&key) {
            return layout.clone();
        }
        // No lock is held meanwhile: where the device fails, wgpu calls the application.
        let entries: Vec<_> =
            (0..).zip(writes).map(|(binding, &writes)| storage_entry(binding, writes)).collect();
        let desc = wgpu::BindGroupLayoutDescriptor { label: Some("tilewise operands"), entries: &entries };
        let operands = foreign(|| device.create_bind_group_layout(&desc));
        let (ring, immediate_size) = match dims {
            Dims::Immediates(bytes) => (None, bytes),
            Dims::Ring => (Some(&self.ring_layout), 0),
        };
        let groups: Vec<_> = [Some(&operands), ring].into_iter().flatten().map(Some).collect();
        let desc = wgpu::PipelineLayoutDescriptor {
            label: Some("tilewise"),
            bind_group_layouts: &groups,
            immediate_size,
        };
        let pipeline = foreign(|| device.create_pipeline_layout(&desc));
        let layout = Arc::new(Layout { operands, pipeline });
        self.layouts.lock().entry(key).or_insert(layout).clone()
    }
}

/// The layout of the ring that dims travel through on devices without immediates.
pub(super) fn ring_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
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

fn storage_entry(binding: u32, writes: bool) -> wgpu::BindGroupLayoutEntry {
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

impl Kept {
    fn open(device: &wgpu::Device, adapter: &wgpu::Adapter, options: &GpuOptions) -> Option<Self> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let adapter = adapter.get_info();
        let path = options.cache.path()?.join(wgpu::util::pipeline_cache_key(&adapter)?);
        let made_for = made_for(&adapter);
        let (file, contents) = CacheFile::open(path, "compiled kernels", KEPT_BYTES);
        let data = contents.as_deref().and_then(|contents| unseal(&made_for, contents));
        if contents.is_some() && data.is_none() {
            // As after every update of the driver or of this crate.
            let path = file.path().display();
            log::info!("compiled kernels in {path} are of another driver or version, or damaged: not used");
        }
        // A cache that the driver rejects is only a slower start.
        let cache = caught(device, || raw::pipeline_cache(device, data)).ok()?;
        let start = data.map(|data| digest(&made_for, data));
        Some(Self { cache, file, made_for, start })
    }

    fn save(&self) {
        let Some(data) = self.cache.get_data() else { return };
        if self.start != Some(digest(&self.made_for, &data)) {
            self.file.write(&seal(&self.made_for, &data));
        }
    }
}

/// What pipelines are bound to: only this driver, on this device, with this version of this crate, may get them again.
fn made_for(adapter: &wgpu::AdapterInfo) -> String {
    let wgpu::AdapterInfo { name, vendor, device, driver, driver_info, backend, .. } = adapter;
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "pipelines of Tilewise {version}: {name}, {vendor:x}:{device:x}, {driver}, {driver_info}, {backend}"
    )
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        if let Some(kept) = self.kept.as_ref().filter(|_| self.compiled() > 0) {
            kept.save();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::made_for;

    #[test]
    fn pipelines_are_bound_to_device_driver_and_version() {
        let adapter = |change: &dyn Fn(&mut wgpu::AdapterInfo)| {
            let mut adapter = wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, wgpu::Backend::Vulkan);
            change(&mut adapter);
            made_for(&adapter)
        };
        let usual = adapter(&|_| ());
        assert!(usual.contains(env!("CARGO_PKG_VERSION")), "{usual}");
        let others: [&dyn Fn(&mut wgpu::AdapterInfo); 6] = [
            &|adapter| adapter.name = "another".into(),
            &|adapter| adapter.vendor = 7,
            &|adapter| adapter.device = 7,
            &|adapter| adapter.driver = "another".into(),
            &|adapter| adapter.driver_info = "1.2".into(),
            &|adapter| adapter.backend = wgpu::Backend::Dx12,
        ];
        assert!(others.iter().all(|other| adapter(other) != usual), "{usual}");
    }
}
