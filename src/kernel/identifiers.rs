//! Tokens of a shader's text, and the renaming of identifiers.

/// Whether a character can be part of an identifier or a number.
pub(super) fn is_identifier_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Splits a text into tokens: identifiers and numbers, and every other character by itself.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = if is_identifier_char(first) {
            rest.find(|c| !is_identifier_char(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, tail) = rest.split_at(end);
        rest = tail;
        Some(token)
    })
}

/// Renames of the parts of identifiers that are separated by underscores. `x=a` turns `x_tile` into `a_tile` and `X_LD` into
/// `A_LD`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Renames(Vec<(String, String)>);

impl Renames {
    /// Parses words of the form `x=a`. Returns None if a word has another form.
    pub(super) fn parse<'w>(words: impl IntoIterator<Item = &'w str>) -> Option<Self> {
        let pair = |word: &'w str| {
            let (from, to) = word.split_once('=')?;
            let are_names =
                [from, to].iter().all(|name| !name.is_empty() && name.chars().all(is_identifier_char));
            are_names.then(|| (from.to_owned(), to.to_owned()))
        };
        words.into_iter().map(pair).collect::<Option<_>>().map(Self)
    }

    /// These renames in a text to which `outer` applies as well: under `x=a`, the rename `u=x` becomes `u=a`.
    pub(super) fn within(self, outer: &Self) -> Self {
        Self(self.0.into_iter().map(|(from, to)| (from, outer.apply(&to))).collect())
    }

    /// The new names, each after an underscore. A slot's name ends with them.
    pub(super) fn suffix(&self) -> String {
        self.0.iter().map(|(_, to)| format!("_{to}")).collect()
    }

    /// The text with renamed identifiers. Members without an underscore, such as `.x` in `v.x`, keep their names: they may be
    /// components of vectors.
    pub(super) fn apply(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        let mut previous = ' ';
        for token in tokens(text) {
            let is_swizzle = previous == '.' && !token.contains('_');
            if token.starts_with(is_identifier_char) && !is_swizzle {
                let parts: Vec<String> = token.split('_').map(|part| self.of_part(part)).collect();
                out.push_str(&parts.join("_"));
            } else {
                out.push_str(token);
            }
            previous = token.chars().next_back().unwrap_or(' ');
        }
        out
    }

    fn of_part(&self, part: &str) -> String {
        let of = |(from, to): &(String, String)| match part {
            _ if part == from => Some(to.clone()),
            _ if part == from.to_uppercase() => Some(to.to_uppercase()),
            _ => None,
        };
        self.0.iter().find_map(of).unwrap_or_else(|| part.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::Renames;

    #[test]
    fn parts_of_identifiers_are_renamed_and_swizzles_are_not() {
        let renames = Renames::parse(["x=a", "y=b"]).unwrap();
        assert_eq!(renames.suffix(), "_a_b");
        assert_eq!(renames.apply("load_x(x[at.x], X_LD) + y.x"), "load_a(a[at.x], A_LD) + b.x");
        assert_eq!(Renames::parse(["x"]), None);
        assert_eq!(Renames::parse(["x="]), None);
        assert_eq!(Renames::parse(["x=a=b"]), None);
    }

    #[test]
    fn outer_renames_apply_to_the_new_names_of_inner_ones() {
        let outer = Renames::parse(["x=a"]).unwrap();
        let inner = Renames::parse(["u=x"]).unwrap().within(&outer);
        assert_eq!(inner, Renames::parse(["u=a"]).unwrap());
    }
}
