//! The kernel for devices that run the invocations of a workgroup as the lanes of a processor's vectors. All invocations of a
//! workgroup read the same elements of A: the processor loads each once and broadcasts it. Reads at per-invocation addresses
//! are gathers, which cost nearly as much as one load for each invocation. So B is read once for all rows of a block.

use super::compute_unit::ComputeUnit;
use super::cost::{Cost, Traffic};
use super::spec::{KernelSpec, in_memory, of_fractions};
use super::store::store_elements;
use super::windows;
use crate::caps::Caps;
use crate::gemm::problem::{GemmKernel, GemmProblem, Tile};
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};

pub(super) struct Broadcast;

/// Time of the load of an element of A for all invocations, in multiply-adds at the peak. Fitted to the tiles on lavapipe.
const BROADCAST_WEIGHT: f64 = 3.9;
/// Time of the load of elements of B, one for each invocation. Fitted in the same way.
const GATHER_WEIGHT: f64 = 11.6;
/// Time of a multiply-add. It includes loading the sum from the stack, and storing it again after BK multiply-adds. Fitted in
/// the same way.
const SUM_WEIGHT: f64 = 1.8;

/// Seconds of the load of an element of B if its cache line was evicted from the core's first cache, in addition to
/// `GATHER_WEIGHT`. Fitted to B transposed, with rows of 256 to 2,048 elements of f32 on lavapipe. It does not scale with the
/// speed of a driver's arithmetic: on SwiftShader it is negligible compared with the multiply-adds.
const MISS_SECONDS: f64 = 1.3e-9;
/// Bytes of a line of a core's first cache. This and the next two constants are those of x86-64 processors with 48 KiB.
const LINE_BYTES: u64 = 64;
/// Sets of this cache. The address of a line determines its set.
const SETS: usize = 64;
/// Lines that fit into a set.
const LINES_OF_SET: u32 = 12;

const TILES: [Tile; 3] = [
    Tile::of_invocations(GemmKernel::Broadcast, [16, 64, 4], [16, 8]),
    Tile::of_invocations(GemmKernel::Broadcast, [16, 32, 4], [16, 4]),
    Tile::of_invocations(GemmKernel::Broadcast, [8, 64, 4], [8, 8]),
];

impl KernelSpec for Broadcast {
    fn shader(&self) -> &'static str {
        "gemm/broadcast"
    }

    fn tiles(&self) -> &'static [Tile] {
        &TILES
    }

    /// GPUs load the elements of neighbouring invocations together, and other workgroups hide the latency of loads. So a workgroup
    /// of few invocations that wait for their loads would be slow there. f16 in pairs in words is converted twice: on SwiftShader
    /// the product of 512 cubed took 129 ms, and 76 with the tiled kernel. Types of 8 bits are also converted twice: on lavapipe 34
    /// ms with e4m3, and 24 with the tiled kernel (2026-11-29).
    fn admits(&self, _: &Tile, problem: &GemmProblem, caps: &Caps) -> Result<(), String> {
        if problem.windows().is_none() {
            in_memory(problem)?;
        }
        of_fractions(problem)?;
        if !caps.machine.is_software() {
            return Err("a device that runs the invocations of a workgroup in turn".into());
        }
        match StorageFormat::of(problem.types.ab, caps) {
            StorageFormat::PackedF16 => Err("f16 in shaders".into()),
            StorageFormat::E4m3 | StorageFormat::E5m2 => {
                Err(format!("operands of f32, f16 or bf16, not {}", problem.types.ab))
            }
            _ => Ok(()),
        }
    }

    fn shared_bytes(&self, _: &Tile, _: &GemmProblem, _: &Caps) -> u32 {
        0
    }

    /// A block reads a short run of each row of B.
    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost {
        let cost = Cost::of_blocks(tile, problem, caps, ComputeUnit::F32);
        let along_n = problem.layouts.b.strides[3] == 1;
        let run = if along_n { f64::from(tile.bn) * problem.types.ab.size() as f64 } else { f64::INFINITY };
        // In multiply-adds of a core.
        let miss = MISS_SECONDS * cost.peak / 2.0 / f64::from(caps.machine.cores.max(1));
        Cost {
            multiply_add_weight: SUM_WEIGHT,
            read_weights: [BROADCAST_WEIGHT, GATHER_WEIGHT + miss * missing(tile, problem).powi(2)],
            traffic: Traffic::ByBlock { run_bytes_of_b: run },
            ..cost
        }
    }

    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let ab = OperandAccess::read(StorageFormat::of(problem.types.ab, caps), AccessWidth::One);
        let kernel = problem
            .bind_dims(Kernel::new(self.shader()), caps)
            .param("BM", tile.bm)
            .param("BN", tile.bn)
            .param("BK", tile.bk)
            .param("TN", tile.tn)
            .operand("a", ab)
            .operand("b", ab);
        store_elements(windows::bind_broadcast(kernel, problem), problem, problem.bindings(), caps)
    }
}

/// The share of a block's columns of B that are evicted from the core's first cache between one k and the next. With B transposed,
/// each column has its own cache line. If the columns are a large power of two apart, their lines map to few sets. Measurements
/// showed that the time of such loads grows with the square of this share.
fn missing(tile: &Tile, problem: &GemmProblem) -> f64 {
    let column_bytes = u64::from(problem.layouts.b.strides[3]) * problem.types.ab.size() as u64;
    let (mut in_sets, mut all, mut last) = ([0u32; SETS], 0u32, None);
    for column in 0..u64::from(tile.bn) {
        let line = column * column_bytes / LINE_BYTES;
        if last.replace(line) != Some(line) {
            all += 1;
            in_sets[usize::try_from(line % SETS as u64).unwrap_or_default()] += 1;
        }
    }
    let stay: u32 = in_sets.iter().map(|&lines| lines.min(LINES_OF_SET)).sum();
    1.0 - f64::from(stay) / f64::from(all)
}
