//! [`Caps`] of real devices, written by hand, to plan for a GPU that is not present.
//!
//! The documentation of each gives the sources of its figures, and says whether kernels were compiled for it or measured on it.
//! Only the two software drivers and the NVIDIA H200 have run kernels. `caps/fixture_rows.rs` gives the sources of the rows of
//! cooperative matrices. Assumed: drivers of GPUs have bytes in storage buffers. No other extension is enabled except those of the
//! rows. Devices whose figures were not read from a driver share four assumptions: 65,535 workgroups per axis (the minimum of
//! Vulkan and Metal, and the number that drivers report), 8 storage bindings (the minimum of WebGPU; most have thousands), 1,024
//! invocations, and on Vulkan 256 bytes of immediates (the minimum of Vulkan 1.4).
//!
//! ```
//! use tilewise::planning::fixtures;
//!
//! let caps = fixtures::rtx_4090();
//! assert!(caps.has_tensor_cores());
//! println!("{caps}");
//! ```

use super::extensions::HAS_MODULES;
use super::fixture_rows::{self, Nvidia, row};
use super::{
    Caps, CapsLimits, CoopRow, CoopScalar, DeviceType, FlexibleLimits, Machine, MatrixExtensions,
    RobustBufferAccess, RowSizes, SubgroupSizes,
};

