//! The kernels of matrix products, their tiles, and the choices that a caller may pin: a kernel, a tile, a number of
//! splits.

/// A kernel that computes matrix products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GemmKernel {
    /// Each invocation computes one element. Runs on every device.
    Naive,
    /// For few rows or few columns: reads the matrix operand once, in vectors.
    Gemv,
    /// For software devices: the invocations of a workgroup read the same elements of A, and hold all rows of its block.
    Broadcast,
    /// Blocks in shared memory, register tiles of single invocations.
    Tiled,
    /// For i8: blocks in shared memory as words of four elements, multiplied by packed dot products.
    Dot,
    /// Blocks in shared memory, subgroup tiles of cooperative matrices: tensor cores.
    Coop,
    /// The same as a module of SPIR-V, on matrices of any shape, for f16, bf16 and types of 8 bits: needs Vulkan.
    CoopKhr,
    /// The same on matrices of flexible size, which a subgroup or a workgroup holds whole: needs `VK_NV_cooperative_matrix2`.
    CoopNv2,
}

impl GemmKernel {
    /// Every kernel.
    pub const ALL: [Self; 8] = [
        Self::Naive,
        Self::Gemv,
        Self::Broadcast,
        Self::Tiled,
        Self::Dot,
        Self::Coop,
        Self::CoopKhr,
        Self::CoopNv2,
    ];
}

/// A kernel with the sizes of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// The kernel.
    pub kernel: GemmKernel,
    /// Rows of C per workgroup. [`GemmKernel::Gemv`]: elements along the longer axis of C.
    pub bm: u32,
    /// Columns of C per workgroup. [`GemmKernel::Gemv`]: the largest number of elements along the shorter axis.
    pub bn: u32,
    /// Depth of the staged blocks. [`GemmKernel::Gemv`]: depth of one iteration of the workgroup.
    pub bk: u32,
    /// Rows of C per invocation; with cooperative matrices, per subgroup, or of the block if the workgroup holds it as one matrix.
    pub tm: u32,
    /// Columns of C per invocation; with cooperative matrices, as the rows.
    pub tn: u32,
    /// Edge of the cooperative matrices; 0 for other kernels.
    pub fragment: u32,
}

impl Tile {
    /// A tile whose register tiles belong to single invocations.
    pub(in crate::gemm) const fn of_invocations(
        kernel: GemmKernel,
        [bm, bn, bk]: [u32; 3],
        [tm, tn]: [u32; 2],
    ) -> Self {
        Self { kernel, bm, bn, bk, tm, tn, fragment: 0 }
    }

    /// The number of register tiles or subgroup tiles of a block.
    pub(in crate::gemm) const fn tiles_per_block(&self) -> u32 {
        self.bm / self.tm * (self.bn / self.tn)
    }
}

/// A restriction of the candidates that a plan chooses from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pin {
    /// All candidates.
    #[default]
    Free,
    /// The tiles of one kernel.
    Kernel(GemmKernel),
    /// One tile.
    Tile(Tile),
    /// The kernels that stage blocks of real operands, [`GemmKernel::Tiled`] and [`GemmKernel::Coop`]. With this pin a
    /// product has the same bits whether half of an operand is stored or generated.
    Staged,
}

impl Pin {
    /// Whether the plan chooses a kernel.
    pub(in crate::gemm) fn leaves_a_choice(self) -> bool {
        matches!(self, Self::Free | Self::Staged)
    }
}

/// The number of splits of k. Each split is summed by other workgroups; a second launch adds the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SplitK {
    /// The number that is predicted to be the fastest.
    #[default]
    Auto,
    /// This number, or one split for each 32 elements of k if k is too short for it. 1 turns split-k off.
    Splits(u32),
}
