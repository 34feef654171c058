//! Rows of cooperative matrices: which of them kernels may use, and what is read of a driver.

use support::failure::{Kind, fails};
use support::rows::row;
use tilewise::gpu::{
    AdoptOptions, CoopRow, CoopScalar, CoopScope, FlexibleLimits, MatrixExtensions, RowSizes, SubgroupSizes,
    Verdict,
};
use tilewise::planning::fixtures;
use tilewise::{Caps, Gpu, GpuOptions};

#[test]
fn rows_are_those_of_each_vendor() {
    use CoopScalar::{Bf16, E4m3, F16, F32, I8, I32};
    let sixteen = [row(16, F16, F16), row(16, F16, F32)];
    let eight = [row(8, F16, F16), row(8, F16, F32)];
    // Those of WGSL; then how many, and how many a kernel may choose from: of f16, bf16 and e4m3 to f32, of i8.
    for (caps, spelled, counts) in [
        (fixtures::h200(), sixteen.to_vec(), [20, 3, 1, 1, 2]),
        (fixtures::h100(), sixteen.to_vec(), [20, 3, 1, 1, 2]),
        (fixtures::rtx_4090(), sixteen.to_vec(), [20, 3, 1, 1, 2]),
        (fixtures::a100(), sixteen.to_vec(), [18, 3, 1, 0, 2]),
        (fixtures::rtx_3090(), sixteen.to_vec(), [18, 3, 1, 0, 2]),
        (fixtures::t4(), sixteen.to_vec(), [10, 3, 0, 0, 2]),
        (fixtures::v100(), vec![], [0; 5]),
        // As Mesa's driver lists them: 14 and 20, of which 12 of bytes and 4 of those saturating.
        (fixtures::radv_rdna3(), sixteen.to_vec(), [14, 1, 0, 0, 1]),
        (fixtures::radv_rdna4(), sixteen.to_vec(), [20, 1, 1, 1, 1]),
        (fixtures::intel_xe2(), vec![], [4, 1, 1, 0, 1]),
        (fixtures::apple_m2(), [&[row(8, F32, F32)], &eight[..]].concat(), [3, 1, 0, 0, 0]),
        (fixtures::lavapipe(), eight.to_vec(), [8, 1, 0, 0, 1]),
        (fixtures::swiftshader(), vec![], [0; 5]),
        (fixtures::bare_webgpu(), vec![], [0; 5]),
        (fixtures::bare_vulkan(), vec![], [0; 5]),
    ] {
        let found: Vec<_> = caps.rows.iter().filter(|row| row.is_spelled_in_wgsl()).copied().collect();
        assert_eq!(found, spelled, "{}", caps.adapter);
        assert_eq!(caps.rows[..found.len()], found, "{}: they come first", caps.adapter);
        let of = |ab, c| caps.rows_of(ab, c).count();
        let usable = [caps.rows.len(), of(F16, F32), of(Bf16, F32), of(E4m3, F32), of(I8, I32)];
        assert_eq!(usable, counts, "{}", caps.adapter);
    }
    let saturating = |caps: Caps| caps.rows.iter().filter(|row| row.saturating).count();
    assert_eq!([saturating(fixtures::radv_rdna3()), saturating(fixtures::radv_rdna4())], [4, 4]);
}

#[test]
fn tensor_cores_need_rows_f16_and_a_known_subgroup_size() {
    let have: Vec<_> =
        fixtures::ALL.iter().filter(|(_, caps)| caps().has_tensor_cores()).map(|f| f.0).collect();
    let want = [
        "h200",
        "h100",
        "rtx-4090",
        "a100",
        "rtx-3090",
        "t4",
        "radv-rdna4",
        "radv-rdna3",
        "intel-xe2",
        "apple-m2",
        "lavapipe",
    ];
    assert_eq!(have, want);

    let mut caps = fixtures::radv_rdna3();
    assert_eq!(caps.subgroups, Some(SubgroupSizes { min: 32, max: 64, matrices: Some(64) }));
    caps.subgroups = Some(SubgroupSizes { min: 32, max: 64, matrices: None });
    assert!(!caps.has_tensor_cores(), "what is known about RADV is all that makes them usable");

    let broken: [fn(&mut Caps); 4] = [
        |c| c.rows.clear(),
        // Modules use rows of bf16 and i8 all the same.
        |c| (c.f16, c.spirv) = (false, false),
        |c| c.subgroups = None,
        |c| c.subgroups.as_mut().unwrap().matrices = None,
    ];
    for (at, break_it) in broken.iter().enumerate() {
        let mut caps = fixtures::h200();
        break_it(&mut caps);
        assert!(!caps.has_tensor_cores(), "case {at}");
    }
}

