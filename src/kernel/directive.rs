//! The directives in shaders' comments that paste text, as they are written.

use super::words::Renames;

/// A line that stands for text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Directive<'a> {
    /// `//#import name x=a`: the functions and declarations of a file.
    Import { name: &'a str, renames: Renames },
    /// `//#slot name x=a default variant`: the variant that the plan has chosen of a file, or else the default.
    Slot { name: &'a str, renames: Renames, default: Option<&'a str> },
    /// `//#inline name x=a`: the statements of a file.
    Inline { name: &'a str, renames: Renames },
}

impl<'a> Directive<'a> {
    /// What a line says, if it is such a directive. `outer` are the new names in the text that the line is part of.
    pub(super) fn of_line(line: &'a str, outer: &Renames) -> Option<Result<Self, String>> {
        let (word, rest) = line.trim().strip_prefix("//#")?.split_once(' ')?;
        ["import", "slot", "inline"]
            .contains(&word)
            .then(|| Self::parse(word, rest, outer).ok_or_else(|| format!("cannot read `{}`", line.trim())))
    }

    fn parse(word: &str, rest: &'a str, outer: &Renames) -> Option<Self> {
        let mut words = rest.split_whitespace();
        let name = words.next()?;
        let mut renames = Renames::default();
        let mut default = None;
        while let Some(next) = words.next() {
            match next.split_once('=') {
                Some((from, to)) if default.is_none() => renames.add(from, &outer.apply(to)),
                None if next == "default" && word == "slot" && default.is_none() => {
                    default = Some(words.next()?)
                }
                _ => return None,
            }
        }
        Some(match word {
            "import" => Self::Import { name, renames },
            "slot" => Self::Slot { name, renames, default },
            _ => Self::Inline { name, renames },
        })
    }
}

/// The name of the variant that a line of a slot's file begins.
pub(super) fn variant(line: &str) -> Option<&str> {
    line.strip_prefix("//#variant ").map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::{Directive, Renames};

    #[test]
    fn new_names_go_through_what_is_pasted_in_turn() {
        let mut outer = Renames::default();
        outer.add("x", "a");
        let read = |line| Directive::of_line(line, &outer);
        let Some(Ok(Directive::Slot { name, renames, default })) =
            read("    //#slot load x=x default element")
        else {
            panic!("a slot")
        };
        assert_eq!((name, renames.suffix().as_str(), default), ("load", "_a", Some("element")));
        assert_eq!(renames.apply("load_x(x[at.x], X_LD)"), "load_a(a[at.x], A_LD)");
        assert_eq!(read("let x = 1u; // #import"), None);
        assert_eq!(read("//#unroll"), None);
        for wrong in
            ["//#import a b", "//#slot load default", "//#slot load default a b", "//#import a default b"]
        {
            assert!(matches!(read(wrong), Some(Err(why)) if why.contains(wrong)), "{wrong}");
        }
    }
}
