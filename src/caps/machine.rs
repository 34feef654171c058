//! What is assumed of a device: how fast its parts are, what they wait for, and what they hold. Each assumption stands here
//! once, with its source; kernels are chosen by it.

use super::device_type::DeviceType;
use super::peaks::Peaks;
use super::units::{bytes, rate};
use std::fmt;

/// What is assumed of a device. Predictions weigh one plan against another by it; none is a promise.
///
/// The peak rates are those of data sheets for devices that are known by name, and of the middle of what is sold for
/// others. What is said of GPUs beside them is the same for all but where a field says otherwise; what is said of software
/// devices was fitted to lavapipe on two cores (see the book's measuring page).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Machine {
    /// Multiply-adds of f32 outside tensor cores, in flop/s (a multiply-add counts two).
    pub f32_flops: f64,
    /// Multiply-adds of f16 outside tensor cores, in flop/s.
    pub f16_flops: f64,
    /// Multiply-adds of i8, in words of four, in flop/s: twice those of f32. A packed dot product is four of them in one
    /// instruction, which NVIDIA issues half as often as one of f32, others as often. On lavapipe the same patches of a
    /// product ran 2.3 to 3.1 times as fast.
    pub i8_flops: f64,
    /// Multiply-adds of f16 on cooperative matrices, in flop/s; 0 where there are none.
    pub matrix_flops: f64,
    /// Device memory, bytes/s.
    pub bytes: f64,
    /// The last cache that all cores share, bytes/s.
    pub cache_bytes: f64,
    /// Shared memory of all cores together, bytes/s: as the last cache; of software devices, which have none, device memory.
    pub shared_bytes: f64,
    /// The size of the last cache that all cores share, in bytes.
    pub cache: u64,
    /// Independent cores (streaming multiprocessors, compute units, threads).
    pub cores: u32,
    /// Invocations that keep a core busy: of GPUs 128, four schedulers with a subgroup of 32 each. A software device runs one
    /// workgroup per core at a time, whatever its size.
    pub busy_invocations: u32,
    /// Invocations that a core runs together, as lanes of one vector: of GPUs 32, the subgroups of NVIDIA's, AMD's RDNA and
    /// Apple's; of software devices 8, the numbers of f32 in a vector register of AVX2.
    pub vector_lanes: u32,
    /// Workgroups of a core that there should be at least, so that all cores are at work to the end and one workgroup's
    /// waiting hides behind another's work: 4, assumed.
    pub groups_per_core: u32,
    /// Seconds from the end of one launch to the start of the next that waits for it: of GPUs 4 us, assumed; of a software
    /// device, which wakes its threads, 40 us.
    pub launch_seconds: f64,
    /// Seconds that a load from device memory takes to arrive: of GPUs 0.6 us, assumed. A software device's compiler and CPU
    /// load ahead.
    pub load_seconds: f64,
    /// Seconds that a software device takes to begin an invocation and to add its sums to those of its neighbours; 0 of GPUs,
    /// where invocations begin side by side.
    pub invocation_seconds: f64,
    /// Bytes of a cache line, which loads of neighbours should fill: of GPUs 128.
    pub line_bytes: f64,
    /// Bytes that device memory moves at least: 32.
    pub sector_bytes: f64,
    /// Bytes that could have been read in the time that it takes to come to another run of memory: of software devices 128.
    pub jump_bytes: f64,
    /// Loads that a compiler issues together, of a loop whose steps each wait for one: 4.
    pub loads_together: f64,
    /// Neighbouring elements that an invocation loads in the time of one: of GPUs 4, since one instruction loads up to 16 bytes.
    /// Of software devices 1: each invocation is a lane of the CPU's vectors, so its own vectors are loaded by elements.
    pub elements_per_load: u32,
    /// Multiply-adds of f32 that a core does in the time of a read from shared memory: of GPUs 2, since shared memory delivers
    /// about as many bytes a cycle as there are multiply-adds, to operands widened to f32; of software devices 9.
    pub shared_read_weight: f64,
    /// The same for a read through the caches: 9.
    pub cached_read_weight: f64,
    /// Numbers that an invocation can hold before what its compiler spills costs time: of GPUs 128, a half of the registers
    /// that NVIDIA's and AMD's have; of software devices 64, since functions of multivectors on lavapipe lose time with more
    /// than three quarters of that, on CPUs with 16 vector registers.
    pub registers: u32,
    /// Sums that an invocation of a matrix product can hold beside its operands: of GPUs 128, of Apple's, which have half the
    /// registers, 64. Of software devices 128 too: with 256 their compilers took seconds longer.
    pub accumulators: u32,
    /// Seconds longer that a kernel takes to compile whose invocations hold more sums than that. Of software devices 3, measured
    /// on lavapipe: the sums are in the CPU's first cache, where larger patches pay. `None` of GPUs, which would
    /// spill them to device memory: they get no such kernels.
    pub compile_seconds: Option<f64>,
    /// Registers of all invocations of a workgroup: 65,536, those of a multiprocessor of NVIDIA's. None of software devices.
    pub workgroup_registers: Option<u32>,
    /// Terms of a function of multivectors that a kernel has written out at most, a multiply-add each: 1,024, which drivers'
    /// compilers take seconds for, and just those of the product of the conformal algebra of space.
    pub terms: usize,
}

