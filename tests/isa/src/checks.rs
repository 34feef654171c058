//! What has to hold of every kernel on every compiler, and of some kernels on the compilers of one version.

use crate::row::Row;

/// The version of Mesa whose registers and widths [`CEILINGS`] are.
pub const MESA: &str = "26.1.6";

/// Memory of each invocation's own that a kernel is known to take: arrays whose indices a compiler does not know.
struct Known {
    target: &'static str,
    kernel: &'static str,
    /// Bytes at most, as the driver counts them.
    scratch: u32,
    /// The issue that ends it.
    until: &'static str,
}

const fn known(kernel: &'static str, scratch: u32, until: &'static str) -> Known {
    Known { target: "nv176", kernel, scratch, until }
}

/// The kernel that multiplies cooperative matrices.
pub const COOP: &str = "gemm/coop";

const COMPILERS: &str = "What the compilers showed";

const KNOWN: [Known; 3] = [
    known("clifford/rows", 32, COMPILERS),
    known("sketch/gather", 16, COMPILERS),
    known("sketch/scatter", 16, COMPILERS),
];

/// Registers that a step takes at most, and the widest accesses that its heaviest block has at least.
struct Ceiling {
    name: &'static str,
    /// On navi31, gfx1201 and nv176.
    registers: [u32; 3],
    /// Bytes of an access of a storage buffer, 0 for none.
    global: [u32; 3],
    /// Bytes of an access of shared memory, 0 for none.
    shared: [u32; 3],
}

const TARGETS: [&str; 3] = ["navi31", "gfx1201", "nv176"];

const fn ceiling(name: &'static str, registers: [u32; 3], global: [u32; 3], shared: [u32; 3]) -> Ceiling {
    Ceiling { name, registers, global, shared }
}

const CEILINGS: [Ceiling; 12] = [
    ceiling("f16", [132, 120, 192], [0, 0, 0], [8, 8, 16]),
    ceiling("f16, B transposed", [132, 120, 192], [0, 0, 0], [8, 8, 16]),
    ceiling("f32", [120, 120, 104], [0, 0, 0], [8, 8, 16]),
    ceiling("i8", [132, 120, 96], [0, 0, 0], [8, 8, 16]),
    ceiling("gaussian f32, 1 of 2", [120, 120, 96], [0, 0, 0], [8, 8, 16]),
    ceiling("gemv f32, a row", [36, 36, 40], [16, 16, 4], [0, 0, 0]),
    ceiling("gemv f16, a column", [48, 48, 40], [8, 8, 2], [0, 0, 0]),
    ceiling("gelu f16", [48, 48, 24], [2, 2, 0], [0, 0, 0]),
    ceiling("softmax f32, along rows", [48, 48, 32], [4, 4, 0], [0, 0, 0]),
    ceiling("geometric product Cl(3) f32", [48, 48, 48], [8, 8, 4], [0, 0, 0]),
    ceiling("between motors f32", [60, 60, 48], [8, 8, 4], [0, 0, 0]),
    ceiling("steerable product Cl(3,0,0) f32", [108, 108, 96], [8, 8, 4], [8, 8, 0]),
];

/// What does not hold of the rows of a target, a line each.
#[must_use]
pub fn faults(rows: &[Row]) -> Vec<String> {
    let mut faults: Vec<String> = rows.iter().filter_map(fault).collect();
    let of_version: Vec<&Row> = rows.iter().filter(|row| row.mesa == MESA).collect();
    faults.extend(CEILINGS.iter().filter_map(|ceiling| above(ceiling, &of_version)));
    faults
}

/// What no row may have, of whatever version.
fn fault(row: &Row) -> Option<String> {
    let Row { name, target, kernel, spills, scratch, .. } = row;
    let known = KNOWN.iter().find(|known| known.target == *target && known.kernel == *kernel);
    let allowed = known.map_or(0, |known| known.scratch);
    let what = if let Some(why) = &row.refused {
        why.clone()
    } else if *spills > 0 {
        format!("{spills} spills")
    } else if *scratch > allowed {
        let until =
            known.map_or_else(String::new, |known| format!(" above {allowed}, until {:?}", known.until));
        format!("{scratch} bytes of scratch{until}")
    } else if kernel == COOP && row.matrix == 0 {
        "no product of matrices in its heaviest block".into()
    } else {
        return None;
    };
    Some(format!("{target}: {name} ({kernel} {}): {what}", row.tile))
}