#[test]
fn a_kernel_is_told_in_words_why_it_may_not_use_a_row() {
    use CoopScalar::{F16, F32};
    let h200 = fixtures::h200();
    assert_eq!(h200.coop(16, F16, F32), Ok(()));
    assert_eq!(fixtures::apple_m2().coop(8, F32, F32), Ok(()));
    let told = |change: fn(&mut Caps)| {
        let mut caps = fixtures::h200();
        change(&mut caps);
        caps.coop(16, F16, F32).expect_err("the row is not to be used")
    };
    let row = "cooperative matrices 16x16x16 f16 x f16 -> f32, ";
    for (change, why) in [
        (told(|c| c.rows.clear()), "which the adapter does not list"),
        (told(|c| c.rows[1].a = F32), "which the adapter does not list"),
        (told(|c| c.rows[1].n = 8), "which the adapter does not list"),
        (told(|c| c.rows[1].verdict = Verdict::Wrong), "fenced off: wrong results in the self-test"),
        (told(|c| c.rows[1].verdict = Verdict::Refused), "fenced off: the driver refuses it"),
        (
            told(|c| c.rows[1].verdict = Verdict::OtherSubgroups),
            "fenced off: the driver gives its kernels subgroups of another size",
        ),
        (told(|c| c.f16 = false), "and f16 in shaders"),
        (told(|c| c.subgroups = None), "and subgroups"),
        (
            told(|c| c.subgroups = Some(SubgroupSizes { min: 32, max: 64, matrices: None })),
            "and subgroups of a known size, not 32 to 64",
        ),
    ] {
        assert_eq!(change, format!("{row}{why}"));
    }
    assert_eq!(
        h200.coop(8, F32, F32).unwrap_err(),
        "cooperative matrices 8x8x8 f32 x f32 -> f32, which the adapter does not list"
    );
    // f16 matters to the rows that it is part of.
    let mut apple = fixtures::apple_m2();
    apple.f16 = false;
    assert!(apple.coop(8, F32, F32).is_ok() && apple.coop(8, F16, F32).is_err() && apple.has_tensor_cores());
}

#[test]
fn kernels_in_wgsl_use_squares_of_floats_and_others_any_shape_of_a_subgroup() {
    use CoopScalar::{F16, F32, I8, I32};
    let lists = |row: CoopRow| {
        let mut caps = fixtures::h200();
        caps.rows = vec![row];
        caps
    };
    let square = row(16, F16, F32);
    let odd: [CoopRow; 4] = [
        CoopRow { n: 8, ..square },
        CoopRow { k: 8, ..square },
        CoopRow { m: 32, n: 32, k: 32, ..square },
        CoopRow { a: I8, b: I8, c: I32, k: 32, ..square },
    ];
    for row in odd {
        let caps = lists(row);
        assert!(!row.is_spelled_in_wgsl() && row.is_used_in_spirv() && caps.has_tensor_cores(), "{row}");
        let mut of_texts = caps.clone();
        of_texts.spirv = false;
        assert!(!of_texts.has_tensor_cores(), "{row}: WGSL has no words for it");
        assert!(caps.coop(16, row.a, row.c).is_err(), "{row}");
        assert_eq!(caps.rows_of(row.a, row.c).collect::<Vec<_>>(), [&row]);
        assert_eq!(caps.rows_of(F32, F32).count(), 0);
    }
    for row in [
        CoopRow { scope: CoopScope::Workgroup, ..square },
        CoopRow { saturating: true, ..square },
        CoopRow { b: F32, ..square },
        CoopRow { verdict: Verdict::Wrong, ..square },
    ] {
        let caps = lists(row);
        assert!(!caps.has_tensor_cores() && caps.rows_of(F16, F32).count() == 0, "{row}");
    }
    assert!(square.is_spelled_in_wgsl());
    let why = lists(CoopRow { scope: CoopScope::Workgroup, ..square }).coop(16, F16, F32).unwrap_err();
    assert!(why.ends_with("which WGSL cannot express"), "{why}");
    // The conditions of `coop` hold for every row.
    let broken: [fn(&mut Caps); 2] = [|c| c.f16 = false, |c| c.subgroups.as_mut().unwrap().matrices = None];
    for break_it in broken {
        let mut caps = lists(square);
        assert_eq!(caps.rows_of(F16, F32).count(), 1);
        break_it(&mut caps);
        assert_eq!(caps.rows_of(F16, F32).count(), 0);
    }
}

