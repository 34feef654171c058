//! The assumptions about a device: rates, latencies and capacities. Each is defined here once, with its source. The
//! choice of kernels depends on them.

use super::device_type::DeviceType;
use super::matrix_rates::{f16_sums_times, fp8_times, i8_times};
use super::peaks::Peaks;
use super::units::{format_bytes, format_rate};
use std::fmt;

/// Where the rates of a [`Machine`] come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RateSource {
    /// From data sheets, or from other devices of this type.
    #[default]
    Assumed,
    /// Some were measured on this device ([`Gpu::measure_machine`](crate::Gpu::measure_machine)).
    Measured,
}

/// Assumptions about a device. The predicted times of plans are computed from them, to compare plans; none is a
/// promise.
///
/// For devices that are known by name, peak rates come from data sheets. For others they are typical of devices on the
/// market. The other figures are the same for all GPUs, unless a field says otherwise. Those of software devices were
/// fitted to lavapipe on two cores (see the book's page on the cost model).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Machine {
    /// Whether rates were measured on this device: those of multiply-adds, matrices, memory and launches.
    pub rates: RateSource,
    /// Rate of f32 multiply-adds outside tensor cores, in flop/s. A multiply-add counts as two.
    pub f32_flops: f64,
    /// Rate of f16 multiply-adds outside tensor cores, in flop/s.
    pub f16_flops: f64,
    /// Rate of i8 multiply-adds on packed words of four, in flop/s. GPUs: twice the rate of f32. A packed dot product is four
    /// multiply-adds in one instruction. NVIDIA issues it at half the rate of f32 instructions, other vendors at the same
    /// rate. Software devices: 0.64 of the rate of f32, which lavapipe reaches in registers.
    pub i8_flops: f64,
    /// Rate of f16 multiply-adds on cooperative matrices, in flop/s; 0 if there are none.
    pub matrix_flops: f64,
    /// Rate of i8 multiply-adds on cooperative matrices, in operations/s; 0 if there are none.
    pub i8_matrix_flops: f64,
    /// Rate of e4m3 and e5m2 multiply-adds on cooperative matrices with sums of f32, in flop/s; 0 if there are none.
    pub fp8_matrix_flops: f64,
    /// Rate of f16 multiply-adds on cooperative matrices with sums of f16, in flop/s; 0 if there are none.
    pub f16_matrix_flops: f64,
    /// Order in shared memory from which the device loads cooperative matrices A and B.
    pub matrix_order: MatrixOrder,
    /// Bandwidth of device memory in bytes/s.
    pub memory_bandwidth: f64,
    /// Bandwidth of the last cache that all cores share, in bytes/s.
    pub cache_bandwidth: f64,
    /// Bandwidth of the shared memory of all cores together, in bytes/s. Assumed: the bandwidth of the last cache. On
    /// software devices, where shared memory is ordinary memory: the bandwidth of device memory.
    pub shared_bandwidth: f64,
    /// Size in bytes of the last cache that all cores share.
    pub cache_size: u64,
    /// Number of independent cores (streaming multiprocessors, compute units, threads).
    pub cores: u32,
    /// Number of invocations that occupy a core. GPUs: 128, four schedulers with a subgroup of 32 each. Software
    /// devices: 1, because a core runs one workgroup of any size at a time.
    pub busy_invocations: u32,
    /// Number of invocations that a core runs as the lanes of one vector. GPUs: 32, the subgroup size of NVIDIA, AMD
    /// RDNA and Apple. Software devices: 8, the f32 numbers in an AVX2 register.
    pub vector_lanes: u32,
    /// Minimum number of workgroups per core at which all cores are busy to the end and latency is hidden. Assumed: 4.
    pub workgroups_per_core: u32,
    /// Time in seconds from the end of one launch to the start of a launch that depends on it. GPUs: 4 us, assumed.
    /// Software devices: 35 us, because they wake their threads.
    pub launch_seconds: f64,
    /// Latency in seconds of a load from device memory. GPUs: 0.6 us, assumed. Software devices: 0, because their
    /// compiler and CPU prefetch.
    pub load_seconds: f64,
    /// Time in seconds that a core is idle at a barrier of its only workgroup: until the last results are ready, all
    /// invocations have arrived, and the first operands are read. GPUs: 50 ns, about 90 cycles, assumed. Software
    /// devices: 0, because they compute the whole workgroup one invocation after another.
    pub barrier_seconds: f64,
    /// Time in seconds for a software device to start an invocation and to add its sums to those of its neighbours.
    /// GPUs: 0, because invocations start in parallel.
    pub invocation_seconds: f64,
    /// Size of a cache line in bytes, which the loads of neighbouring invocations should fill. GPUs: 128.
    pub line_bytes: f64,
    /// Smallest transfer of device memory in bytes: 32.
    pub sector_bytes: f64,
    /// Cost of a jump to another contiguous range of memory, in bytes that could be read in the same time. Software
    /// devices: 128.
    pub jump_bytes: f64,
    /// Number of loads that a compiler issues together in a loop whose iterations each wait for one load: 4.
    pub loads_in_flight: f64,
    /// Number of neighbouring elements that an invocation loads in the time of one. GPUs: 4, because one instruction
    /// loads up to 16 bytes. Software devices: 1, because each invocation is a lane of the CPU's vectors, so the
    /// elements of its own vectors are loaded one by one.
    pub elements_per_load: u32,
    /// Time of a read from shared memory, in f32 multiply-adds of a core. GPUs: 2, because shared memory delivers about
    /// one byte per cycle for each multiply-add, and operands are widened to f32. Software devices: 24.
    pub shared_read_weight: f64,
    /// Time of a read through the caches, in f32 multiply-adds of a core. GPUs: 9. Software devices: 35.
    pub cached_read_weight: f64,
    /// Number of values that an invocation can hold before spills cost time. GPUs: 128, half of the registers of NVIDIA and AMD.
    /// Intel: 96, three quarters of an invocation's registers in subgroups of 16. Software devices: 64; on CPUs with 16 vector
    /// registers, lavapipe slows down in functions of multivectors that use more than three quarters of 64.
    pub registers: u32,
    /// Number of sums that an invocation of a matrix product can hold in addition to its operands; also the number of
    /// rows that an invocation of a fast transform can hold. GPUs: 128; Apple: 64, because it has half the registers;
    /// Intel: 32, because its compiler spills register tiles of 64 (see the book's page on compilers). Software
    /// devices: 128; with 256 their compilers took seconds longer.
    pub accumulators: u32,
    /// Number of sums that an invocation of a product on cooperative matrices of any shape can hold. As `accumulators`, except for
    /// Intel: 8, because its compiler uses subgroups of 32 there, so an invocation has half as many registers, and spills 16 sums
    /// (see the book's page on modules of SPIR-V).
    pub matrix_accumulators: u32,
    /// Additional compile time in seconds of a kernel whose invocations hold more sums than `accumulators`. Software
    /// devices: 0.34, measured on lavapipe in f32; the sums are in the CPU's first cache, so larger register tiles can pay off.
    /// GPUs: `None`, because they would spill the sums to device memory; they get no such kernels.
    pub compile_seconds: Option<f64>,
    /// Number of registers of all invocations of a workgroup: 65,536, as on an NVIDIA multiprocessor. None on software
    /// devices.
    pub workgroup_registers: Option<u32>,
    /// Number of registers that the workgroups of a core share. GPUs: 65,536, as on an NVIDIA multiprocessor. AMD: 98,304,
    /// as in a compute unit of a large GPU of RDNA 3 or 4; its small ones have 65,536.
    pub core_registers: u32,
    /// Maximum number of terms of a function of multivectors in a kernel, which writes out one multiply-add for each:
    /// 1,024. Drivers take seconds to compile this number, and it just suffices for the product of the conformal
    /// algebra of space.
    pub max_terms: usize,
    /// Maximum number of products of four numbers in the body of a loop that a kernel writes out for several pixels and taps: 256.
    /// Software devices other than lavapipe: 16. SwiftShader compiled 24 of them in 0.1 s and 36 in 0.9 s; 48 took more than a minute
    /// and a gigabyte. This depends on the driver, also where it is planned for as a GPU.
    pub max_unrolled: u32,
    /// Whether a loop loads the windows of its next step ahead. GPUs: true. Software devices: false, as they have no loads to wait for.
    /// `SwiftShader` does not get through four chunks of such elements: it compiled three in 6 s, and four until 20 GB were taken. This
    /// depends on the driver, also where it is planned for as a GPU.
    pub loads_windows_ahead: bool,
}