impl Machine {
    /// What is assumed of the device that its driver calls `adapter`. Without rows of cooperative matrices (`has_rows`) there
    /// is no peak for them, whatever the silicon could do.
    pub(crate) fn of(adapter: &str, backend: &str, device_type: DeviceType, has_rows: bool) -> Self {
        let Peaks { f32_flops, f16_flops, matrix_flops, bytes, cache_bytes, cache, cores } =
            Peaks::of(adapter, device_type);
        let gpu = Self {
            f32_flops,
            f16_flops,
            i8_flops: 2.0 * f32_flops,
            matrix_flops: if has_rows { matrix_flops } else { 0.0 },
            bytes,
            cache_bytes,
            shared_bytes: cache_bytes,
            cache,
            cores,
            busy_invocations: 128,
            vector_lanes: 32,
            groups_per_core: 4,
            launch_seconds: 4e-6,
            load_seconds: 0.6e-6,
            invocation_seconds: 0.0,
            line_bytes: 128.0,
            sector_bytes: 32.0,
            jump_bytes: 0.0,
            loads_together: 4.0,
            elements_per_load: 4,
            shared_read_weight: 2.0,
            cached_read_weight: 9.0,
            registers: 128,
            accumulators: if backend == "metal" { 64 } else { 128 },
            compile_seconds: None,
            workgroup_registers: Some(65_536),
            terms: 1024,
        };
        if device_type != DeviceType::Software {
            return gpu;
        }
        Self {
            shared_bytes: bytes,
            busy_invocations: 1,
            vector_lanes: 8,
            launch_seconds: 40e-6,
            load_seconds: 0.0,
            invocation_seconds: 0.2e-6,
            line_bytes: 0.0,
            jump_bytes: 128.0,
            elements_per_load: 1,
            shared_read_weight: 9.0,
            registers: 64,
            accumulators: 128,
            compile_seconds: Some(3.0),
            workgroup_registers: None,
            ..gpu
        }
    }

    /// Whether a core runs the vectors of a workgroup one after another: a single one keeps it busy, and there is no waiting
    /// to hide behind others.
    pub(crate) fn runs_in_turn(&self) -> bool {
        self.busy_invocations <= self.vector_lanes
    }
}

/// A line per assumption, as a part of the table that [`Caps`](super::Caps) are shown by.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |seconds: f64| format!("{:.1} us", seconds * 1e6);
        let of_workgroup = self.workgroup_registers.map_or("no limit".into(), |most| most.to_string());
        let more = match self.compile_seconds {
            Some(seconds) => format!("{seconds:.1} s longer to compile with more"),
            None => "no more".into(),
        };
        writeln!(f, "  f32 peak         {}", rate(self.f32_flops, "FLOP/s"))?;
        writeln!(f, "  f16 peak         {}", rate(self.f16_flops, "FLOP/s"))?;
        writeln!(f, "  i8 peak          {}", rate(self.i8_flops, "FLOP/s"))?;
        writeln!(f, "  matrix peak      {}", rate(self.matrix_flops, "FLOP/s"))?;
        writeln!(f, "  memory peak      {}", rate(self.bytes, "B/s"))?;
        writeln!(f, "  cache peak       {}", rate(self.cache_bytes, "B/s"))?;
        writeln!(f, "  shared peak      {}", rate(self.shared_bytes, "B/s"))?;
        writeln!(f, "  cache            {}", bytes(self.cache))?;
        writeln!(
            f,
            "  cores            {}, {} workgroups each, busy with {} invocations in vectors of {}",
            self.cores, self.groups_per_core, self.busy_invocations, self.vector_lanes
        )?;
        writeln!(f, "  a launch         {}", micros(self.launch_seconds))?;
        writeln!(
            f,
            "  a load           {}, {} together, in vectors of {}",
            micros(self.load_seconds),
            self.loads_together,
            self.elements_per_load
        )?;
        writeln!(f, "  an invocation    {}", micros(self.invocation_seconds))?;
        writeln!(
            f,
            "  runs of memory   lines of {} B, sectors of {} B, {} B to come to another",
            self.line_bytes, self.sector_bytes, self.jump_bytes
        )?;
        writeln!(
            f,
            "  a read           {} multiply-adds from shared memory, {} from a cache",
            self.shared_read_weight, self.cached_read_weight
        )?;
        writeln!(f, "  registers        {} of an invocation, {of_workgroup} of a workgroup", self.registers)?;
        writeln!(f, "  accumulators     {}, {more}", self.accumulators)?;
        write!(f, "  terms            {} written out", self.terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;

    #[test]
    fn matrices_count_only_where_there_are_rows() {
        for (has_rows, peak) in [(false, 0.0), (true, 989.4e12)] {
            let machine = Machine::of("NVIDIA H200", "vulkan", DeviceType::Discrete, has_rows);
            assert_eq!(machine.matrix_flops, peak);
        }
    }

    #[test]
    fn fixtures_have_the_machine_of_their_names() {
        for (name, caps) in fixtures::ALL {
            let caps = caps();
            let machine = Machine::of(&caps.adapter, &caps.backend, caps.device_type, !caps.rows.is_empty());
            assert_eq!(caps.machine, machine, "{name}");
        }
    }
}
