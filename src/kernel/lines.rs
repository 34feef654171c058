//! Text that is pasted: lines, each with its place.

use super::directive::Directive;
use super::library::File;
use std::fmt;
use std::rc::Rc;

/// A line of a file, or of text that was made for a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    file: Rc<str>,
    line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Lines that are pasted together.
pub(super) struct Lines<'t> {
    file: Rc<str>,
    /// Each with its number in the file, from 1 on.
    lines: Vec<(usize, &'t str)>,
}

impl<'t> Lines<'t> {
    /// All lines of a text, which is called `file`.
    pub(super) fn of_text(file: String, text: &'t str) -> Self {
        let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
        Self { file: file.into(), lines: lines.collect() }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The lines, each with its place.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Place, &'t str)> {
        self.lines.iter().map(|&(line, text)| (self.place(line), text))
    }

    /// The sample below the `//#made` that is the line `at` of these, from 0 on: up to its `//#end`, which may have blocks of
    /// parameters above it.
    ///
    /// # Errors
    /// The place where it is clear that the sample has no end, and why, in words.
    pub(super) fn sample(&self, at: usize) -> Result<Self, (Place, String)> {
        let begin = self.place(self.lines[at].0);
        let below = at + 1;
        let mut is_in_params = false;
        for (i, &(number, line)) in self.lines.iter().enumerate().skip(below) {
            match Directive::of_line(line).map_err(|why| (self.place(number), why))? {
                Some(Directive::Param) => is_in_params = true,
                Some(Directive::End) if is_in_params => is_in_params = false,
                Some(Directive::End) => {
                    let lines = self.lines[below..i].to_vec();
                    return Ok(Self { file: Rc::clone(&self.file), lines });
                }
                Some(Directive::Made(_)) => {
                    return Err((
                        self.place(number),
                        format!("the sample of {begin} has no //#end above it"),
                    ));
                }
                _ => {}
            }
        }
        Err((begin, "the sample has no //#end below it".to_owned()))
    }

    fn place(&self, line: usize) -> Place {
        Place { file: Rc::clone(&self.file), line }
    }
}

impl Lines<'static> {
    /// All of a file but its header, which would not stand at the top of the text.
    pub(super) fn of_part(file: File) -> Self {
        let mut lines = Self::of_text(file.path(), file.text);
        lines.lines.retain(|(_, line)| !line.starts_with("//!"));
        lines
    }

    /// A variant of a slot's file, and its name there: the lines below its directive, behind those above all variants.
    ///
    /// # Errors
    /// There is no such variant, or there are two of one name, in words.
    pub(super) fn of_variant(file: File, wanted: &str) -> Result<(Self, &'static str), String> {
        let Self { file: path, lines } = Self::of_part(file);
        let mut variants: Vec<(&'static str, usize)> = Vec::new();
        let mut kept = Vec::new();
        for (number, line) in lines {
            if let Ok(Some(Directive::Variant(name))) = Directive::of_line(line) {
                if let Some((_, first)) = variants.iter().find(|(known, _)| *known == name) {
                    return Err(format!("{path}:{number}: the variant {name} is at {path}:{first} too"));
                }
                variants.push((name, number));
            } else if variants.last().is_none_or(|(name, _)| *name == wanted) {
                kept.push((number, line));
            }
        }
        match variants.iter().find(|(name, _)| *name == wanted) {
            Some((name, _)) => Ok((Self { file: path, lines: kept }, name)),
            None if variants.is_empty() => Err(format!("{path} has no variants: it is no slot's file")),
            None => {
                let each = variants.iter().map(|(name, line)| format!("{name} ({path}:{line})"));
                let known = each.collect::<Vec<_>>().join(", ");
                Err(format!("{path} has no variant {wanted}; it has {known}"))
            }
        }
    }
}