/// Order in shared memory from which a device loads cooperative matrices A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatrixOrder {
    /// Any: along k, or along the rows of B or the columns of A; the load then transposes. NVIDIA has an instruction for
    /// that (`ldmatrix.trans`). Assumed for other devices.
    Any,
    /// Along k: an invocation holds neighbours along k, and would load other orders one element at a time. AMD, as
    /// compiled by Mesa.
    AlongK,
}

/// Intel's PCI id.
const INTEL: u32 = 0x8086;
/// AMD's PCI id.
const AMD: u32 = 0x1002;

impl Machine {
    /// The assumptions about the device that its driver calls `adapter`, of the vendor with this PCI id. Without rows of
    /// cooperative matrices for kernels (`has_rows`), the matrix peak is 0, even if the hardware has tensor cores.
    pub(crate) fn of(
        adapter: &str,
        backend: &str,
        vendor: u32,
        device_type: DeviceType,
        has_rows: bool,
    ) -> Self {
        let Peaks {
            f32_flops,
            f16_flops,
            matrix_flops,
            memory_bandwidth,
            cache_bandwidth,
            cache_size,
            cores,
        } = Peaks::of(adapter, device_type);
        let [registers, accumulators] = match (vendor, backend) {
            (INTEL, _) => [96, 32],
            (_, "metal") => [128, 64],
            _ => [128, 128],
        };
        let gpu = Self {
            rates: RateSource::Assumed,
            f32_flops,
            f16_flops,
            i8_flops: 2.0 * f32_flops,
            matrix_flops: if has_rows { matrix_flops } else { 0.0 },
            i8_matrix_flops: if has_rows { i8_times(adapter) * matrix_flops } else { 0.0 },
            fp8_matrix_flops: if has_rows { fp8_times(adapter) * matrix_flops } else { 0.0 },
            f16_matrix_flops: if has_rows { f16_sums_times(adapter) * matrix_flops } else { 0.0 },
            matrix_order: if vendor == AMD { MatrixOrder::AlongK } else { MatrixOrder::Any },
            memory_bandwidth,
            cache_bandwidth,
            shared_bandwidth: cache_bandwidth,
            cache_size,
            cores,
            busy_invocations: 128,
            vector_lanes: 32,
            workgroups_per_core: 4,
            launch_seconds: 4e-6,
            load_seconds: 0.6e-6,
            barrier_seconds: 50e-9,
            invocation_seconds: 0.0,
            line_bytes: 128.0,
            sector_bytes: 32.0,
            jump_bytes: 0.0,
            loads_in_flight: 4.0,
            elements_per_load: 4,
            shared_read_weight: 2.0,
            cached_read_weight: 9.0,
            registers,
            accumulators,
            matrix_accumulators: if vendor == INTEL { 8 } else { accumulators },
            compile_seconds: None,
            workgroup_registers: Some(65_536),
            core_registers: if vendor == AMD { 98_304 } else { 65_536 },
            max_terms: 1024,
            max_unrolled: if adapter.contains("SwiftShader") { 16 } else { 256 },
            loads_windows_ahead: !adapter.contains("SwiftShader"),
        };
        if device_type != DeviceType::Software {
            return gpu;
        }
        Self {
            shared_bandwidth: memory_bandwidth,
            busy_invocations: 1,
            vector_lanes: 8,
            i8_flops: 0.64 * f32_flops,
            launch_seconds: 35e-6,
            load_seconds: 0.0,
            barrier_seconds: 0.0,
            invocation_seconds: 0.2e-6,
            line_bytes: 0.0,
            jump_bytes: 128.0,
            elements_per_load: 1,
            shared_read_weight: 24.0,
            cached_read_weight: 35.0,
            registers: 64,
            accumulators: 128,
            matrix_accumulators: 128,
            compile_seconds: Some(0.34),
            workgroup_registers: None,
            max_unrolled: if adapter.contains("llvmpipe") { 256 } else { 16 },
            loads_windows_ahead: false,
            ..gpu
        }
    }

