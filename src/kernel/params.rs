//! Parameters: the `const`s and `alias`es between `//#param` and `//#end`, whose values a kernel sets by name.

use super::lines::Place;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The parameters of a text, and the values that a kernel has for them.
pub(super) struct Params<'k> {
    values: &'k [(Cow<'static, str>, String)],
    /// Those that the text declares so far.
    declared: BTreeMap<String, Place>,
}

impl<'k> Params<'k> {
    pub(super) fn new(values: &'k [(Cow<'static, str>, String)]) -> Self {
        Self { values, declared: BTreeMap::new() }
    }

    /// A line of a block of parameters with the kernel's value, if it has one.
    ///
    /// # Errors
    /// It is neither a parameter nor a comment, or one of this name stands elsewhere, in words.
    pub(super) fn set(&mut self, line: String, place: &Place) -> Result<String, String> {
        if line.trim().is_empty() || line.trim().starts_with("//") {
            return Ok(line);
        }
        let declaration = declared_name(&line).zip(line.split_once('=').filter(|_| line.contains(';')));
        let Some((name, (head, _))) = declaration else {
            return Err(format!(
                "`{}` is no parameter: neither const nor alias with its default",
                line.trim()
            ));
        };
        if let Some(first) = self.declared.insert(name.to_owned(), place.clone()) {
            return Err(format!("the parameter {name} is at {first} too"));
        }
        Ok(match self.values.iter().find(|(known, _)| known == name) {
            Some((_, value)) => format!("{head}= {value};"),
            None => line,
        })
    }

    /// Checks, when all text has been seen, that each value has its parameter.
    ///
    /// # Errors
    /// A parameter does not exist, or has two values, in words.
    pub(super) fn check(&self) -> Result<(), String> {
        for (i, (name, _)) in self.values.iter().enumerate() {
            if !self.declared.contains_key(&**name) {
                let each = self.declared.iter().map(|(name, place)| format!("{name} ({place})"));
                let known = each.collect::<Vec<_>>().join(", ");
                return Err(format!("has no parameter {name}; it has {known}"));
            }
            if self.values[..i].iter().any(|(earlier, _)| earlier == name) {
                return Err(format!("has two values for the parameter {name} ({})", self.declared[&**name]));
            }
        }
        Ok(())
    }
}

/// The name that a line of the form `const NAME: type = value;` or `alias name = type;` declares.
fn declared_name(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("const ").or_else(|| line.trim().strip_prefix("alias "))?;
    rest.split([':', '=', ' ']).next().filter(|name| !name.is_empty())
}
