//! The predicted time of a kernel: mostly that of its slowest bottleneck.

use super::compute_unit::ComputeUnit;
use super::inner_loops::InnerLoop;
use crate::caps::Caps;
use crate::gemm::problem::{GemmProblem, Tile};
use crate::plan::{Bound, Prediction};

/// The number of rows of blocks that run together: `GROUP` of the shaders.
const GROUP: f64 = 8.0;

/// The work of a tile, from which its time is predicted.
pub(in crate::gemm) struct Cost {
    /// The unit that multiplies.
    pub(in crate::gemm) unit: ComputeUnit,
    /// Peak rate of the unit, in FLOP/s.
    pub(super) peak: f64,
    /// The number of workgroups along the rows and along the columns of a matrix of C.
    pub(super) blocks: [f64; 2],
    /// Rows and columns of C per workgroup.
    pub(super) block: [f64; 2],
    /// Rows and columns of the register or subgroup tile. A staged operand is read once per tile.
    pub(super) tile: [f64; 2],
    /// Time of a multiply-add of the inner loop, in multiply-adds at the peak: 1, unless a multiply-add includes other work.
    pub(super) multiply_add_weight: f64,
    /// Time of one of these reads of A, and of B, in multiply-adds at the peak.
    pub(super) read_weights: [f64; 2],
    /// Iterations along k. Each waits for its loads.
    pub(super) iterations: f64,
    /// Seconds per iteration that a core waits at a barrier if only a single workgroup fits on it.
    pub(super) barrier_seconds: f64,
    /// Invocations of a workgroup that add their sums to each other's.
    pub(super) reducing: u32,
    /// How the operands are read from device memory.
    pub(super) traffic: Traffic,
    /// The inner loop as compiled, if a table has it.
    pub(in crate::gemm) inner_loop: Option<InnerLoop>,
}

/// How the operands are read from device memory.
#[derive(Clone, Copy)]
pub(in crate::gemm) enum Traffic {
    /// By every block, unless they are still in the cache. B is read in contiguous runs of this many bytes.
    ByBlock { run_bytes_of_b: f64 },
    /// Once, in contiguous runs of this many bytes.
    Once { run_bytes: f64 },
}

impl Cost {
    /// The cost of a tile that stages blocks of both operands in shared memory and computes tiles of `tm` x `tn` from them.
    pub(super) fn of_blocks(tile: &Tile, problem: &GemmProblem, caps: &Caps, unit: ComputeUnit) -> Self {
        let machine = &caps.machine;
        let peak = match unit {
            ComputeUnit::Matrix => machine.matrix_flops,
            ComputeUnit::F32 => machine.f32_flops,
            ComputeUnit::F16 => machine.f16_flops,
            ComputeUnit::Integer => machine.i8_flops,
            ComputeUnit::IntegerMatrix => machine.i8_matrix_flops,
        };
        let inner_loop = InnerLoop::of(tile, problem, unit, caps);
        Self {
            unit,
            peak,
            blocks: [problem.m().div_ceil(tile.bm), problem.n().div_ceil(tile.bn)].map(f64::from),
            block: [tile.bm, tile.bn].map(f64::from),
            tile: [tile.tm, tile.tn].map(f64::from),
            multiply_add_weight: 1.0,
            read_weights: [machine.shared_read_weight; 2],
            iterations: (depth(problem) / f64::from(tile.bk)).ceil(),
            barrier_seconds: inner_loop.map_or(0.0, |inner| inner.barrier_seconds(caps)),
            reducing: 0,
            traffic: Traffic::ByBlock { run_bytes_of_b: f64::INFINITY },
            inner_loop,
        }
    }

    /// The cost of the same tile on matrices that sum `k` products in f16, at the rate of f16 sums, and then convert and add
    /// each sum.
    pub(super) fn in_short_sums(self, k: u32, caps: &Caps) -> Self {
        let machine = &caps.machine;
        let faster = machine.f16_matrix_flops / self.peak;
        let additions = 2.0 / f64::from(k); // for each multiply-add
        Self {
            peak: machine.f16_matrix_flops,
            multiply_add_weight: self.multiply_add_weight
                + additions * machine.f16_matrix_flops / machine.f32_flops,
            read_weights: self.read_weights.map(|weight| weight * faster),
            inner_loop: self.inner_loop.map(|inner| inner.with_short_sums(k)),
            ..self
        }
    }

    /// The predicted time. It is the longest of four terms, plus a tenth of the others, because overlap is never perfect:
    /// the arithmetic, in whole waves of blocks over the cores; the operands read from the shared cache, once for each block
    /// that uses them; the operands that do not stay in this cache, read from device memory; and the chain of iterations
    /// along k, each of which waits for its loads.
    pub(in crate::gemm) fn predict(
        &self,
        invocations: u32,
        problem: &GemmProblem,
        caps: &Caps,
    ) -> Prediction {
        let arithmetic = if self.unit.is_matrix() { Bound::Matrix } else { Bound::Vector };
        let terms = [
            (self.arithmetic(invocations, problem, caps), arithmetic),
            (self.cache_bytes(problem) / caps.machine.cache_bandwidth, Bound::Memory),
            (self.memory_bytes(problem, caps) / caps.machine.memory_bandwidth, Bound::Memory),
            (self.chain(problem, caps), Bound::Latency),
        ];
        let longest = Prediction::longest(&terms);
        let all: f64 = terms.iter().map(|(seconds, _)| seconds).sum();
        Prediction { seconds: longest.seconds + (all - longest.seconds) / 10.0, ..longest }
    }

