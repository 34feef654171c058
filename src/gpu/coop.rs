//! Cooperative matrices (tensor cores) as data: the rows that an adapter lists, and whether a kernel may use one.

use super::Caps;
use std::fmt;

/// One cooperative-matrix shape: $C_{m \times n} \mathrel{+}= A_{m \times k} B_{k \times n}$.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CoopRow {
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
    /// Who holds a matrix together.
    pub scope: CoopScope,
    /// What the self-test of the row found.
    pub verdict: Verdict,
}

/// Scalar type of a cooperative matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CoopScalar {
    /// 16-bit floating point.
    F16,
    /// 32-bit floating point.
    F32,
    /// 32-bit signed integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
}

/// The invocations that hold a cooperative matrix together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CoopScope {
    /// One subgroup.
    Subgroup,
}

/// What the self-test of a row found: a small product of integers that must be exact, computed while a
/// [`Gpu`](crate::Gpu) is opened or adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// Nothing: the row was read from an adapter or written down by hand, or the device cannot run the test.
    Untested,
    /// The product was exact.
    Verified,
    /// The product was not exact: no kernel uses the row.
    Wrong,
    /// The driver would not compile or run the test: no kernel uses the row.
    Refused,
}

impl Caps {
    /// Whether a kernel may use the square matrices of this size, with operands of type `ab` and sums of type `c`.
    ///
    /// A row that was not tested counts as usable, so that plans for devices that are not here can be made;
    /// [`Gpu::caps`](crate::Gpu::caps) holds no such row that its device could run.
    ///
    /// # Errors
    /// What the kernel needs and why it is not so, in words.
    pub fn coop(&self, size: u32, ab: CoopScalar, c: CoopScalar) -> Result<(), String> {
        let needs =
            |why: String| format!("cooperative matrices {size}x{size}x{size} {ab} x {ab} -> {c}, {why}");
        let asked = |row: &&CoopRow| row.is_square() && row.m == size && [row.a, row.c] == [ab, c];
        let row =
            self.rows.iter().find(asked).ok_or_else(|| needs("which the adapter does not list".into()))?;
        if matches!(row.verdict, Verdict::Wrong | Verdict::Refused) {
            return Err(needs(row.verdict.to_string()));
        }
        self.coop_conditions(row).map(|_| ()).map_err(needs)
    }

    /// What every kernel on matrices of this row needs besides the row: its types, and subgroups of a size that it can
    /// be written for.
    /// The subgroup's size, or what is missing.
    pub(super) fn coop_conditions(&self, row: &CoopRow) -> Result<u32, String> {
        if [row.a, row.b, row.c].contains(&CoopScalar::F16) && !self.f16 {
            return Err("and f16 in shaders".into());
        }
        match self.subgroups {
            Some(sizes) if sizes.min == sizes.max => Ok(sizes.min),
            Some(sizes) => Err(format!("and subgroups of one size, not {sizes}")),
            None => Err("and subgroups".into()),
        }
    }

    /// Whether a kernel may use some row of cooperative matrices, see [`coop`](Self::coop).
    #[must_use]
    pub fn has_tensor_cores(&self) -> bool {
        self.rows.iter().any(|row| self.coop(row.m, row.a, row.c).is_ok())
    }
}

impl CoopRow {
    /// The row, if the shading language can spell it: naga 30 has square matrices of floats only.
    pub(super) fn of(row: &wgpu::CooperativeMatrixProperties) -> Option<Self> {
        let (m, n, k) = (row.m_size, row.n_size, row.k_size);
        let ab = CoopScalar::of(row.ab_type);
        let c = CoopScalar::of(row.cr_type);
        let float = |s| matches!(s, CoopScalar::F16 | CoopScalar::F32);
        let spelled = m == n && n == k && [8, 16].contains(&m) && float(ab) && float(c);
        let (scope, verdict) = (CoopScope::Subgroup, Verdict::Untested);
        spelled.then_some(Self { m, n, k, a: ab, b: ab, c, scope, verdict })
    }

    /// Whether kernels are written for rows like this: square, with operands of one type.
    pub(super) fn is_square(&self) -> bool {
        [self.n, self.k] == [self.m; 2] && self.a == self.b
    }
}

impl CoopScalar {
    fn of(scalar: wgpu::CooperativeScalarType) -> Self {
        match scalar {
            wgpu::CooperativeScalarType::F32 => Self::F32,
            wgpu::CooperativeScalarType::F16 => Self::F16,
            wgpu::CooperativeScalarType::I32 => Self::I32,
            wgpu::CooperativeScalarType::U32 => Self::U32,
        }
    }

    /// Bytes of one number.
    pub(super) fn size(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
        }
    }
}

/// `16x16x16 f16 x f16 -> f32 (subgroup), verified`: m, n, k, the types of A, B and C, what the self-test found.
impl fmt::Display for CoopRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { m, n, k, a, b, c, scope, verdict } = self;
        write!(f, "{m}x{n}x{k} {a} x {b} -> {c} ({scope}), {verdict}")
    }
}

impl fmt::Display for CoopScalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::I32 => "i32",
            Self::U32 => "u32",
        })
    }
}

impl fmt::Display for CoopScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Subgroup => "subgroup",
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
        })
    }
}
