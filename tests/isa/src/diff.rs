//! Compares rows with those of an earlier run.

use crate::assembly::Widths;
use crate::row::Row;
use std::collections::HashMap;
use std::fmt::{self, Write};

/// The differences between two runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// A line for each step with a changed figure, and for each that only one of the runs has.
    pub lines: Vec<String>,
    /// Number of steps with the same code in both runs.
    pub same: usize,
    /// Number of steps with other code and the same figures.
    pub alike: usize,
    /// Number of steps with a worse figure: more spills, more scratch, a narrower widest access, or any other figure worse by
    /// more than 2%.
    pub worse: usize,
    /// Number of steps with changed figures of which none is worse.
    pub other: usize,
    /// Number of steps that only this run has.
    pub new: usize,
    /// Number of steps that only the earlier run has.
    pub gone: usize,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lines: _, same, alike, worse, other, new, gone } = self;
        write!(f, "{same} steps have the same code, {alike} other code with the same figures; ")?;
        write!(f, "{other} changed, {worse} worse, {new} new, {gone} gone")
    }
}

/// Reads the rows of a file that `--json` has printed: one line of JSON each.
///
/// # Errors
/// A message of one line if the file cannot be read, has no rows, or has rows of another target.
pub fn read(path: &str, target: &str) -> Result<Vec<Row>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let mut rows = Vec::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let row: Row = serde_json::from_str(line).map_err(|error| {
            format!("{path}, line {}: not a row of this version of the program: {error}", i + 1)
        })?;
        if row.target != target {
            return Err(format!("{path} has rows of the target {}, not of {target}", row.target));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(format!("{path} has no rows"));
    }
    Ok(rows)
}

/// Checks that both runs used the same version of Mesa. With different compilers, different figures say nothing about the
/// kernels.
///
/// # Errors
/// A message of one line if the versions differ.
pub fn check_versions(path: &str, before: &[Row], after: &[Row]) -> Result<(), String> {
    let version = |rows: &[Row]| rows.iter().map(|row| row.mesa.clone()).find(|mesa| !mesa.is_empty());
    match (version(before), version(after)) {
        (Some(before), Some(after)) if before != after => Err(format!(
            "{path} was written with Mesa {before}, but this is Mesa {after}: they cannot be compared"
        )),
        _ => Ok(()),
    }
}

/// Compares the rows of an earlier run with these. Rows with the same name are matched in their order.
#[must_use]
pub fn between(before: &[Row], after: &[Row]) -> Difference {
    let mut difference = Difference::default();
    let mut by_name: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in before.iter().rev() {
        by_name.entry(&row.name).or_default().push(row);
    }
    for row in after {
        match by_name.get_mut(row.name.as_str()).and_then(Vec::pop) {
            None => {
                difference.new += 1;
                difference.lines.push(format!("{}: new", row.name));
            }
            Some(old) if old.refused.is_none() && row.refused.is_none() && old.code == row.code => {
                difference.same += 1
            }
            Some(old) => {
                let (changes, is_worse) = compared(old, row);
                if changes.is_empty() {
                    difference.alike += 1;
                } else {
                    let (verdict, count) = match is_worse {
                        true => ("worse", &mut difference.worse),
                        false => ("other", &mut difference.other),
                    };
                    *count += 1;
                    difference.lines.push(format!("{}: {verdict}:{changes}", row.name));
                }
            }
        }
    }
    for gone in
        before.iter().filter(|row| by_name.get(row.name.as_str()).is_some_and(|left| left.contains(row)))
    {
        difference.gone += 1;
        difference.lines.push(format!("{}: gone", gone.name));
    }
    difference
}

