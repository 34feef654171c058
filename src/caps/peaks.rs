//! Peak rates by device name, from data sheets. Unknown devices get coarse figures by device type.

use super::device_type::DeviceType;

/// A known device: a part of its name in its driver's report; f32 in Tflop/s; f16 on the same units, as a multiple of
/// f32; cooperative matrices of f16 in Tflop/s; memory bandwidth in GB/s; size of the last cache that all cores share
/// in MiB; number of cores.
type KnownDevice = (&'static str, f64, f64, f64, f64, u32, u32);

/// Bandwidth of the shared cache per core in bytes/s: an order of magnitude, 64 bytes every second or third cycle. It
/// is assumed to be the same for all devices, and not measured.
const CACHE_BYTES_PER_CORE: f64 = 40e9;

/// The first entry whose name is part of the adapter's name is used, so a longer name must come before its own prefix.
/// A laptop's GPU gets the figures of the desktop card of that name.
///
/// Figures are from the vendor's data sheet: at boost clock, dense (never "with sparsity"), and for matrices with f32
/// accumulation, which `GeForce` cards run at half speed. Caches: the L2 of NVIDIA and Intel, AMD's Infinity Cache,
/// Apple's system cache (not published by Apple; measured by others).
const KNOWN: &[KnownDevice] = &[
    // NVIDIA, data centre: data sheets. NOTE: the highest published rate of Vulkan's cooperative matrices on Hopper is
    // 62 % of this matrix figure.
    ("NVIDIA H200 NVL", 60.0, 2.0, 835.0, 4800.0, 50, 132),
    ("NVIDIA H200", 66.9, 2.0, 989.4, 4800.0, 50, 132),
    ("NVIDIA GH200", 66.9, 2.0, 989.4, 4000.0, 50, 132),
    ("NVIDIA H100 PCIe", 51.2, 2.0, 756.0, 2000.0, 50, 114),
    ("NVIDIA H100 NVL", 60.0, 2.0, 835.0, 3900.0, 50, 132),
    ("NVIDIA H100", 66.9, 2.0, 989.4, 3350.0, 50, 132),
    ("NVIDIA A100-SXM4-40GB", 19.5, 4.0, 312.0, 1555.0, 40, 108),
    ("NVIDIA A100-PCIE-40GB", 19.5, 4.0, 312.0, 1555.0, 40, 108),
    ("NVIDIA A100-SXM4-80GB", 19.5, 4.0, 312.0, 2039.0, 40, 108),
    ("NVIDIA A100", 19.5, 4.0, 312.0, 1935.0, 40, 108),
    ("Tesla V100-PCIE", 14.0, 2.0, 112.0, 900.0, 6, 80),
    ("Tesla V100-SXM2", 15.7, 2.0, 125.0, 900.0, 6, 80),
    ("Tesla T4", 8.1, 2.0, 65.0, 320.0, 4, 40),
    // NVIDIA, GeForce: appendices of the architecture papers (Blackwell, Ada, Ampere).
    ("RTX 5090", 104.8, 1.0, 209.5, 1792.0, 96, 170),
    ("RTX 5080", 56.3, 1.0, 112.6, 960.0, 64, 84),
    ("RTX 5070 Ti", 43.9, 1.0, 87.9, 896.0, 48, 70),
    ("RTX 5070", 30.9, 1.0, 61.7, 672.0, 48, 48),
    ("RTX 5060 Ti", 23.7, 1.0, 47.4, 448.0, 32, 36),
    ("RTX 5060", 19.2, 1.0, 38.4, 448.0, 32, 30),
    ("RTX 4090", 82.6, 1.0, 165.2, 1008.0, 72, 128),
    ("RTX 4080 SUPER", 52.2, 1.0, 104.4, 736.0, 64, 80),
    ("RTX 4080", 48.7, 1.0, 97.5, 717.0, 64, 76),
    ("RTX 4070 Ti SUPER", 44.1, 1.0, 88.2, 672.0, 48, 66),
    ("RTX 4070 Ti", 40.1, 1.0, 80.2, 504.0, 48, 60),
    ("RTX 4070 SUPER", 35.5, 1.0, 71.0, 504.0, 48, 56),
    ("RTX 4070", 29.1, 1.0, 58.3, 504.0, 36, 46),
    ("RTX 4060 Ti", 22.1, 1.0, 44.1, 288.0, 32, 34),
    ("RTX 4060", 15.1, 1.0, 30.2, 272.0, 24, 24),
    ("RTX 3090 Ti", 40.0, 1.0, 80.0, 1008.0, 6, 84),
    ("RTX 3090", 35.6, 1.0, 71.0, 936.0, 6, 82),
    ("RTX 3080 Ti", 34.1, 1.0, 68.2, 912.0, 6, 80),
    ("RTX 3080", 29.8, 1.0, 59.5, 760.0, 5, 68),
    ("RTX 3070 Ti", 21.7, 1.0, 43.5, 608.0, 4, 48),
    ("RTX 3070", 20.3, 1.0, 40.6, 448.0, 4, 46),
    ("RTX 3060 Ti", 16.2, 1.0, 32.4, 448.0, 4, 38),
    ("RTX 3060", 12.7, 1.0, 25.5, 360.0, 3, 28),
    // AMD: product pages; cores are compute units.
    ("RX 9070 XT", 48.7, 2.0, 195.0, 640.0, 64, 64),
    ("RX 9070", 36.1, 2.0, 145.0, 640.0, 64, 56),
    ("RX 9060 XT", 25.6, 2.0, 103.0, 320.0, 32, 32),
    ("RX 7900 XTX", 61.4, 2.0, 122.8, 960.0, 96, 96),
    ("RX 7900 XT", 51.6, 2.0, 103.0, 800.0, 80, 84),
    ("RX 7900 GRE", 46.0, 2.0, 92.0, 576.0, 64, 80),
    ("RX 7800 XT", 37.3, 2.0, 74.7, 624.0, 64, 60),
    ("RX 7700 XT", 35.2, 2.0, 70.3, 432.0, 48, 54),
    ("RX 7600", 21.7, 2.0, 43.5, 288.0, 32, 32),
    // Intel: product pages (Xe cores, clock, bandwidth, int8 TOPS); f32 is 256 flop per core and
    // cycle, f16 on the matrix units half of int8.
    ("B580 Graphics", 13.7, 2.0, 116.0, 456.0, 18, 20),
    ("B570 Graphics", 11.5, 2.0, 101.0, 380.0, 13, 18),
    ("A770 Graphics", 17.2, 2.0, 131.0, 560.0, 16, 32),
    ("A750 Graphics", 14.7, 2.0, 114.0, 512.0, 16, 28),
    // Apple: bandwidth and GPU cores of the largest variant from the product pages, Tflop/s from the
    // announcements up to M2 and from cores and clock (256 flop per core and cycle) since.
    // Cooperative matrices run on the ordinary units there: one rate for both.
    ("Apple M1 Ultra", 21.0, 1.0, 21.0, 800.0, 96, 64),
    ("Apple M1 Max", 10.4, 1.0, 10.4, 400.0, 48, 32),
    ("Apple M1 Pro", 5.2, 1.0, 5.2, 200.0, 24, 16),
    ("Apple M1", 2.6, 1.0, 2.6, 68.0, 8, 8),
    ("Apple M2 Ultra", 27.2, 1.0, 27.2, 800.0, 96, 76),
    ("Apple M2 Max", 13.6, 1.0, 13.6, 400.0, 48, 38),
    ("Apple M2 Pro", 6.8, 1.0, 6.8, 200.0, 24, 19),
    ("Apple M2", 3.6, 1.0, 3.6, 100.0, 8, 10),
    ("Apple M3 Ultra", 28.3, 1.0, 28.3, 819.0, 96, 80),
    ("Apple M3 Max", 14.2, 1.0, 14.2, 400.0, 48, 40),
    ("Apple M3 Pro", 6.4, 1.0, 6.4, 150.0, 12, 18),
    ("Apple M3", 3.5, 1.0, 3.5, 100.0, 8, 10),
    ("Apple M4 Max", 16.2, 1.0, 16.2, 546.0, 48, 40),
    ("Apple M4 Pro", 8.1, 1.0, 8.1, 273.0, 24, 20),
    ("Apple M4", 3.8, 1.0, 3.8, 120.0, 8, 10),
    // Software: llvmpipe as measured on 2 cores (loops of multiply-adds and of products of matrices, a copy);
    // SwiftShader is about a tenth of it.
    // NOTE: both emulate matrices, which are slower than plain code, and convert f16 before and after every operation.
    ("llvmpipe", 0.166, 0.25, 0.022, 8.0, 32, 2),
    ("SwiftShader", 0.0166, 0.25, 0.0022, 0.80, 32, 2),
];

/// Peak rates of a device in flop/s and bytes/s, the size of its last shared cache in bytes, and its number of cores.
pub(super) struct Peaks {
    pub(super) f32_flops: f64,
    pub(super) f16_flops: f64,
    pub(super) matrix_flops: f64,
    pub(super) memory_bandwidth: f64,
    pub(super) cache_bandwidth: f64,
    pub(super) cache_size: u64,
    pub(super) cores: u32,
}

impl Peaks {
    /// The peaks of the device that its driver calls `adapter`, or coarse ones for its type.
    pub(super) fn of(adapter: &str, device_type: DeviceType) -> Self {
        let known = KNOWN.iter().find(|known| adapter.contains(known.0));
        let (_, f32_tera, f16_times, matrix_tera, bytes_giga, cache_mib, cores) =
            known.copied().unwrap_or(by_type(device_type));
        Self {
            f32_flops: f32_tera * 1e12,
            f16_flops: f16_times * f32_tera * 1e12,
            matrix_flops: matrix_tera * 1e12,
            memory_bandwidth: bytes_giga * 1e9,
            cache_bandwidth: f64::from(cores) * CACHE_BYTES_PER_CORE,
            cache_size: u64::from(cache_mib) << 20,
            cores,
        }
    }
}

/// Typical figures of each type on the market. Plans from them are correct, but not tuned.
fn by_type(device_type: DeviceType) -> KnownDevice {
    match device_type {
        DeviceType::Discrete => ("discrete", 20.0, 1.0, 40.0, 450.0, 32, 40),
        DeviceType::Virtual => ("virtual", 20.0, 2.0, 80.0, 300.0, 40, 40), // most often a share of a data-centre card
        DeviceType::Integrated | DeviceType::Unknown => ("integrated", 2.0, 1.0, 4.0, 60.0, 4, 8),
        DeviceType::Software => ("software", 0.166, 0.25, 0.022, 8.0, 32, 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;

    fn tflops(adapter: &str) -> f64 {
        Peaks::of(adapter, DeviceType::Discrete).f32_flops / 1e12
    }

    #[test]
    fn no_entry_hides_a_later_one() {
        for (at, entry) in KNOWN.iter().enumerate() {
            let first = KNOWN.iter().position(|known| entry.0.contains(known.0));
            assert_eq!(first, Some(at), "{} is taken by an entry before it", entry.0);
        }
    }

    #[test]
    fn drivers_names_are_found() {
        for (adapter, want) in [
            ("NVIDIA H200", 66.9),
            ("NVIDIA H200 NVL", 60.0),
            ("NVIDIA GH200 480GB", 66.9),
            ("NVIDIA H100 80GB HBM3", 66.9),
            ("NVIDIA H100 PCIe", 51.2),
            ("NVIDIA A100-SXM4-80GB", 19.5),
            ("Tesla V100-SXM2-16GB", 15.7),
            ("Tesla V100-PCIE-32GB", 14.0),
            ("Tesla T4", 8.1),
            ("NVIDIA GeForce RTX 4090", 82.6),
            ("NVIDIA GeForce RTX 4070 Ti SUPER", 44.1),
            ("NVIDIA GeForce RTX 4060 Laptop GPU", 15.1),
            ("AMD Radeon RX 7900 XTX (RADV NAVI31)", 61.4),
            ("AMD Radeon RX 7900 XT (RADV NAVI31)", 51.6),
            ("AMD Radeon RX 9070 XT (RADV GFX1201)", 48.7),
            ("Intel(R) Arc(tm) B580 Graphics (BMG G21)", 13.7),
            ("Intel(R) Arc(TM) A770 Graphics", 17.2),
            ("Apple M2", 3.6),
            ("Apple M2 Max", 13.6),
            ("Apple M4 Pro", 8.1),
            ("llvmpipe (LLVM 19.1.7, 256 bits)", 0.166),
            ("SwiftShader Device (LLVM 10.0.0)", 0.0166),
            ("SwiftShader Device (Subzero)", 0.0166),
        ] {
            assert!((tflops(adapter) - want).abs() < 1e-9, "{adapter}: {} Tflop/s", tflops(adapter));
        }
    }

    #[test]
    fn names_that_only_look_alike_fall_back_to_the_kind() {
        for adapter in ["NVIDIA RTX A1000 Laptop GPU", "NVIDIA RTX 4000 SFF Ada Generation", "Apple M5", ""] {
            let found = KNOWN.iter().find(|known| adapter.contains(known.0));
            assert_eq!(found, None, "{adapter}");
        }
        for device_type in
            [DeviceType::Discrete, DeviceType::Integrated, DeviceType::Virtual, DeviceType::Unknown]
        {
            let peaks = Peaks::of("", device_type);
            assert!(
                peaks.matrix_flops > peaks.f32_flops && peaks.f32_flops > peaks.memory_bandwidth,
                "{device_type:?}"
            );
        }
    }

    #[test]
    fn matrices_are_slower_than_plain_code_on_a_cpu() {
        for adapter in ["llvmpipe (LLVM 19.1.7, 256 bits)", "SwiftShader Device (Subzero)", "some CPU"] {
            let peaks = Peaks::of(adapter, DeviceType::Software);
            assert!(peaks.matrix_flops > 0.0 && peaks.matrix_flops < peaks.f32_flops, "{adapter}");
        }
    }

    #[test]
    fn the_fixtures_of_real_devices_are_in_the_table() {
        for (name, caps) in fixtures::ALL {
            let known = KNOWN.iter().any(|known| caps().adapter.contains(known.0));
            assert_eq!(known, !name.starts_with("bare-"), "{name}");
        }
    }
}
