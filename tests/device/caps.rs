//! The hand-made devices are consistent, and a `Caps` prints what a person needs to know.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use support::rows::row;
use tilewise::Caps;
use tilewise::gpu::{CoopRow, CoopScalar, CoopScope, DeviceType, SubgroupSizes, Verdict};
use tilewise::planning::fixtures;

/// A device, and what its print must hold.
type Facts = (fn() -> Caps, &'static [&'static str]);

fn each(mut check: impl FnMut(&str, &Caps)) {
    for (name, caps) in fixtures::ALL {
        check(name, &caps());
    }
}

#[test]
fn names_are_unique() {
    let names: HashSet<_> = fixtures::ALL.iter().map(|(name, _)| *name).collect();
    let mut adapters = HashSet::new();
    each(|_, caps| assert!(adapters.insert(caps.adapter.clone()), "{} twice", caps.adapter));
    assert_eq!((names.len(), adapters.len()), (15, 15));
}

#[test]
fn limits_hold_what_the_standards_promise_and_fit_together() {
    each(|name, caps| {
        let limits = &caps.limits;
        assert!(limits.binding_bytes <= limits.buffer_bytes, "{name}: a window larger than any buffer");
        assert!(limits.binding_bytes < 1 << 31, "{name}: shaders count bytes in 31 bits");
        assert_eq!(limits.binding_bytes % 4, 0, "{name}: a window ends inside a word");
        // The WebGPU defaults, and what Vulkan 1.1 demands: no device that runs at all has less.
        let [bindings, invocations] = if name == "bare-vulkan" { [4, 128] } else { [8, 256] };
        assert!(limits.binding_bytes >= 128 << 20, "{name}: {} bytes", limits.binding_bytes);
        assert!(limits.buffer_bytes >= 256 << 20, "{name}: {} bytes", limits.buffer_bytes);
        assert!(limits.storage_bindings >= bindings, "{name}: {} bindings", limits.storage_bindings);
        assert!(limits.workgroup_bytes >= 16 << 10, "{name}: {} bytes", limits.workgroup_bytes);
        assert!(limits.workgroup_invocations >= invocations, "{name}: {}", limits.workgroup_invocations);
        assert_eq!(limits.grid, 65_535, "{name}");
        assert_eq!(limits.immediate_bytes % 4, 0, "{name}");
        if let Some(memory) = caps.memory {
            assert!(limits.buffer_bytes <= memory, "{name}: a buffer larger than the memory");
        }
        if let Some(SubgroupSizes { min, max, matrices }) = caps.subgroups {
            assert!(min <= max && min.is_power_of_two() && max.is_power_of_two(), "{name}: {min} to {max}");
            assert!(matrices.is_none_or(|size| (min..=max).contains(&size)), "{name}: {matrices:?}");
            assert!(max <= limits.workgroup_invocations, "{name}: a subgroup larger than a workgroup");
        }
    });
}

#[test]
fn machines_order_the_devices() {
    each(|name, caps| {
        let machine = &caps.machine;
        assert!(
            machine.f32_flops > 0.0 && machine.memory_bandwidth > 0.0 && machine.cores > 0,
            "{name}: {machine:?}"
        );
        assert_eq!(
            machine.matrix_flops > 0.0,
            caps.rows.iter().any(|row| row.is_spelled_in_wgsl() || row.is_used_in_spirv()),
            "{name}: {machine:?}"
        );
        // More than a flop per byte everywhere, or reuse in shared memory would not pay at all.
        assert!(machine.f32_flops > machine.memory_bandwidth, "{name}: {machine:?}");
        let emulated = caps.device_type == DeviceType::Software && machine.matrix_flops > 0.0;
        assert_eq!(emulated, name == "lavapipe", "{name}");
        assert!(
            !emulated || machine.matrix_flops < machine.f32_flops,
            "{name}: emulated matrices are slower"
        );
    });
    let [h200, rtx, lavapipe, swiftshader] =
        [fixtures::h200(), fixtures::rtx_4090(), fixtures::lavapipe(), fixtures::swiftshader()]
            .map(|c| c.machine);
    assert!(h200.matrix_flops > rtx.matrix_flops && rtx.matrix_flops > lavapipe.matrix_flops);
    assert!(
        h200.memory_bandwidth > rtx.memory_bandwidth
            && rtx.memory_bandwidth > lavapipe.memory_bandwidth
            && lavapipe.memory_bandwidth > swiftshader.memory_bandwidth
    );
    assert!(h200.cores > rtx.cores && rtx.cores > lavapipe.cores);
    // Outside tensor cores the card for games is the faster one.
    assert!(rtx.f32_flops > h200.f32_flops && h200.f32_flops > lavapipe.f32_flops);
    assert!(lavapipe.f32_flops > swiftshader.f32_flops);
}

