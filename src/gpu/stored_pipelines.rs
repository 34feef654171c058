//! The compiled pipelines that are stored in a file across runs.

use super::cache_file::{CacheFile, digest, seal, unseal};
use super::error_scope::in_error_scope;
use super::lock::Lock;
use super::{GpuOptions, raw};

/// Maximum size in bytes of a file. A larger file is not read.
const MAX_FILE_BYTES: u64 = 1 << 28;

/// The file, and the driver's cache that was made of it.
pub(super) struct StoredPipelines {
    file: CacheFile,
    /// The device, driver and version that the pipelines are compiled for.
    compiled_for: String,
    /// Maximum number of pipelines that are compiled with the driver's cache, which keeps all of them and frees none. Those that
    /// come later are compiled without it.
    limit: usize,
    state: Lock<State>,
}

struct State {
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
    /// Reads the pipelines of earlier runs. None if no files are cached, or the device cannot.
    pub(super) fn open(device: &wgpu::Device, adapter: &wgpu::Adapter, options: &GpuOptions) -> Option<Self> {
        if !device.features().contains(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let adapter = adapter.get_info();
        let kind = options.buffer_access.suffix();
        let path = options.cache.path()?.join(wgpu::util::pipeline_cache_key(&adapter)? + kind);
        let compiled_for = compiled_for(&adapter) + kind;
        let (file, contents) = CacheFile::open(path, "compiled kernels", MAX_FILE_BYTES);
        if contents.as_deref().is_some_and(|contents| unseal(&compiled_for, contents).is_none()) {
            // This happens after every update of the driver or of this crate.
            let path = file.path().display();
            log::info!(
                "compiled kernels in {path} are not used: they are damaged, or of another driver or version"
            );
        }
        let open = Open::new(device, &compiled_for, contents)?;
        let state = Lock::new(State { open: Some(open), compiled: 0 });
        Some(Self { file, compiled_for, limit: options.pipeline_limit(), state })
    }

    /// The driver's cache, to compile one pipeline with. The caller holds no lock.
    pub(super) fn cache(&self, device: &wgpu::Device) -> Option<wgpu::PipelineCache> {
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
        let open = Open::new(device, &self.compiled_for, self.contents())?;
        // Another thread may have opened it meanwhile.
        let mut state = self.state.lock();
        let cache = state.open.get_or_insert_with(|| open.clone()).cache.clone();
        drop(state);
        drop(open);
        Some(cache)
    }

    /// Stores what was compiled, and closes the driver's cache. The next pipeline opens it again.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        let open = state.open.take();
        let compiled = std::mem::take(&mut state.compiled);
        drop(state);
        if let Some(open) = open.filter(|_| compiled > 0) {
            self.store(&open);
        }
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn contents(&self) -> Option<Vec<u8>> {
        self.file.contents(MAX_FILE_BYTES)
    }

    #[cfg(target_arch = "wasm32")]
    fn contents(&self) -> Option<Vec<u8>> {
        None
    }

    fn store(&self, open: &Open) {
        let Some(data) = open.cache.get_data() else { return };
        if open.start != Some(digest(&self.compiled_for, &data)) {
            self.file.write(&seal(&self.compiled_for, &data));
        }
    }
}

impl Open {
    /// A cache with the contents of the file, if they are for this driver.
    fn new(device: &wgpu::Device, compiled_for: &str, contents: Option<Vec<u8>>) -> Option<Self> {
        let data = contents.as_deref().and_then(|contents| unseal(compiled_for, contents));
        // If the driver rejects the cache, only the start is slower.
        let cache = in_error_scope(device, || raw::pipeline_cache(device, data)).ok()?;
        Some(Self { cache, start: data.map(|data| digest(compiled_for, data)) })
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
