//! What a device can do, as plain data: everything that a choice of kernel may depend on.

use super::coop::{CoopRow, CoopScalar, Verdict};
use super::device_type::DeviceType;
use super::machine::Machine;
use super::units::bytes;
use std::fmt;

/// What a device can do: plain data, read once from the adapter, or made by hand.
///
/// The plan of a problem ([`Problem::plan`](crate::plan::Problem::plan)) is a pure function of it and a `Caps`, so a plan
/// for a device that is not here can be printed and tested. [`fixtures`](crate::caps::fixtures)
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
    /// Whether a kernel may use the square matrices of this size, with operands of type `ab` and sums of type `c`.
    ///
    /// A row that was not tested counts as usable, so that plans for devices that are not here can be made;
    /// [`Gpu::caps`](crate::Gpu::caps) holds no such row that its device could run.
    ///
    /// # Errors
    /// What the kernel needs and why it is not so, in words.
    pub fn coop(&self, size: u32, ab: CoopScalar, c: CoopScalar) -> Result<(), String> {
        let needs =
            |why: String| format!("cooperative matrices {size}x{size}x{size} {ab} x {ab} -> {c}, {why}");
        let asked = |row: &&CoopRow| row.is_square() && row.m == size && [row.a, row.c] == [ab, c];
        let row =
            self.rows.iter().find(asked).ok_or_else(|| needs("which the adapter does not list".into()))?;
        if matches!(row.verdict, Verdict::Wrong | Verdict::Refused) {
            return Err(needs(row.verdict.to_string()));
        }
        self.coop_conditions(row).map(|_| ()).map_err(needs)
    }

    /// What every kernel on matrices of this row needs besides the row: its types, and subgroups of a size that it can
    /// be written for.
    /// The subgroup's size, or what is missing.
    pub(crate) fn coop_conditions(&self, row: &CoopRow) -> Result<u32, String> {
        if [row.a, row.b, row.c].contains(&CoopScalar::F16) && !self.f16 {
            return Err("and f16 in shaders".into());
        }
        match self.subgroups {
            Some(sizes) if sizes.min == sizes.max => Ok(sizes.min),
            Some(sizes) => Err(format!("and subgroups of one size, not {sizes}")),
            None => Err("and subgroups".into()),
        }
    }

    /// Whether a kernel may use some row of cooperative matrices, see [`coop`](Self::coop).
    #[must_use]
    pub fn has_tensor_cores(&self) -> bool {
        self.rows.iter().any(|row| self.coop(row.m, row.a, row.c).is_ok())
    }

    /// The same device, if it were one of another type: its plans are those that such devices get.
    #[must_use]
    pub fn planned_for(self, device_type: DeviceType) -> Self {
        let machine = Machine::of(&self.adapter, &self.backend, device_type, !self.rows.is_empty());
        Self { device_type, machine, ..self }
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
