//! Pastes into a shader what its directives stand for: see [`specialize`](super::specialize).

use super::directive::{Directive, variant};
use super::library::{self, File};
use super::words::Renames;
use super::{Filling, Kernel};
use crate::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A shader's text as far as its directives are pasted.
pub(super) struct Pasted<'a> {
    kernel: &'a Kernel,
    /// The kernel's folder, where its parts are looked for first.
    folder: &'a str,
    pub(super) text: String,
    /// Files of functions and declarations that are in the text, with their names there: each stands there once.
    imported: BTreeSet<(&'static str, String)>,
    /// The slots in the text, by name.
    slots: BTreeMap<String, Slot>,
    /// Everything that the text is made of: files, and which variants of those that are slots.
    pub(super) parts: BTreeSet<Part>,
}

/// A file that a kernel's text has in it; of a slot's file, the variant.
pub type Part = (&'static str, Option<&'static str>);

/// A slot in the text: its default, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    default: Option<String>,
    place: Place,
}

/// A line of a file, or of text that was made for a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    file: String,
    line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Lines that are pasted: where they are from, and each with its number there.
struct Lines<'t> {
    file: String,
    lines: Vec<(usize, &'t str)>,
}

impl Lines<'static> {
    /// All of a file but its header, which would not stand at the top of the text.
    fn of_file(file: File) -> Self {
        let lines = numbered(file.text).filter(|(_, line)| !line.starts_with("//!"));
        Self { file: file.path(), lines: lines.collect() }
    }

    /// A variant of a slot's file, behind what stands above all variants; none if there is no such variant.
    fn of_variant(file: File, wanted: &str) -> Option<(Self, &'static str)> {
        let mut lines = Vec::new();
        let mut found = None;
        let mut is_in = true;
        for (number, line) in Self::of_file(file).lines {
            match variant(line) {
                Some(name) => {
                    is_in = name == wanted;
                    found = if is_in { Some(name) } else { found };
                }
                None if is_in => lines.push((number, line)),
                None => {}
            }
        }
        found.map(|name| (Self { file: file.path(), lines }, name))
    }
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(i, line)| (i + 1, line))
}

/// Files paste others at most this deep: one that pasted itself would never end.
const DEPTH: usize = 8;

/// Pastes all that a kernel's text consists of.
pub(super) fn paste(kernel: &Kernel) -> Result<Pasted<'_>> {
    let file = library::kernel(kernel.shader).ok_or_else(|| kernel.error("there is no such kernel"))?;
    let mut pasted = Pasted {
        kernel,
        folder: file.folder(),
        text: String::with_capacity(4 * file.text.len()),
        imported: BTreeSet::new(),
        slots: BTreeMap::new(),
        parts: BTreeSet::new(),
    };
    let lines = Lines { file: file.path(), lines: numbered(file.text).collect() };
    pasted.lines(&lines, &Renames::default(), DEPTH)?;
    match kernel.slots.iter().find(|(name, _)| !pasted.slots.contains_key(*name)) {
        Some((name, _)) => Err(kernel.error(format!("has no slot {name}; {}", pasted.slots_in_words()))),
        None => Ok(pasted),
    }
}

impl Pasted<'_> {
    fn lines(&mut self, lines: &Lines<'_>, renames: &Renames, depth: usize) -> Result<()> {
        for &(line, text) in &lines.lines {
            let place = Place { file: lines.file.clone(), line };
            match Directive::of_line(text, renames) {
                None => {
                    self.text.push_str(&renames.apply(text));
                    self.text.push('\n');
                }
                Some(directive) => {
                    let directive = directive.map_err(|why| self.error(&place, why))?;
                    let deeper =
                        depth.checked_sub(1).ok_or_else(|| self.error(&place, "is pasted too deep"))?;
                    self.paste(directive, place, deeper)?;
                }
            }
        }
        Ok(())
    }

    fn paste(&mut self, directive: Directive<'_>, place: Place, depth: usize) -> Result<()> {
        match directive {
            Directive::Import { name, renames } => {
                let file = self.file(name, &place)?;
                if !self.imported.insert((file.name, renames.suffix())) {
                    return Ok(());
                }
                self.parts.insert((file.name, None));
                self.lines(&Lines::of_file(file), &renames, depth)
            }
            Directive::Slot { name, renames, default } => self.slot(name, &renames, default, place, depth),
            Directive::Inline { name, renames } => self.inline(name, &renames, place, depth),
        }
    }

    fn slot(
        &mut self,
        name: &str,
        renames: &Renames,
        default: Option<&str>,
        place: Place,
        depth: usize,
    ) -> Result<()> {
        let slot = format!("{name}{}", renames.suffix());
        let default = default.map(str::to_owned);
        if let Some(known) = self.slots.get(&slot) {
            if known.default != default {
                let why = format!("slot {slot} has another default at {}", known.place);
                return Err(self.error(&place, why));
            }
            return Ok(());
        }
        self.slots.insert(slot.clone(), Slot { default: default.clone(), place: place.clone() });
        let kernel = self.kernel;
        let wanted = match kernel.slots.iter().find(|(filled, _)| *filled == slot).map(|(_, filling)| filling)
        {
            Some(Filling::Generated { text, .. }) => {
                let lines = Lines { file: format!("text made for {slot}"), lines: numbered(text).collect() };
                return self.lines(&lines, renames, depth);
            }
            Some(Filling::Variant(variant)) => (*variant).to_owned(),
            None => default.ok_or_else(|| {
                self.error(&place, format!("slot {slot} has no default, and no plan fills it"))
            })?,
        };
        let file = self.file(name, &place)?;
        let Some((lines, variant)) = Lines::of_variant(file, &wanted) else {
            let why = format!("slot {slot}: {} has no variant {wanted}", file.path());
            return Err(self.error(&place, why));
        };
        self.parts.insert((file.name, Some(variant)));
        self.lines(&lines, renames, depth)
    }

    fn inline(&mut self, name: &str, renames: &Renames, place: Place, depth: usize) -> Result<()> {
        let slot = renames.apply(name);
        let kernel = self.kernel;
        self.slots.insert(slot.clone(), Slot { default: None, place: place.clone() });
        let name = match kernel.slots.iter().find(|(filled, _)| *filled == slot).map(|(_, filling)| filling) {
            Some(Filling::Generated { text, .. }) => {
                let lines = Lines { file: format!("text made for {slot}"), lines: numbered(text).collect() };
                return self.lines(&lines, &Renames::default(), depth);
            }
            Some(Filling::Variant(variant)) => variant,
            None => name,
        };
        let file = self.file(name, &place)?;
        self.parts.insert((file.name, None));
        self.lines(&Lines::of_file(file), renames, depth)
    }

    fn file(&self, name: &str, place: &Place) -> Result<File> {
        library::part(self.folder, name).ok_or_else(|| {
            let folder = self.folder;
            self.error(
                place,
                format!("there is no shaders/{folder}/{name}.wgsl and no shaders/common/{name}.wgsl"),
            )
        })
    }

    fn slots_in_words(&self) -> String {
        let each = self.slots.iter().map(|(name, slot)| format!("{name} ({})", slot.place));
        format!("it has {}", each.collect::<Vec<_>>().join(", "))
    }

    fn error(&self, place: &Place, why: impl fmt::Display) -> crate::Error {
        self.kernel.error(format!("{place}: {why}"))
    }
}
