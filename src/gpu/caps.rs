//! What a device can do, as plain data: everything that a choice of kernel may depend on.

use super::{CoopRow, Machine, Verdict, raw};
use std::fmt;

/// What a device can do: plain data, read once from the adapter, or made by hand.
///
/// The plan of a problem ([`Problem::plan`](crate::plan::Problem::plan)) is a pure function of it and a `Caps`, so a plan
/// for a device that is not here can be printed and tested. [`fixtures`](crate::gpu::fixtures)
/// holds the data of real devices.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Caps {
    /// The adapter's name, as its driver reports it.
    pub adapter: String,
    /// The API underneath: `vulkan`, `metal`, `dx12`, `browser-webgpu`, `noop`.
    pub backend: String,
    /// The driver's name and version.
    pub driver: String,
    /// Discrete, integrated, virtual or software.
    pub device_type: DeviceType,
    /// PCI vendor id (0 where there is none).
    pub vendor: u32,
    /// Bytes of device memory, where the driver tells.
    pub memory: Option<u64>,
    /// Whether shaders may compute with and store `f16`.
    pub f16: bool,
    /// Whether shaders may load and compute with integers of 64 bits: two elements of f32 in one load.
    pub int64: bool,
    /// Subgroup sizes, where subgroup operations are available.
    pub subgroups: Option<SubgroupSizes>,
    /// The cooperative-matrix shapes that the adapter lists and the shading language can spell.
    pub rows: Vec<CoopRow>,
    /// Whether a compute pass can be timed by the GPU's own clock.
    pub timestamps: bool,
    /// Whether compiled pipelines can be kept across runs.
    pub pipeline_cache: bool,
    /// Sizes that the device allows.
    pub limits: CapsLimits,
    /// What is assumed of the device: what plans are weighed by.
    pub machine: Machine,
}

/// The kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceType {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the CPU's memory.
    Integrated,
    /// A GPU lent to a virtual machine.
    Virtual,
    /// A CPU that plays a GPU: slow, and the same everywhere.
    Software,
    /// The driver does not say.
    Unknown,
}

/// The sizes that a subgroup may have, in invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubgroupSizes {
    /// The smallest.
    pub min: u32,
    /// The largest.
    pub max: u32,
}

/// Sizes that a device allows. Bytes and invocations, as named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapsLimits {
    /// Bytes of one storage binding: the window of a tensor that a kernel may see.
    pub binding_bytes: u64,
    /// Bytes of one buffer.
    pub buffer_bytes: u64,
    /// Storage bindings of one kernel.
    pub storage_bindings: u32,
    /// Bytes of shared memory of one workgroup.
    pub workgroup_bytes: u32,
    /// Invocations of one workgroup.
    pub workgroup_invocations: u32,
    /// Workgroups along each axis of a grid.
    pub grid: u32,
    /// Bytes of immediates (push constants); 0 where there are none.
    pub immediate_bytes: u32,
}

impl Caps {
    /// Reads what `adapter` can do at best. A device opened with fewer features can do less:
    /// [`Gpu::caps`](crate::Gpu::caps) tells.
    #[must_use]
    pub fn of(adapter: &wgpu::Adapter) -> Self {
        Self::read(adapter, adapter.features(), &adapter.limits(), &[])
    }

