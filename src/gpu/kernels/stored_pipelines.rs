//! The compiled pipelines that are stored in a file across runs.

use crate::gpu::GpuOptions;
use crate::gpu::cache::cache_file::{CacheFile, digest, digest_in, seal, unseal};
use crate::gpu::driver::error_scope::in_error_scope;
use crate::gpu::driver::inside::Inside;
use crate::gpu::driver::lock::Lock;
use crate::gpu::raw;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Maximum size in bytes of a file. A larger file is not read.
const MAX_FILE_BYTES: u64 = 1 << 28;

/// The file, and the driver's cache that is created from it when the first pipeline is compiled.
pub(in crate::gpu) struct StoredPipelines {
    path: PathBuf,
    /// Once it was read.
    file: OnceLock<CacheFile>,
    /// Threads that read the file.
    reading: Inside,
    /// The device, driver and version that the pipelines are compiled for.
    compiled_for: String,
    /// Maximum number of pipelines that are compiled with the driver's cache, which keeps all of them and frees none. Those that
    /// come later are compiled without it.
    limit: usize,
    state: Lock<StoreState>,
}

struct StoreState {
    open: Option<Open>,
    /// Pipelines that were compiled with it since the start, or since it was closed.
    compiled: usize,
}

/// The driver's cache.
#[derive(Clone)]
struct Open {
    cache: wgpu::PipelineCache,
    /// Digest of the data that was read from the file, if any. If the data has not changed at the end, the file is not
    /// written again.
    start: Option<[u8; 32]>,
}

impl StoredPipelines {
    /// The pipelines of earlier runs, which are not read yet. None if no files are cached, or the device cannot.
    pub(in crate::gpu) fn new(
        device: &wgpu::Device,
        adapter: &wgpu::Adapter,
        options: &GpuOptions,
    ) -> Option<Self> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let adapter = adapter.get_info();
        let kind = options.buffer_access.suffix();
        let path = options.cache.path()?.join(wgpu::util::pipeline_cache_key(&adapter)? + kind);
        let compiled_for = compiled_for(&adapter) + kind;
        let (limit, state) = (options.pipeline_limit(), Lock::new(StoreState { open: None, compiled: 0 }));
        Some(Self { path, file: OnceLock::new(), reading: Inside::default(), compiled_for, limit, state })
    }

    /// The driver's cache, to compile one pipeline with. The caller holds no lock.
    pub(in crate::gpu) fn cache(&self, device: &wgpu::Device) -> Option<wgpu::PipelineCache> {
        let mut state = self.state.lock();
        if state.compiled >= self.limit {
            return None;
        }
        state.compiled += 1;
        let known = state.open.as_ref().map(|open| open.cache.clone());
        drop(state);
        if known.is_some() {
            return known;
        }
        // A logger that is called during the reading, and that computes, does so without the driver's cache.
        let _inside = self.reading.enter()?;
        let open = self.open(device)?;
        // Another thread may have opened it meanwhile.
        let mut state = self.state.lock();
        let cache = state.open.get_or_insert_with(|| open.clone()).cache.clone();
        drop(state);
        drop(open);
        Some(cache)
    }

    /// Stores the compiled pipelines, and closes the driver's cache. The next pipeline opens it again.
    pub(in crate::gpu) fn close(&self) {
        let mut state = self.state.lock();
        let open = state.open.take();
        let compiled = std::mem::take(&mut state.compiled);
        drop(state);
        if let Some(open) = open.filter(|_| compiled > 0) {
            self.store(&open);
        }
    }

    /// The driver's cache with the contents of the file, if they are for this driver. None if the driver refuses one.
    fn open(&self, device: &wgpu::Device) -> Option<Open> {
        let contents = self.contents();
        let found =
            contents.as_deref().map(|contents| (digest_in(contents), unseal(&self.compiled_for, contents)));
        let (start, data) = match found {
            Some((start, Some(data))) => (start, Some(data)),
            Some((_, None)) => {
                // This happens after every update of the driver or of this crate.
                log::info!(
                    "compiled kernels in {} are not used: they are damaged, or of another driver or version",
                    self.path.display()
                );
                (None, None)
            }
            None => (None, None),
        };
        // If the driver rejects the cache, only the start is slower.
        let cache = in_error_scope(device, || raw::pipeline_cache(device, data)).ok()?;
        Some(Open { cache, start })
    }

    /// The present contents of the file, which another process may have replaced since it was read.
    fn contents(&self) -> Option<Vec<u8>> {
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(file) = self.file.get() {
            return file.contents(MAX_FILE_BYTES);
        }
        let (file, contents) = CacheFile::open(self.path.clone(), "compiled kernels", MAX_FILE_BYTES);
        // Another thread may have read it too.
        if self.file.set(file).is_ok() {
            self.file.get().into_iter().for_each(CacheFile::log_problem);
        }
        contents
    }

    fn store(&self, open: &Open) {
        let Some((file, data)) = self.file.get().zip(open.cache.get_data()) else { return };
        if open.start != Some(digest(&self.compiled_for, &data)) {
            file.write(&seal(&self.compiled_for, &data));
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

impl Drop for StoredPipelines {
    fn drop(&mut self) {
        self.close();
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
