//! The code of a kernel in either language, with all parameters set.

use super::interface::{ShaderInterface, shader_interface};
use super::module_features::{missing_feature, takes_version};
use super::module_interface::{ModuleInterface, module_interface, module_needs};
use super::source::{Kernel, Language};
use crate::Result;
use crate::caps::Caps;
use std::fmt;

/// The code of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// A text in WGSL.
    Wgsl(String),
    /// The words of a module.
    Spirv(Vec<u32>),
}

/// The text, or the words in hexadecimal.
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wgsl(text) => f.write_str(text),
            Self::Spirv(words) => words.iter().try_for_each(|word| writeln!(f, "{word:08x}")),
        }
    }
}

impl Kernel {
    /// The kernel's code, with all parameters set.
    ///
    /// # Errors
    /// As [`specialize`](Self::specialize) and [`words`](Self::words).
    pub(crate) fn code(&self) -> Result<Code> {
        Ok(match self.language() {
            Language::Wgsl => Code::Wgsl(self.specialize()?),
            Language::Spirv => Code::Spirv(self.words()?),
        })
    }

    /// Checks that a device has the features that the kernel needs, and room for its dims of `dims_bytes`.
    ///
    /// # Errors
    /// A message with the first feature that the device lacks.
    pub(crate) fn fits(&self, caps: &Caps, dims_bytes: usize) -> std::result::Result<(), String> {
        for matrices in &self.requires.matrices {
            caps.check_matrices(matrices)?;
        }
        if let Some(size) = self.requires.subgroup {
            let reports = self.requires.reports_subgroup_size;
            let found = caps.subgroups.and_then(|sizes| if reports { sizes.matrices } else { sizes.only() });
            if found != Some(size) {
                return Err(format!("subgroups of {size} and no other size"));
            }
        }
        self.code().map_err(|error| error.to_string())?.fits(caps, dims_bytes)
    }
}

impl Code {
    /// The operands that the code declares, and how it receives its dims.
    ///
    /// # Errors
    /// A message if the declarations are not those of a kernel.
    pub(crate) fn interface(&self) -> std::result::Result<ShaderInterface, String> {
        match self {
            Self::Wgsl(text) => shader_interface(text),
            Self::Spirv(words) => module_interface(words).map(|module| module.shader),
        }
    }

    /// Checks that a device has the features that the code declares, and allows dims of `dims_bytes`.
    ///
    /// # Errors
    /// A message with the first feature that the device lacks.
    pub(super) fn fits(&self, caps: &Caps, dims_bytes: usize) -> std::result::Result<(), String> {
        let room = usize::try_from(caps.limits.immediate_bytes).unwrap_or(usize::MAX);
        let immediates = || format!("{dims_bytes} bytes of immediates");
        match self {
            Self::Wgsl(text) => {
                let has_word =
                    |word: &str| text.split(|c: char| !c.is_alphanumeric()).any(|found| found == word);
                if !caps.f16 && text.lines().any(|line| line.starts_with("enable f16")) {
                    return Err("f16 in shaders".into());
                }
                if !caps.int64 && has_word("u64") {
                    return Err("integers of 64 bits in shaders".into());
                }
                if dims_bytes > room && text.contains("var<immediate>") {
                    return Err(immediates());
                }
            }
            Self::Spirv(words) => {
                if !caps.spirv {
                    return Err("modules of SPIR-V".into());
                }
                let ModuleInterface { shader, capabilities, version, .. } = module_interface(words)?;
                if !takes_version(version, caps) {
                    return Err(format!("SPIR-V {}.{}", version >> 16, version >> 8 & 0xff));
                }
                if let Some(lacking) = capabilities.into_iter().find_map(|one| missing_feature(one, caps)) {
                    return Err(lacking);
                }
                module_needs(words)?.0.fit(caps)?;
                if shader.immediates.is_some_and(|bytes| bytes as usize != dims_bytes) {
                    return Err(format!(
                        "dims of {dims_bytes} bytes, of which the module declares {:?}",
                        shader.immediates
                    ));
                }
                if dims_bytes > room {
                    return Err(immediates());
                }
            }
        }
        Ok(())
    }
}
