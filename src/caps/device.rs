//! The capabilities of a device as plain data: everything that the choice of a kernel may depend on.

use super::coop::{CoopRow, CoopScalar, CoopScope, FlexibleLimits, RowSizes};
use super::device_type::DeviceType;
use super::extensions::{HAS_MODULES, MatrixExtensions};
use super::machine::Machine;
use super::robust_access::RobustBufferAccess;
use super::subgroups::SubgroupSizes;
use super::units::format_bytes;
use crate::Error;
use std::fmt;

/// The capabilities of a device: plain data, read once from the adapter or written by hand.
///
/// The plan of a problem ([`Problem::plan`](crate::plan::Problem::plan)) is a pure function of the problem and a
/// `Caps`. So a plan for a device that is not present can be printed and tested. [`fixtures`](crate::caps::fixtures)
/// contains the data of real devices.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Caps {
    /// Adapter's name, as its driver reports it.
    pub adapter: String,
    /// Name of the API: `vulkan`, `metal`, `dx12`, `browser-webgpu`, `noop`.
    pub backend: String,
    /// Driver's name and version.
    pub driver: String,
    /// Device type: discrete, integrated, virtual or software.
    pub device_type: DeviceType,
    /// PCI vendor id; 0 for a device without one.
    pub vendor: u32,
    /// Device memory in bytes, if the driver reports it.
    pub memory: Option<u64>,
    /// Support for computing with and storing `f16` in shaders.
    pub f16: bool,
    /// Support for 64-bit integers in shaders, with which one load fetches two f32 elements.
    pub int64: bool,
    /// Subgroup sizes; None without subgroup operations.
    pub subgroups: Option<SubgroupSizes>,
    /// Rows of cooperative matrices that the adapter lists, of any shape, type and scope: on Vulkan all of the driver's, on other
    /// APIs those that wgpu lists. Kernels use few of them ([`coop`](Self::coop), [`rows_of`](Self::rows_of)).
    pub rows: Vec<CoopRow>,
    /// Limits of cooperative matrices of flexible size, if the device has them.
    pub flexible_limits: Option<FlexibleLimits>,
    /// Whether modules in SPIR-V can be passed to the driver: on Vulkan, with the crate's feature `spirv`.
    pub spirv: bool,
    /// Enabled extensions that wgpu does not know.
    pub extensions: MatrixExtensions,
    /// Support for timing a compute pass by the GPU's own clock.
    pub timestamps: bool,
    /// Support for storing compiled pipelines across runs.
    pub pipeline_cache: bool,
    /// Whether the driver checks accesses to buffers. No plan depends on it.
    pub robust_buffer_access: RobustBufferAccess,
    /// Features that this crate could use, but that an application did not request for its own device. They have wgpu's
    /// names ([`Gpu::device_descriptor`](crate::Gpu::device_descriptor)), or Vulkan's after `Gpu::from_vulkan`. Empty on
    /// other devices. No plan depends on it.
    pub not_enabled: Vec<String>,
    /// Limits of the device.
    pub limits: CapsLimits,
    /// Assumptions about the device's speed, from which the costs of plans are predicted.
    pub machine: Machine,
}

/// Limits of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapsLimits {
    /// Maximum size of one storage binding in bytes: the window of a tensor that a kernel can access.
    pub binding_bytes: u64,
    /// Maximum size of one buffer in bytes.
    pub buffer_bytes: u64,
    /// Maximum number of storage bindings of one kernel.
    pub storage_bindings: u32,
    /// Maximum shared memory of one workgroup in bytes.
    pub workgroup_bytes: u32,
    /// Maximum invocations of one workgroup.
    pub workgroup_invocations: u32,
    /// Maximum workgroups along each axis of a grid.
    pub grid: u32,
    /// Maximum size of immediates (push constants) in bytes; 0 if there are none.
    pub immediate_bytes: u32,
}

impl Caps {
    /// Whether a kernel in WGSL may use square cooperative matrices of this size, with operands of type `ab` and sums of type
    /// `c`.
    ///
    /// A row without a verdict counts as usable, so that plans for devices that are not present can be made. In
    /// [`Gpu::caps`](crate::Gpu::caps), every row that such a kernel could use on the device has a verdict.
    ///
    /// # Errors
    /// A text with the kernel's needs and the missing one.
    pub fn coop(&self, size: u32, ab: CoopScalar, c: CoopScalar) -> Result<(), String> {
        let needs =
            |why: String| format!("cooperative matrices {size}x{size}x{size} {ab} x {ab} -> {c}, {why}");
        let Some(row) = self.rows.iter().find(|row| row.is_of_wgsl(size, ab, c)) else {
            let is_listed = |row: &CoopRow| {
                row.sizes == RowSizes::Exact
                    && [row.m, row.n, row.k] == [size; 3]
                    && [row.a, row.b, row.c] == [ab, ab, c]
            };
            let why = if self.rows.iter().any(is_listed) {
                "which WGSL cannot express"
            } else {
                "which the adapter does not list"
            };
            return Err(needs(why.into()));
        };
        if row.is_fenced_off() {
            return Err(needs(row.verdict.to_string()));
        }
        self.coop_conditions(row).map(|_| ()).map_err(needs)
    }

