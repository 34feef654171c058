//! Checks of compiled kernels: rules for every kernel and compiler, and limits for some kernels with one version of Mesa.

use crate::contiguous;
use crate::issue;
use crate::row::Row;

/// The version of Mesa to which [`CEILINGS`] applies.
pub const MESA: &str = "26.1.6";

/// The kernel of matrix products on cooperative matrices.
pub const COOP: &str = "gemm/coop";

/// The start of the names of its modules of SPIR-V, and of those on matrices of flexible size.
pub const MODULES: [&str; 2] = ["spirv/gemm_coop_khr", "spirv/gemm_coop_nv2"];

/// That of attention.
pub const ATTENTION: &str = "attention/attention_coop";

/// That of its gradients.
pub const GRADIENTS: &str = "attention/attention_gradients_coop";

/// Bytes of shared memory that a workgroup has on every device.
const SHARED: u32 = 32 << 10;

/// Limits for a step: the most registers, and the least width of the widest accesses in its heaviest block.
struct Ceiling {
    name: &'static str,
    /// Registers, on navi31, gfx1201 and nv176.
    registers: [u32; 3],
    /// Width in bytes of the widest access to a storage buffer, or 0. If that block of a softmax has none, of the widest load and
    /// the widest store of the kernel, whichever is narrower.
    global: [u32; 3],
    /// Width in bytes of the widest access to shared memory, or 0.
    shared: [u32; 3],
}

const TARGETS: [&str; 3] = ["navi31", "gfx1201", "nv176"];

const fn ceiling(name: &'static str, registers: [u32; 3], global: [u32; 3], shared: [u32; 3]) -> Ceiling {
    Ceiling { name, registers, global, shared }
}

const CEILINGS: [Ceiling; 13] = [
    ceiling("f16", [228, 132, 240], [0, 0, 0], [8, 8, 16]),
    ceiling("f16, B transposed", [228, 132, 232], [0, 0, 0], [8, 8, 16]),
    ceiling("f32", [120, 120, 128], [0, 0, 0], [8, 8, 16]),
    ceiling("i8, dot", [132, 120, 96], [0, 0, 0], [8, 8, 16]),
    ceiling("gaussian f32, 1 of 2", [120, 120, 96], [0, 0, 0], [8, 8, 16]),
    ceiling("gemv f32, a row", [36, 36, 40], [16, 16, 4], [0, 0, 0]),
    ceiling("gemv f16, a column", [48, 48, 40], [8, 8, 2], [0, 0, 0]),
    ceiling("add f32", [36, 36, 24], [16, 16, 4], [0, 0, 0]),
    ceiling("gelu f16", [48, 48, 24], [16, 16, 2], [0, 0, 0]),
    // A row is held in registers, so that it is read once.
    ceiling("softmax f32, along rows", [48, 48, 64], [16, 16, 4], [0, 0, 0]),
    ceiling("geometric product Cl(3) f32", [48, 48, 48], [8, 8, 4], [0, 0, 0]),
    ceiling("between motors f32", [60, 60, 48], [8, 8, 4], [0, 0, 0]),
    ceiling("steerable product Cl(3,0,0) f32", [108, 108, 104], [8, 8, 4], [8, 8, 0]),
];

/// The rules that a target's rows violate, one line each.
#[must_use]
pub fn faults(rows: &[Row]) -> Vec<String> {
    let mut faults = faults_of_all(rows);
    faults.extend(rows.iter().flat_map(issue::faults));
    let of_version: Vec<&Row> = rows.iter().filter(|row| row.mesa == MESA).collect();
    faults.extend(CEILINGS.iter().filter_map(|ceiling| above(ceiling, &of_version)));
    faults.extend(of_version.iter().filter_map(|row| contiguous::narrow(row)));
    faults.extend(of_version.iter().filter_map(|row| contiguous::many(row)));
    faults
}

/// The rules for all plans and all versions of Mesa that a target's rows violate, one line each.
#[must_use]
pub fn faults_of_all(rows: &[Row]) -> Vec<String> {
    rows.iter().filter_map(fault).collect()
}

/// The rule for all versions of Mesa that a row violates, if any.
fn fault(row: &Row) -> Option<String> {
    let Row { name, target, kernel, spills, scratch, .. } = row;
    let what = if let Some(why) = &row.refused {
        why.clone()
    } else if *spills > 0 {
        format!("{spills} spills")
    } else if *scratch > 0 {
        format!("{scratch} bytes of scratch")
    } else if row.truncations > 0 && !row.packs_halves {
        format!("{} conversions to f16 truncate", row.truncations)
    } else if ([COOP, ATTENTION, GRADIENTS].contains(&kernel.as_str())
        || MODULES.iter().any(|start| kernel.starts_with(start)))
        && row.matrix == 0
    {
        "no matrix instruction in its heaviest block".into()
    } else if kernel == ATTENTION && row.shared > SHARED && !name.contains("dim 256") {
        format!("{} bytes of shared memory", row.shared)
    } else {
        return None;
    };
    Some(format!("{target}: {name} ({kernel} {}): {what}", row.tile))
}