    /// What a device opened on `adapter` with these features and limits can do, if it has these rows besides those
    /// that the adapter lists.
    pub(super) fn read(
        adapter: &wgpu::Adapter,
        features: wgpu::Features,
        limits: &wgpu::Limits,
        claims: &[CoopRow],
    ) -> Self {
        use wgpu::Features as F;
        let info = adapter.get_info();
        let device_type = DeviceType::of(info.device_type);
        let listed = if features.contains(F::EXPERIMENTAL_COOPERATIVE_MATRIX) {
            adapter.cooperative_matrix_properties()
        } else {
            Vec::new()
        };
        let claimed = claims.iter().map(|row| CoopRow { verdict: Verdict::Untested, ..*row });
        let mut rows = Vec::new();
        for row in listed.iter().filter_map(CoopRow::of).chain(claimed) {
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        let subgroups = SubgroupSizes::of(&info);
        Self {
            machine: Machine::of(&info.name, info.backend.to_str(), device_type, !rows.is_empty()),
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
            timestamps: features.contains(F::TIMESTAMP_QUERY),
            pipeline_cache: features.contains(F::PIPELINE_CACHE),
            limits: CapsLimits::of(limits, features),
        }
    }

    /// The same device, if it were one of another type: its plans are those that such devices get.
    #[must_use]
    pub fn planned_for(self, device_type: DeviceType) -> Self {
        let machine = Machine::of(&self.adapter, &self.backend, device_type, !self.rows.is_empty());
        Self { device_type, machine, ..self }
    }
}

impl DeviceType {
    pub(super) fn of(device_type: wgpu::DeviceType) -> Self {
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
        // NOTE: Metal does not tell, and wgpu says "4 to 64" of every device. Apple's own GPUs have 32, all of them;
        // the self-test of each row, which compares, would fence off its row if one had not.
        if info.backend == wgpu::Backend::Metal && info.name.starts_with("Apple") {
            return Self { min: 32, max: 32 };
        }
        Self { min: info.subgroup_min_size, max: info.subgroup_max_size }
    }
}

impl CapsLimits {
    fn of(limits: &wgpu::Limits, features: wgpu::Features) -> Self {
        let immediates = features.contains(wgpu::Features::IMMEDIATES);
        Self {
            // NOTE: shaders count in u32 and some drivers in i32, so a window stays below 2^31. It is whole units.
            binding_bytes: limits.max_storage_buffer_binding_size.min((1 << 31) - 1) / 16 * 16,
            buffer_bytes: limits.max_buffer_size,
            storage_bindings: limits.max_storage_buffers_per_shader_stage,
            workgroup_bytes: limits.max_compute_workgroup_storage_size,
            workgroup_invocations: limits
                .max_compute_invocations_per_workgroup
                .min(limits.max_compute_workgroup_size_x),
            grid: limits.max_compute_workgroups_per_dimension,
            immediate_bytes: if immediates { limits.max_immediate_size } else { 0 },
        }
    }
}

/// A table for people: one line per fact, sizes in powers of 1024, speeds in powers of 1000.
impl fmt::Display for Caps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let yes = |has| if has { "yes" } else { "no" };
        let name = if self.adapter.is_empty() { "(no name)" } else { &self.adapter };
        let driver = if self.driver.is_empty() { "(no name)" } else { &self.driver };
        let memory = self.memory.map_or("not told".into(), bytes);
        let subgroups = self.subgroups.map_or("none".into(), |s| s.to_string());
        let limits = &self.limits;
        writeln!(f, "{name}")?;
        writeln!(f, "  device           {}, {}", self.device_type, self.backend)?;
        writeln!(f, "  driver           {driver}")?;
        writeln!(f, "  memory           {memory}")?;
        writeln!(f, "  f16              {}", yes(self.f16))?;
        writeln!(f, "  int64            {}", yes(self.int64))?;
        writeln!(f, "  subgroups        {subgroups}")?;
        writeln!(f, "  tensor cores     {}", yes(self.has_tensor_cores()))?;
        if self.rows.is_empty() {
            writeln!(f, "  matrix rows      none")?;
        }
        for (at, row) in self.rows.iter().enumerate() {
            writeln!(f, "  {:<16} {row}", if at == 0 { "matrix rows" } else { "" })?;
        }
        writeln!(f, "  timestamps       {}", yes(self.timestamps))?;
        writeln!(f, "  pipeline cache   {}", yes(self.pipeline_cache))?;
        writeln!(f, "  workgroup        {} invocations", limits.workgroup_invocations)?;
        writeln!(f, "  shared memory    {}", bytes(limits.workgroup_bytes.into()))?;
        writeln!(f, "  grid             {} workgroups along each axis", limits.grid)?;
        writeln!(f, "  binding          {}", bytes(limits.binding_bytes))?;
        writeln!(f, "  bindings         {}", limits.storage_bindings)?;
        writeln!(f, "  buffer           {}", bytes(limits.buffer_bytes))?;
        writeln!(f, "  immediates       {}", bytes(limits.immediate_bytes.into()))?;
        write!(f, "{}", self.machine)
    }
}

impl fmt::Display for DeviceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Software => "software",
            Self::Unknown => "unknown",
        })
    }
}

/// `32`, or `32 to 64` where a kernel cannot know.
impl fmt::Display for SubgroupSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.min == self.max {
            write!(f, "{}", self.min)
        } else {
            write!(f, "{} to {}", self.min, self.max)
        }
    }
}

/// `128 MiB`; `~2.0 GiB` where the size is no whole number of its unit.
pub(super) fn bytes(size: u64) -> String {
    let (unit, name) = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        .into_iter()
        .find(|&(unit, _)| size >= unit)
        .unwrap_or((1, "B"));
    if size.is_multiple_of(unit) {
        format!("{} {name}", size / unit)
    } else {
        format!("~{:.1} {name}", size as f64 / unit as f64)
    }
}

/// `58 GFLOP/s`, with one decimal where it is not zero.
pub(super) fn rate(per_second: f64, unit: &str) -> String {
    let (scale, prefix) = [(1e12, "T"), (1e9, "G"), (1e6, "M")]
        .into_iter()
        .find(|&(scale, _)| per_second >= scale)
        .unwrap_or((1.0, ""));
    let tenths = (per_second / scale * 10.0).round() / 10.0;
    format!("{tenths} {prefix}{unit}")
}

#[cfg(test)]
mod tests {
    use super::SubgroupSizes;

    #[test]
    fn subgroups_of_apples_own_devices_have_one_size() {
        for (backend, name, sizes) in [
            (wgpu::Backend::Metal, "Apple M2", [32, 32]),
            (wgpu::Backend::Metal, "AMD Radeon Pro 560", [4, 64]),
            (wgpu::Backend::Vulkan, "Apple M2", [4, 64]),
        ] {
            let mut info = wgpu::AdapterInfo::new(wgpu::DeviceType::IntegratedGpu, backend);
            (info.name, info.subgroup_min_size, info.subgroup_max_size) = (name.into(), 4, 64);
            let SubgroupSizes { min, max } = SubgroupSizes::of(&info);
            assert_eq!([min, max], sizes, "{name}, {backend}");
        }
    }
}
