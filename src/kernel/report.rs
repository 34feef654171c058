//! The report of a kernel's subgroup size. On a device that has several sizes, a kernel that is written for one of them is
//! asked, when it is compiled, which size the driver has given it: it is launched with zeros for dims, stores its subgroup
//! size in its result, and does nothing else.

use super::source::Kernel;
use crate::Result;
use crate::caps::Caps;
use half::f16;

/// How a kernel reports its subgroup size: as the first number of its result, `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubgroupReport {
    /// The size that the kernel is written for.
    pub(crate) expected: u32,
    number: Number,
}

/// Type of the numbers in the result's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    F16,
    F32,
    U32,
}

impl Kernel {
    /// Lets the kernel report its subgroup size if the device has several. On other devices its text does not change.
    ///
    /// The shader must have a result `c`, sizes `dims.m`, and the built-in `local`; m must never be 0 in a launch.
    #[must_use]
    pub(crate) fn report_subgroup_size(mut self, caps: &Caps) -> Self {
        self.requires.reports_subgroup_size = caps.subgroups.is_some_and(|sizes| sizes.only().is_none());
        self
    }

    /// How the kernel reports its subgroup size, if it does.
    pub(crate) fn subgroup_report(&self) -> Option<SubgroupReport> {
        let expected = self.requires.subgroup.filter(|_| self.requires.reports_subgroup_size)?;
        let number = match self.c_unit() {
            unit if unit.contains("f16") => Number::F16,
            unit if unit.contains("f32") => Number::F32,
            _ => Number::U32,
        };
        Some(SubgroupReport { expected, number })
    }

    /// The size of the cooperative matrices of f16 with an f32 accumulator that the kernel uses, if it does.
    pub(crate) fn matrices(&self) -> Option<u32> {
        self.requires.matrices
    }

    /// The element type of the memory of `c`.
    fn c_unit(&self) -> &str {
        self.params.iter().find(|(name, _)| name == "c_unit").map_or("f32", |(_, unit)| unit)
    }
}

impl SubgroupReport {
    /// The reported size, from the result's memory; 0 if it is none.
    pub(crate) fn read(self, memory: &[u8]) -> u32 {
        let Some(first) = memory.first_chunk::<4>() else { return 0 };
        let number = match self.number {
            Number::F16 => f16::from_le_bytes([first[0], first[1]]).to_f32(),
            Number::F32 => f32::from_le_bytes(*first),
            Number::U32 => return u32::from_le_bytes(*first),
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
    let unit = kernel.c_unit();
    let store = match unit.split('<').next() {
        Some(vector @ ("vec2" | "vec4")) => format!("c[0] = c_unit({vector}<u32>(subgroup_size));"),
        _ => "c[0] = c_unit(subgroup_size);".to_owned(),
    };
    let main = text.find("fn main(\n").filter(|_| {
        let needed = ["@builtin(local_invocation_id) local: vec3<u32>", "    m: u32,"];
        needed.iter().all(|part| text.contains(part)) && !text.contains("subgroup_size")
    });
    let end = main.and_then(|main| Some(main + text[main..].find(END_OF_PARAMETERS)?));
    let Some(end) = end else {
        return Err(kernel.error(
            "cannot report its subgroup size: its text needs `main` with `local`, and `dims.m`, and has neither the \
             size nor a variable of that name",
        ));
    };
    let (before, after) = (&text[..end], &text[end + END_OF_PARAMETERS.len()..]);
    Ok(format!(
        "{before},\n    @builtin(subgroup_size) subgroup_size: u32,\n) {{\n    \
         // Launched with zeros for dims, once, when the kernel is compiled: report the subgroup size.\n    \
         if dims.m == 0u {{\n        if local.x == 0u {{\n            {store}\n        }}\n        return;\n    }}\n{after}"
    ))
}
