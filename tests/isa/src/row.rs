//! What is told of a step: a row of a table, or a line of JSON.

use crate::assembly::Widths;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A step of a plan, compiled for a target. What a driver does not tell is null.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The plan, and which of its steps, if there are several.
    pub name: String,
    /// The plan's family.
    pub family: String,
    /// The shader.
    pub kernel: String,
    /// How it cuts its work.
    pub tile: String,
    /// What it is compiled for.
    pub target: String,
    /// The driver's version.
    pub mesa: String,
    /// Invocations of a subgroup.
    pub subgroup: u32,
    /// Vector registers of an invocation (Intel: of a subgroup).
    pub registers: Option<u32>,
    /// Registers that are stored to memory and loaded again, for want of others.
    pub spills: u32,
    /// Bytes of memory of each invocation's own: for spills, and for arrays with indices that are not known.
    pub scratch: u32,
    /// Bytes of shared memory that the text declares.
    pub shared: u32,
    /// Subgroups that a core holds at a time: of one SIMD (AMD), of one multiprocessor (NVIDIA).
    pub occupancy: Option<u32>,
    /// Instructions of the whole kernel.
    pub instructions: u32,
    /// Instructions of its heaviest block: see [`Counted`](crate::assembly::Counted). All that follow are counted there.
    pub block: u32,
    /// Products of cooperative matrices.
    pub matrix: u32,
    /// Accesses of storage buffers by their width in bytes.
    pub global: Widths,
    /// Accesses of shared memory by their width in bytes.
    pub shared_access: Widths,
    /// A digest of the assembly: two rows with one digest are the same code.
    pub code: String,
    /// Why there is no code, if there is none.
    pub refused: Option<String>,
}

/// The heading over rows.
pub struct Heading;

fn widths(widths: &Widths) -> String {
    if widths.is_empty() {
        return "-".into();
    }
    let each = widths.iter().rev().map(|(bytes, count)| format!("{count}x{bytes}"));
    each.collect::<Vec<_>>().join(" ")
}

fn or_dash(number: Option<u32>) -> String {
    number.map_or_else(|| "-".into(), |number| number.to_string())
}

impl fmt::Display for Heading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<44} {:>9} {:>6} {:>7} {:>6} {:>9} {:>8} {:>12} {:>5} {:>6}  {:<16} {:<16} kernel",
            "plan",
            "registers",
            "spills",
            "scratch",
            "shared",
            "occupancy",
            "subgroup",
            "instructions",
            "block",
            "matrix",
            "global",
            "shared memory"
        )
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kernel, tile, .. } = self;
        if let Some(why) = &self.refused {
            return write!(f, "{name:<44} {why} ({kernel} {tile})");
        }
        write!(
            f,
            "{name:<44} {:>9} {:>6} {:>7} {:>6} {:>9} {:>8} {:>12} {:>5} {:>6}  {:<16} {:<16} {kernel} {tile}",
            or_dash(self.registers),
            self.spills,
            self.scratch,
            self.shared,
            or_dash(self.occupancy),
            self.subgroup,
            self.instructions,
            self.block,
            self.matrix,
            widths(&self.global),
            widths(&self.shared_access),
        )
    }
}