#[test]
fn a_fenced_off_row_is_no_tensor_core() {
    let fenced = |verdicts: [Verdict; 2]| {
        let mut caps = fixtures::h200();
        caps.spirv = false; // the other rows are for modules
        caps.rows.iter_mut().zip(verdicts).for_each(|(row, verdict)| row.verdict = verdict);
        caps
    };
    for (verdicts, has) in [
        ([Verdict::Verified, Verdict::Verified], true),
        ([Verdict::Wrong, Verdict::Verified], true),
        ([Verdict::Untested, Verdict::Refused], true),
        ([Verdict::Wrong, Verdict::Refused], false),
    ] {
        let caps = fenced(verdicts);
        assert_eq!(caps.has_tensor_cores(), has, "{caps}");
        for verdict in verdicts {
            assert!(caps.to_string().contains(&format!("(subgroup), {verdict}")), "{caps}");
        }
    }
}

/// Whether this device is Mesa's software driver, with matrices, which it has on CPUs with AVX2.
fn is_lavapipe(gpu: &Gpu) -> bool {
    let is_it = gpu.caps().adapter.contains("llvmpipe") && !gpu.caps().rows.is_empty();
    if !is_it {
        println!("skipped: only the rows of Mesa's software driver are known by heart");
    }
    is_it
}

#[test]
fn all_rows_of_the_driver_are_listed() {
    use CoopScalar::{F16, F32, I8, I32, U8, U32};
    let Some(gpu) = support::gpu().filter(|gpu| is_lavapipe(gpu)) else { return };
    let mut listed: Vec<CoopRow> = gpu
        .caps()
        .rows
        .iter()
        .map(|row| CoopRow { verdict: Verdict::Untested, speed: None, ..*row })
        .collect();
    listed.sort_by_key(ToString::to_string);
    let exact = [row(8, F16, F16), row(8, F16, F32), row(8, U8, U32), row(8, I8, I32)];
    let multiples = exact.map(|row| CoopRow { sizes: RowSizes::Multiples { invocations: 0 }, ..row });
    let mut want = [exact, multiples].concat();
    want.sort_by_key(ToString::to_string);
    assert_eq!(listed, want);
    // Those of unsigned integers wait for a kernel, which chooses from them.
    for (ab, c) in [(F16, F16), (F16, F32), (U8, U32), (I8, I32)] {
        assert_eq!(gpu.caps().rows_of(ab, c).count(), 1, "{ab} to {c}");
        let flexible = |scope| gpu.caps().flexible_rows_of(ab, c, scope).count();
        assert_eq!([CoopScope::Subgroup, CoopScope::Workgroup].map(flexible), [1, 0], "{ab} to {c}");
    }
    assert_eq!(gpu.caps().rows_of(I8, F32).count(), 0);
    let limits = FlexibleLimits { dimension: 1024, workgroup_invocations: 0, reserved_bytes: 0 };
    assert_eq!(gpu.caps().flexible_limits, Some(limits));
    let printed = gpu.caps().to_string();
    for part in
        ["multiples of 8x8x8 f16 x f16 -> f32 (subgroup), verified", "flexible limits  1024 along an axis"]
    {
        assert!(printed.contains(part), "{printed}");
    }
    let sizes = RowSizes::Multiples { invocations: 128 };
    let of_workgroup = CoopRow { sizes, m: 32, scope: CoopScope::Workgroup, ..row(8, F16, F32) };
    assert_eq!(
        of_workgroup.to_string(),
        "multiples of 32x8x8 f16 x f16 -> f32 (workgroup of 128), not tested"
    );
}

