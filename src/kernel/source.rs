//! A kernel: a shader of `shaders/` with values for its parameters and contents for its slots.

use super::shader_dims::{DimsMember, ShaderDims};
use crate::Error;
use crate::caps::{Caps, CoopScalar, Matrices};
use std::borrow::Cow;
use std::fmt;

/// What stands before the names of modules.
pub(super) const FOLDER: &str = "spirv/";

/// Whether a shader's name is that of a module.
pub(super) fn is_module(shader: &str) -> bool {
    shader.starts_with(FOLDER)
}

/// The shading language of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// A text in WGSL, which every device takes.
    Wgsl,
    /// A module of SPIR-V, which is handed to a Vulkan driver as it is.
    Spirv,
}

impl Language {
    /// The language of the shader of this name.
    pub(crate) fn of(shader: &str) -> Self {
        if is_module(shader) { Self::Spirv } else { Self::Wgsl }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Wgsl => "WGSL",
            Self::Spirv => "SPIR-V",
        })
    }
}

/// A shader, and every decision that changes its code. Equal kernels share one pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    pub(super) shader: &'static str,
    pub(super) params: Vec<(Cow<'static, str>, String)>,
    pub(super) slots: Vec<(Cow<'static, str>, SlotContent)>,
    /// The members of the shader's `Dims`, unless it has the struct itself.
    pub(super) members: &'static [DimsMember],
    pub(super) requires: Requires,
    /// Whether a launch may run a range of the workgroups.
    pub(super) is_launched_in_pieces: bool,
}

/// Requirements on the device that the kernel's text does not declare.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Requires {
    /// The subgroup size that the kernel is written for.
    pub(super) subgroup: Option<u32>,
    /// Whether the device may have other subgroup sizes too. Then the kernel's text reports the size that it was
    /// compiled for (`report.rs`).
    pub(super) reports_subgroup_size: bool,
    /// The rows of cooperative matrices.
    pub(super) matrices: Vec<Matrices>,
}

/// The content of a slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum SlotContent {
    /// A variant of the slot's file.
    Variant(&'static str),
    /// Generated text for a `//#generated`, and its description.
    Generated { description: String, text: String },
}

impl fmt::Display for SlotContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variant(name) => f.write_str(name),
            Self::Generated { description, .. } => write!(f, "({description})"),
        }
    }
}

impl Kernel {
    /// The kernel in `shaders/<shader>.wgsl`, without dims, generated text and choices. `shader` is a name such as `gemm/tiled`.
    #[must_use]
    pub fn new(shader: &'static str) -> Self {
        Self {
            shader,
            params: Vec::new(),
            slots: Vec::new(),
            members: &[],
            requires: Requires::default(),
            is_launched_in_pieces: is_module(shader),
        }
    }

    /// Sets the parameter `name`: a `const` or `alias` in a `//#param` block of the shader.
    #[must_use]
    pub fn param(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.params.push((name.into(), value.to_string()));
        self
    }

    /// Fills the slot `name` with a variant of the slot's file.
    #[must_use]
    pub fn slot(mut self, name: &'static str, variant: &'static str) -> Self {
        self.slots.push((name.into(), SlotContent::Variant(variant)));
        self
    }

    /// Fills the slot `name`, a `//#generated` of the shader, with `text`. The text may contain directives. Plans print the
    /// kernel with the `description`.
    #[must_use]
    pub(crate) fn generated(mut self, name: &'static str, description: String, text: String) -> Self {
        self.slots.push((name.into(), SlotContent::Generated { description, text }));
        self
    }

    /// Requires a device on which every subgroup has this size. If the kernel [reports its subgroup
    /// size](Self::report_subgroup_size), it suffices that the driver is known to choose this size for kernels on matrices.
    #[must_use]
    pub(crate) fn require_subgroup_size(self, size: u32) -> Self {
        Self { requires: Requires { subgroup: Some(size), ..self.requires }, ..self }
    }

    /// The kernel on square cooperative matrices of f16 of this size, with an f32 accumulator.
    #[must_use]
    pub(crate) fn f16_matrices(self, size: u32) -> Self {
        let matrix = |scalar, role| format!("coop_mat{size}x{size}<{scalar}, {role}>");
        self.param("mat_a", matrix("f16", "A"))
            .param("mat_b", matrix("f16", "B"))
            .param("mat_c", matrix("f32", "C"))
            .param("FRAGMENT", size)
            .require_matrices(Matrices::of_subgroup([size; 3], CoopScalar::F16, CoopScalar::F32))
    }

    /// Requires cooperative matrices of this row too.
    #[must_use]
    pub(crate) fn require_matrices(mut self, matrices: Matrices) -> Self {
        self.requires.matrices.push(matrices);
        self
    }

    /// The kernel with these dims: as immediates if the device has room for them, otherwise from the recording's ring. A module
    /// only takes immediates.
    #[must_use]
    pub(crate) fn dims<D: ShaderDims>(self, caps: &Caps) -> Self {
        Self { members: D::MEMBERS, ..self }.dims_bytes(caps, size_of::<D>())
    }

    /// Whether these are the kernel's dims.
    pub(crate) fn has_dims(&self, members: &[DimsMember]) -> bool {
        self.members == members
    }

    /// Selects how the kernel receives its dims of this size.
    fn dims_bytes(self, caps: &Caps, bytes: usize) -> Self {
        let immediates = usize::try_from(caps.limits.immediate_bytes).is_ok_and(|room| room >= bytes);
        if immediates || is_module(self.shader) { self } else { self.slot("dims", "ring") }
    }

    /// Allows launches of a range of the workgroups. The index of the range's first workgroup is appended to the dims, which
    /// have `bytes` bytes without it.
    #[must_use]
    pub(crate) fn launched_in_pieces(mut self, caps: &Caps, bytes: usize) -> Self {
        self.is_launched_in_pieces = true;
        if self.slots.iter().any(|(slot, _)| slot == "dims") {
            self
        } else {
            self.dims_bytes(caps, bytes + 4)
        }
    }

    /// The same kernel as text, whether or not it is launched in pieces.
    pub(crate) fn of_whole_launches(&self) -> String {
        let mut whole = self.clone();
        whole.slots.retain(|(slot, _)| slot != "dims");
        whole.is_launched_in_pieces = false;
        whole.to_string()
    }

    /// Whether a launch may run a range of the workgroups, whose first index is appended to the dims. Modules always allow it.
    #[must_use]
    pub fn is_launched_in_pieces(&self) -> bool {
        self.is_launched_in_pieces
    }

    /// The kernel's language.
    #[must_use]
    pub fn language(&self) -> Language {
        Language::of(self.shader)
    }

    /// The name of the shader's file, such as `gemm/tiled`.
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
        for (name, content) in &self.slots {
            write!(f, " {name}:{content}")?;
        }
        if self.is_launched_in_pieces { f.write_str(" in pieces") } else { Ok(()) }
    }
}
