//! Pastes into a kernel's text what its directives stand for, and sets its parameters: see [`specialize`](super::specialize).

use super::directive::Directive;
use super::library::{self, File, Library};
use super::lines::{Lines, Place};
use super::params::Params;
use super::source::{Filling, Kernel};
use super::words::Renames;
use crate::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A file that a kernel's text has in it; of a slot's file, the variant.
pub type Part = (&'static str, Option<&'static str>);

/// A kernel's text with all that its directives stand for.
pub(super) struct Pasted {
    /// Of directives, it has `//#unroll` alone.
    pub(super) text: String,
    /// Where each line of the text is from.
    pub(super) places: Vec<Place>,
    /// Everything that the text is made of beside the kernel's file.
    pub(super) parts: BTreeSet<Part>,
}

/// Files paste others at most this deep: one that pasted itself would never end.
const DEPTH: usize = 8;

/// Pastes all that a kernel's text consists of, from the files of this library.
pub(super) fn paste(kernel: &Kernel, library: &Library) -> Result<Pasted> {
    let file = library.kernel(kernel.shader).map_err(|why| kernel.error(why))?;
    let mut paster = Paster {
        kernel,
        library,
        folder: file.folder(),
        params: Params::new(&kernel.params),
        imported: BTreeSet::new(),
        slots: BTreeMap::new(),
        pasted: Pasted {
            text: String::with_capacity(4 * file.text.len()),
            places: Vec::new(),
            parts: BTreeSet::new(),
        },
    };
    paster.lines(&Lines::of_text(file.path(), file.text), &Renames::default(), DEPTH)?;
    let of_file = |why| kernel.error(format!("{} {why}", library::path(kernel.shader)));
    paster.check_slots().map_err(of_file)?;
    paster.params.check().map_err(of_file)?;
    Ok(paster.pasted)
}

/// A slot in the text, as the first directive that has it says.
struct Slot {
    place: Place,
    /// None of one that is filled with text that is made.
    variants: Option<Variants>,
}

/// What the directive of a slot that has variants says of them.
struct Variants {
    renames: Renames,
    default: Option<String>,
}

struct Paster<'k> {
    kernel: &'k Kernel,
    library: &'k Library,
    /// The kernel's folder, where its parts are looked for first.
    folder: &'static str,
    params: Params<'k>,
    /// Files of functions and declarations that are in the text, with their names there: each stands there once.
    imported: BTreeSet<(&'static str, Renames)>,
    /// The slots in the text, by name.
    slots: BTreeMap<String, Slot>,
    pasted: Pasted,
}

impl<'k> Paster<'k> {
    fn lines(&mut self, lines: &Lines<'_>, renames: &Renames, depth: usize) -> Result<()> {
        // Where the block of parameters begins that the line is in.
        let mut block = None;
        let mut rest = lines.iter().enumerate();
        while let Some((at, (place, line))) = rest.next() {
            let directive = Directive::of_line(line).map_err(|why| self.error(&place, why))?;
            match (directive, &block) {
                (None, None) | (Some(Directive::Unroll), None) => self.push(&renames.apply(line), place),
                (None, Some(_)) => {
                    let line = self.params.set(renames.apply(line), &place);
                    let line = line.map_err(|why| self.error(&place, why))?;
                    self.push(&line, place);
                }
                (Some(Directive::Param), None) => block = Some(place),
                (Some(Directive::End), Some(_)) => block = None,
                (Some(Directive::End), None) => {
                    return Err(self.error(&place, "there is no //#param above it"));
                }
                (Some(_), Some(begin)) => {
                    return Err(
                        self.error(&place, format!("the parameters of {begin} have no //#end above it"))
                    );
                }
                (Some(Directive::Made(name)), None) => {
                    let sample = lines.sample(at).map_err(|(place, why)| self.error(&place, why))?;
                    rest.nth(sample.len()); // its lines, and its end
                    self.made(name, &sample, &place, depth)?;
                }
                (Some(directive), None) => {
                    let deeper = depth.checked_sub(1);
                    let deeper = deeper.ok_or_else(|| self.error(&place, "is pasted too deep"))?;
                    self.paste(directive, renames, &place, deeper)?;
                }
            }
        }
        match block {
            Some(begin) => Err(self.error(&begin, "the parameters have no //#end below them")),
            None => Ok(()),
        }
    }

    fn push(&mut self, line: &str, place: Place) {
        self.pasted.text.push_str(line);
        self.pasted.text.push('\n');
        self.pasted.places.push(place);
    }