    /// The error of an operation that needs what this device lacks.
    pub(crate) fn unsupported(&self, op: &'static str, needs: impl Into<String>) -> Error {
        Error::Unsupported { op, needs: needs.into(), device: self.adapter.clone() }
    }

    /// The number of invocations that hold a cooperative matrix together: the size of a subgroup.
    pub(crate) fn matrix_lanes(&self) -> u32 {
        self.subgroups.and_then(|sizes| sizes.matrices).unwrap_or(1)
    }

    /// As [`coop`](Self::coop). If the kernel `is_chosen` instead of pinned, it may not use a slow row either.
    pub(crate) fn check_coop(
        &self,
        size: u32,
        ab: CoopScalar,
        c: CoopScalar,
        is_chosen: bool,
    ) -> Result<(), String> {
        self.coop(size, ab, c)?;
        let row = self.rows.iter().find(|row| is_chosen && row.is_of_wgsl(size, ab, c));
        row.and_then(|row| self.slowness(row)).map_or(Ok(()), Err)
    }

    /// The reason against choosing a kernel on this row without a pin: scalar arithmetic is much faster. None on software devices,
    /// because their predictions take the emulation of matrices into account.
    pub(crate) fn slowness(&self, row: &CoopRow) -> Option<String> {
        let speed = row.speed.filter(|speed| speed.is_slow() && self.device_type != DeviceType::Software)?;
        Some(format!(
            "cooperative matrices {row}, {speed} times as fast as scalar arithmetic: for pinned kernels only"
        ))
    }

    /// The rows among which a kernel in any language may choose, with operands of type `ab` and sums of type `c`: of any shape,
    /// held by a subgroup, not saturating and not fenced off, on a device that meets their conditions. Rows of multiples are not
    /// included.
    ///
    /// ```
    /// use tilewise::gpu::CoopScalar;
    /// use tilewise::planning::fixtures;
    ///
    /// let caps = fixtures::lavapipe();
    /// let shapes: Vec<_> = caps.rows_of(CoopScalar::F16, CoopScalar::F32).map(|row| [row.m, row.n, row.k]).collect();
    /// assert_eq!(shapes, [[8, 8, 8]]);
    /// ```
    pub fn rows_of(&self, ab: CoopScalar, c: CoopScalar) -> impl Iterator<Item = &CoopRow> {
        let is_exact = |row: &&CoopRow| row.sizes == RowSizes::Exact && row.scope == CoopScope::Subgroup;
        self.usable_rows(ab, c).filter(is_exact)
    }

    /// The rows of multiples among which a kernel may choose: the same for matrices of any multiple of the row's sizes, held by
    /// `scope`.
    pub fn flexible_rows_of(
        &self,
        ab: CoopScalar,
        c: CoopScalar,
        scope: CoopScope,
    ) -> impl Iterator<Item = &CoopRow> {
        let is_meant = move |row: &&CoopRow| row.sizes != RowSizes::Exact && row.scope == scope;
        self.usable_rows(ab, c).filter(is_meant)
    }

    fn usable_rows(&self, ab: CoopScalar, c: CoopScalar) -> impl Iterator<Item = &CoopRow> {
        self.rows.iter().filter(move |row| {
            [row.a, row.b, row.c] == [ab, ab, c]
                && !row.saturating
                && !row.is_fenced_off()
                && self.coop_conditions(row).is_ok()
        })
    }

    /// Checks the conditions that every kernel on matrices of this row has besides the row itself: the scalar types with
    /// their extensions, and a known subgroup size. Returns the subgroup size, or a text with the missing condition.
    pub(crate) fn coop_conditions(&self, row: &CoopRow) -> Result<u32, String> {
        if [row.a, row.b, row.c].contains(&CoopScalar::F16) && !self.f16 {
            return Err("and f16 in shaders".into());
        }
        for (scalars, has, extension) in [
            (&[CoopScalar::Bf16][..], self.extensions.bfloat16, "VK_KHR_shader_bfloat16"),
            (&[CoopScalar::E4m3, CoopScalar::E5m2], self.extensions.float8, "VK_EXT_shader_float8"),
        ] {
            if !has && [row.a, row.b, row.c].iter().any(|scalar| scalars.contains(scalar)) {
                return Err(format!("and {extension}"));
            }
        }
        let sizes = self.subgroups.ok_or("and subgroups")?;
        sizes.matrices.ok_or_else(|| format!("and subgroups of a known size, not {sizes}"))
    }

