//! What a tile is predicted to take: the longest of what it has to wait for.

use super::tile::Tile;
use crate::caps::Caps;
use crate::gemm::problem::GemmProblem;
use crate::plan::{Bound, Prediction};

/// Rows of blocks that run together: `GROUP` of the kernels.
const GROUP: f64 = 8.0;

/// What a tile computes and waits for: what its time is predicted from.
pub(in crate::gemm) struct Cost {
    /// What multiplies.
    pub(super) unit: Unit,
    /// Its peak, in flop/s.
    pub(super) peak: f64,
    /// Workgroups along the rows and the columns of a matrix of C.
    pub(super) blocks: [f64; 2],
    /// Rows and columns of C that a workgroup computes.
    pub(super) block: [f64; 2],
    /// Rows and columns of C for which an operand is read once from where it is staged.
    pub(super) patch: [f64; 2],
    /// How many multiply-adds such a read takes the time of.
    pub(super) read_weight: f64,
    /// Steps along k, each of which waits for its loads.
    pub(super) steps: f64,
    /// Invocations of a workgroup that add what they have to what their neighbours have.
    pub(super) meeting: u32,
    /// How the operands come from device memory.
    pub(super) traffic: Traffic,
}

/// The unit that multiplies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::gemm) enum Unit {
    Matrix,
    F32,
    F16,
    Integer,
}

/// How operands come from device memory.
#[derive(Clone, Copy)]
pub(in crate::gemm) enum Traffic {
    /// For every block, where what others have read has left the cache.
    ByBlock,
    /// Once, in runs of so many bytes.
    Once { run: f64 },
}

impl Cost {
    /// Of a tile that stages blocks of both operands, in shared memory, for patches of `tile.tm` x `tile.tn`.
    pub(super) fn of_blocks(tile: &Tile, problem: &GemmProblem, caps: &Caps, unit: Unit) -> Self {
        let d = &problem.dims;
        let machine = &caps.machine;
        let peak = match unit {
            Unit::Matrix => machine.matrix_flops,
            Unit::F32 => machine.f32_flops,
            Unit::F16 => machine.f16_flops,
            Unit::Integer => machine.i8_flops,
        };
        Self {
            unit,
            peak,
            blocks: [d.m.div_ceil(tile.bm), d.n.div_ceil(tile.bn)].map(f64::from),
            block: [tile.bm, tile.bn].map(f64::from),
            patch: [tile.tm, tile.tn].map(f64::from),
            read_weight: machine.shared_read_weight,
            steps: (depth(problem) / f64::from(tile.bk)).ceil(),
            meeting: 0,
            traffic: Traffic::ByBlock,
        }
    }

    /// What it is predicted to take. All of it is computed and moved at the same time, so the slowest decides, and the others
    /// count a tenth, since they never hide each other wholly: the arithmetic, in whole waves of blocks over the cores; the
    /// operands, from the cache that all cores share, once per block that uses them; what does not stay in that cache, from
    /// device memory; the chain of steps along k, each of which waits for its loads.
    pub(super) fn predict(&self, invocations: u32, problem: &GemmProblem, caps: &Caps) -> Prediction {
        let arithmetic = if self.unit == Unit::Matrix { Bound::Matrix } else { Bound::Vector };
        let terms = [
            (self.arithmetic(invocations, problem, caps), arithmetic),
            (self.cache_bytes(problem) / caps.machine.cache_bytes, Bound::Memory),
            (self.memory_bytes(problem, caps) / caps.machine.bytes, Bound::Memory),
            (self.chain(problem, caps), Bound::Latency),
        ];
        let longest = Prediction::longest(&terms);
        let all: f64 = terms.iter().map(|(seconds, _)| seconds).sum();
        Prediction { seconds: longest.seconds + (all - longest.seconds) / 10.0, ..longest }
    }

    /// Workgroups that one core runs, one behind the other. Of nothing, a block is launched too.
    fn per_core(&self, problem: &GemmProblem, caps: &Caps) -> f64 {
        let [rows, cols] = self.blocks;
        (rows * cols * parts(problem) / cores(caps)).ceil().max(1.0)
    }

    /// Every core computes its share of the blocks, the last wave as long as the others; few invocations leave lanes idle.
    fn arithmetic(&self, invocations: u32, problem: &GemmProblem, caps: &Caps) -> f64 {
        let per_core = self.per_core(problem, caps);
        let busy = (per_core * f64::from(invocations) / f64::from(caps.machine.busy_invocations)).min(1.0);
        let [rows, cols] = self.block;
        let block_flops = 2.0 * rows * cols * depth(problem);
        per_core * block_flops / (self.peak / cores(caps) * self.efficiency() * busy)
    }

    /// The part of its peak that an inner loop reaches: reading operands is what holds it back, as many of them for each
    /// multiply-add as the patch is short.
    fn efficiency(&self) -> f64 {
        let [rows, cols] = self.patch;
        1.0 / (1.0 + self.read_weight * (1.0 / rows + 1.0 / cols))
    }

    /// Bytes that blocks read of A and B, edges in full.
    fn cache_bytes(&self, problem: &GemmProblem) -> f64 {
        let [[rows, cols], [bm, bn]] = [self.blocks, self.block];
        rows * cols * parts(problem) * ((bm + bn) * depth(problem) * problem.types.ab.size() as f64)
    }

    /// Bytes that cross device memory: each matrix once, and B again for every group of rows where it does not stay in the
    /// cache, A for every column of blocks where not even a group's rows do.
    fn memory_bytes(&self, problem: &GemmProblem, caps: &Caps) -> f64 {
        let d = &problem.dims;
        let [m, n] = [d.m, d.n].map(f64::from);
        let row = depth(problem) * problem.types.ab.size() as f64;
        let [a, b] = [m * row, n * row];
        let c = m * n * problem.types.c.size() as f64;
        if let Traffic::Once { run } = self.traffic {
            let machine = &caps.machine;
            let longer = (machine.line_bytes / run).max(1.0) + machine.jump_bytes / run;
            return parts(problem) * (a + b + c) * longer;
        }
        let stays = |bytes: f64| bytes <= caps.machine.cache as f64;
        let group = (GROUP * self.block[0]).min(m) * row;
        let [rows, cols] = self.blocks;
        let b_times = if stays(b + group) { 1.0 } else { (rows / GROUP).ceil() };
        let a_times = if stays(group) { 1.0 } else { cols };
        parts(problem) * (a * a_times + b * b_times + c)
    }

    /// Blocks at work at once hide each other's waiting, but not the steps of one.
    fn chain(&self, problem: &GemmProblem, caps: &Caps) -> f64 {
        let meeting = self.per_core(problem, caps) * f64::from(self.meeting);
        self.steps * caps.machine.load_seconds + meeting * caps.machine.invocation_seconds
    }
}

fn cores(caps: &Caps) -> f64 {
    f64::from(caps.machine.cores.max(1))
}

/// Of the sums of one workgroup.
pub(super) fn depth(problem: &GemmProblem) -> f64 {
    f64::from(problem.dims.k_part.max(1))
}

/// Matrices times parts of k.
fn parts(problem: &GemmProblem) -> f64 {
    problem.dims.parts().max(1) as f64
}
