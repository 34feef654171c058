//! The results for a step: a row of a table, or a line of JSON.

use crate::assembly::Widths;
use crate::slots::Slots;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A step of a plan, compiled for a target. Values that the driver does not report are null.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The plan, and the number of the step if the plan has several.
    pub name: String,
    /// The plan's family.
    pub family: String,
    /// The shader.
    pub kernel: String,
    /// The kernel's tile.
    pub tile: String,
    /// The GPU.
    pub target: String,
    /// The driver's version.
    pub mesa: String,
    /// Whether the driver does not check accesses to buffers. Rows of a usual device leave this field out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchecked_access: bool,
    /// Whether the device has no f16 in shaders. Rows of a usual device leave this field out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_f16: bool,
    /// Invocations of a subgroup.
    pub subgroup: u32,
    /// Vector registers of an invocation (Intel: of a subgroup).
    pub registers: Option<u32>,
    /// Spilled registers.
    pub spills: u32,
    /// Bytes of scratch memory per invocation, for spills and for dynamically indexed arrays.
    pub scratch: u32,
    /// Bytes of shared memory that the text declares.
    pub shared: u32,
    /// Resident subgroups of a SIMD (AMD) or of a multiprocessor (NVIDIA).
    pub occupancy: Option<u32>,
    /// Instructions of the whole kernel.
    pub instructions: u32,
    /// Instructions of the heaviest block: see [`Counted`](crate::assembly::Counted). The next three are counted there too.
    pub block: u32,
    /// Matrix instructions.
    pub matrix: u32,
    /// Percent of the vector unit's time that is left to matrix instructions, see [`matrix_percent`](crate::issue::matrix_percent).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matrix_percent: Option<u32>,
    /// What the heaviest block occupies. Older files leave it out.
    #[serde(default)]
    pub slots: Slots,
    /// Accesses to storage buffers by their width in bytes.
    pub global: Widths,
    /// Accesses to shared memory by their width in bytes.
    pub shared_access: Widths,
    /// Loads from storage buffers in the whole kernel, code for edges included. Older files leave out this field and the next.
    #[serde(default, skip_serializing_if = "Widths::is_empty")]
    pub loads: Widths,
    /// Stores to storage buffers in the whole kernel.
    #[serde(default, skip_serializing_if = "Widths::is_empty")]
    pub stores: Widths,
    /// Conversions from f32 to f16 that truncate, in the whole kernel. Rows without leave this field out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub truncations: u32,
    /// Whether the text packs halves by the built-in, `pack2x16float`. A kernel may do that with what is f16 already, of which
    /// nothing is cut off: `tests/shaders/conversions.rs` names the functions. Rows without leave this field out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub packs_halves: bool,
    /// A digest of the assembly. Rows with the same digest have the same code.
    pub code: String,
    /// The reason why there is no code, if compilation failed.
    pub refused: Option<String>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The heading of the table.
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
            "{:<44} {:>9} {:>6} {:>7} {:>6} {:>9} {:>8} {:>12} {:>5} {:>6} {:>7}  {:<16} {:<16} kernel",
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
            "percent",
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
            "{name:<44} {:>9} {:>6} {:>7} {:>6} {:>9} {:>8} {:>12} {:>5} {:>6} {:>7}  {:<16} {:<16} {kernel} {tile}",
            or_dash(self.registers),
            self.spills,
            self.scratch,
            self.shared,
            or_dash(self.occupancy),
            self.subgroup,
            self.instructions,
            self.block,
            self.matrix,
            or_dash(self.matrix_percent),
            widths(&self.global),
            widths(&self.shared_access),
        )
    }
}
