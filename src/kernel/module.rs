//! Modules: kernels that are compiled to SPIR-V ahead of time, because WGSL cannot express them.
//!
//! A module is a file `shaders/spirv/NAME.VARIANT.spv`, compiled from `NAME.comp` (`.ci/modules`). Its parameters are its
//! specialisation constants. A plan sets them by name with [`Kernel::param`](crate::kernel::Kernel::param), as for a text.

use super::library::MODULES;
use super::module_constants::{parameters, set as set_parameter, write_local_size};
use super::module_instructions::instructions;
use super::source::{FOLDER, Kernel};
use crate::Result;

impl Kernel {
    /// The words of a kernel that is a module, with all parameters set.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if the module or a parameter does not exist, a parameter is set twice or its value is
    /// not an integer of 32 bits. Such an error is a bug in a plan.
    pub fn words(&self) -> Result<Vec<u32>> {
        let name = self.shader.strip_prefix(FOLDER).unwrap_or(self.shader);
        let bytes = MODULES.binary_search_by_key(&name, |(known, _)| known).map(|at| MODULES[at].1);
        let bytes = bytes
            .map_err(|_| self.error(format!("the module does not exist: no shaders/spirv/{name}.spv")))?;
        if let Some((slot, _)) = self.slots.first() {
            return Err(self.error(format!("a module has no slot {slot}")));
        }
        let mut set = Vec::new();
        for (name, value) in &self.params {
            let number = value.trim_end_matches('u').parse();
            let number =
                number.map_err(|_| self.error(format!("{name}={value} is no integer of 32 bits")))?;
            set.push((name.as_ref(), number));
        }
        specialized(bytes, &set).map_err(|why| self.error(why))
    }
}

/// The words of a module with these values of its parameters.
///
/// # Errors
/// A message if the bytes are no module, a parameter does not exist or is not of 32 bits, or one is set twice.
pub fn specialized(bytes: &[u8], params: &[(&str, u32)]) -> std::result::Result<Vec<u32>, String> {
    if !bytes.len().is_multiple_of(4) {
        return Err(format!("its {} bytes are no whole words", bytes.len()));
    }
    let mut words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let known = parameters(&instructions(&words)?)?;
    for (at, (name, value)) in params.iter().enumerate() {
        if params[..at].iter().any(|(other, _)| other == name) {
            return Err(format!("it has the parameter {name}, which the kernel sets twice"));
        }
        set_parameter(&mut words, &known, name, *value)?;
    }
    write_local_size(&mut words)?;
    Ok(words)
}
