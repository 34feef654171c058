//! Cooperative matrices (tensor cores) as data: the rows that an adapter lists, and their verdicts.

use super::row_speed::RowSpeed;
use std::fmt;

/// A row of the table of cooperative matrices that a driver lists: $C_{m \times n} \mathrel{+}= A_{m \times k} B_{k \times n}$.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CoopRow {
    /// Whether matrices have these sizes, or multiples of them.
    pub sizes: RowSizes,
    /// Rows of A and C.
    pub m: u32,
    /// Columns of B and C.
    pub n: u32,
    /// Columns of A and rows of B.
    pub k: u32,
    /// Scalar type of A.
    pub a: CoopScalar,
    /// Scalar type of B.
    pub b: CoopScalar,
    /// Scalar type of C, operand and result.
    pub c: CoopScalar,
    /// The invocations that hold a matrix jointly.
    pub scope: CoopScope,
    /// Whether sums of integers saturate at the ends of C's type instead of wrapping around.
    pub saturating: bool,
    /// Verdict of the row's self-test.
    pub verdict: Verdict,
    /// The speed of the row on this device. It is timed when the row passes its self-test. None if it has not been timed: the
    /// device's speed or the row is [assumed](crate::gpu::Assumptions), or the program runs in a browser.
    pub speed: Option<RowSpeed>,
}

/// Which sizes the matrices of a row may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RowSizes {
    /// Exactly the sizes of the row.
    Exact,
    /// Any multiples of the row's sizes up to [`FlexibleLimits::dimension`], from `VK_NV_cooperative_matrix2`.
    Multiples {
        /// Invocations of the workgroup whose matrices have this granularity; 0 for the scope of a subgroup, because a workgroup
        /// may then have any number of them.
        invocations: u32,
    },
}

/// Limits of cooperative matrices of flexible size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlexibleLimits {
    /// Largest size of a matrix along any axis.
    pub dimension: u32,
    /// Maximum invocations of a workgroup that holds matrices jointly.
    pub workgroup_invocations: u32,
    /// Bytes of shared memory that the driver reserves in kernels with matrices of a workgroup.
    pub reserved_bytes: u32,
}

/// Scalar type of a cooperative matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CoopScalar {
    /// 8-bit floating point with 4 bits of exponent and 3 of mantissa.
    E4m3,
    /// 8-bit floating point with 5 bits of exponent and 2 of mantissa.
    E5m2,
    /// 16-bit floating point.
    F16,
    /// The upper half of a 32-bit floating-point number.
    Bf16,
    /// 32-bit floating point.
    F32,
    /// 64-bit floating point.
    F64,
    /// 8-bit signed integer.
    I8,
    /// 8-bit unsigned integer.
    U8,
    /// 32-bit signed integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
}

/// The invocations that hold a cooperative matrix jointly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CoopScope {
    /// One subgroup.
    Subgroup,
    /// A whole workgroup.
    Workgroup,
}

/// Verdict of a row's self-test: a small product of integers that must be exact, computed before the first kernel that uses the row is
/// compiled, or when an application asks for [`Gpu::caps`](crate::Gpu::caps). On an adopted device it is computed at once. On a device with several subgroup sizes, a kernel on the row that is compiled later can change
/// it to [`OtherSubgroups`](Self::OtherSubgroups).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// No verdict: the row was read from an adapter or written by hand, or the device cannot run the test.
    Untested,
    /// The product was exact.
    Verified,
    /// The product was not exact. No kernel uses the row.
    Wrong,
    /// The driver refused to compile or run the test. No kernel uses the row.
    Refused,
    /// The driver gave the test, or a kernel on the row, subgroups of another size than
    /// [`SubgroupSizes::matrices`](crate::gpu::SubgroupSizes::matrices). No kernel that is compiled later uses the row.
    OtherSubgroups,
}

impl CoopRow {
    /// The row with matrices of exactly these sizes (m, n, k) and types (A, B, C), held by a subgroup. It does not saturate.
    pub(crate) fn untested([m, n, k]: [u32; 3], [a, b, c]: [CoopScalar; 3]) -> Self {
        let (sizes, scope, verdict) = (RowSizes::Exact, CoopScope::Subgroup, Verdict::Untested);
        Self { sizes, m, n, k, a, b, c, scope, saturating: false, verdict, speed: None }
    }

