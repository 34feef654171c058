//! The modules that test rows of cooperative matrices, by the form of the row and the functions of elements of the device.

use crate::caps::{Caps, CoopRow, CoopScalar, CoopScope, RowSizes};

/// The functions of elements that the test of a row of exact sizes includes. Those of rows of multiples have the ones of
/// `VK_NV_cooperative_matrix2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::gpu) enum Functions {
    None,
    Nv2,
    Maintenance1,
}

impl Functions {
    /// The functions that kernels use on a row. There are some only if its sums can be converted to an operand (n = k)
    /// and the device has no row of multiples of its type, which kernels would prefer.
    pub(in crate::gpu) fn of(row: &CoopRow, caps: &Caps) -> Self {
        let is_preferred = |other: &CoopRow| {
            other.is_flexible() && other.scope == CoopScope::Subgroup && [other.a, other.c] == [row.a, row.c]
        };
        let is_of_use = row.n == row.k
            && matches!(row.a, CoopScalar::F16 | CoopScalar::Bf16)
            && !caps.rows.iter().any(is_preferred);
        match (is_of_use, caps.extensions.maintenance1, caps.extensions.flexible) {
            (true, true, _) => Self::Maintenance1,
            (true, false, true) => Self::Nv2,
            _ => Self::None,
        }
    }
}

/// Whether a module of this name tests rows.
pub(in crate::gpu) fn is_module(name: &str) -> bool {
    name.starts_with("coop_verify.")
}

/// The module that tests a row, if kernels use rows of its form.
pub(in crate::gpu) fn module(row: &CoopRow, functions: Functions) -> Option<&'static str> {
    let name = match (row.sizes, row.scope, row.a) {
        (RowSizes::Exact, _, CoopScalar::F16) => match functions {
            Functions::None => "spirv/coop_verify.f16",
            Functions::Nv2 => "spirv/coop_verify.f16_exact",
            Functions::Maintenance1 => "spirv/coop_verify.f16_maintenance1",
        },
        (RowSizes::Exact, _, CoopScalar::Bf16) => match functions {
            Functions::None => "spirv/coop_verify.bf16",
            Functions::Nv2 => "spirv/coop_verify.bf16_exact",
            Functions::Maintenance1 => "spirv/coop_verify.bf16_maintenance1",
        },
        (RowSizes::Exact, _, CoopScalar::E4m3) => "spirv/coop_verify.e4m3",
        (RowSizes::Exact, _, CoopScalar::E5m2) => "spirv/coop_verify.e5m2",
        (RowSizes::Exact, ..) => "spirv/coop_verify.i8",
        (_, CoopScope::Subgroup, CoopScalar::F16) => "spirv/coop_verify.f16_nv2",
        (_, CoopScope::Subgroup, CoopScalar::Bf16) => "spirv/coop_verify.bf16_nv2",
        (_, CoopScope::Subgroup, _) => "spirv/coop_verify.i8_nv2",
        (_, CoopScope::Workgroup, CoopScalar::F16) => "spirv/coop_verify.workgroup.f16",
        (_, CoopScope::Workgroup, CoopScalar::Bf16) => "spirv/coop_verify.workgroup.bf16",
        (_, CoopScope::Workgroup, _) => "spirv/coop_verify.workgroup.i8",
    };
    row.is_used_in_spirv().then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;
    use CoopScalar::{Bf16, E4m3, F16};

    #[test]
    fn rows_whose_sums_become_operands_are_tested_with_the_functions_of_the_device() {
        let of = |[m, n, k]: [u32; 3], a: CoopScalar, [flexible, maintenance1]: [bool; 2]| {
            let mut caps = fixtures::lavapipe();
            (caps.extensions.flexible, caps.extensions.maintenance1) = (flexible, maintenance1);
            caps.rows.retain(|row| !row.is_flexible());
            let row = CoopRow { m, n, k, a, b: a, ..caps.rows[1] };
            module(&row, Functions::of(&row, &caps)).expect("modules use such rows")
        };
        assert_eq!(of([8, 16, 16], F16, [false, false]), "spirv/coop_verify.f16");
        assert_eq!(of([8, 16, 16], F16, [true, false]), "spirv/coop_verify.f16_exact");
        assert_eq!(of([8, 16, 16], F16, [true, true]), "spirv/coop_verify.f16_maintenance1");
        assert_eq!(of([16, 8, 16], F16, [true, true]), "spirv/coop_verify.f16");
        assert_eq!(of([16; 3], Bf16, [false, true]), "spirv/coop_verify.bf16_maintenance1");
        assert_eq!(of([16; 3], E4m3, [true, true]), "spirv/coop_verify.e4m3");
        // Kernels use the rows of multiples that this device lists.
        let caps = fixtures::lavapipe();
        let row = CoopRow { m: 8, n: 16, k: 16, ..caps.rows[1] };
        assert!(caps.extensions.flexible && [row.a, row.c] == [F16, CoopScalar::F32], "{row}");
        assert_eq!(module(&row, Functions::of(&row, &caps)), Some("spirv/coop_verify.f16"));
    }
}