    /// Whether a kernel may use at least one row of cooperative matrices.
    #[must_use]
    pub fn has_tensor_cores(&self) -> bool {
        let in_spirv = |row: &CoopRow| {
            self.spirv && row.is_used_in_spirv() && self.rows_of(row.a, row.c).any(|usable| usable == row)
        };
        self.rows.iter().any(|row| self.coop(row.m, row.a, row.c).is_ok() || in_spirv(row))
    }

    /// Whether one of these rows counts for a device's assumed speed. Plans have no kernels on other rows.
    pub(crate) fn has_planned_rows(rows: &[CoopRow]) -> bool {
        let in_spirv = |row: &CoopRow| HAS_MODULES && row.is_used_in_spirv();
        rows.iter().any(|row| row.is_spelled_in_wgsl() || in_spirv(row))
    }

    /// The same device with another device type.
    #[must_use]
    pub fn planned_for(self, device_type: DeviceType) -> Self {
        let has_rows = Self::has_planned_rows(&self.rows);
        let machine = Machine::of(&self.adapter, &self.backend, self.vendor, device_type, has_rows);
        Self { device_type, machine, ..self }
    }

    /// The same device with the assumed speed of the device of this name.
    pub(crate) fn at_speed_of(self, adapter: &str) -> Self {
        let has_rows = Self::has_planned_rows(&self.rows);
        let machine = Machine::of(adapter, &self.backend, self.vendor, self.device_type, has_rows);
        Self { machine, ..self }
    }
}

/// A table with one line per fact. Sizes are in powers of 1024, rates in powers of 1000.
impl fmt::Display for Caps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let yes = |has| if has { "yes" } else { "no" };
        let name = if self.adapter.is_empty() { "(no name)" } else { &self.adapter };
        let driver = if self.driver.is_empty() { "(no name)" } else { &self.driver };
        let memory = self.memory.map_or("not reported".into(), format_bytes);
        let subgroups = self.subgroups.map_or("none".into(), |s| s.to_string());
        let why_unknown = match self.robust_buffer_access {
            RobustBufferAccess::Unknown => " (adopted, or not Vulkan)",
            _ => "",
        };
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
            let speed = row
                .speed
                .map_or(String::new(), |speed| format!(", {speed} times as fast as scalar arithmetic"));
            let fence = self.slowness(row).map_or("", |_| ": for pinned kernels only");
            writeln!(f, "  {:<16} {row}{speed}{fence}", if at == 0 { "matrix rows" } else { "" })?;
        }
        if let Some(FlexibleLimits { dimension, workgroup_invocations, reserved_bytes }) =
            self.flexible_limits
        {
            let reserved = format_bytes(reserved_bytes.into());
            writeln!(
                f,
                "  flexible limits  {dimension} along an axis, workgroups of {workgroup_invocations}, {reserved} of shared \
                 memory reserved"
            )?;
        }
        writeln!(f, "  spirv            {}", yes(self.spirv))?;
        writeln!(f, "  extensions       {}", self.extensions)?;
        writeln!(f, "  timestamps       {}", yes(self.timestamps))?;
        writeln!(f, "  pipeline cache   {}", yes(self.pipeline_cache))?;
        writeln!(f, "  robust access    {}{why_unknown}", self.robust_buffer_access)?;
        for (at, name) in self.not_enabled.iter().enumerate() {
            writeln!(f, "  {:<16} {name}", if at == 0 { "not enabled" } else { "" })?;
        }
        writeln!(f, "  workgroup        {} invocations", limits.workgroup_invocations)?;
        writeln!(f, "  shared memory    {}", format_bytes(limits.workgroup_bytes.into()))?;
        writeln!(f, "  grid             {} workgroups along each axis", limits.grid)?;
        writeln!(f, "  binding          {}", format_bytes(limits.binding_bytes))?;
        writeln!(f, "  bindings         {}", limits.storage_bindings)?;
        writeln!(f, "  buffer           {}", format_bytes(limits.buffer_bytes))?;
        writeln!(f, "  immediates       {}", format_bytes(limits.immediate_bytes.into()))?;
        write!(f, "{}", self.machine)
    }
}