/// A fixture's name, and the function that returns its `Caps`.
pub type Fixture = (&'static str, fn() -> Caps);

/// Every fixture, from the most to the least capable.
pub const ALL: [Fixture; 15] = [
    ("h200", h200),
    ("h100", h100),
    ("rtx-4090", rtx_4090),
    ("a100", a100),
    ("rtx-3090", rtx_3090),
    ("t4", t4),
    ("radv-rdna4", radv_rdna4),
    ("radv-rdna3", radv_rdna3),
    ("v100", v100),
    ("intel-xe2", intel_xe2),
    ("apple-m2", apple_m2),
    ("lavapipe", lavapipe),
    ("swiftshader", swiftshader),
    ("bare-webgpu", bare_webgpu),
    ("bare-vulkan", bare_vulkan),
];

const KIB: u32 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Largest window of a buffer that a kernel can bind, see [`CapsLimits::binding_bytes`].
const WINDOW: u64 = (1 << 31) - 16;
/// Largest buffer that wgpu creates on Linux, except with NVIDIA's driver.
const LINUX_BUFFER: u64 = (1 << 31) - 1;

/// NVIDIA H200 (SXM) with NVIDIA's Vulkan driver.
///
/// Published: speed, 141 GB of memory, 132 multiprocessors (data sheet). From the driver: subgroups of 32, 48 KiB of
/// shared memory, buffers of just under 4 GiB; it reports these for every card of the last generations. Assumed: the
/// rows, which are those of other NVIDIA drivers, because no list of a Hopper card has been published.
///
/// Its kernels were run and measured on it: see the book's results on a GPU.
#[must_use]
pub fn h200() -> Caps {
    nvidia("NVIDIA H200", 141_000_000_000, Nvidia::Ada)
}

/// NVIDIA H100 (SXM) with NVIDIA's Vulkan driver.
///
/// Published: speed, 80 GB of memory, 132 multiprocessors (data sheet). Assumed: rows and limits are those of [`h200`].
///
/// Its kernels have been neither compiled for it nor measured on it.
#[must_use]
pub fn h100() -> Caps {
    nvidia("NVIDIA H100 80GB HBM3", 80_000_000_000, Nvidia::Ada)
}

/// NVIDIA A100 (SXM, 80 GB) with NVIDIA's Vulkan driver.
///
/// Published: speed, memory, 108 multiprocessors (data sheet). Assumed: the rows are those of [`rtx_3090`], of the same generation, and
/// the limits those of [`h200`].
///
/// Its kernels have been neither compiled for it nor measured on it.
#[must_use]
pub fn a100() -> Caps {
    nvidia("NVIDIA A100-SXM4-80GB", 80_000_000_000, Nvidia::Ampere)
}

/// NVIDIA `GeForce` RTX 3090 with NVIDIA's Vulkan driver.
///
/// Published: speed, memory, multiprocessors (Ampere paper); the rows of f16, and that there are some of bf16. The driver's limits are
/// those of [`h200`].
///
/// Its kernels are compiled for Ampere by Mesa's compiler, which is not NVIDIA's, in CI; not measured.
#[must_use]
pub fn rtx_3090() -> Caps {
    nvidia("NVIDIA GeForce RTX 3090", 24 * GIB, Nvidia::Ampere)
}

/// NVIDIA T4 (Turing) with NVIDIA's Vulkan driver.
///
/// Published: speed, memory (data sheet), 40 multiprocessors (Turing paper); that cards of its generation have cooperative matrices of
/// f16 and none of bf16. Assumed: limits are those of [`h200`].
///
/// Its kernels have been neither compiled for it nor measured on it.
#[must_use]
pub fn t4() -> Caps {
    nvidia("Tesla T4", 16 * GIB, Nvidia::Turing)
}

/// NVIDIA V100 (SXM2, 16 GB, Volta) with NVIDIA's Vulkan driver.
///
/// Published: speed, memory (data sheet), 80 multiprocessors (Volta paper). Assumed: it has no cooperative matrices, because all cards
/// that are known to list them are of Turing or later; limits are those of [`h200`].
///
/// Its kernels have been neither compiled for it nor measured on it.
#[must_use]
pub fn v100() -> Caps {
    let v100 = nvidia("Tesla V100-SXM2-16GB", 16 * GIB, Nvidia::Turing);
    add_machine(Caps { rows: Vec::new(), ..v100 })
}

/// NVIDIA `GeForce` RTX 4090 with NVIDIA's Vulkan driver.
///
/// Published: speed, memory, multiprocessors (Ada paper); the rows 16x16x16 of f16 with f16 and f32 accumulation. The
/// driver's limits are those of [`h200`].
///
/// Its kernels are compiled for Ampere by Mesa's compiler, which is not NVIDIA's, in CI; not measured.
#[must_use]
pub fn rtx_4090() -> Caps {
    nvidia("NVIDIA GeForce RTX 4090", 24 * GIB, Nvidia::Ada)
}

/// AMD Radeon RX 7900 XTX (RDNA3) with Mesa's RADV.
///
/// Published: speed and memory (product page), the rows, 64 KiB of shared memory, subgroups of 32 or 64. wgpu cannot
/// fix which of the two sizes a kernel gets. Assumed: RADV gives those on cooperative matrices 64
/// ([`SubgroupSizes::matrices`]).
///
/// Its kernels are compiled for it by Mesa's compiler, which RADV uses, in CI; not measured.
#[must_use]
pub fn radv_rdna3() -> Caps {
    radv("AMD Radeon RX 7900 XTX (RADV NAVI31)", 24 * GIB, fixture_rows::radv_rdna3())
}

/// AMD Radeon RX 9070 XT (RDNA4) with Mesa's RADV.
///
/// Published: speed and memory (product page), 20 rows, all 16x16x16. Assumed: its limits are those of [`radv_rdna3`].
///
/// Its kernels are compiled for it by Mesa's compiler, which RADV uses, in CI; not measured.
#[must_use]
pub fn radv_rdna4() -> Caps {
    radv("AMD Radeon RX 9070 XT (RADV GFX1201)", 16 * GIB, fixture_rows::radv_rdna4())
}

/// Intel Arc B580 (Xe2) with Mesa's ANV.
///
/// Published: speed and memory (product page), and that its only f16 row is 8x16x16, which WGSL cannot express. Read from Mesa
/// 26.1.6, over its shim: subgroups of 16 to 32, 85 storage bindings, 48 KiB of shared memory.
///
/// Its kernels have been compiled for it by Mesa's compiler, which ANV uses, by hand; not measured.
#[must_use]
pub fn intel_xe2() -> Caps {
    add_machine(Caps {
        driver: "Intel open-source Mesa driver".into(),
        vendor: 0x8086,
        memory: Some(12 * GIB),
        subgroups: Some(SubgroupSizes::on(16, 32, "Intel open-source Mesa driver")),
        rows: fixture_rows::anv_xe2(),
        limits: CapsLimits { storage_bindings: 85, workgroup_bytes: 48 * KIB, ..vulkan_limits() },
        ..vulkan("Intel(R) Arc(tm) B580 Graphics (BMG G21)", DeviceType::Discrete)
    })
}

/// Apple M2 (10 GPU cores, 16 GB) with Metal.
///
/// From the sources of wgpu 30, where they are fixed for every Apple device: the 8x8x8 rows, 29 storage bindings, 4 KiB
/// of immediates, 32 KiB of shared memory. Published: speed (announcement), and that every Apple GPU has subgroups of
/// 32, which [`Caps::of`] uses although wgpu says "4 to 64". Assumed: the largest buffer is half of the memory.
///
/// Its kernels have been neither compiled for it nor measured on it.
#[must_use]
pub fn apple_m2() -> Caps {
    use CoopScalar::{F16, F32};
    add_machine(Caps {
        backend: "metal".into(),
        spirv: false,
        robust_buffer_access: RobustBufferAccess::Unknown,
        not_enabled: Vec::new(),
        rows: [(F32, F32), (F16, F16), (F16, F32)].map(|(ab, c)| row([8; 3], ab, c)).to_vec(),
        pipeline_cache: false,
        limits: CapsLimits {
            buffer_bytes: 8 * GIB,
            storage_bindings: 29,
            workgroup_bytes: 32 * KIB,
            immediate_bytes: 4 * KIB,
            ..vulkan_limits()
        },
        ..vulkan("Apple M2", DeviceType::Integrated)
    })
}

/// Mesa 26.1's software driver: f16, subgroups of 8 and cooperative matrices without a GPU.
///
/// All figures were read from the driver on x86-64 with AVX2; speed was measured on 2 cores. The memory is left out,
/// because it is the memory of the host.
#[must_use]
pub fn lavapipe() -> Caps {
    add_machine(Caps {
        driver: "llvmpipe Mesa 26.1.6 (LLVM 19.1.7)".into(),
        vendor: 0x1_0005, // Mesa's number with Khronos: there is no card
        subgroups: Some(SubgroupSizes::on(8, 8, "")),
        flexible_limits: Some(FlexibleLimits {
            dimension: 1024,
            workgroup_invocations: 0,
            reserved_bytes: 0,
        }),
        extensions: MatrixExtensions { flexible: true, storage8: true, ..MatrixExtensions::default() },
        rows: fixture_rows::lavapipe(),
        limits: CapsLimits {
            binding_bytes: 128 * MIB,
            storage_bindings: 48,
            workgroup_bytes: 32 * KIB,
            ..vulkan_limits()
        },
        ..vulkan("llvmpipe (LLVM 19.1.7, 256 bits)", DeviceType::Software)
    })
}

/// `SwiftShader`, the software driver of Chromium: no f16, workgroups of at most 256 invocations.
///
/// All figures were read from the driver. The memory is left out, because it is the memory of the host.
#[must_use]
pub fn swiftshader() -> Caps {
    add_machine(Caps {
        driver: "SwiftShader driver".into(),
        vendor: 0x1ae0,
        f16: false,
        int64: false,
        subgroups: Some(SubgroupSizes::on(4, 4, "")),
        limits: CapsLimits {
            binding_bytes: GIB,
            buffer_bytes: GIB,
            storage_bindings: 10,
            workgroup_bytes: 32 * KIB,
            workgroup_invocations: 256,
            immediate_bytes: 128,
            ..vulkan_limits()
        },
        ..vulkan("SwiftShader Device (Subzero)", DeviceType::Software)
    })
}

/// A browser with the minimum of the WebGPU standard: its default limits, no features, no name. A test compares the
/// limits with wgpu's.
#[must_use]
pub fn bare_webgpu() -> Caps {
    add_machine(Caps {
        backend: "browser-webgpu".into(),
        spirv: false,
        robust_buffer_access: RobustBufferAccess::Unknown,
        not_enabled: Vec::new(),
        f16: false,
        int64: false,
        subgroups: None,
        timestamps: false,
        pipeline_cache: false,
        limits: CapsLimits {
            binding_bytes: 128 * MIB,
            buffer_bytes: 256 * MIB,
            storage_bindings: 8,
            workgroup_bytes: 16 * KIB,
            workgroup_invocations: 256,
            grid: 65_535,
            immediate_bytes: 0,
        },
        ..vulkan("", DeviceType::Unknown)
    })
}

/// A Vulkan 1.1 driver with the minimum that the standard requires: no optional feature, and the minimum of every limit.
///
/// From the standard's table of required limits: 4 storage buffers per stage, bindings of 2^27 bytes, workgroups of 128
/// invocations with 16 KiB of shared memory, 128 bytes of push constants, buffers of 2^30 bytes (the minimum of
/// `maxMemoryAllocationSize`).
#[must_use]
pub fn bare_vulkan() -> Caps {
    add_machine(Caps {
        f16: false,
        int64: false,
        subgroups: None,
        timestamps: false,
        limits: CapsLimits {
            binding_bytes: 128 * MIB,
            buffer_bytes: GIB,
            storage_bindings: 4,
            workgroup_bytes: 16 * KIB,
            workgroup_invocations: 128,
            grid: 65_535,
            immediate_bytes: 128,
        },
        ..vulkan("Vulkan 1.1, minimum limits", DeviceType::Unknown)
    })
}

/// NVIDIA's driver. Storage bindings: KhronosGroup/Vulkan-Tools#106, a million before wgpu divides them among the stages of a pipeline. The
/// limits of matrices of flexible size are assumed.
fn nvidia(adapter: &str, memory: u64, generation: Nvidia) -> Caps {
    add_machine(Caps {
        driver: "NVIDIA".into(),
        vendor: 0x10de,
        memory: Some(memory),
        flexible_limits: (generation >= Nvidia::Ampere).then_some(FlexibleLimits {
            dimension: 1024,
            workgroup_invocations: 256,
            reserved_bytes: 16 * KIB,
        }),
        rows: fixture_rows::nvidia(generation),
        limits: CapsLimits {
            buffer_bytes: 4 * GIB - 2 * MIB,
            workgroup_bytes: 48 * KIB,
            storage_bindings: 1 << 16,
            ..vulkan_limits()
        },
        ..vulkan(adapter, DeviceType::Discrete)
    })
}

/// Mesa's RADV. Storage bindings were read from Mesa 26.1.6 for both generations (`tests/isa`).
fn radv(adapter: &str, memory: u64, rows: Vec<CoopRow>) -> Caps {
    add_machine(Caps {
        driver: "radv".into(),
        vendor: 0x1002,
        memory: Some(memory),
        subgroups: Some(SubgroupSizes::on(32, 64, "radv")),
        rows,
        limits: CapsLimits { storage_bindings: 1_864_135, ..vulkan_limits() },
        ..vulkan(adapter, DeviceType::Discrete)
    })
}

/// Common data of the devices above. Each overrides the fields that differ.
fn vulkan(adapter: &str, device_type: DeviceType) -> Caps {
    Caps {
        adapter: adapter.into(),
        backend: "vulkan".into(),
        driver: String::new(),
        device_type,
        vendor: 0,
        memory: None,
        f16: true,
        int64: true,
        subgroups: Some(SubgroupSizes::on(32, 32, "")),
        rows: Vec::new(),
        flexible_limits: None,
        spirv: HAS_MODULES,
        extensions: MatrixExtensions::default(),
        timestamps: true,
        pipeline_cache: true,
        robust_buffer_access: RobustBufferAccess::On,
        not_enabled: Vec::new(),
        limits: vulkan_limits(),
        machine: Machine::of(adapter, "vulkan", 0, device_type, false),
    }
}

fn vulkan_limits() -> CapsLimits {
    CapsLimits {
        binding_bytes: WINDOW,
        buffer_bytes: LINUX_BUFFER,
        storage_bindings: 8,
        workgroup_bytes: 64 * KIB,
        workgroup_invocations: 1024,
        grid: 65_535,
        immediate_bytes: 256,
    }
}

/// The same device with the machine of [`Caps::of`]. A GPU with rows of small floats has their extensions.
fn add_machine(caps: Caps) -> Caps {
    let has_rows = Caps::has_planned_rows(&caps.rows);
    let machine = Machine::of(&caps.adapter, &caps.backend, caps.vendor, caps.device_type, has_rows);
    let lists = |scalar| caps.rows.iter().any(|row| row.a == scalar);
    let extensions = MatrixExtensions {
        bfloat16: lists(CoopScalar::Bf16),
        float8: lists(CoopScalar::E4m3),
        flexible: caps.rows.iter().any(|row| row.sizes != RowSizes::Exact),
        storage8: caps.extensions.storage8 || caps.spirv && caps.device_type == DeviceType::Discrete,
        ..caps.extensions
    };
    Caps { machine, extensions, ..caps }
}
