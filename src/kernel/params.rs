//! Parameters of a shader: the `const`s and `alias`es between `//#param` and `//#end`. A kernel sets their values by name.

use super::numbered_lines::Location;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The parameters that a text declares, and the values that a kernel sets.
pub(super) struct Params<'k> {
    values: &'k [(Cow<'static, str>, String)],
    /// The location of each parameter declared so far.
    declared: BTreeMap<String, Location>,
}

impl<'k> Params<'k> {
    pub(super) fn new(values: &'k [(Cow<'static, str>, String)]) -> Self {
        Self { values, declared: BTreeMap::new() }
    }

    /// Replaces the default in a line of a `//#param` block, if the kernel sets this parameter.
    ///
    /// # Errors
    /// A message if the line is neither a parameter nor a comment, or declares a parameter for the second time.
    pub(super) fn set(&mut self, line: String, location: &Location) -> Result<String, String> {
        if line.trim().is_empty() || line.trim().starts_with("//") {
            return Ok(line);
        }
        let declaration = declared_name(&line).zip(line.split_once('=').filter(|_| line.contains(';')));
        let Some((name, (head, _))) = declaration else {
            return Err(format!(
                "`{}` is not a parameter: write `const NAME: type = default;` or `alias NAME = default;`",
                line.trim()
            ));
        };
        if let Some(first) = self.declared.insert(name.to_owned(), location.clone()) {
            return Err(format!("the parameter {name} is already declared at {first}"));
        }
        Ok(match self.values.iter().find(|(known, _)| known == name) {
            Some((_, value)) => format!("{head}= {value};"),
            None => line,
        })
    }

    /// Checks that every value of the kernel belongs to a declared parameter. Must be called after the whole text was expanded.
    ///
    /// # Errors
    /// A message if a parameter does not exist or is set twice.
    pub(super) fn check(&self) -> Result<(), String> {
        for (i, (name, _)) in self.values.iter().enumerate() {
            if !self.declared.contains_key(&**name) {
                let each = self.declared.iter().map(|(name, location)| format!("{name} ({location})"));
                let known = each.collect::<Vec<_>>().join(", ");
                return Err(format!("has no parameter {name}; its parameters are {known}"));
            }
            if self.values[..i].iter().any(|(earlier, _)| earlier == name) {
                return Err(format!(
                    "has the parameter {name} ({}), which the kernel sets twice",
                    self.declared[&**name]
                ));
            }
        }
        Ok(())
    }
}

/// The name that a line declares, if it is of the form `const NAME: type = value;` or `alias name = type;`.
fn declared_name(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("const ").or_else(|| line.trim().strip_prefix("alias "))?;
    rest.split([':', '=', ' ']).next().filter(|name| !name.is_empty())
}