    /// Time of a read of an element of a cooperative matrix from shared memory, in multiply-adds of the matrix unit. GPUs: the ratio
    /// of its rate to that of f32. Software devices, which emulate matrices and convert each element: 12, fitted to `coop` and
    /// attention on lavapipe.
    pub(crate) fn matrix_read_weight(&self) -> f64 {
        if self.is_software() { 12.0 } else { self.matrix_flops / self.f32_flops }
    }

    /// The number of workgroups that occupy the device.
    pub(crate) fn workgroups(&self) -> u32 {
        self.cores.saturating_mul(self.workgroups_per_core)
    }

    /// Whether the device is software: a core of the processor runs the vectors of a workgroup one after another. A single
    /// vector then occupies the core, and no other work hides its latency.
    pub(crate) fn is_software(&self) -> bool {
        self.busy_invocations <= self.vector_lanes
    }
}

impl fmt::Display for MatrixOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Any => "any",
            Self::AlongK => "along k",
        })
    }
}

/// One line per assumption, as part of the table of [`Caps`](super::Caps).
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |seconds: f64| format!("{:.1} us", seconds * 1e6);
        let of_workgroup = self.workgroup_registers.map_or("no limit".into(), |most| most.to_string());
        let more = match self.compile_seconds {
            Some(seconds) => format!(", {seconds:.1} s longer to compile above that"),
            None if self.matrix_accumulators == self.accumulators => " at most".into(),
            None => format!(" at most, {} on matrices", self.matrix_accumulators),
        };
        if self.rates == RateSource::Measured {
            writeln!(
                f,
                "  rates            measured on this device: multiply-adds, matrices, memory, launches"
            )?;
        }
        writeln!(f, "  f32 peak         {}", format_rate(self.f32_flops, "FLOP/s"))?;
        writeln!(f, "  f16 peak         {}", format_rate(self.f16_flops, "FLOP/s"))?;
        writeln!(f, "  i8 peak          {}", format_rate(self.i8_flops, "FLOP/s"))?;
        writeln!(f, "  matrix peak      {}", format_rate(self.matrix_flops, "FLOP/s"))?;
        writeln!(f, "  i8 matrix peak   {}", format_rate(self.i8_matrix_flops, "OP/s"))?;
        writeln!(f, "  fp8 matrix peak  {}", format_rate(self.fp8_matrix_flops, "FLOP/s"))?;
        writeln!(f, "  f16 sums peak    {}", format_rate(self.f16_matrix_flops, "FLOP/s"))?;
        writeln!(f, "  matrix order     {}", self.matrix_order)?;
        writeln!(f, "  memory peak      {}", format_rate(self.memory_bandwidth, "B/s"))?;
        writeln!(f, "  cache peak       {}", format_rate(self.cache_bandwidth, "B/s"))?;
        writeln!(f, "  shared peak      {}", format_rate(self.shared_bandwidth, "B/s"))?;
        writeln!(f, "  cache            {}", format_bytes(self.cache_size))?;
        writeln!(
            f,
            "  cores            {}, {} workgroups each, busy with {} invocations in vectors of {}",
            self.cores, self.workgroups_per_core, self.busy_invocations, self.vector_lanes
        )?;
        writeln!(f, "  launch gap       {}", micros(self.launch_seconds))?;
        writeln!(f, "  barrier          {:.0} ns", self.barrier_seconds * 1e9)?;
        writeln!(
            f,
            "  load latency     {}, {} loads in flight, in vectors of {}",
            micros(self.load_seconds),
            self.loads_in_flight,
            self.elements_per_load
        )?;
        writeln!(f, "  invocation start {}", micros(self.invocation_seconds))?;
        writeln!(
            f,
            "  memory access    lines of {} B, sectors of {} B, a jump costs {} B",
            self.line_bytes, self.sector_bytes, self.jump_bytes
        )?;
        writeln!(
            f,
            "  read cost        {} multiply-adds from shared memory, {} from a cache",
            self.shared_read_weight, self.cached_read_weight
        )?;
        writeln!(
            f,
            "  registers        {} per invocation, {of_workgroup} per workgroup, {} per core",
            self.registers, self.core_registers
        )?;
        writeln!(f, "  accumulators     {}{more}", self.accumulators)?;
        let ahead =
            if self.loads_windows_ahead { "loaded a step ahead" } else { "loaded where they are used" };
        writeln!(f, "  windows          {ahead}")?;
        write!(
            f,
            "  terms            {} written out at most, {} products in a loop",
            self.max_terms, self.max_unrolled
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;

    #[test]
    fn matrices_count_only_where_there_are_rows() {
        for (has_rows, peak) in [(false, 0.0), (true, 989.4e12)] {
            let machine = Machine::of("NVIDIA H200", "vulkan", 0x10de, DeviceType::Discrete, has_rows);
            assert_eq!(machine.matrix_flops, peak);
        }
    }

    #[test]
    fn fixtures_have_the_machine_of_their_names() {
        for (name, caps) in fixtures::ALL {
            let caps = caps();
            let has_rows = crate::Caps::has_planned_rows(&caps.rows);
            let machine = Machine::of(&caps.adapter, &caps.backend, caps.vendor, caps.device_type, has_rows);
            assert_eq!(caps.machine, machine, "{name}");
        }
    }
}