    /// The number of workgroups that one core runs, at least one.
    fn per_core(&self, problem: &GemmProblem, caps: &Caps) -> f64 {
        let [rows, cols] = self.blocks;
        (rows * cols * pairs(problem) / cores(caps)).ceil().max(1.0)
    }

    /// Seconds of arithmetic. Every core computes its share of the blocks, and the last wave takes as long as the others.
    /// Lanes are idle if a workgroup has few invocations, and at barriers if no other workgroup runs on the core.
    pub(in crate::gemm) fn arithmetic(&self, invocations: u32, problem: &GemmProblem, caps: &Caps) -> f64 {
        let per_core = self.per_core(problem, caps);
        let busy = (self.resident(per_core) * f64::from(invocations)
            / f64::from(caps.machine.busy_invocations))
        .min(1.0);
        let [rows, cols] = self.block;
        let block_flops = 2.0 * rows * cols * depth(problem);
        let waiting = self.iterations * self.barrier_seconds;
        per_core * (block_flops / (self.peak / cores(caps) * self.share_of_peak(caps) * busy) + waiting)
    }

    /// The fraction of the peak that the inner loop reaches: from the compiled loop, else from the formula that counts
    /// reads.
    pub(in crate::gemm) fn share_of_peak(&self, caps: &Caps) -> f64 {
        match &self.inner_loop {
            Some(inner) => inner.share_of_peak(self.peak, &caps.machine),
            None => self.efficiency(),
        }
    }

    /// The number of workgroups, of `queued`, that a core runs at a time.
    fn resident(&self, queued: f64) -> f64 {
        self.inner_loop.map_or(queued, |inner| queued.min(inner.workgroups_per_core()))
    }

    /// The fraction of the peak that the inner loop reaches, for devices without a table of compiled loops. Reads of operands
    /// limit it: one of A for each row of the tile, one of B for each column. So a smaller tile has more reads per multiply-add.
    fn efficiency(&self) -> f64 {
        let [rows, cols] = self.tile;
        let [of_a, of_b] = self.read_weights;
        1.0 / (self.multiply_add_weight + of_a / cols + of_b / rows)
    }

    /// Bytes of A and B that blocks read, counting edges as whole blocks.
    fn cache_bytes(&self, problem: &GemmProblem) -> f64 {
        let [[rows, cols], [bm, bn]] = [self.blocks, self.block];
        rows * cols * pairs(problem) * ((bm + bn) * depth(problem) * problem.types.ab.size() as f64)
    }

    /// Bytes of device memory traffic: each matrix once; B again for every group of rows of blocks if B does not stay in the
    /// cache; A again for every column of blocks if not even the rows of a group stay there.
    fn memory_bytes(&self, problem: &GemmProblem, caps: &Caps) -> f64 {
        let [m, n] = [problem.m(), problem.n()].map(f64::from);
        let row = depth(problem) * problem.types.ab.size() as f64;
        let [a, b] = [m * row, n * row];
        let c = m * n * problem.types.c.size() as f64;
        let machine = &caps.machine;
        let longer =
            |run_bytes: f64| (machine.line_bytes / run_bytes).max(1.0) + machine.jump_bytes / run_bytes;
        let b = match self.traffic {
            Traffic::Once { run_bytes } => return pairs(problem) * (a + b + c) * longer(run_bytes),
            Traffic::ByBlock { run_bytes_of_b } => b * longer(run_bytes_of_b),
        };
        let stays = |bytes: f64| bytes <= caps.machine.cache_size as f64;
        let group = (GROUP * self.block[0]).min(m) * row;
        let [rows, cols] = self.blocks;
        let b_times = if stays(b + group) { 1.0 } else { (rows / GROUP).ceil() };
        let a_times = if stays(group) { 1.0 } else { cols };
        pairs(problem) * (a * a_times + b * b_times + c)
    }

    /// Seconds of latency. Concurrent blocks hide each other's latency, but the iterations of one block do not.
    fn chain(&self, problem: &GemmProblem, caps: &Caps) -> f64 {
        let reducing = self.per_core(problem, caps) * f64::from(self.reducing);
        self.iterations * caps.machine.load_seconds + reducing * caps.machine.invocation_seconds
    }
}

fn cores(caps: &Caps) -> f64 {
    f64::from(caps.machine.cores.max(1))
}

/// The length of the sums of one workgroup.
pub(super) fn depth(problem: &GemmProblem) -> f64 {
    f64::from(problem.k_per_split().max(1))
}

/// The number of pairs of a matrix and a split.
fn pairs(problem: &GemmProblem) -> f64 {
    problem.pairs().max(1) as f64
}