/// Assumptions about software devices are in their `Machine` only: no other room asks for the type of a device.
#[test]
fn only_the_machine_is_told_which_devices_are_software() {
    fn check(folder: &Path, own: &[PathBuf], files: &mut usize) {
        for entry in std::fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() && !own.contains(&path) {
                check(&path, own, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source");
                let text = text.replace("machine.is_software(", "");
                for asked in ["is_software(", "DeviceType::", "device_type"] {
                    assert!(!text.contains(asked), "{}: {asked}", path.display());
                }
                *files += 1;
            }
        }
    }
    let sources = support::root().join("src");
    let mut files = 0;
    check(&sources, &["caps", "gpu"].map(|room| sources.join(room)), &mut files);
    assert!(files > 100, "{files} files");
}

#[test]
fn display_of_a_data_centre_card_in_full() {
    let mut caps = fixtures::h200();
    caps.driver = "NVIDIA 580.95.05".into();
    let want = "\
NVIDIA H200
  device           discrete, vulkan
  driver           NVIDIA 580.95.05
  memory           ~131.3 GiB
  f16              yes
  int64            yes
  subgroups        32
  tensor cores     yes
  matrix rows      16x16x16 f16 x f16 -> f16 (subgroup), not tested
                   16x16x16 f16 x f16 -> f32 (subgroup), not tested
                   16x8x16 f16 x f16 -> f16 (subgroup), not tested
                   16x8x16 f16 x f16 -> f32 (subgroup), not tested
                   16x8x8 f16 x f16 -> f16 (subgroup), not tested
                   16x8x8 f16 x f16 -> f32 (subgroup), not tested
                   16x16x32 u8 x u8 -> u32 (subgroup), not tested
                   16x16x32 i8 x i8 -> i32 (subgroup), not tested
                   16x8x32 u8 x u8 -> u32 (subgroup), not tested
                   16x8x32 i8 x i8 -> i32 (subgroup), not tested
                   16x16x16 bf16 x bf16 -> f32 (subgroup), not tested
                   multiples of 32x16x16 f16 x f16 -> f16 (workgroup of 128), not tested
                   multiples of 32x16x16 f16 x f16 -> f32 (workgroup of 128), not tested
                   multiples of 32x16x32 i8 x i8 -> i32 (workgroup of 128), not tested
                   multiples of 16x16x16 f16 x f16 -> f16 (subgroup), not tested
                   multiples of 16x16x16 f16 x f16 -> f32 (subgroup), not tested
                   multiples of 16x16x32 i8 x i8 -> i32 (subgroup), not tested
                   multiples of 16x16x16 bf16 x bf16 -> f32 (subgroup), not tested
                   16x16x32 e4m3 x e4m3 -> f32 (subgroup), not tested
                   16x16x32 e5m2 x e5m2 -> f32 (subgroup), not tested
  flexible limits  1024 along an axis, workgroups of 256, 16 KiB of shared memory reserved
  spirv            yes
  extensions       VK_NV_cooperative_matrix2, VK_KHR_shader_bfloat16, VK_EXT_shader_float8, VK_KHR_8bit_storage
  timestamps       yes
  pipeline cache   yes
  robust access    on
  workgroup        1024 invocations
  shared memory    48 KiB
  grid             65535 workgroups along each axis
  binding          ~2.0 GiB
  bindings         65536
  buffer           ~4.0 GiB
  immediates       256 B
  f32 peak         66.9 TFLOP/s
  f16 peak         133.8 TFLOP/s
  i8 peak          133.8 TFLOP/s
  matrix peak      989.4 TFLOP/s
  i8 matrix peak   1978.8 TOP/s
  fp8 matrix peak  1978.8 TFLOP/s
  f16 sums peak    989.4 TFLOP/s
  matrix order     any
  memory peak      4.8 TB/s
  cache peak       5.3 TB/s
  shared peak      5.3 TB/s
  cache            50 MiB
  cores            132, 4 workgroups each, busy with 128 invocations in vectors of 32
  launch gap       4.0 us
  barrier          50 ns
  load latency     0.6 us, 4 loads in flight, in vectors of 4
  invocation start 0.0 us
  memory access    lines of 128 B, sectors of 32 B, a jump costs 0 B
  read cost        2 multiply-adds from shared memory, 9 from a cache
  registers        128 per invocation, 65536 per workgroup, 65536 per core
  accumulators     128 at most
  windows          loaded a step ahead
  terms            1024 written out at most, 256 products in a loop";
    assert_eq!(caps.to_string(), want);
}

