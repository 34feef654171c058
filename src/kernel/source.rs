//! A kernel: the name of a shader in `shaders/`, with its parameters and slots filled in.

use crate::Error;
use crate::caps::{Caps, CoopScalar};
use std::borrow::Cow;
use std::fmt;

/// A shader with everything decided that changes its code. Two equal kernels share one pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    pub(super) shader: &'static str,
    pub(super) params: Vec<(Cow<'static, str>, String)>,
    pub(super) slots: Vec<(Cow<'static, str>, Filling)>,
    requires: Requires,
    /// Whether each launch runs a range of the workgroups.
    pub(super) is_in_pieces: bool,
}

/// What a kernel requires of a device beside limits and types, which its text tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Requires {
    /// Subgroups of this size and no other.
    subgroup: Option<u32>,
    /// Cooperative matrices of f16 of this size, summed in f32.
    matrices: Option<u32>,
}

/// What a slot is filled with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Filling {
    /// A variant of the slot's file.
    Variant(&'static str),
    /// Text that was made for a `//#made`, and what it is, in words.
    Generated { what: String, text: String },
}

impl fmt::Display for Filling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variant(name) => f.write_str(name),
            Self::Generated { what, .. } => write!(f, "({what})"),
        }
    }
}

impl Kernel {
    /// The kernel in `shaders/<shader>.wgsl`, such as `gemm/tiled`, with its defaults.
    #[must_use]
    pub fn new(shader: &'static str) -> Self {
        Self {
            shader,
            params: Vec::new(),
            slots: Vec::new(),
            requires: Requires::default(),
            is_in_pieces: false,
        }
    }

    /// Sets the `const` or `alias` called `name` in a `//#param` block of the shader.
    #[must_use]
    pub fn param(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.params.push((name.into(), value.to_string()));
        self
    }

    /// Fills the slot called `name` with a variant of the slot's file.
    #[must_use]
    pub fn slot(mut self, name: &'static str, variant: &'static str) -> Self {
        self.slots.push((name.into(), Filling::Variant(variant)));
        self
    }

    /// Fills the slot called `name`, a `//#made` of the shader, with `text`, made for this kernel and described by `what`. It may
    /// have directives itself.
    #[must_use]
    pub(crate) fn generated(mut self, name: &'static str, what: String, text: String) -> Self {
        self.slots.push((name.into(), Filling::Generated { what, text }));
        self
    }

    /// Says that the text is written for subgroups of this size.
    #[must_use]
    pub(crate) fn on_subgroups_of(mut self, size: u32) -> Self {
        self.requires.subgroup = Some(size);
        self
    }

    /// Says that the text has cooperative matrices of f16 of this size, summed in f32.
    #[must_use]
    pub(crate) fn on_matrices_of(mut self, size: u32) -> Self {
        self.requires.matrices = Some(size);
        self
    }

    /// Whether a device has what the kernel's text needs, with dims of so many bytes.
    ///
    /// # Errors
    /// What the device lacks, in words.
    pub(crate) fn fits(&self, caps: &Caps, dims: usize) -> Result<(), String> {
        let text = self.specialize().map_err(|error| error.to_string())?;
        let has_word = |word: &str| text.split(|c: char| !c.is_alphanumeric()).any(|found| found == word);
        if let Some(size) = self.requires.matrices {
            caps.coop(size, CoopScalar::F16, CoopScalar::F32)?;
        }
        match (self.requires.subgroup, caps.subgroups) {
            (Some(size), Some(sizes)) if [sizes.min, sizes.max] == [size; 2] => {}
            (Some(size), _) => return Err(format!("subgroups of {size} and no other size")),
            (None, _) => {}
        }
        if !caps.f16 && text.lines().any(|line| line.starts_with("enable f16")) {
            return Err("f16 in shaders".into());
        }
        if !caps.int64 && has_word("u64") {
            return Err("integers of 64 bits in shaders".into());
        }
        let room = usize::try_from(caps.limits.immediate_bytes).unwrap_or(usize::MAX);
        if dims > room && text.contains("var<immediate>") {
            return Err(format!("{dims} bytes of immediates"));
        }
        Ok(())
    }

    /// Chooses how the kernel gets `bytes` of dims: as immediates where the device has room for them, else from the
    /// recording's ring.
    #[must_use]
    pub(crate) fn dims(self, caps: &Caps, bytes: usize) -> Self {
        let immediates = usize::try_from(caps.limits.immediate_bytes).is_ok_and(|room| room >= bytes);
        if immediates { self } else { self.slot("dims", "ring") }
    }

    /// The same kernel, of which each launch runs a range of the workgroups. The index of the first lies behind the dims,
    /// which have so many bytes without it.
    #[must_use]
    pub(crate) fn in_pieces(mut self, caps: &Caps, bytes: usize) -> Self {
        self.is_in_pieces = true;
        if self.slots.iter().any(|(slot, _)| slot == "dims") { self } else { self.dims(caps, bytes + 4) }
    }

    /// Whether each launch runs a range of the workgroups, from an index that lies behind the dims.
    #[must_use]
    pub fn is_in_pieces(&self) -> bool {
        self.is_in_pieces
    }

    /// The shader's name: that of its file.
    #[must_use]
    pub fn shader(&self) -> &'static str {
        self.shader
    }

    pub(super) fn error(&self, why: impl Into<String>) -> Error {
        Error::input(format!("shader {}", self.shader), why)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shader)?;
        for (name, value) in &self.params {
            write!(f, " {name}={value}")?;
        }
        for (name, filling) in &self.slots {
            write!(f, " {name}:{filling}")?;
        }
        if self.is_in_pieces { f.write_str(" in pieces") } else { Ok(()) }
    }
}
