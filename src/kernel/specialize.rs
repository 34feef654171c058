//! The text work on shaders. The directives, which are comments of WGSL:
//!
//! - `//#import name x=a` pastes the functions and declarations of the file `name`, with every part `x` of its identifiers
//!   renamed to `a` (and `X` to `A`), so that one file serves several operands. What is imported twice is pasted once. A file
//!   is looked for in the kernel's folder, then in `common/`.
//! - `//#slot name x=a default v` pastes the variant of the file `name` that the plan has chosen, or else `v`. The slot of this
//!   example is called `name_a`. Variants begin with `//#variant v`; what stands above the first is pasted with each.
//! - `//#inline name x=a` pastes the statements of the file `name`.
//! - `//#param` ... `//#end` holds `const` and `alias` defaults that the kernel rewrites by name.
//! - `//#unroll` before a loop with constant bounds writes it out.

use super::paste::{Part, paste};
use super::words::words;
use super::{Kernel, unroll};
use crate::Result;
use std::collections::BTreeSet;

pub(super) fn specialize(kernel: &Kernel) -> Result<String> {
    let text = paste(kernel)?.text;
    let text = set_params(kernel, &text)?;
    let text = unroll::unroll(&text).map_err(|why| kernel.error(why))?;
    let text = if kernel.is_in_pieces { from_block(kernel, &text)? } else { text };
    Ok(enable_types(&text))
}

/// What a kernel's text is made of beside its own file.
pub(super) fn parts(kernel: &Kernel) -> Result<BTreeSet<Part>> {
    Ok(paste(kernel)?.parts)
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
