//! The cooperative matrices that a kernel needs, and whether a device has them.

use super::coop::{CoopRow, CoopScalar, CoopScope, RowSizes};
use super::device::Caps;
use std::fmt;

/// The cooperative matrices of a kernel in any language: a shape, types, and the holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Matrices {
    /// Whether matrices have this shape, or multiples of it.
    pub(crate) sizes: RowSizes,
    /// Rows of A and C, columns of B and C, columns of A.
    pub(crate) shape: [u32; 3],
    /// Type of A and B.
    pub(crate) ab: CoopScalar,
    /// Type of C.
    pub(crate) c: CoopScalar,
    /// The invocations that hold a matrix jointly.
    pub(crate) scope: CoopScope,
}

impl Matrices {
    /// Matrices of exactly this shape, held by a subgroup.
    pub(crate) fn of_subgroup(shape: [u32; 3], ab: CoopScalar, c: CoopScalar) -> Self {
        Self { sizes: RowSizes::Exact, shape, ab, c, scope: CoopScope::Subgroup }
    }

    /// The matrices of a row whose A and B have one type.
    pub(crate) fn of(row: &CoopRow) -> Self {
        Self { sizes: row.sizes, shape: [row.m, row.n, row.k], ab: row.a, c: row.c, scope: row.scope }
    }

    /// Whether they are of this row.
    pub(crate) fn are_of(&self, row: &CoopRow) -> bool {
        Self::of(row) == *self && row.a == row.b && !row.saturating
    }
}

/// `16x16x16 f16 x f16 -> f32`, or `multiples of 16x16x16 f16 x f16 -> f32`. The scope is added if a workgroup holds the
/// matrices.
impl fmt::Display for Matrices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sizes, shape: [m, n, k], ab, c, scope } = self;
        let multiples = if *sizes == RowSizes::Exact { "" } else { "multiples of " };
        let scope = if *scope == CoopScope::Subgroup { "" } else { " (workgroup)" };
        write!(f, "{multiples}{m}x{n}x{k} {ab} x {ab} -> {c}{scope}")
    }
}

impl Caps {
    /// Checks that a kernel may use these matrices. A row without a verdict counts as usable.
    ///
    /// # Errors
    /// A text that says what the kernel needs and what is missing.
    pub(crate) fn check_matrices(&self, matrices: &Matrices) -> Result<(), String> {
        let needs = |why: String| format!("cooperative matrices {matrices}, {why}");
        let listed = self.rows.iter().find(|row| matrices.are_of(row));
        let row = listed.ok_or_else(|| needs("which the adapter does not list".into()))?;
        if row.is_fenced_off() {
            return Err(needs(row.verdict.to_string()));
        }
        self.coop_conditions(row).map(|_| ()).map_err(needs)
    }
}
