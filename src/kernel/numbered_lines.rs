//! Lines of a shader's text, each with its file and line number for error messages.

use super::directive::Directive;
use super::library::ShaderFile;
use std::fmt;
use std::rc::Rc;

/// The location of a line: in a file, or in a slot's generated text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    file: Rc<str>,
    line: usize,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Consecutive lines of one text.
pub(super) struct NumberedLines<'t> {
    file: Rc<str>,
    /// The lines, each with its number in the file, counted from 1.
    lines: Vec<(usize, &'t str)>,
}

impl<'t> NumberedLines<'t> {
    /// All lines of a text. Error messages call the text `file`.
    pub(super) fn of_text(file: String, text: &'t str) -> Self {
        let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
        Self { file: file.into(), lines: lines.collect() }
    }

    /// The lines, each with its location.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Location, &'t str)> {
        self.lines.iter().map(|&(line, text)| (self.location(line), text))
    }

    fn location(&self, line: usize) -> Location {
        Location { file: Rc::clone(&self.file), line }
    }
}

impl NumberedLines<'static> {
    /// The lines of an included file. Its header (`//!`) is left out: a header belongs at the top of a text.
    pub(super) fn of_include(file: ShaderFile) -> Self {
        let mut lines = Self::of_text(file.path(), file.text);
        lines.lines.retain(|(_, line)| !line.starts_with("//!"));
        lines
    }

    /// The lines of one variant of a slot's file, after the lines that all its variants share. Also returns the variant's name.
    ///
    /// # Errors
    /// A message if the file has no variant with this name, or two.
    pub(super) fn of_variant(file: ShaderFile, wanted: &str) -> Result<(Self, &'static str), String> {
        let Self { file: path, lines } = Self::of_include(file);
        let mut variants: Vec<(&'static str, usize)> = Vec::new();
        let mut selected = Vec::new();
        for (number, line) in lines {
            if let Ok(Some(Directive::Variant(name))) = Directive::parse_line(line) {
                if let Some((_, first)) = variants.iter().find(|(known, _)| *known == name) {
                    return Err(format!(
                        "{path}:{number}: the variant {name} is already defined at {path}:{first}"
                    ));
                }
                variants.push((name, number));
            } else if variants.last().is_none_or(|(name, _)| *name == wanted) {
                selected.push((number, line));
            }
        }
        match variants.iter().find(|(name, _)| *name == wanted) {
            Some((name, _)) => Ok((Self { file: path, lines: selected }, name)),
            None if variants.is_empty() => Err(format!("{path} has no variants, so it cannot fill a slot")),
            None => {
                let each = variants.iter().map(|(name, line)| format!("{name} ({path}:{line})"));
                let known = each.collect::<Vec<_>>().join(", ");
                Err(format!("{path} has no variant {wanted}; its variants are {known}"))
            }
        }
    }
}
