//! Words of a shader's text, and new names for them.

pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The text, cut into words and single other characters.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, tail) = rest.split_at(end);
        rest = tail;
        Some(word)
    })
}

/// What parts of identifiers become: of `x=a`, `x_tile` becomes `a_tile` and `X_LD` `A_LD`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Renames(Vec<(String, String)>);

impl Renames {
    /// The new names that words of the form `x=a` give; none if one has another form.
    pub(super) fn parse<'w>(words: impl IntoIterator<Item = &'w str>) -> Option<Self> {
        let pair = |word: &'w str| {
            let (from, to) = word.split_once('=')?;
            let are_names = [from, to].iter().all(|name| !name.is_empty() && name.chars().all(is_word));
            are_names.then(|| (from.to_owned(), to.to_owned()))
        };
        words.into_iter().map(pair).collect::<Option<_>>().map(Self)
    }

    /// The same in a text that is given new names itself: of `u=x`, what is called x outside.
    pub(super) fn within(self, outer: &Self) -> Self {
        Self(self.0.into_iter().map(|(from, to)| (from, outer.apply(&to))).collect())
    }

    /// The new names, joined: how a slot is called that is pasted with these.
    pub(super) fn suffix(&self) -> String {
        self.0.iter().map(|(_, to)| format!("_{to}")).collect()
    }

    /// The text with the new names. Swizzles stay: `v.x` is a component.
    pub(super) fn apply(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        let mut previous = ' ';
        for word in words(text) {
            let is_swizzle = previous == '.' && !word.contains('_');
            if word.starts_with(is_word) && !is_swizzle {
                let parts: Vec<String> = word.split('_').map(|part| self.of_part(part)).collect();
                out.push_str(&parts.join("_"));
            } else {
                out.push_str(word);
            }
            previous = word.chars().next_back().unwrap_or(' ');
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
    fn parts_of_names_become_others_and_swizzles_stay() {
        let renames = Renames::parse(["x=a", "y=b"]).unwrap();
        assert_eq!(renames.suffix(), "_a_b");
        assert_eq!(renames.apply("load_x(x[at.x], X_LD) + y.x"), "load_a(a[at.x], A_LD) + b.x");
        assert_eq!(Renames::parse(["x"]), None);
        assert_eq!(Renames::parse(["x="]), None);
        assert_eq!(Renames::parse(["x=a=b"]), None);
    }

    #[test]
    fn new_names_go_through_what_is_pasted_in_turn() {
        let outer = Renames::parse(["x=a"]).unwrap();
        let inner = Renames::parse(["u=x"]).unwrap().within(&outer);
        assert_eq!(inner, Renames::parse(["u=a"]).unwrap());
    }
}
