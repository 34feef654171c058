//! Predictions for a tile: whether it fits a device, its numbers of splits, and its time.

use crate::caps::Caps;
use crate::gemm::kernels::{self, InnerLoop};
use crate::gemm::problem::{GemmProblem, MAX_SPLITS, SplitK, Tile, scratch_bytes};
use crate::kernel::{self, Needs};
use crate::plan::{MAX_STEP_SECONDS, Prediction};

impl Tile {
    /// Invocations per workgroup on this device.
    #[must_use]
    pub fn invocations(&self, caps: &Caps) -> u32 {
        self.kernel.spec().invocations(self, caps)
    }

    /// Bytes of shared memory per workgroup.
    #[must_use]
    pub fn workgroup_bytes(&self, problem: &GemmProblem, caps: &Caps) -> u32 {
        self.kernel.spec().shared_bytes(self, problem, caps)
    }

    /// Whether the device can compute the problem with this tile.
    ///
    /// # Errors
    /// What the device lacks, in words.
    pub fn fits(&self, problem: &GemmProblem, caps: &Caps) -> Result<(), String> {
        kernels::check_fit(self.kernel.spec(), self, problem, caps)
    }

    /// Whether a second launch applies the epilogue: the kernel does not, or would need more bindings than the device has.
    pub(super) fn has_separate_epilogue(&self, problem: &GemmProblem, caps: &Caps) -> bool {
        kernels::has_separate_epilogue(self.kernel.spec(), problem, caps)
    }

    /// The limits that the launch of the product needs, without the bindings of a separate epilogue.
    pub(super) fn needs(&self, problem: &GemmProblem, caps: &Caps) -> Needs {
        kernels::launch_needs(self.kernel.spec(), self, problem, caps)
    }

    /// Predicted seconds on a device, from a coarse model. Plans compare tiles by it.
    #[must_use]
    pub fn cost(&self, problem: &GemmProblem, caps: &Caps) -> f64 {
        self.prediction(problem, caps).seconds
    }

    pub(super) fn prediction(&self, problem: &GemmProblem, caps: &Caps) -> Prediction {
        let spec = self.kernel.spec();
        spec.cost(self, problem, caps).predict(spec.invocations(self, caps), problem, caps)
    }

    /// The tile's compiled inner loop, from the table of the nearest GPU. None for software devices, for vendors without a
    /// table, and for tiles and types that no table has: predictions then count the reads of the loop.
    #[must_use]
    pub fn inner_loop(&self, problem: &GemmProblem, caps: &Caps) -> Option<InnerLoop> {
        self.kernel.spec().cost(self, problem, caps).inner_loop
    }

    /// The share of its unit's peak that the inner loop can reach.
    #[must_use]
    pub fn share_of_peak(&self, problem: &GemmProblem, caps: &Caps) -> f64 {
        self.kernel.spec().cost(self, problem, caps).share_of_peak(caps)
    }

    /// Predicted seconds of the arithmetic alone, with this number of splits: the static estimate, in which nothing waits for
    /// memory.
    #[must_use]
    pub fn arithmetic_seconds(&self, problem: &GemmProblem, splits: u32, caps: &Caps) -> f64 {
        let spec = self.kernel.spec();
        let split = if splits <= 1 { *problem } else { problem.split_into(splits) };
        spec.cost(self, &split, caps).arithmetic(spec.invocations(self, caps), &split, caps)
    }

    /// Seconds that each launch must save for the tile to be worth compiling.
    #[must_use]
    pub fn compile_cost(&self, problem: &GemmProblem, caps: &Caps) -> f64 {
        self.kernel.spec().compile_cost(self, problem, caps)
    }

    /// The numbers of splits to choose from: the requested number, or powers of two while cores would be idle, or while
    /// half as many splits would keep a workgroup busy for too long. Only 1 if the kernel does not support split-k.
    pub(super) fn splits(&self, problem: &GemmProblem, caps: &Caps) -> impl Iterator<Item = u32> + use<> {
        let is_whole = !self.kernel.spec().supports_split_k(problem);
        let candidates = match problem.split {
            SplitK::Splits(splits) => vec![if is_whole { 1 } else { problem.splits_of_k(splits) }],
            SplitK::Auto if is_whole => vec![1],
            SplitK::Auto => {
                let blocks = self.blocks(problem, caps);
                let wanted = u64::from(caps.machine.workgroups());
                let idle = |&splits: &u32| splits == 1 || blocks * u64::from(splits) <= wanted;
                let too_few =
                    |&splits: &u32| self.block_seconds(problem, splits / 2, caps) > MAX_STEP_SECONDS;
                let fits = |&splits: &u32| {
                    splits == 1 || scratch_bytes(problem, splits) <= kernel::max_buffer_bytes(caps)
                };
                let powers = (0..).map(|i| 1 << i).take_while(|&splits| splits <= MAX_SPLITS);
                let mut candidates: Vec<u32> = powers
                    .take_while(|splits| idle(splits) || too_few(splits))
                    .map(|splits| problem.splits_of_k(splits))
                    .filter(fits)
                    .collect();
                candidates.dedup();
                candidates
            }
        };
        candidates.into_iter()
    }

    /// Predicted seconds of the problem with this number of splits, including the reduction.
    pub(super) fn cost_of_splits(&self, problem: &GemmProblem, splits: u32, caps: &Caps) -> f64 {
        match splits {
            1 if !self.has_separate_epilogue(problem, caps) => self.cost(problem, caps),
            _ => self.cost(&problem.split_into(splits), caps) + kernels::seconds(problem, splits, caps),
        }
    }

    /// Predicted seconds of one workgroup of the product with this number of splits, while all others run too.
    pub(super) fn block_seconds(&self, problem: &GemmProblem, splits: u32, caps: &Caps) -> f64 {
        let split = if splits == 1 { *problem } else { problem.split_into(splits) };
        self.cost(&split, caps) / self.blocks(&split, caps).max(1) as f64
    }

    /// The number of workgroups.
    pub(super) fn blocks(&self, problem: &GemmProblem, caps: &Caps) -> u64 {
        self.kernel.spec().blocks(self, problem, caps)
    }
}
