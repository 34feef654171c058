//! Directives: comments in shaders that stand for text, or say what becomes of the lines below them.

use super::words::Renames;

/// A line of a shader that is a directive: [`specialize`](super::specialize) says what each does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Directive<'a> {
    /// `//#import name x=a`.
    Import { name: &'a str, renames: Renames },
    /// `//#slot name x=a default variant`.
    Slot { name: &'a str, renames: Renames, default: Option<&'a str> },
    /// `//#variant name`.
    Variant(&'a str),
    /// `//#made name`.
    Made(&'a str),
    /// `//#param`, and behind it who sets them.
    Param,
    /// `//#end`.
    End,
    /// `//#unroll`.
    Unroll,
}

/// How every directive begins.
const MARK: &str = "//#";

impl<'a> Directive<'a> {
    /// What a line says, if it has a directive.
    ///
    /// # Errors
    /// The directive cannot be read, in words.
    pub(super) fn of_line(line: &'a str) -> Result<Option<Self>, String> {
        let line = line.trim();
        match line.strip_prefix(MARK) {
            None if line.contains(MARK) => Err(format!("`{line}`: a directive has a line of its own")),
            None => Ok(None),
            Some(text) => Self::parse(text).map(Some).ok_or_else(|| format!("cannot read `{line}`")),
        }
    }

    fn parse(text: &'a str) -> Option<Self> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let mut words = rest.split_whitespace();
        let directive = match word {
            "import" => {
                let name = words.next()?;
                Self::Import { name, renames: Renames::parse(words.by_ref())? }
            }
            "slot" => {
                let name = words.next()?;
                let renames = Renames::parse(words.by_ref().take_while(|&word| word != "default"))?;
                let has_default = rest.split_whitespace().any(|word| word == "default");
                let default = if has_default { Some(words.next()?) } else { None };
                Self::Slot { name, renames, default }
            }
            "variant" => Self::Variant(words.next()?),
            "made" => Self::Made(words.next()?),
            "param" => return Some(Self::Param),
            "end" => Self::End,
            "unroll" => Self::Unroll,
            _ => return None,
        };
        words.next().is_none().then_some(directive)
    }
}

#[cfg(test)]
mod tests {
    use super::{Directive, Renames};

    fn renames(words: &[&str]) -> Renames {
        Renames::parse(words.iter().copied()).unwrap()
    }

    #[test]
    fn every_directive_is_read() {
        for (line, read) in [
            ("//#import math", Directive::Import { name: "math", renames: renames(&[]) }),
            ("//#import load_quad x=a", Directive::Import { name: "load_quad", renames: renames(&["x=a"]) }),
            (
                "    //#import place x=a y=b",
                Directive::Import { name: "place", renames: renames(&["x=a", "y=b"]) },
            ),
            ("//#slot gate", Directive::Slot { name: "gate", renames: renames(&[]), default: None }),
            (
                "//#slot gate default gelu",
                Directive::Slot { name: "gate", renames: renames(&[]), default: Some("gelu") },
            ),
            (
                "//#slot load x=a default element",
                Directive::Slot { name: "load", renames: renames(&["x=a"]), default: Some("element") },
            ),
            ("//#variant four", Directive::Variant("four")),
            ("//#made terms", Directive::Made("terms")),
            ("//#param  set by Tile::kernel", Directive::Param),
            ("//#param", Directive::Param),
            ("//#end", Directive::End),
            ("        //#unroll", Directive::Unroll),
        ] {
            assert_eq!(Directive::of_line(line), Ok(Some(read)), "{line}");
        }
        assert_eq!(Directive::of_line("let x = 1u; // #import"), Ok(None));
    }

    #[test]
    fn what_cannot_be_read_is_an_error_that_shows_the_line() {
        for line in [
            "//#import",
            "//#import a b",
            "//#import a default b",
            "//#import a x=",
            "//#improt a",
            "//#slot load default",
            "//#slot load default a b",
            "//#slot load default a x=b",
            "//#variant",
            "//#variant a b",
            "//#made",
            "//#made a b",
            "//#made a x=b",
            "//#made a default b",
            "//#end of it",
            "//#unroll twice",
            "//#",
            "x = 1; //#unroll",
        ] {
            let why = Directive::of_line(line).unwrap_err();
            assert!(why.contains(line), "{why}");
        }
    }
}