/// Every opened device, of either kind of access to buffers, has what the driver reports.
#[test]
fn an_opened_device_has_the_extensions_of_its_driver() {
    let Some(usual) = support::gpu() else { return };
    let caps = usual.caps();
    assert_eq!(caps.spirv, caps.backend == "vulkan", "{caps}");
    let passes = usual.device().features().contains(tilewise::wgpu::Features::PASSTHROUGH_SHADERS);
    assert_eq!(passes, caps.spirv);
    let adapters = Gpu::adapters();
    let adapter = adapters.iter().find(|adapter| adapter.get_info().name == caps.adapter).unwrap();
    assert_eq!((Caps::of(adapter).spirv, Caps::of(adapter).extensions), (caps.spirv, caps.extensions));
    if is_lavapipe(&usual) {
        let want = MatrixExtensions { flexible: true, storage8: true, ..Default::default() };
        assert_eq!(caps.extensions, want);
        assert!(caps.to_string().contains("VK_NV_cooperative_matrix2, VK_KHR_8bit_storage\n"), "{caps}");
    }
    if caps.backend == "vulkan" {
        let unchecked = support::own(support::unchecked).expect("there was one before");
        assert_eq!((unchecked.caps().spirv, unchecked.caps().extensions), (caps.spirv, caps.extensions));
        assert_eq!(unchecked.caps().rows.len(), caps.rows.len());
    }
}

#[test]
fn an_adopted_device_has_the_extensions_that_its_owner_vouches_for() {
    let Some(opened) = support::gpu().filter(|gpu| is_lavapipe(gpu)) else { return };
    let adapters = Gpu::adapters();
    let adapter = adapters.iter().find(|adapter| adapter.get_info().name == opened.caps().adapter).unwrap();
    let adopt = |extensions| {
        let (device, queue) = (opened.device().clone(), opened.queue().clone());
        let options = AdoptOptions::from(GpuOptions::from_env().unwrap());
        Gpu::adopt_with(
            adapter,
            device,
            queue,
            AdoptOptions { extensions: support::vouched(extensions), ..options },
        )
    };
    let plain = adopt(MatrixExtensions::default()).unwrap();
    assert_eq!(plain.caps().extensions, MatrixExtensions::default());
    let multiples = |caps: &Caps| caps.rows.iter().filter(|row| row.sizes != RowSizes::Exact).count();
    assert!(multiples(plain.caps()) == 0 && plain.caps().spirv, "{}", plain.caps());
    let flexible = MatrixExtensions { flexible: true, ..Default::default() };
    let vouched = adopt(flexible).unwrap();
    assert_eq!(vouched.caps().extensions, flexible);
    assert_eq!(multiples(vouched.caps()), multiples(opened.caps()));
    let refused = |result: tilewise::Result<Gpu>, why: &str| {
        fails(result, Kind::Input, &[why]);
    };
    // What this driver lacks, and what wgpu does not enable.
    let bfloat16 = MatrixExtensions { bfloat16: true, flexible: true, ..Default::default() };
    refused(adopt(bfloat16), "VK_KHR_shader_bfloat16 was not enabled when the device was created");
    let (adapter, device, queue) = support::application(|_| ()).expect("there was one before");
    let options = AdoptOptions { extensions: support::vouched(flexible), ..AdoptOptions::default() };
    refused(Gpu::adopt_with(&adapter, device, queue, options), "VK_NV_cooperative_matrix2 was not enabled");
}

#[test]
fn rows_of_small_floats_need_their_extension() {
    use CoopScalar::{Bf16, E4m3, E5m2, F32};
    let mut caps = fixtures::h200();
    caps.rows = [Bf16, E4m3, E5m2].map(|ab| row(16, ab, F32)).to_vec();
    let found = |caps: &Caps| [Bf16, E4m3, E5m2].map(|ab| caps.rows_of(ab, F32).count());
    caps.extensions = MatrixExtensions::default();
    assert_eq!(found(&caps), [0, 0, 0]);
    caps.extensions.bfloat16 = true;
    assert_eq!(found(&caps), [1, 0, 0]);
    caps.extensions.float8 = true;
    assert_eq!(found(&caps), [1, 1, 1]);
}
