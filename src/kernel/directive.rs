//! Parses directives: the comments `//#import`, `//#slot` and others that control how a shader's text is assembled.

use super::identifiers::Renames;

/// A directive of a shader. [`specialize`](super::specialize) describes what each one does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Directive<'a> {
    /// `//#import name x=a`.
    Import { name: &'a str, renames: Renames },
    /// `//#slot name x=a default variant`.
    Slot { name: &'a str, renames: Renames, default: Option<&'a str> },
    /// `//#variant name`.
    Variant(&'a str),
    /// `//#dims`.
    Dims,
    /// `//#generated name`.
    Generated(&'a str),
    /// `//#param`. Any text after it is a remark for the reader.
    Param,
    /// `//#end`.
    End,
    /// `//#unroll`.
    Unroll,
}

/// The characters with which every directive begins.
const PREFIX: &str = "//#";

impl<'a> Directive<'a> {
    /// Parses a line. Returns None if the line is not a directive.
    ///
    /// # Errors
    /// A message if the directive is malformed, or shares its line with code.
    pub(super) fn parse_line(line: &'a str) -> Result<Option<Self>, String> {
        let line = line.trim();
        match line.strip_prefix(PREFIX) {
            None if line.contains(PREFIX) => {
                Err(format!("`{line}`: a directive must have a line of its own"))
            }
            None => Ok(None),
            Some(text) => Self::parse(text).map(Some).ok_or_else(|| format!("malformed directive `{line}`")),
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
            "generated" => Self::Generated(words.next()?),
            "param" => return Some(Self::Param),
            "end" => Self::End,
            "unroll" => Self::Unroll,
            "dims" => Self::Dims,
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
    fn every_directive_is_parsed() {
        for (line, want) in [
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
            ("//#generated terms", Directive::Generated("terms")),
            ("//#param  set by Tile::kernel", Directive::Param),
            ("//#param", Directive::Param),
            ("//#end", Directive::End),
            ("        //#unroll", Directive::Unroll),
            ("//#dims", Directive::Dims),
        ] {
            assert_eq!(Directive::parse_line(line), Ok(Some(want)), "{line}");
        }
        assert_eq!(Directive::parse_line("let x = 1u; // #import"), Ok(None));
    }

    #[test]
    fn a_malformed_directive_is_an_error_that_shows_the_line() {
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
            "//#generated",
            "//#generated a b",
            "//#generated a x=b",
            "//#generated a default b",
            "//#end of it",
            "//#unroll twice",
            "//#",
            "x = 1; //#unroll",
        ] {
            let why = Directive::parse_line(line).unwrap_err();
            assert!(why.contains(line), "{why}");
        }
    }
}
