//! What was found, each once; the kernels, tiles and parts of shaders that were run, and the marks that something has needed.

use std::collections::{BTreeMap, BTreeSet};
use tilewise::planning::kernel::Include;

#[derive(Default)]
pub(crate) struct Faults {
    /// By shader, function and line, with which values.
    found: BTreeMap<[String; 3], String>,
    /// The kernels that were run.
    pub(crate) shaders: BTreeSet<&'static str>,
    /// What they were made of.
    pub(crate) parts: BTreeSet<Include>,
    /// Their tiles, in words, with the kernels'.
    pub(crate) tiles: BTreeSet<(&'static str, String)>,
    /// Lines whose mark something needed.
    pub(crate) needed: BTreeSet<String>,
    /// Kernels with their launches.
    pub(crate) kernels: usize,
    pub(crate) launches: usize,
    /// Operations on numbers, and those of which an operand was not known.
    pub(crate) known: u64,
    pub(crate) unknown: u64,
}

impl Faults {
    /// A fault in a function of a shader, on a line; the first of its kind says with which values.
    pub(crate) fn add(&mut self, place: [&str; 3], why: impl FnOnce() -> String) {
        self.found.entry(place.map(str::to_owned)).or_insert_with(why);
    }

    /// These and others.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.found.extend(other.found);
        self.shaders.extend(other.shaders);
        self.parts.extend(other.parts);
        self.tiles.extend(other.tiles);
        self.needed.extend(other.needed);
        self.kernels += other.kernels;
        self.launches += other.launches;
        self.known += other.known;
        self.unknown += other.unknown;
        self
    }

    /// Each in words.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |([shader, function, line], why): (&[String; 3], &String)| {
            format!("{shader}, {function}: `{line}`: {why}")
        };
        self.found.iter().map(line).collect()
    }
}
