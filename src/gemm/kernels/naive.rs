//! The naive kernel: each invocation computes one element.

use super::compute_unit::ComputeUnit;
use super::cost::{Cost, depth};
use super::spec::{KernelSpec, in_memory};
use super::store::store_elements;
use crate::caps::Caps;
use crate::gemm::problem::{GemmKernel, GemmProblem, Tile};
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};

pub(super) struct Naive;

const TILES: [Tile; 1] = [Tile::of_invocations(GemmKernel::Naive, [1, 64, 1], [1, 1])];

impl KernelSpec for Naive {
    fn shader(&self) -> &'static str {
        "gemm/naive"
    }

    fn tiles(&self) -> &'static [Tile] {
        &TILES
    }

    fn admits(&self, _: &Tile, problem: &GemmProblem, _: &Caps) -> Result<(), String> {
        in_memory(problem)
    }

    fn supports_split_k(&self, _: &GemmProblem) -> bool {
        false
    }

    fn shared_bytes(&self, _: &Tile, _: &GemmProblem, _: &Caps) -> u32 {
        0
    }

    fn blocks(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> u64 {
        (problem.elements() as u64).div_ceil(u64::from(self.invocations(tile, caps)))
    }

    /// Each multiply-add reads one element of each operand through the caches. Invocations without an element of C are idle.
    fn cost(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Cost {
        let [m, n] = [problem.m(), problem.n()].map(f64::from);
        let blocks = Cost::of_blocks(tile, problem, caps, ComputeUnit::F32);
        Cost {
            unit: if problem.types.ab.is_float() { ComputeUnit::F32 } else { ComputeUnit::Integer },
            block: [1.0, f64::from(tile.bn).min(m * n)],
            read_weights: [caps.machine.cached_read_weight; 2],
            barrier_seconds: 0.0,
            iterations: (depth(problem) / caps.machine.loads_in_flight).ceil(),
            ..blocks
        }
    }

    fn build(&self, tile: &Tile, problem: &GemmProblem, caps: &Caps) -> Kernel {
        let ab = StorageFormat::of(problem.types.ab, caps);
        let kernel = problem
            .bind_dims(Kernel::new(self.shader()), caps)
            .param("LANES", self.invocations(tile, caps))
            .operand("a", OperandAccess::read(ab, AccessWidth::One))
            .operand("b", OperandAccess::read(ab, AccessWidth::One));
        let kernel = if ab == StorageFormat::I8 {
            kernel.param("accumulator", "i32").slot("multiply_add", "i32")
        } else {
            kernel
        };
        let kernel = problem.bind_sums(kernel);
        store_elements(kernel, problem, 3, caps)
    }

    fn describe(&self, tile: &Tile) -> String {
        format!("{} elements", tile.bn)
    }
}
