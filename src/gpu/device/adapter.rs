//! Reads [`Caps`] from an adapter and from a device that was opened on it.

use crate::caps::{
    Assumptions, Caps, CapsLimits, CoopRow, CoopScalar, DeviceType, HAS_MODULES, Machine, MatrixExtensions,
    RobustBufferAccess, SubgroupSizes,
};
use crate::gpu::extensions::{self, ListedMatrices};
use crate::gpu::options::buffer_access::BufferAccess;
use crate::gpu::raw;

impl Caps {
    /// Reads the capabilities of `adapter`: an upper bound. A device that was opened with fewer features can do less,
    /// see [`Gpu::caps`](crate::Gpu::caps).
    #[must_use]
    pub fn of(adapter: &wgpu::Adapter) -> Self {
        let robust = BufferAccess::default().on(adapter.get_info().backend);
        let features = features_of(adapter);
        let extensions = extensions::matrix_features(adapter, features).extensions();
        Self::read(adapter, (features, extensions), &adapter.limits(), robust, &Assumptions::default())
    }

    /// The capabilities of a device that was opened on `adapter` with these features, extensions and limits, and what is
    /// assumed of it: rows are added to those that the adapter lists, and subgroup sizes replace those that it reports.
    pub(in crate::gpu) fn read(
        adapter: &wgpu::Adapter,
        (features, extensions): (wgpu::Features, MatrixExtensions),
        limits: &wgpu::Limits,
        robust_buffer_access: RobustBufferAccess,
        assume: &Assumptions,
    ) -> Self {
        use wgpu::Features as F;
        let info = adapter.get_info();
        let device_type = DeviceType::of(info.device_type);
        let listed = if features.contains(F::EXPERIMENTAL_COOPERATIVE_MATRIX) {
            matrices_of(adapter, extensions)
        } else {
            ListedMatrices::default()
        };
        let claimed = assume.rows.iter().map(|row| crate::gpu::rows::known_caps::untested(*row));
        let mut rows = Vec::new();
        for row in listed.rows.into_iter().chain(claimed) {
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        let subgroups = assume.subgroups.unwrap_or_else(|| SubgroupSizes::of(&info));
        Self {
            machine: Machine::of(
                &info.name,
                info.backend.to_str(),
                info.vendor,
                device_type,
                Self::has_planned_rows(&rows),
            ),
            backend: info.backend.to_str().to_owned(),
            driver: [info.driver, info.driver_info].join(" ").trim().to_owned(),
            adapter: info.name,
            device_type,
            vendor: info.vendor,
            memory: raw::device_memory(adapter),
            f16: features.contains(F::SHADER_F16),
            int64: features.contains(F::SHADER_INT64),
            subgroups: features.contains(F::SUBGROUP).then_some(subgroups),
            rows,
            flexible_limits: listed.flexible_limits,
            spirv: features.intersects(spirv_features(info.backend)),
            extensions,
            timestamps: features.contains(F::TIMESTAMP_QUERY),
            pipeline_cache: features.contains(F::PIPELINE_CACHE),
            robust_buffer_access,
            not_enabled: Vec::new(),
            limits: CapsLimits::of(limits, features),
        }
    }
}

/// The features that a device of this adapter can be opened with.
pub(in crate::gpu) fn features_of(adapter: &wgpu::Adapter) -> wgpu::Features {
    let listed = adapter.features();
    let matrices = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX;
    if listed.contains(matrices) && !raw::has_matrices(adapter) { listed - matrices } else { listed }
}

/// The features of wgpu that kernels in SPIR-V need, on a device of this API.
pub(in crate::gpu) fn spirv_features(backend: wgpu::Backend) -> wgpu::Features {
    let is_taken = HAS_MODULES && backend == wgpu::Backend::Vulkan;
    if is_taken { wgpu::Features::PASSTHROUGH_SHADERS } else { wgpu::Features::empty() }
}

/// The rows of cooperative matrices that the adapter lists: on Vulkan all rows of the driver, else those that wgpu
/// knows.
fn matrices_of(adapter: &wgpu::Adapter, enabled: MatrixExtensions) -> ListedMatrices {
    extensions::matrices(adapter, enabled).unwrap_or_else(|| {
        let rows = adapter.cooperative_matrix_properties();
        ListedMatrices { rows: rows.iter().map(CoopRow::of).collect(), ..Default::default() }
    })
}

impl DeviceType {
    pub(in crate::gpu) fn of(device_type: wgpu::DeviceType) -> Self {
        match device_type {
            wgpu::DeviceType::DiscreteGpu => Self::Discrete,
            wgpu::DeviceType::IntegratedGpu => Self::Integrated,
            wgpu::DeviceType::VirtualGpu => Self::Virtual,
            wgpu::DeviceType::Cpu => Self::Software,
            wgpu::DeviceType::Other => Self::Unknown,
        }
    }
}

impl SubgroupSizes {
    fn of(info: &wgpu::AdapterInfo) -> Self {
        // NOTE: Metal does not report subgroup sizes, and wgpu says "4 to 64" for every Metal device. All of Apple's own
        // GPUs have 32. If a device had another size, the self-test of each row would detect it and fence off the row,
        // because it checks the size.
        if info.backend == wgpu::Backend::Metal && info.name.starts_with("Apple") {
            return Self::on(32, 32, &info.driver);
        }
        // NOTE: a browser does not name the driver, so if a device has several sizes, the size of a kernel is never
        // known there. The proof of a size waits for the device, which a browser does not allow.
        Self::on(info.subgroup_min_size, info.subgroup_max_size, &info.driver)
    }
}

impl CapsLimits {
    fn of(limits: &wgpu::Limits, features: wgpu::Features) -> Self {
        let immediates = features.contains(wgpu::Features::IMMEDIATES);
        Self {
            // NOTE: a window stays below 2^31 bytes, because shaders count in u32 and some drivers in i32. It is a
            // whole number of 16-byte units.
            binding_bytes: limits.max_storage_buffer_binding_size.min((1 << 31) - 1) / 16 * 16,
            buffer_bytes: limits.max_buffer_size,
            // All operands of a kernel are in one bind group.
            storage_bindings: limits
                .max_storage_buffers_per_shader_stage
                .min(limits.max_bindings_per_bind_group),
            workgroup_bytes: limits.max_compute_workgroup_storage_size,
            workgroup_invocations: limits
                .max_compute_invocations_per_workgroup
                .min(limits.max_compute_workgroup_size_x),
            grid: limits.max_compute_workgroups_per_dimension,
            immediate_bytes: if immediates { limits.max_immediate_size } else { 0 },
        }
    }
}

impl CoopRow {
    fn of(row: &wgpu::CooperativeMatrixProperties) -> Self {
        let ab = CoopScalar::of(row.ab_type);
        let sizes = [row.m_size, row.n_size, row.k_size];
        let found = Self::untested(sizes, [ab, ab, CoopScalar::of(row.cr_type)]);
        Self { saturating: row.saturating_accumulation, ..found }
    }
}

impl CoopScalar {
    fn of(scalar: wgpu::CooperativeScalarType) -> Self {
        match scalar {
            wgpu::CooperativeScalarType::F32 => Self::F32,
            wgpu::CooperativeScalarType::F16 => Self::F16,
            wgpu::CooperativeScalarType::I32 => Self::I32,
            wgpu::CooperativeScalarType::U32 => Self::U32,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::caps::SubgroupSizes;

    #[test]
    fn subgroups_of_apples_own_devices_have_one_size() {
        for (backend, name, sizes) in [
            (wgpu::Backend::Metal, "Apple M2", [32, 32]),
            (wgpu::Backend::Metal, "AMD Radeon Pro 560", [4, 64]),
            (wgpu::Backend::Vulkan, "Apple M2", [4, 64]),
        ] {
            let mut info = wgpu::AdapterInfo::new(wgpu::DeviceType::IntegratedGpu, backend);
            (info.name, info.subgroup_min_size, info.subgroup_max_size) = (name.into(), 4, 64);
            let SubgroupSizes { min, max, .. } = SubgroupSizes::of(&info);
            assert_eq!([min, max], sizes, "{name}, {backend}");
        }
    }
}
