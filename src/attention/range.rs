//! The keys that a query attends, and the kernel, as plain data.

/// The corner of the scores from which a causal mask counts. The conventions agree if there are as many queries as
/// keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CausalFrom {
    /// Query $i$ attends keys $j \le i$, as `is_causal` of `PyTorch`.
    TopLeft,
    /// The last query attends all keys: $j \le i + S - L$ for $L$ queries and $S$ keys, as in flash-attention and in a model that
    /// decodes with a cache. If there are more queries than keys, the first ones attend none.
    BottomRight,
}

/// The keys that a query attends, by their distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AttentionRange {
    /// A causal mask.
    pub causal: Option<CausalFrom>,
    /// Keys before the query's own, counted from the bottom right corner.
    pub left: Option<usize>,
    /// Keys after it.
    pub right: Option<usize>,
    /// Where the bottom right corner is.
    pub corner: AttentionCorner,
}

/// The origin of the distances of queries and keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AttentionCorner {
    /// The last query is at the last key.
    #[default]
    Keys,
    /// The last query of a batch is at the last key within its key length.
    Lengths,
}

/// A kernel of attention, for [`AttentionOptions::kernel`](super::AttentionOptions::kernel).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttentionKernel {
    /// Multiplies in f32: all types, any head dims, any device.
    Plain,
    /// Multiplies on cooperative matrices (tensor cores) with sums in f32: f16 operands, head dims that are multiples of the matrices' size
    /// and at most 256. Weights are rounded to f16, and so are the gradients of scores in the backward pass, see
    /// [`AttentionReference`](crate::reference::AttentionReference). Gradients of a bias are computed by the plain kernel.
    Coop,
    /// Multiplies on cooperative matrices whose elements functions change, in SPIR-V: operands of f16 or bf16. Matrices are of flexible
    /// size (`VK_NV_cooperative_matrix2`); where a driver lists none, of the sizes of a row with n = k, with the functions of
    /// `VK_EXT_cooperative_matrix_maintenance1` or, without that, of the first extension.
    /// Weights, and gradients of scores in the backward pass, are rounded to that type. Head dims, sums and gradients of a bias are as with
    /// [`Coop`](Self::Coop). Scores, softmax and sums stay in registers.
    CoopNv2,
}

impl AttentionKernel {
    /// All kernels.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Coop, Self::CoopNv2];
}
