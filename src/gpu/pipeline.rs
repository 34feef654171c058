//! Compiled kernels. Bindings are read from the shader, layouts are shared, and pipelines are cached by kernel and
//! across runs.

use super::cache_file::{CacheFile, digest, seal, unseal};
use super::error_scope::in_error_scope;
use super::lock::{Lock, foreign};
use super::options::Checks;
use super::{GpuOptions, raw};
use crate::kernel::{Kernel, ShaderInterface, shader_interface};
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// A compiled kernel, and how to bind its operands.
pub(super) struct Pipeline {
    /// The name of its shader, without parameters: short enough for the errors of wgpu, which repeat it.
    pub(super) name: String,
    pub(super) pipeline: wgpu::ComputePipeline,
    layout: Arc<BindingLayouts>,
    /// Whether the kernel writes each operand.
    pub(super) writes: Vec<bool>,
    /// How the kernel receives its dims.
    pub(super) dims: Dims,
    /// The subgroup size, once it was asked for.
    pub(super) subgroup_size: OnceLock<u32>,
}

/// How a kernel receives its dims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Dims {
    /// As immediates, with this many bytes.
    Immediates(u32),
    /// In the ring of the recording, at a dynamic offset.
    Ring,
}

struct BindingLayouts {
    operands: wgpu::BindGroupLayout,
    pipeline: wgpu::PipelineLayout,
}

/// Kernels share layouts with the same key: whether each operand is written, and how dims are passed.
type LayoutKey = (Vec<bool>, Dims);

/// All pipelines of a device.
pub(super) struct Pipelines {
    by_kernel: Lock<HashMap<Kernel, Arc<Pipeline>>>,
    layouts: Lock<HashMap<LayoutKey, Arc<BindingLayouts>>>,
    ring_layout: wgpu::BindGroupLayout,
    checks: Checks,
    compiled: AtomicU64,
    stored: Option<StoredCache>,
}

/// The pipeline cache that is stored in a file across runs.
struct StoredCache {
    cache: wgpu::PipelineCache,
    file: CacheFile,
    /// The device, driver and version that the pipelines are compiled for.
    compiled_for: String,
    /// Digest of the data that was read from the file, if any. If the data has not changed at the end, the file is not
    /// written again.
    start: Option<[u8; 32]>,
}

/// Maximum size in bytes of a cache file. A larger file is not read.
const MAX_FILE_BYTES: u64 = 1 << 28;

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
            stored: StoredCache::open(device, adapter, options),
        }
    }

    /// Number of pipelines compiled so far.
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
        let name = format!("tilewise {}", kernel.shader());
        let failed = |error: &dyn std::fmt::Display| {
            Error::device(format!("tilewise {kernel} does not compile: {error}"))
        };
        let ShaderInterface { writes, immediates } = shader_interface(&text).map_err(|why| failed(&why))?;
        let dims = immediates.map_or(Dims::Ring, Dims::Immediates);
        let compiled = in_error_scope(device, || {
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
                cache: self.stored.as_ref().map(|stored| &stored.cache),
            });
            (layout, pipeline)
        });
        let (layout, pipeline) = compiled.map_err(|error| failed(&error))?;
        log::debug!("compiled tilewise {kernel}");
        Ok(Pipeline { name, pipeline, layout, writes, dims, subgroup_size: OnceLock::new() })
    }

    fn layout(&self, device: &wgpu::Device, writes: &[bool], dims: Dims) -> Arc<BindingLayouts> {
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
        let layout = Arc::new(BindingLayouts { operands, pipeline });
        self.layouts.lock().entry(key).or_insert(layout).clone()
    }
}

/// The bind group layout of the ring, which carries dims on devices without immediates.
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

impl StoredCache {
    fn open(device: &wgpu::Device, adapter: &wgpu::Adapter, options: &GpuOptions) -> Option<Self> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let adapter = adapter.get_info();
        let kind = options.buffer_access.suffix();
        let path = options.cache.path()?.join(wgpu::util::pipeline_cache_key(&adapter)? + kind);
        let compiled_for = compiled_for(&adapter) + kind;
        let (file, contents) = CacheFile::open(path, "compiled kernels", MAX_FILE_BYTES);
        let data = contents.as_deref().and_then(|contents| unseal(&compiled_for, contents));
        if contents.is_some() && data.is_none() {
            // This happens after every update of the driver or of this crate.
            let path = file.path().display();
            log::info!(
                "compiled kernels in {path} are not used: they are damaged, or of another driver or version"
            );
        }
        // If the driver rejects the cache, only the start is slower.
        let cache = in_error_scope(device, || raw::pipeline_cache(device, data)).ok()?;
        let start = data.map(|data| digest(&compiled_for, data));
        Some(Self { cache, file, compiled_for, start })
    }

    fn save(&self) {
        let Some(data) = self.cache.get_data() else { return };
        if self.start != Some(digest(&self.compiled_for, &data)) {
            self.file.write(&seal(&self.compiled_for, &data));
        }
    }
}

/// The identity that a cache of pipelines belongs to: adapter, driver and the version of this crate. Only the same
/// identity may load it again.
fn compiled_for(adapter: &wgpu::AdapterInfo) -> String {
    let wgpu::AdapterInfo { name, vendor, device, driver, driver_info, backend, .. } = adapter;
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "pipelines of Tilewise {version}: {name}, {vendor:x}:{device:x}, {driver}, {driver_info}, {backend}"
    )
}

impl Drop for Pipelines {
    fn drop(&mut self) {
        if let Some(stored) = self.stored.as_ref().filter(|_| self.compiled() > 0) {
            stored.save();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::compiled_for;

    #[test]
    fn pipelines_are_bound_to_device_driver_and_version() {
        let adapter = |change: &dyn Fn(&mut wgpu::AdapterInfo)| {
            let mut adapter = wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, wgpu::Backend::Vulkan);
            change(&mut adapter);
            compiled_for(&adapter)
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