/// The limits that a step violates, if any.
fn above(ceiling: &Ceiling, rows: &[&Row]) -> Option<String> {
    let at = TARGETS.iter().position(|target| rows.first().is_some_and(|row| row.target == *target))?;
    let Some(row) = rows.iter().find(|row| row.name == ceiling.name) else {
        return Some(format!("{}: {}: the step does not exist", TARGETS[at], ceiling.name));
    };
    let widest = |widths: &crate::assembly::Widths| widths.keys().last().copied().unwrap_or(0);
    let registers = row.registers.unwrap_or(0);
    // The heaviest block of a softmax may be the exponentials of elements in registers: then all accesses of the kernel count.
    let of_kernel = row.global.is_empty() && row.kernel == contiguous::SOFTMAX;
    let whole = widest(&row.loads).min(widest(&row.stores));
    let global = if of_kernel { whole } else { widest(&row.global) };
    let shared = widest(&row.shared_access);
    let holds =
        registers <= ceiling.registers[at] && global >= ceiling.global[at] && shared >= ceiling.shared[at];
    (!holds).then(|| {
        format!(
            "{}: {}: {registers} registers, accesses of {global} and {shared} bytes; allowed: at most {}, at least {} and {}",
            row.target, row.name, ceiling.registers[at], ceiling.global[at], ceiling.shared[at]
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{CEILINGS, COOP, MESA, TARGETS, faults};
    use crate::row::Row;

    type Change<'a> = &'a dyn Fn(&mut Row);

    /// Rows that just meet the limits.
    fn rows(at: usize) -> Vec<Row> {
        let of = |bytes: u32| if bytes > 0 { [(bytes, 1)].into() } else { [].into() };
        let row = |ceiling: &super::Ceiling| Row {
            name: ceiling.name.into(),
            target: TARGETS[at].into(),
            mesa: MESA.into(),
            registers: Some(ceiling.registers[at]),
            global: of(ceiling.global[at]),
            shared_access: of(ceiling.shared[at]),
            ..Row::default()
        };
        CEILINGS.iter().map(row).collect()
    }

    #[test]
    fn every_violation_is_reported() {
        assert_eq!(faults(&rows(0)), [""; 0]);
        let mut exact = rows(0);
        (exact[0].truncations, exact[0].packs_halves) = (8, true);
        assert_eq!(faults(&exact), [""; 0], "what is f16 already is packed by the built-in");
        let changed = |change: &dyn Fn(&mut Row)| {
            let mut rows = rows(2);
            change(&mut rows[0]);
            faults(&rows)
        };
        let attends = |row: &mut Row| (row.kernel, row.matrix) = (super::ATTENTION.into(), 8);
        let cases: [(Change<'_>, &str); 11] = [
            (&|row| row.spills = 3, "3 spills"),
            (&|row| row.scratch = 4, "4 bytes of scratch"),
            (&|row| row.truncations = 2, "2 conversions to f16 truncate"),
            (&|row| row.kernel = COOP.into(), "no matrix instruction"),
            (&|row| row.kernel = super::ATTENTION.into(), "no matrix instruction"),
            (&|row| (attends(row), row.shared = 32_784).1, "32784 bytes of shared memory"),
            (&|row| row.refused = Some("refused: ERROR".into()), "refused: ERROR"),
            (&|row| row.registers = Some(241), "241 registers"),
            (&|row| row.shared_access = [(8, 1)].into(), "accesses of 0 and 8 bytes"),
            (&|row| row.name = "another".into(), "f16: the step does not exist"),
            (&|row| row.refused = Some("crashed".into()), "crashed"),
        ];
        for (change, want) in cases {
            let found = changed(change);
            assert!(found.len() == 1 && found[0].contains(want), "{want}: {found:?}");
        }
        // Without accesses in the heaviest block of a softmax, those of the whole kernel count.
        let softmax = |loads: u32| {
            let mut rows = rows(0);
            let row = rows.iter_mut().find(|row| row.name.starts_with("softmax")).unwrap();
            row.kernel = crate::contiguous::SOFTMAX.into();
            row.global.clear();
            (row.loads, row.stores) = ([(4, 1), (loads, 1)].into(), [(16, 1)].into());
            faults(&rows)
        };
        assert_eq!(softmax(16), [""; 0]);
        let narrow = softmax(8);
        assert!(narrow.iter().any(|fault| fault.contains("accesses of 8 and 0 bytes")), "{narrow:?}");
        // Other registers are allowed with another version of Mesa.
        let other = rows(1).into_iter().map(|row| Row { registers: Some(255), mesa: "99".into(), ..row });
        assert_eq!(faults(&other.collect::<Vec<_>>()), [""; 0]);
    }
}
