//! Expands the directives of a kernel's text and sets its parameters, as [`specialize`](super::specialize) describes.

use super::directive::Directive;
use super::identifiers::Renames;
use super::library::{self, Library, ShaderFile};
use super::numbered_lines::{Location, NumberedLines};
use super::params::Params;
use super::shader_dims;
use super::source::{Kernel, SlotContent};
use crate::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A file that a kernel's text includes, and which variant of it if the file fills a slot.
pub type Include = (&'static str, Option<&'static str>);

/// A kernel's text after all directives except `//#unroll` were expanded.
pub(super) struct Expanded {
    pub(super) text: String,
    /// The location from which each line of the text comes.
    pub(super) locations: Vec<Location>,
    /// The included files.
    pub(super) includes: BTreeSet<Include>,
}

/// The deepest nesting of included files. Without a limit, a file that includes itself would never end.
const MAX_DEPTH: usize = 8;

/// Expands a kernel's text with the files of a library.
///
/// # Errors
/// [`Error::Input`](crate::Error::Input) with the location of the line that cannot be expanded.
pub(super) fn expand(kernel: &Kernel, library: &Library) -> Result<Expanded> {
    let file = library.kernel(kernel.shader).map_err(|why| kernel.error(why))?;
    let mut expander = Expander {
        kernel,
        library,
        folder: file.folder(),
        params: Params::new(&kernel.params),
        imported: BTreeSet::new(),
        slots: BTreeMap::new(),
        expanded: Expanded {
            text: String::with_capacity(4 * file.text.len()),
            locations: Vec::new(),
            includes: BTreeSet::new(),
        },
    };
    expander.lines(&NumberedLines::of_text(file.path(), file.text), &Renames::default(), MAX_DEPTH)?;
    let of_file = |why| kernel.error(format!("{} {why}", library::path(kernel.shader)));
    expander.check_slots().map_err(of_file)?;
    expander.params.check().map_err(of_file)?;
    Ok(expander.expanded)
}

/// A slot of the text, as its first directive declares it.
struct Slot {
    location: Location,
    /// None for a `//#generated` slot.
    variants: Option<VariantSlot>,
}

/// The arguments of a `//#slot` directive, besides its name.
struct VariantSlot {
    renames: Renames,
    default: Option<String>,
}

struct Expander<'k> {
    kernel: &'k Kernel,
    library: &'k Library,
    /// The kernel's folder, which is searched for included files first.
    folder: &'static str,
    params: Params<'k>,
    /// The files imported so far, with their renames. A file is imported once for each set of renames.
    imported: BTreeSet<(&'static str, Renames)>,
    /// The slots declared so far, by name.
    slots: BTreeMap<String, Slot>,
    expanded: Expanded,
}

impl<'k> Expander<'k> {
    fn lines(&mut self, lines: &NumberedLines<'_>, renames: &Renames, depth: usize) -> Result<()> {
        // The location of the `//#param` whose block contains the current line.
        let mut block = None;
        for (location, line) in lines.iter() {
            let directive = Directive::parse_line(line).map_err(|why| self.error(&location, why))?;
            match (directive, &block) {
                (None, None) | (Some(Directive::Unroll), None) => self.push(&renames.apply(line), location),
                (None, Some(_)) => {
                    let line = self.params.set(renames.apply(line), &location);
                    let line = line.map_err(|why| self.error(&location, why))?;
                    self.push(&line, location);
                }
                (Some(Directive::Param), None) => block = Some(location),
                (Some(Directive::End), Some(_)) => block = None,
                (Some(Directive::End), None) => {
                    return Err(self.error(&location, "//#end without //#param"));
                }
                (Some(_), Some(begin)) => {
                    return Err(self.error(
                        &location,
                        format!("the //#param at {begin} needs an //#end before this line"),
                    ));
                }
                (Some(Directive::Generated(name)), None) => {
                    self.generated(name, &location, depth)?;
                }
                (Some(Directive::Dims), None) if self.kernel.members.is_empty() => {}
                (Some(Directive::Dims), None) => shader_dims::text(self.kernel.members)
                    .lines()
                    .for_each(|line| self.push(line, location.clone())),
                (Some(directive), None) => {
                    let deeper = depth.checked_sub(1);
                    let deeper = deeper.ok_or_else(|| {
                        self.error(&location, "files are included too deeply; does one include itself?")
                    })?;
                    self.include(directive, renames, &location, deeper)?;
                }
            }
        }
        match block {
            Some(begin) => Err(self.error(&begin, "the //#param has no //#end")),
            None => Ok(()),
        }
    }

    fn push(&mut self, line: &str, location: Location) {
        self.expanded.text.push_str(line);
        self.expanded.text.push('\n');
        self.expanded.locations.push(location);
    }

