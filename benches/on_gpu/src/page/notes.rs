//! Remarks that hold for many products, each printed once with those it is about.

use std::fmt;

/// Remarks under one title.
pub(super) struct Notes {
    title: &'static str,
    remarks: Vec<Remark>,
}

struct Remark {
    text: String,
    subjects: Vec<Subject>,
}

/// The subject of a remark, and the products in which it holds.
struct Subject {
    name: String,
    places: Vec<String>,
}

impl Notes {
    pub(super) fn new(title: &'static str) -> Self {
        Self { title, remarks: Vec::new() }
    }

    /// Adds a remark about `name` in the product `place`.
    pub(super) fn add(&mut self, text: &str, name: &str, place: String) {
        let at = self.remarks.iter().position(|remark| remark.text == text).unwrap_or_else(|| {
            self.remarks.push(Remark { text: text.into(), subjects: Vec::new() });
            self.remarks.len() - 1
        });
        let subjects = &mut self.remarks[at].subjects;
        match subjects.iter_mut().find(|subject| subject.name == name) {
            Some(subject) => subject.places.push(place),
            None => subjects.push(Subject { name: name.into(), places: vec![place] }),
        }
    }
}

/// Nothing if there is no remark.
impl fmt::Display for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.remarks.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n{}:\n", self.title)?;
        for Remark { text, subjects } in &self.remarks {
            let subjects: Vec<String> = subjects.iter().map(Subject::text).collect();
            writeln!(f, "- {text}: {}", subjects.join(", "))?;
        }
        Ok(())
    }
}

impl Subject {
    fn text(&self) -> String {
        let Self { name, places } = self;
        match places.len() {
            0..=2 => format!("{name} ({})", places.join(", ")),
            count => format!("{name} ({count} products)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_printed_once() {
        let mut notes = Notes::new("Not timed");
        assert_eq!(notes.to_string(), "");
        for place in ["a", "b", "c"] {
            notes.add("the time was up", "naive", place.into());
        }
        notes.add("no f16", "coop", "a".into());
        notes.add("the time was up", "tiled", "a".into());
        assert_eq!(
            notes.to_string(),
            "\nNot timed:\n\n- the time was up: naive (3 products), tiled (a)\n- no f16: coop (a)\n"
        );
    }
}
