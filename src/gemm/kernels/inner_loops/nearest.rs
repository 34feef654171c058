//! The table of inner loops for a device: that of the nearest GPU with a table.

use super::line::Compiled;
use super::{bmg, gfx1201, line::InnerLoop, navi31, nv176};
use crate::caps::Caps;
use crate::gemm::problem::GemmKernel;
use crate::layout::DType;

/// PCI ids of vendors.
const AMD: u32 = 0x1002;
const NVIDIA: u32 = 0x10de;
const INTEL: u32 = 0x8086;

/// Parts of the names of GPUs of RDNA 4.
const RDNA4: [&str; 3] = ["GFX12", "RX 90", "AI PRO R9"];

/// The table for a device:
///
/// - AMD: RDNA 4 by its names, RDNA 3 for all others, which have vector units of the same kind;
/// - NVIDIA: Ampere (`nv176`). Schedulers, registers and shared memory are nearly the same from Ampere on;
/// - Intel: Xe2 (`bmg`), the only Intel GPU with a table;
/// - Apple and unknown vendors: none, because their compilers do not run without the device. The table of another vendor would
///   be worse than the formula that counts reads;
/// - software devices: none. They run a workgroup's invocations one after another, and have their own formula.
fn nearest(caps: &Caps) -> Option<&'static Compiled> {
    if caps.machine.is_software() {
        return None;
    }
    match caps.vendor {
        AMD if RDNA4.iter().any(|name| caps.adapter.contains(name)) => Some(&gfx1201::COMPILED),
        AMD => Some(&navi31::COMPILED),
        NVIDIA => Some(&nv176::COMPILED),
        INTEL => Some(&bmg::COMPILED),
        _ => None,
    }
}

impl InnerLoop {
    /// The inner loop of a tile on this device, from the table of the nearest GPU.
    pub(in crate::gemm::kernels) fn on(
        caps: &Caps,
        kernel: GemmKernel,
        tile: [u32; 6],
        types: [DType; 3],
    ) -> Option<Self> {
        nearest(caps)?.find(kernel, tile, types)
    }
}

#[cfg(test)]
mod tests {
    use super::{Compiled, nearest};
    use crate::caps::fixtures;
    use crate::gemm::problem::GemmKernel;

    #[test]
    fn each_fixture_has_the_table_of_its_vendor() {
        let found =
            fixtures::ALL.map(|(name, caps)| (name, nearest(&caps()).map(|compiled| compiled.target)));
        let want = [
            ("h200", Some("nv176")),
            ("h100", Some("nv176")),
            ("rtx-4090", Some("nv176")),
            ("a100", Some("nv176")),
            ("rtx-3090", Some("nv176")),
            ("t4", Some("nv176")),
            ("radv-rdna4", Some("gfx1201")),
            ("radv-rdna3", Some("navi31")),
            ("v100", Some("nv176")),
            ("intel-xe2", Some("bmg")),
            ("apple-m2", None),
            ("lavapipe", None),
            ("swiftshader", None),
            ("bare-webgpu", None),
            ("bare-vulkan", None),
        ];
        assert_eq!(found, want);
    }

    /// If the heaviest block were an epilogue instead of the inner loop, its number of multiply-adds would not be a
    /// multiple of the tile's.
    #[test]
    fn every_line_is_of_an_inner_loop() {
        for (_, caps) in fixtures::ALL {
            let Some(Compiled { target, lines, .. }) = nearest(&caps()) else { continue };
            assert!(lines.len() > 60, "{target}: {} lines", lines.len());
            for (kernel, [_, _, _, tm, tn, fragment], _, [subgroup, ..], counts) in *lines {
                let [instructions, multiply_adds, slots, other, ..] = *counts;
                let tile = match kernel {
                    GemmKernel::Coop => fragment * fragment / subgroup,
                    _ => tm * tn,
                };
                assert!(
                    multiply_adds > 0 && multiply_adds % tile == 0,
                    "{target}: {kernel} {tm}x{tn}: {counts:?}"
                );
                assert!(
                    instructions > 0 && (slots > 0 || *kernel == GemmKernel::Coop),
                    "{target}: {kernel} {counts:?}"
                );
                assert!(other < 3 * instructions, "{target}: {kernel} {counts:?}");
            }
        }
    }
}