/// The figures of a row that changed, and whether one of them is worse.
fn compared(old: &Row, new: &Row) -> (String, bool) {
    let mut changes = String::new();
    let mut is_worse = false;
    let mut note = |what: &str, old: u32, new: u32, worse: bool| {
        if old != new {
            let _ = write!(changes, " {what} {old} -> {new};");
            is_worse |= worse;
        }
    };
    let above = |old: u32, new: u32| f64::from(new) > f64::from(old) * 1.02;
    let registers = [old, new].map(|row| row.registers.unwrap_or(0));
    let occupancy = [old, new].map(|row| row.occupancy.unwrap_or(0));
    note("registers", registers[0], registers[1], above(registers[0], registers[1]));
    note("spills", old.spills, new.spills, new.spills > old.spills);
    note("scratch", old.scratch, new.scratch, new.scratch > old.scratch);
    note("shared", old.shared, new.shared, above(old.shared, new.shared));
    note("occupancy", occupancy[0], occupancy[1], above(occupancy[1], occupancy[0]));
    note("instructions", old.instructions, new.instructions, above(old.instructions, new.instructions));
    note("block", old.block, new.block, above(old.block, new.block));
    note("matrix", old.matrix, new.matrix, new.matrix < old.matrix);
    if let (Some(old), Some(new)) = (old.matrix_percent, new.matrix_percent) {
        note("percent", old, new, above(new, old));
    }
    let is_narrower = |old: &Widths, new: &Widths| {
        let [old, new] = [old, new].map(|widths| widths.keys().last().copied());
        new.is_some() && new < old
    };
    let accesses = |row: &Row| row.global.values().chain(row.shared_access.values()).sum::<u32>();
    if (&old.global, &old.shared_access) != (&new.global, &new.shared_access) {
        note("accesses", accesses(old), accesses(new), above(accesses(old), accesses(new)));
        is_worse |=
            is_narrower(&old.global, &new.global) || is_narrower(&old.shared_access, &new.shared_access);
        let _ = write!(
            changes,
            " global {:?} -> {:?}; shared {:?} -> {:?};",
            old.global, new.global, old.shared_access, new.shared_access
        );
    }
    if old.refused != new.refused {
        let why = |row: &Row| row.refused.clone().unwrap_or_else(|| "compiles".into());
        let _ = write!(changes, " {} -> {};", why(old), why(new));
        is_worse |= new.refused.is_some();
    }
    (changes, is_worse)
}

#[cfg(test)]
mod tests {
    use super::{between, check_versions, read};
    use crate::row::Row;

    fn row(name: &str, change: impl FnOnce(&mut Row)) -> Row {
        let mut row = Row {
            name: name.into(),
            target: "navi31".into(),
            mesa: "26.1.6".into(),
            registers: Some(100),
            occupancy: Some(8),
            instructions: 1000,
            code: "a".into(),
            ..Row::default()
        };
        change(&mut row);
        row
    }

    #[test]
    fn worse_figures_are_distinguished_from_changed_ones() {
        let wide = |row: &mut Row| row.global = [(16, 1)].into();
        let mut before = ["a", "b", "c", "d", "e", "gone"].map(|name| row(name, |_| ())).to_vec();
        before.push(row("narrower", wide));
        let after = [
            row("a", |row| row.kernel = "renamed".into()),
            row("b", |row| row.code = "b".into()),
            row("c", |row| (row.code, row.instructions) = ("b".into(), 1020)),
            row("d", |row| (row.code, row.instructions) = ("b".into(), 1021)),
            row("e", |row| (row.code, row.spills) = ("b".into(), 1)),
            row("narrower", |row| (row.code, row.global) = ("b".into(), [(4, 1)].into())),
            row("new", |_| ()),
        ];
        let found = between(&before, &after);
        assert_eq!((found.same, found.alike, found.worse), (1, 1, 3));
        let text = "1 steps have the same code, 1 other code with the same figures; 1 changed, 3 worse, 1 new, 1 gone";
        assert_eq!(found.to_string(), text);
        assert_eq!(
            found.lines,
            [
                "c: other: instructions 1000 -> 1020;",
                "d: worse: instructions 1000 -> 1021;",
                "e: worse: spills 0 -> 1;",
                "narrower: worse: global {16: 1} -> {4: 1}; shared {} -> {};",
                "new: new",
                "gone: gone",
            ]
        );
    }

    #[test]
    fn a_file_without_matching_rows_is_refused_in_one_line() {
        let folder = std::env::temp_dir().join(format!("tilewise-isa-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("rows.json");
        let path = path.to_str().unwrap();
        let refused = |text: &str| {
            std::fs::write(path, text).unwrap();
            read(path, "navi31").unwrap_err()
        };
        let line = serde_json::to_string(&row("a", |_| ())).unwrap();
        assert_eq!(refused(""), format!("{path} has no rows"));
        let other = refused(&line.replace("navi31", "nv176"));
        assert_eq!(other, format!("{path} has rows of the target nv176, not of navi31"));
        let other = refused(&format!("{line}\n{{\"name\": 1}}\n"));
        assert!(
            other.starts_with(&format!("{path}, line 2: not a row of this version of the program: ")),
            "{other}"
        );
        std::fs::write(path, &line).unwrap();
        let rows = read(path, "navi31").unwrap();
        assert_eq!(rows, [row("a", |_| ())]);
        let newer = [row("a", |row| row.mesa = "27.0.0".into())];
        assert_eq!(check_versions(path, &rows, &rows), Ok(()));
        let why = check_versions(path, &rows, &newer).unwrap_err();
        assert_eq!(
            why,
            format!("{path} was written with Mesa 26.1.6, but this is Mesa 27.0.0: they cannot be compared")
        );
        assert!(read("/no/such/file", "navi31").unwrap_err().starts_with("/no/such/file: "));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
