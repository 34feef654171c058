//! The report of a kernel's subgroup size. A device may have several sizes, and a kernel may be written for one of them.
//! When such a kernel is compiled, it is launched once with zeros for dims. It then stores the subgroup size that the
//! driver has chosen in its result, and does nothing else.

use super::source::{Kernel, is_module};
use crate::Result;
use crate::caps::{Caps, Matrices};
use half::f16;

/// How a kernel reports its subgroup size: as the first number of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubgroupReport {
    /// The size that the kernel is written for.
    pub(crate) expected: u32,
    number: NumberType,
}

/// Type of the numbers in the result's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberType {
    F16,
    F32,
    U32,
}

impl Kernel {
    /// Lets the kernel report its subgroup size if the device has several. On other devices its text does not change.
    ///
    /// The shader must have the built-in `local`, and a result and a size of [`RESULTS`].
    #[must_use]
    pub(crate) fn report_subgroup_size(mut self, caps: &Caps) -> Self {
        self.requires.reports_subgroup_size = caps.subgroups.is_some_and(|sizes| sizes.only().is_none());
        self
    }

    /// How the kernel reports its subgroup size, if it does.
    pub(crate) fn subgroup_report(&self) -> Option<SubgroupReport> {
        let expected = self.requires.subgroup.filter(|_| self.requires.reports_subgroup_size)?;
        let number = match self.unit_of(self.result_name()) {
            // A module stores a word, independent of the type of its results.
            _ if is_module(self.shader) => NumberType::U32,
            unit if unit.contains("f16") => NumberType::F16,
            unit if unit.contains("f32") => NumberType::F32,
            _ => NumberType::U32,
        };
        Some(SubgroupReport { expected, number })
    }

    /// The rows of cooperative matrices that the kernel uses.
    pub(crate) fn matrices(&self) -> &[Matrices] {
        &self.requires.matrices
    }

    /// The name of the result.
    fn result_name(&self) -> &'static str {
        let has_unit = |result: &str| {
            self.params.iter().any(|(name, _)| name.strip_suffix("_unit").is_some_and(|name| name == result))
        };
        RESULTS.into_iter().map(|(result, _)| result).find(|result| has_unit(result)).unwrap_or("c")
    }

    /// The element type of the memory of a result.
    fn unit_of(&self, result: &str) -> &str {
        let is_unit = |name: &str| name.strip_suffix("_unit") == Some(result);
        self.params.iter().find(|(name, _)| is_unit(name)).map_or("f32", |(_, unit)| unit)
    }
}

/// The result of a kernel that can report its subgroup size, and the member of its dims that is never 0 in a launch: of a matrix
/// product, of attention, and of its gradients.
const RESULTS: [(&str, &str); 3] = [("c", "m"), ("y", "heads"), ("result", "heads")];

impl SubgroupReport {
    /// The reported size, from the result's memory; 0 if the memory holds no valid size.
    pub(crate) fn read(self, memory: &[u8]) -> u32 {
        let Some(first) = memory.first_chunk::<4>() else { return 0 };
        let number = match self.number {
            NumberType::F16 => f16::from_le_bytes([first[0], first[1]]).to_f32(),
            NumberType::F32 => f32::from_le_bytes(*first),
            NumberType::U32 => return u32::from_le_bytes(*first),
        };
        #[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
        let size = number as u32;
        size
    }
}

/// The end of `main`'s list of parameters.
const END_OF_PARAMETERS: &str = ",\n) {\n";

/// Adds the report to a text.
pub(super) fn add_report(kernel: &Kernel, text: &str) -> Result<String> {
    let name = kernel.result_name();
    let size = RESULTS.into_iter().find(|(result, _)| *result == name).map_or("m", |(_, size)| size);
    let store = match kernel.unit_of(name).split('<').next() {
        Some(vector @ ("vec2" | "vec4")) => {
            format!("{name}[0] = {name}_unit({vector}<u32>(subgroup_size));")
        }
        _ => format!("{name}[0] = {name}_unit(subgroup_size);"),
    };
    let main = text.find("fn main(\n").filter(|_| {
        let needed = ["@builtin(local_invocation_id) local: vec3<u32>", &format!("    {size}: u32,")];
        needed.iter().all(|part| text.contains(part)) && !text.contains("subgroup_size")
    });
    let end = main.and_then(|main| Some(main + text[main..].find(END_OF_PARAMETERS)?));
    let Some(end) = end else {
        return Err(kernel.error(
            format!("cannot report its subgroup size: its text needs `main` with `local`, and `dims.{size}`, and has neither the \
             size nor a variable of that name"),
        ));
    };
    let (before, after) = (&text[..end], &text[end + END_OF_PARAMETERS.len()..]);
    Ok(format!(
        "{before},\n    @builtin(subgroup_size) subgroup_size: u32,\n) {{\n    \
         // Launched with zeros for dims, once, when the kernel is compiled: report the subgroup size.\n    \
         if dims.{size} == 0u {{\n        if local.x == 0u {{\n            {store}\n        }}\n        return;\n    }}\n{after}"
    ))
}