/// In what a step exceeds its ceiling.
fn above(ceiling: &Ceiling, rows: &[&Row]) -> Option<String> {
    let at = TARGETS.iter().position(|target| rows.first().is_some_and(|row| row.target == *target))?;
    let Some(row) = rows.iter().find(|row| row.name == ceiling.name) else {
        return Some(format!("{}: {}: no such step", TARGETS[at], ceiling.name));
    };
    let widest = |widths: &crate::assembly::Widths| widths.keys().last().copied().unwrap_or(0);
    let registers = row.registers.unwrap_or(0);
    let (global, shared) = (widest(&row.global), widest(&row.shared_access));
    let holds =
        registers <= ceiling.registers[at] && global >= ceiling.global[at] && shared >= ceiling.shared[at];
    (!holds).then(|| {
        format!(
            "{}: {}: {registers} registers, accesses of {global} and {shared} bytes; at most {}, at least {} and {}",
            row.target, row.name, ceiling.registers[at], ceiling.global[at], ceiling.shared[at]
        )
    })
}

/// Exceptions that no row needs any more.
#[must_use]
pub fn needless(rows: &[Row]) -> Vec<String> {
    let is_of = |known: &Known, row: &&Row| row.target == known.target && row.kernel == known.kernel;
    let most = |known: &Known| rows.iter().filter(|row| is_of(known, row)).map(|row| row.scratch).max();
    let lower = KNOWN.iter().filter(|known| most(known).is_some_and(|most| most < known.scratch));
    lower
        .map(|known| format!("{} takes less scratch on {} than is allowed", known.kernel, known.target))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{CEILINGS, COOP, KNOWN, MESA, TARGETS, faults, needless};
    use crate::row::Row;

    type Change<'a> = &'a dyn Fn(&mut Row);

    /// Rows that are as the ceilings say.
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
    fn every_fault_is_told() {
        assert_eq!(faults(&rows(0)), [""; 0]);
        let changed = |change: &dyn Fn(&mut Row)| {
            let mut rows = rows(2);
            change(&mut rows[0]);
            faults(&rows)
        };
        let cases: [(Change<'_>, &str); 9] = [
            (&|row| row.spills = 3, "3 spills"),
            (&|row| row.scratch = 4, "4 bytes of scratch"),
            (&|row| (row.kernel, row.scratch) = (KNOWN[0].kernel.into(), 33), "33 bytes of scratch above 32"),
            (&|row| row.kernel = COOP.into(), "no product of matrices"),
            (&|row| row.refused = Some("refused: ERROR".into()), "refused: ERROR"),
            (&|row| row.registers = Some(193), "193 registers"),
            (&|row| row.shared_access = [(8, 1)].into(), "accesses of 0 and 8 bytes"),
            (&|row| row.name = "another".into(), "f16: no such step"),
            (&|row| row.refused = Some("crashed".into()), "crashed"),
        ];
        for (change, want) in cases {
            let found = changed(change);
            assert!(found.len() == 1 && found[0].contains(want), "{want}: {found:?}");
        }
        // Known scratch, and another version's registers, are none.
        assert_eq!(changed(&|row| (row.kernel, row.scratch) = (KNOWN[0].kernel.into(), 32)), [""; 0]);
        let other = rows(1).into_iter().map(|row| Row { registers: Some(255), mesa: "99".into(), ..row });
        assert_eq!(faults(&other.collect::<Vec<_>>()), [""; 0]);
    }

    #[test]
    fn an_exception_that_nothing_needs_is_told() {
        let row = |scratch| Row {
            target: "nv176".into(),
            kernel: KNOWN[1].kernel.into(),
            scratch,
            ..Row::default()
        };
        assert_eq!(needless(&[row(16), row(4)]), [""; 0]);
        assert_eq!(
            needless(&[row(4)]),
            [format!("{} takes less scratch on nv176 than is allowed", KNOWN[1].kernel)]
        );
    }
}
