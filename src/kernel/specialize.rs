//! The text work on shaders: three directives, and no others.
//!
//! - `//#import name x=a` pastes the fragment `name`, or the one that the kernel binds to the slot, with every
//!   part `x` of its identifiers renamed to `a` (and `X` to `A`), so that one fragment serves both operands.
//!   A slot is called by the import's name after the renaming: `load_x x=a` is the slot `load_a`.
//!   What a fragment imports itself is pasted into it, and what several import as it is, once.
//! - `//#param` ... `//#end` holds `const` and `alias` defaults that the kernel rewrites by name.
//! - `//#unroll` before a loop with constant bounds writes it out.

use super::library::{FRAGMENTS, SHADERS, find};
use super::{Fragment, Kernel, unroll};
use crate::Result;
use std::collections::BTreeSet;

pub(super) fn specialize(kernel: &Kernel) -> Result<String> {
    let (_, source) = find(SHADERS, kernel.shader).ok_or_else(|| kernel.error("there is no such shader"))?;
    let text = paste_imports(kernel, source)?.text;
    let text = set_params(kernel, &text)?;
    let text = unroll::unroll(&text).map_err(|why| kernel.error(why))?;
    let text = if kernel.is_in_pieces { from_block(kernel, &text)? } else { text };
    Ok(enable_types(&text))
}

/// How a shader counts its workgroups (`shaders/common/block.wgsl`).
const BLOCK: &str = "workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z)";

/// The same text for launches of a range of workgroups: one more field of the dims says which is the first.
fn from_block(kernel: &Kernel, text: &str) -> Result<String> {
    let end = text.find("struct Dims {").and_then(|start| Some(start + text[start..].find("\n}")?));
    match end {
        Some(end) if text.contains(BLOCK) => {
            let (before, behind) = text.split_at(end);
            let text = format!("{before}\n    first_block: u32, // of this launch{behind}");
            Ok(text.replace(BLOCK, &format!("dims.first_block + {BLOCK}")))
        }
        _ => {
            Err(kernel
                .error("cannot be launched in pieces: it has no dims or counts its workgroups otherwise"))
        }
    }
}

/// The fragments that a kernel's text is made of.
pub(super) fn fragments(kernel: &Kernel) -> Result<BTreeSet<&'static str>> {
    let (_, source) = find(SHADERS, kernel.shader).ok_or_else(|| kernel.error("there is no such shader"))?;
    Ok(paste_imports(kernel, source)?.fragments)
}

fn paste_imports<'a>(kernel: &'a Kernel, source: &str) -> Result<Pasted<'a>> {
    let mut pasted = Pasted {
        kernel,
        text: String::with_capacity(2 * source.len()),
        bound: vec![false; kernel.slots.len()],
        once: Vec::new(),
        fragments: BTreeSet::new(),
    };
    pasted.lines(source.lines().map(str::to_owned), DEPTH)?;
    match pasted.bound.iter().position(|bound| !bound) {
        Some(i) => Err(kernel.error(format!("has no slot {}", kernel.slots[i].0))),
        None => Ok(pasted),
    }
}

/// Fragments import others at most this deep: one that imported itself would never end.
const DEPTH: usize = 4;

/// A shader's text as far as its imports are pasted.
struct Pasted<'a> {
    kernel: &'a Kernel,
    text: String,
    /// Per slot that the kernel binds, whether the shader has it.
    bound: Vec<bool>,
    /// The fragments in the text that others import as they are.
    once: Vec<&'static str>,
    /// All fragments in the text.
    fragments: BTreeSet<&'static str>,
}

