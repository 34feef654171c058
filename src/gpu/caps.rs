//! What a device can do, as plain data: everything that a choice of kernel may depend on.

use crate::gpu::raw;
use std::fmt;

/// What a device can do: plain data, read once from the adapter, or made by hand.
///
/// [`crate::gemm::plan`] and its siblings are pure functions of a problem and a `Caps`, so a plan
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
    /// How fast the device is at best: what plans are weighed by.
    pub roofs: Roofs,
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

/// One cooperative-matrix shape: $C_{m \times n} \mathrel{+}= A_{m \times k} B_{k \times n}$.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CoopRow {
    /// Rows of A and C.
    pub m: u32,
    /// Columns of B and C.
    pub n: u32,
    /// Columns of A and rows of B.
    pub k: u32,
    /// Scalar type of A.
    pub a: CoopScalar,
    /// Scalar type of B.
    pub b: CoopScalar,
    /// Scalar type of C, operand and result.
    pub c: CoopScalar,
    /// Who holds a matrix together.
    pub scope: CoopScope,
}

/// Scalar type of a cooperative matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CoopScalar {
    /// 16-bit floating point.
    F16,
    /// 32-bit floating point.
    F32,
    /// 32-bit signed integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
}

/// The invocations that hold a cooperative matrix together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CoopScope {
    /// One subgroup.
    Subgroup,
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

/// What the device reaches at best. Only ratios matter: they weigh one plan against another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roofs {
    /// Multiply-adds of f32 outside tensor cores, in flop/s (a multiply-add counts two).
    pub f32_flops: f64,
    /// Multiply-adds of f16 outside tensor cores, in flop/s.
    pub f16_flops: f64,
    /// Multiply-adds of f16 on cooperative matrices, in flop/s; 0 where there are none.
    pub coop_flops: f64,
    /// Device memory, bytes/s.
    pub bytes: f64,
    /// The last cache that all cores share, bytes/s.
    pub cache_bytes: f64,
    /// The size of that cache, in bytes.
    pub cache: u64,
    /// Independent cores (streaming multiprocessors, compute units, threads).
    pub cores: u32,
}

impl Caps {
    /// Reads what `adapter` can do at best. A device opened with fewer features can do less:
    /// [`Gpu::caps`](crate::Gpu::caps) tells.
    #[must_use]
    pub fn of(adapter: &wgpu::Adapter) -> Self {
        Self::read(adapter, adapter.features(), &adapter.limits())
    }

    /// What a device opened on `adapter` with these features and limits can do.
    pub(crate) fn read(adapter: &wgpu::Adapter, features: wgpu::Features, limits: &wgpu::Limits) -> Self {
        use wgpu::Features as F;
        let info = adapter.get_info();
        let device_type = DeviceType::of(info.device_type);
        let rows = if features.contains(F::EXPERIMENTAL_COOPERATIVE_MATRIX) {
            adapter.cooperative_matrix_properties().iter().filter_map(CoopRow::of).collect()
        } else {
            Vec::new()
        };
        Self {
            roofs: Roofs::of(&info.name, device_type, !rows.is_empty()),
            backend: info.backend.to_str().to_owned(),
            driver: [info.driver, info.driver_info].join(" ").trim().to_owned(),
            adapter: info.name,
            device_type,
            vendor: info.vendor,
            memory: raw::device_memory(adapter),
            f16: features.contains(F::SHADER_F16),
            subgroups: features
                .contains(F::SUBGROUP)
                .then_some(SubgroupSizes { min: info.subgroup_min_size, max: info.subgroup_max_size }),
            rows,
            timestamps: features.contains(F::TIMESTAMP_QUERY),
            pipeline_cache: features.contains(F::PIPELINE_CACHE),
            limits: CapsLimits::of(limits, features),
        }
    }

    /// STUB
    pub fn coop(&self, size: u32, ab: CoopScalar, c: CoopScalar) -> Result<(), String> {
        let what = format!("cooperative matrices {size}x{size}x{size} {ab} x {ab} -> {c}");
        if !self.rows.iter().any(|r| r.m == size && r.a == ab && r.c == c) {
            return Err(format!("{what}, which the adapter does not list"));
        }
        if !self.f16 {
            return Err(format!("{what}, and f16 in shaders"));
        }
        match self.subgroups {
            Some(sizes) if sizes.min == sizes.max => Ok(()),
            _ => Err(format!("{what}, and subgroups of one size")),
        }
    }

    /// Whether a kernel on cooperative matrices can be trusted here: the adapter lists a row, f16
    /// is there to feed it, and a subgroup has one size.
    #[must_use]
    pub fn has_tensor_cores(&self) -> bool {
        !self.rows.is_empty() && self.f16 && self.subgroups.is_some_and(|s| s.min == s.max)
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

impl CoopRow {
    /// The row, if the shading language can spell it: naga 30 has square matrices of floats only.
    fn of(row: &wgpu::CooperativeMatrixProperties) -> Option<Self> {
        let (m, n, k) = (row.m_size, row.n_size, row.k_size);
        let ab = CoopScalar::of(row.ab_type);
        let c = CoopScalar::of(row.cr_type);
        let float = |s| matches!(s, CoopScalar::F16 | CoopScalar::F32);
        let spelled = m == n && n == k && [8, 16].contains(&m) && float(ab) && float(c);
        spelled.then_some(Self { m, n, k, a: ab, b: ab, c, scope: CoopScope::Subgroup })
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

impl CapsLimits {
    fn of(limits: &wgpu::Limits, features: wgpu::Features) -> Self {
        let immediates = features.contains(wgpu::Features::IMMEDIATES);
        Self {
            // NOTE: shaders count in u32 and some drivers in i32, so a window stays below 2^31.
            binding_bytes: limits.max_storage_buffer_binding_size.min((1 << 31) - 4),
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
        let (limits, roofs) = (&self.limits, &self.roofs);
        writeln!(f, "{name}")?;
        writeln!(f, "  device           {}, {}", self.device_type, self.backend)?;
        writeln!(f, "  driver           {driver}")?;
        writeln!(f, "  memory           {memory}")?;
        writeln!(f, "  f16              {}", yes(self.f16))?;
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
        writeln!(f, "  f32 roof         {}", rate(roofs.f32_flops, "FLOP/s"))?;
        writeln!(f, "  matrix roof      {}", rate(roofs.coop_flops, "FLOP/s"))?;
        writeln!(f, "  memory roof      {}", rate(roofs.bytes, "B/s"))?;
        write!(f, "  cores            {}", roofs.cores)
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

/// `16x16x16 f16 x f16 -> f32 (subgroup)`: m, n, k, then the types of A, B and C.
impl fmt::Display for CoopRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { m, n, k, a, b, c, scope } = self;
        write!(f, "{m}x{n}x{k} {a} x {b} -> {c} ({scope})")
    }
}

impl fmt::Display for CoopScalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::I32 => "i32",
            Self::U32 => "u32",
        })
    }
}

impl fmt::Display for CoopScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Subgroup => "subgroup",
        })
    }
}

/// `128 MiB`; `~2.0 GiB` where the size is no whole number of its unit.
fn bytes(size: u64) -> String {
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
fn rate(per_second: f64, unit: &str) -> String {
    let (scale, prefix) = [(1e12, "T"), (1e9, "G"), (1e6, "M")]
        .into_iter()
        .find(|&(scale, _)| per_second >= scale)
        .unwrap_or((1.0, ""));
    let tenths = (per_second / scale * 10.0).round() / 10.0;
    format!("{tenths} {prefix}{unit}")
}
