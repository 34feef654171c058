//! Subgroup sizes of a device, and the assumption about the size that kernels on cooperative matrices get.

use std::fmt;

/// Range of subgroup sizes in invocations. If there are several, the driver chooses one for each kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SubgroupSizes {
    /// Smallest subgroup size.
    pub min: u32,
    /// Largest subgroup size.
    pub max: u32,
    /// Size of subgroups in kernels on cooperative matrices. If the device has several sizes, this is an assumption
    /// about the driver's choice, and None if the choice is not known. Each kernel that relies on the assumption
    /// reports its size when it is compiled.
    pub matrices: Option<u32>,
}

/// The subgroup size of a driver's kernels on cooperative matrices.
enum OfMatrices {
    This(u32),
    Largest,
}

/// For each driver that chooses among several sizes: the start of its name, and the size of kernels on cooperative
/// matrices.
///
/// RADV compiles every compute shader of more than 32 invocations for subgroups of 64, unless the environment asks for 32
/// (`RADV_PERFTEST=cswave32`): `cs_wave_size` in Mesa's `radv_physical_device.c`. All kernels of this crate on matrices had 64 on
/// Navi 31 and GFX1201, in Mesa 26.1.6 and 26.2.6 (`tests/isa`). ANV compiled modules on matrices for 32, the largest size, on a
/// B580 (Mesa 26.1.6), even if the pipeline allowed the size to vary.
const OF_MATRICES: &[(&str, OfMatrices)] =
    &[("radv", OfMatrices::This(64)), ("Intel open-source Mesa driver", OfMatrices::Largest)];

impl SubgroupSizes {
    /// The sizes from `min` to `max` on the driver of this name.
    pub(crate) fn on(min: u32, max: u32, driver: &str) -> Self {
        let known =
            OF_MATRICES.iter().find(|(name, _)| driver.starts_with(name)).map(|(_, size)| match size {
                OfMatrices::This(size) => *size,
                OfMatrices::Largest => max,
            });
        let matrices = if min == max { Some(min) } else { known.filter(|size| (min..=max).contains(size)) };
        Self { min, max, matrices }
    }

    /// The size of every subgroup, if there is only one.
    pub(crate) fn only(self) -> Option<u32> {
        (self.min == self.max).then_some(self.min)
    }
}

/// `32`; or `32 to 64` if the size is not known before a kernel is compiled, with `(matrices 64)` if that of kernels on
/// cooperative matrices is assumed.
impl fmt::Display for SubgroupSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { min, max, matrices } = self;
        match (self.only(), matrices) {
            (Some(size), _) => write!(f, "{size}"),
            (None, Some(size)) => write!(f, "{min} to {max} (matrices {size})"),
            (None, None) => write!(f, "{min} to {max}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SubgroupSizes;

    #[test]
    fn the_size_of_kernels_on_matrices_is_the_only_one_or_that_of_the_driver() {
        for (min, max, driver, matrices, text) in [
            (32, 32, "NVIDIA", Some(32), "32"),
            (64, 64, "radv Mesa 26.1.6", Some(64), "64"), // GCN
            (32, 64, "radv Mesa 26.1.6", Some(64), "32 to 64 (matrices 64)"),
            (32, 64, "AMD proprietary driver", None, "32 to 64"),
            (8, 32, "radv of another device", None, "8 to 32"),
            (16, 32, "Intel open-source Mesa driver", Some(32), "16 to 32 (matrices 32)"),
            (8, 32, "Intel Corporation", None, "8 to 32"), // on Windows
            (4, 64, "", None, "4 to 64"),
        ] {
            let sizes = SubgroupSizes::on(min, max, driver);
            assert_eq!((sizes.matrices, sizes.to_string().as_str()), (matrices, text), "{driver}");
        }
    }
}