#[test]
fn display_tells_devices_apart() {
    let facts: [Facts; 9] = [
        (
            fixtures::rtx_4090,
            &["NVIDIA GeForce RTX 4090\n", "memory           24 GiB", "f32 peak         82.6 TFLOP/s"],
        ),
        (
            fixtures::radv_rdna4,
            &[
                "RADV GFX1201",
                "shared memory    64 KiB",
                "matrix peak      195 TFLOP/s",
                "matrix order     along k",
            ],
        ),
        (
            fixtures::radv_rdna3,
            &[
                "RADV NAVI31",
                "subgroups        32 to 64 (matrices 64)",
                "tensor cores     yes",
                "16x16x16 f16",
            ],
        ),
        (
            fixtures::intel_xe2,
            &[
                "B580",
                "subgroups        16 to 32 (matrices 32)",
                "matrix rows      8x16x16 f16 x f16 -> f32 (subgroup)",
                "tensor cores     yes",
                "registers        96 per invocation",
                "accumulators     32 at most, 8 on matrices",
            ],
        ),
        (
            fixtures::apple_m2,
            &[
                "device           integrated, metal",
                "driver           (no name)",
                "subgroups        32\n",
                "tensor cores     yes",
                "8x8x8 f32 x f32 -> f32 (subgroup)",
                "immediates       4 KiB",
                "robust access    unknown (adopted, or not Vulkan)",
                "memory peak      100 GB/s",
            ],
        ),
        (
            fixtures::lavapipe,
            &[
                "device           software, vulkan",
                "subgroups        8\n",
                "tensor cores     yes",
                "8x8x8 f16 x f16 -> f32 (subgroup)",
                "binding          128 MiB",
                "f32 peak         166 GFLOP/s",
                "cores            2, 4 workgroups each, busy with 1 invocations in vectors of 8",
                "4 loads in flight, in vectors of 1",
                "registers        64 per invocation, no limit per workgroup",
                "accumulators     128, 0.3 s longer to compile above that",
                "matrix peak      22 GFLOP/s",
                "memory peak      8 GB/s",
            ],
        ),
        (
            fixtures::swiftshader,
            &[
                "f16              no",
                "subgroups        4\n",
                "workgroup        256",
                "binding          1 GiB",
                "800 MB/s",
            ],
        ),
        (
            fixtures::bare_webgpu,
            &[
                "(no name)\n",
                "device           unknown, browser-webgpu",
                "memory           not reported",
                "subgroups        none",
                "timestamps       no",
                "pipeline cache   no",
                "shared memory    16 KiB",
                "immediates       0 B",
            ],
        ),
        (
            fixtures::bare_vulkan,
            &[
                "device           unknown, vulkan",
                "f16              no",
                "subgroups        none",
                "workgroup        128",
                "bindings         4\n",
                "immediates       128 B",
            ],
        ),
    ];
    for (caps, facts) in facts {
        let printed = caps().to_string();
        for fact in facts {
            assert!(printed.contains(fact), "no {fact:?} in\n{printed}");
        }
    }
    // One column of names, one of values, and nothing that a terminal would show badly.
    each(|name, caps| {
        let printed = caps.to_string();
        for line in printed.lines().skip(1) {
            assert_eq!((&line[..2], &line[18..19]), ("  ", " "), "{name}: {line:?}");
            assert!(!line[19..].starts_with(' ') && line == line.trim_end(), "{name}: {line:?}");
        }
        assert!(!printed.ends_with('\n') && printed.is_ascii(), "{name}");
    });
}

#[test]
fn small_names_are_the_fields_own() {
    assert_eq!(format!("{:>6}|{:<4}|", CoopScalar::F16, CoopScalar::I32), "   f16|i32 |");
    assert_eq!(CoopScalar::U32.to_string(), "u32");
    assert_eq!(CoopScope::Subgroup.to_string(), "subgroup");
    assert_eq!(DeviceType::Virtual.to_string(), "virtual");
    assert_eq!(format!("{:>10}|", Verdict::Verified), "  verified|");
    let row = CoopRow { m: 8, n: 16, k: 32, ..row(16, CoopScalar::F16, CoopScalar::F32) };
    assert_eq!(row.to_string(), "8x16x32 f16 x f16 -> f32 (subgroup), not tested");
    let row = CoopRow { a: CoopScalar::E4m3, b: CoopScalar::E5m2, scope: CoopScope::Workgroup, ..row };
    assert_eq!(row.to_string(), "8x16x32 e4m3 x e5m2 -> f32 (workgroup), not tested");
    let row = CoopRow { a: CoopScalar::I8, b: CoopScalar::U8, c: CoopScalar::I32, saturating: true, ..row };
    assert_eq!(row.to_string(), "8x16x32 i8 x u8 -> i32 (workgroup saturating), not tested");
    assert_eq!([CoopScalar::Bf16, CoopScalar::F64].map(|scalar| scalar.to_string()), ["bf16", "f64"]);
}