    /// Expands a directive that includes a file, in a text to which the renames `outer` apply.
    fn include(
        &mut self,
        directive: Directive<'_>,
        outer: &Renames,
        location: &Location,
        depth: usize,
    ) -> Result<()> {
        match directive {
            Directive::Import { name, renames } => self.import(name, renames.within(outer), location, depth),
            Directive::Slot { name, renames, default } => {
                let default = default.map(str::to_owned);
                self.slot(name, VariantSlot { renames: renames.within(outer), default }, location, depth)
            }
            Directive::Variant(name) => {
                let why = format!(
                    "//#variant {name} is only allowed in a file that fills a slot, and such a file cannot be imported"
                );
                Err(self.error(location, why))
            }
            Directive::Dims
            | Directive::Generated(_)
            | Directive::Param
            | Directive::End
            | Directive::Unroll => Ok(()),
        }
    }

    fn import(&mut self, name: &str, renames: Renames, location: &Location, depth: usize) -> Result<()> {
        let file = self.file(name, location)?;
        self.expanded.includes.insert((file.name, None));
        if self.imported.insert((file.name, renames.clone())) {
            return self.lines(&NumberedLines::of_include(file), &renames, depth);
        }
        Ok(())
    }

    /// Expands a `//#slot`: the variant that the kernel chose, otherwise the default.
    fn slot(&mut self, name: &str, slot: VariantSlot, location: &Location, depth: usize) -> Result<()> {
        let slot_name = format!("{name}{}", slot.renames.suffix());
        if let Some(first) = self.slots.get(&slot_name) {
            let why = match &first.variants {
                None => "is a //#generated",
                Some(variants) if variants.default != slot.default => "has another default",
                Some(variants) if variants.renames != slot.renames => "has other renames",
                Some(_) => return Ok(()),
            };
            return Err(self.error(location, format!("slot {slot_name} {why} at {}", first.location)));
        }
        let wanted = match (self.content(&slot_name), &slot.default) {
            (Some(SlotContent::Generated { .. }), _) => {
                let why =
                    format!("slot {slot_name} takes a variant: generated text can only fill a //#generated");
                return Err(self.error(location, why));
            }
            (Some(SlotContent::Variant(variant)), _) => *variant,
            (None, Some(default)) => default,
            (None, None) => {
                let why = format!("slot {slot_name} has no default, and the kernel does not fill it");
                return Err(self.error(location, why));
            }
        };
        let file = self.file(name, location)?;
        let found = NumberedLines::of_variant(file, wanted);
        let (lines, variant) =
            found.map_err(|why| self.error(location, format!("slot {slot_name}: {why}")))?;
        self.expanded.includes.insert((file.name, Some(variant)));
        let renames = slot.renames.clone();
        self.slots.insert(slot_name, Slot { location: location.clone(), variants: Some(slot) });
        self.lines(&lines, &renames, depth)
    }

    /// Expands a `//#generated`: the kernel's text.
    fn generated(&mut self, name: &str, location: &Location, depth: usize) -> Result<()> {
        // Only the kernel's own file is expanded at this depth.
        if depth != MAX_DEPTH {
            return Err(self.error(
                location,
                format!("slot {name}: //#generated is only allowed in a kernel's own file"),
            ));
        }
        let deeper = MAX_DEPTH - 1;
        if let Some(first) = self.slots.get(name) {
            return Err(
                self.error(location, format!("slot {name} is already declared at {}", first.location))
            );
        }
        self.slots.insert(name.to_owned(), Slot { location: location.clone(), variants: None });
        match self.content(name) {
            None => Err(self.error(location, format!("the kernel has no text for {name}"))),
            Some(SlotContent::Generated { text, .. }) => {
                let lines = NumberedLines::of_text(format!("text generated for {name}"), text);
                self.lines(&lines, &Renames::default(), deeper)
            }
            Some(SlotContent::Variant(variant)) => {
                let why = format!("slot {name} takes generated text: it has no variant {variant}");
                Err(self.error(location, why))
            }
        }
    }

    /// The content that the kernel supplies for a slot.
    fn content(&self, slot: &str) -> Option<&'k SlotContent> {
        let kernel: &'k Kernel = self.kernel;
        kernel.slots.iter().find(|(filled, _)| filled == slot).map(|(_, content)| content)
    }

    fn file(&self, name: &str, location: &Location) -> Result<ShaderFile> {
        self.library.include(self.folder, name).map_err(|why| self.error(location, why))
    }

    /// Checks that the kernel fills only slots that exist, each once. Must be called after the whole text was expanded.
    fn check_slots(&self) -> Result<(), String> {
        for (i, (name, _)) in self.kernel.slots.iter().enumerate() {
            let Some(slot) = self.slots.get(&**name) else {
                let each = self.slots.iter().map(|(name, slot)| format!("{name} ({})", slot.location));
                let known = each.collect::<Vec<_>>().join(", ");
                return Err(format!("has no slot {name}; its slots are {known}"));
            };
            if self.kernel.slots[..i].iter().any(|(earlier, _)| earlier == name) {
                return Err(format!("has the slot {name} ({}), which the kernel fills twice", slot.location));
            }
        }
        Ok(())
    }

    fn error(&self, location: &Location, why: impl fmt::Display) -> crate::Error {
        self.kernel.error(format!("{location}: {why}"))
    }
}