    /// Pastes what a directive stands for in a text with these new names.
    fn paste(
        &mut self,
        directive: Directive<'_>,
        outer: &Renames,
        place: &Place,
        depth: usize,
    ) -> Result<()> {
        match directive {
            Directive::Import { name, renames } => self.import(name, renames.within(outer), place, depth),
            Directive::Slot { name, renames, default } => {
                let default = default.map(str::to_owned);
                self.slot(name, Variants { renames: renames.within(outer), default }, place, depth)
            }
            Directive::Variant(name) => {
                let why = format!("the variant {name} stands in no slot's file, or in one that is imported");
                Err(self.error(place, why))
            }
            Directive::Made(_) | Directive::Param | Directive::End | Directive::Unroll => Ok(()),
        }
    }

    fn import(&mut self, name: &str, renames: Renames, place: &Place, depth: usize) -> Result<()> {
        let file = self.file(name, place)?;
        self.pasted.parts.insert((file.name, None));
        if self.imported.insert((file.name, renames.clone())) {
            return self.lines(&Lines::of_part(file), &renames, depth);
        }
        Ok(())
    }

    /// Pastes the variant of a slot that the kernel fills it with, or else its default.
    fn slot(&mut self, name: &str, slot: Variants, place: &Place, depth: usize) -> Result<()> {
        let called = format!("{name}{}", slot.renames.suffix());
        if let Some(first) = self.slots.get(&called) {
            let why = match &first.variants {
                None => "a //#made",
                Some(variants) if variants.default != slot.default => "another default",
                Some(variants) if variants.renames != slot.renames => "other new names",
                Some(_) => return Ok(()),
            };
            return Err(self.error(place, format!("slot {called} has {why} at {}", first.place)));
        }
        let wanted = match (self.filling(&called), &slot.default) {
            (Some(Filling::Generated { .. }), _) => {
                let why = format!("slot {called} has variants: text that is made fills a //#made alone");
                return Err(self.error(place, why));
            }
            (Some(Filling::Variant(variant)), _) => *variant,
            (None, Some(default)) => default,
            (None, None) => {
                let why = format!("slot {called} has no default, and the kernel fills it with nothing");
                return Err(self.error(place, why));
            }
        };
        let file = self.file(name, place)?;
        let found = Lines::of_variant(file, wanted);
        let (lines, variant) = found.map_err(|why| self.error(place, format!("slot {called}: {why}")))?;
        self.pasted.parts.insert((file.name, Some(variant)));
        let renames = slot.renames.clone();
        self.slots.insert(called, Slot { place: place.clone(), variants: Some(slot) });
        self.lines(&lines, &renames, depth)
    }

    /// Pastes the text that was made for a slot, or else the sample that stands there.
    fn made(&mut self, name: &str, sample: &Lines<'_>, place: &Place, depth: usize) -> Result<()> {
        // All text but that of the kernel's file is deeper.
        if depth != DEPTH {
            return Err(
                self.error(place, format!("slot {name}: a //#made stands in a kernel's own file alone"))
            );
        }
        let deeper = DEPTH - 1;
        if let Some(first) = self.slots.get(name) {
            return Err(self.error(place, format!("slot {name} is at {} too", first.place)));
        }
        self.slots.insert(name.to_owned(), Slot { place: place.clone(), variants: None });
        match self.filling(name) {
            None => self.lines(sample, &Renames::default(), deeper),
            Some(Filling::Generated { text, .. }) => {
                let lines = Lines::of_text(format!("the text made for {name}"), text);
                self.lines(&lines, &Renames::default(), deeper)
            }
            Some(Filling::Variant(variant)) => {
                let why =
                    format!("slot {name} has no variant {variant}: it is filled with text that is made");
                Err(self.error(place, why))
            }
        }
    }

    /// What the kernel fills the slot of this name with.
    fn filling(&self, called: &str) -> Option<&'k Filling> {
        let kernel: &'k Kernel = self.kernel;
        kernel.slots.iter().find(|(filled, _)| filled == called).map(|(_, filling)| filling)
    }

    fn file(&self, name: &str, place: &Place) -> Result<File> {
        self.library.part(self.folder, name).map_err(|why| self.error(place, why))
    }

    /// Checks, when all text has been seen, that what the kernel fills are slots.
    fn check_slots(&self) -> Result<(), String> {
        for (i, (name, _)) in self.kernel.slots.iter().enumerate() {
            let Some(slot) = self.slots.get(&**name) else {
                let each = self.slots.iter().map(|(name, slot)| format!("{name} ({})", slot.place));
                let known = each.collect::<Vec<_>>().join(", ");
                return Err(format!("has no slot {name}; it has {known}"));
            };
            if self.kernel.slots[..i].iter().any(|(earlier, _)| earlier == name) {
                return Err(format!("has two fillings for the slot {name} ({})", slot.place));
            }
        }
        Ok(())
    }

    fn error(&self, place: &Place, why: impl fmt::Display) -> crate::Error {
        self.kernel.error(format!("{place}: {why}"))
    }
}