    /// Whether WGSL can express matrices of this row (as of naga 30): squares of 8 or 16 of f16 or f32, with one type for A
    /// and B, in one subgroup. Kernels in WGSL use only such rows, after their self-test.
    #[must_use]
    pub fn is_spelled_in_wgsl(&self) -> bool {
        let is_float = |scalar| matches!(scalar, CoopScalar::F16 | CoopScalar::F32);
        self.sizes == RowSizes::Exact
            && [8, 16].contains(&self.m)
            && [self.n, self.k] == [self.m; 2]
            && self.a == self.b
            && is_float(self.a)
            && is_float(self.c)
            && self.scope == CoopScope::Subgroup
            && !self.saturating
    }

    /// Whether modules of SPIR-V of this crate use matrices of this row: f16, bf16, e4m3 or e5m2 with sums of f32, or i8 with sums
    /// of i32. Extents must be multiples of 8. The matrices are held by a subgroup, or, if sizes are
    /// [multiples](RowSizes::Multiples), also by a workgroup.
    #[must_use]
    pub fn is_used_in_spirv(&self) -> bool {
        use CoopScalar::{Bf16, E4m3, E5m2, F16, F32, I8, I32};
        matches!((self.a, self.c), (F16 | Bf16 | E4m3 | E5m2, F32) | (I8, I32))
            && self.a == self.b
            && [self.m, self.n, self.k].iter().all(|extent| extent.is_multiple_of(8))
            && (self.scope == CoopScope::Subgroup || self.sizes != RowSizes::Exact)
            && !self.saturating
            && (self.sizes == RowSizes::Exact || self.a.size() == 2 || self.a == I8)
    }

    /// Whether matrices have multiples of the row's sizes.
    pub(crate) fn is_flexible(&self) -> bool {
        self.sizes != RowSizes::Exact
    }

    /// The sizes of matrices in the row's self-test. For a row of multiples they are doubled, with equal n and k, because the test
    /// converts sums to an operand.
    pub(crate) fn tested_sizes(&self) -> [u32; 3] {
        match self.sizes {
            RowSizes::Exact => [self.m, self.n, self.k],
            RowSizes::Multiples { .. } => {
                let [m, across] = [self.m, self.n.max(self.k)].map(|size| size.saturating_mul(2));
                [m, across, across]
            }
        }
    }

    /// Whether this is the row of a kernel in WGSL on squares of this size, with operands of type `ab` and sums of type `c`.
    pub(crate) fn is_of_wgsl(&self, size: u32, ab: CoopScalar, c: CoopScalar) -> bool {
        self.is_spelled_in_wgsl() && (self.m, self.a, self.c) == (size, ab, c)
    }

    /// Whether no kernel may use the row.
    pub(crate) fn is_fenced_off(&self) -> bool {
        !matches!(self.verdict, Verdict::Untested | Verdict::Verified)
    }
}

impl CoopScalar {
    /// Size of one number in bytes.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::E4m3 | Self::E5m2 | Self::I8 | Self::U8 => 1,
            Self::F16 | Self::Bf16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 => 8,
        }
    }
}

/// `16x16x16 f16 x f16 -> f32 (subgroup), verified`: m, n, k, the types of A, B and C, the scope and the verdict. A row of
/// multiples has a word for that before the sizes, and a row that saturates after the scope.
impl fmt::Display for CoopRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sizes, m, n, k, a, b, c, scope, saturating, verdict, .. } = self;
        let saturating = if *saturating { " saturating" } else { "" };
        let (multiples, of) = match sizes {
            RowSizes::Exact => ("", String::new()),
            RowSizes::Multiples { invocations: 0 } => ("multiples of ", String::new()),
            RowSizes::Multiples { invocations } => ("multiples of ", format!(" of {invocations}")),
        };
        write!(f, "{multiples}{m}x{n}x{k} {a} x {b} -> {c} ({scope}{of}{saturating}), {verdict}")
    }
}

impl fmt::Display for RowSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Exact => "exact",
            Self::Multiples { .. } => "multiples",
        })
    }
}

impl fmt::Display for CoopScalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::E4m3 => "e4m3",
            Self::E5m2 => "e5m2",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I32 => "i32",
            Self::U32 => "u32",
        })
    }
}

impl fmt::Display for CoopScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Subgroup => "subgroup",
            Self::Workgroup => "workgroup",
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Untested => "not tested",
            Self::Verified => "verified",
            Self::Wrong => "fenced off: wrong results in the self-test",
            Self::Refused => "fenced off: the driver refuses it",
            Self::OtherSubgroups => "fenced off: the driver gives its kernels subgroups of another size",
        })
    }
}
