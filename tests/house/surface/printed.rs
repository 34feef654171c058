//! Code on one line, spaced as rustfmt would.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

/// Types, signatures and attributes. Whether a method changes its own copy of `self` is not its callers' business.
pub(crate) fn plain(code: &impl ToTokens) -> String {
    let mut text = String::new();
    add(code.to_token_stream(), &mut text);
    text.replace(", >", ">").replace(", )", ")").replace("(mut self", "(self").trim().to_owned()
}

fn add(tokens: TokenStream, text: &mut String) {
    // Whether a blank goes before the next word.
    let mut is_open = true;
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::None => ("", ""),
                };
                if !is_open && group.delimiter() == Delimiter::Brace
                    || ends_with_word(text, &["mut", "dyn", "for", "in"])
                {
                    text.push(' ');
                }
                text.push_str(open);
                add(group.stream(), text);
                text.push_str(close);
                is_open = false;
            }
            TokenTree::Punct(punct) => {
                let c = punct.as_char();
                match c {
                    ',' | ';' => text.push_str(&format!("{c} ")),
                    ':' if text.ends_with(':') => text.push(c),
                    ':' if punct.spacing() == Spacing::Joint => text.push(c),
                    ':' => text.push_str(": "),
                    '-' if punct.spacing() == Spacing::Joint => text.push_str(" -"),
                    '>' if text.ends_with(" -") => text.push_str("> "),
                    '=' | '+' => text.push_str(&format!(" {c} ")),
                    '&' | '\'' if !is_open && text.ends_with(|c: char| c.is_alphanumeric()) => {
                        text.push_str(&format!(" {c}"))
                    }
                    _ => text.push(c),
                }
                is_open = c != '>' || text.ends_with(' ');
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => {
                let word = token.to_string();
                if text
                    .ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ')' || c == '>' || c == ']')
                    && !text.ends_with(' ')
                {
                    text.push(' ');
                }
                text.push_str(&word);
                is_open = false;
            }
        }
    }
}

fn ends_with_word(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        text.strip_suffix(word).is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

#[test]
fn code_is_printed_on_one_line() {
    for code in [
        "fn matmul<T: Operand>(a: &Tensor<T>, b: &Tensor<T>) -> Result<Tensor<T::Sum>>",
        "fn planned_for(&mut self, shape: impl AsRef<[usize]>, x: [f32; 2]) -> impl Iterator<Item = (u32, &str)> + use<'_>",
        "fn g<'a, const N: usize>(self, of: &'a dyn Fn(&Gpu) -> Result<()>) where T: Copy + 'static",
    ] {
        let signature: syn::Signature = syn::parse_str(code).unwrap();
        assert_eq!(plain(&signature), code);
    }
    let attribute: syn::ItemUse =
        syn::parse_str("#[cfg(all(feature = \"npy\", not(unix)))] use a::b;").unwrap();
    assert_eq!(plain(&attribute.attrs[0]), "#[cfg(all(feature = \"npy\", not(unix)))]");
}