impl Pasted<'_> {
    fn lines(&mut self, lines: impl IntoIterator<Item = String>, depth: usize) -> Result<()> {
        for line in lines {
            match line.trim().strip_prefix("//#import ") {
                Some(import) => self.import(import, depth)?,
                None => {
                    self.text.push_str(&line);
                    self.text.push('\n');
                }
            }
        }
        Ok(())
    }

    fn import(&mut self, import: &str, depth: usize) -> Result<()> {
        let kernel = self.kernel;
        let mut words = import.split_whitespace();
        let name = words.next().unwrap_or_default();
        let renames = words
            .map(|word| word.split_once('=').ok_or_else(|| kernel.error(format!("cannot read `{import}`"))))
            .collect::<Result<Vec<_>>>()?;
        let slot = rename(name, &renames);
        let binding = kernel.slots.iter().position(|(s, _)| *s == slot);
        if let Some(i) = binding {
            self.bound[i] = true;
        }
        let fragment = match binding.map(|i| &kernel.slots[i].1) {
            Some(Fragment::Generated { text, .. }) => {
                return self.lines(text.lines().map(str::to_owned), DEPTH);
            }
            Some(Fragment::Named(fragment)) => fragment,
            None => name,
        };
        let (fragment, body) = find(FRAGMENTS, fragment)
            .ok_or_else(|| kernel.error(format!("imports {slot}: there is no fragment {fragment}")))?;
        self.fragments.insert(fragment);
        if depth < DEPTH && renames.is_empty() {
            if self.once.contains(&fragment) {
                return Ok(());
            }
            self.once.push(fragment);
        }
        let deeper = depth.checked_sub(1).ok_or_else(|| kernel.error(format!("imports {slot} too deep")))?;
        // A fragment's `//!` header would not stand at the top of the file: it stays in the fragment.
        let body = body.lines().filter(|line| !line.starts_with("//!")).map(|line| rename(line, &renames));
        self.lines(body.collect::<Vec<_>>(), deeper)
    }
}

/// Renames parts of identifiers, `x_tile` to `a_tile`, in lower and upper case. Swizzles stay: `v.x` is a component.
fn rename(text: &str, renames: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut previous = ' ';
    for word in words(text) {
        let swizzle = previous == '.' && !word.contains('_');
        if word.starts_with(is_word) && !swizzle {
            let parts = word.split('_').map(|part| {
                let of = |from: &str, to: &str| (part == from).then(|| to.to_owned());
                renames
                    .iter()
                    .find_map(|(from, to)| {
                        of(from, to).or_else(|| of(&from.to_uppercase(), &to.to_uppercase()))
                    })
                    .unwrap_or_else(|| part.to_owned())
            });
            out.push_str(&parts.collect::<Vec<_>>().join("_"));
        } else {
            out.push_str(word);
        }
        previous = word.chars().next_back().unwrap_or(' ');
    }
    out
}

fn set_params(kernel: &Kernel, source: &str) -> Result<String> {
    let mut text = String::with_capacity(source.len());
    let mut inside = false;
    let mut set = vec![false; kernel.params.len()];
    for line in source.lines() {
        inside = (inside || line.starts_with("//#param")) && !line.starts_with("//#end");
        let declared = if inside { declared_name(line) } else { None };
        let param = declared.and_then(|name| kernel.params.iter().position(|(n, _)| *n == name));
        match (param, line.split_once('=')) {
            (Some(i), Some((head, _))) => {
                set[i] = true;
                text.push_str(&format!("{head}= {};\n", kernel.params[i].1));
            }
            _ => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    match set.iter().position(|set| !set) {
        Some(i) => Err(kernel.error(format!("has no parameter {}", kernel.params[i].0))),
        None => Ok(text),
    }
}

/// The name that a line of the form `const NAME: type = value;` or `alias name = type;` declares.
fn declared_name(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("const ").or_else(|| line.trim().strip_prefix("alias "))?;
    rest.split([':', '=', ' ']).next()
}

/// Puts the `enable` lines that the types ask for at the top.
fn enable_types(text: &str) -> String {
    let code = || text.lines().map(|line| line.split("//").next().unwrap_or_default()).flat_map(words);
    let mut enabled = String::with_capacity(text.len() + 64);
    if code().any(|word| word == "f16") {
        enabled.push_str("enable f16;\n");
    }
    if code().any(|word| word.starts_with("coop_mat")) {
        enabled.push_str("enable wgpu_cooperative_matrix;\n");
    }
    enabled + text
}

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
