//! What plans take of devices with little: no more than each has, and kernels that compile there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;
use support::families::PROBLEMS;
use support::limits::{self, assert_within};
use support::{parallel, plans};
use tilewise::planning::fixtures;
use tilewise::planning::kernel::{Kernel, Language, Needs, module_needs};
use tilewise::{Caps, Error, Gpu, GpuOptions};

/// Devices with no more than a standard demands, and what wgpu opens one with that has as much.
fn minimal() -> [(&'static str, Caps, wgpu::Limits); 3] {
    let webgpu = wgpu::Limits::default();
    let vulkan = wgpu::Limits {
        max_storage_buffers_per_shader_stage: 4,
        max_compute_invocations_per_workgroup: 128,
        max_compute_workgroup_size_x: 128,
        max_compute_workgroup_size_y: 128,
        max_compute_workgroup_storage_size: 16 << 10,
        max_buffer_size: 1 << 30,
        max_storage_buffer_binding_size: 1 << 27,
        max_immediate_size: 128,
        ..webgpu.clone()
    };
    let downlevel = wgpu::Limits::downlevel_defaults();
    [
        ("bare-vulkan", fixtures::bare_vulkan(), vulkan),
        ("bare-webgpu", fixtures::bare_webgpu(), webgpu),
        ("downlevel", of_downlevel(&downlevel), downlevel),
    ]
}

/// What wgpu calls the least that it runs on, as a browser would offer it.
fn of_downlevel(limits: &wgpu::Limits) -> Caps {
    let mut caps = fixtures::bare_webgpu();
    caps.limits.storage_bindings = limits.max_storage_buffers_per_shader_stage;
    caps.limits.workgroup_bytes = limits.max_compute_workgroup_storage_size;
    caps
}

/// As barely Vulkan, with windows of 64 KiB in buffers of 48: much outgrows them.
fn narrow() -> Caps {
    let mut caps = fixtures::bare_vulkan();
    (caps.limits.binding_bytes, caps.limits.buffer_bytes) = (64 << 10, 48 << 10);
    caps
}

/// Devices and operations of which there is no plan: a connected layer takes five storage bindings at least, and so do its
/// gradients and a loss, where these devices have four; and its weights outgrow a narrow window.
const IMPOSSIBLE: [(&str, &str); 13] = [
    ("bare-vulkan", "connected layer"),
    ("bare-vulkan", "connected layer, backward"),
    ("bare-vulkan", "connected, backward"),
    ("bare-vulkan", "loss"),
    ("downlevel", "connected layer"),
    ("downlevel", "connected layer, backward"),
    ("downlevel", "connected, backward"),
    ("downlevel", "loss"),
    ("narrow", "connected"),
    ("narrow", "connected layer"),
    ("narrow", "connected layer, backward"),
    ("narrow", "connected, backward"),
    ("narrow", "loss"),
];

#[test]
fn every_plan_takes_no_more_than_its_device_has_and_compiles_there() {
    let known: Mutex<HashMap<Kernel, (Needs, u32)>> = Mutex::default();
    let known = || known.lock().expect("no device has failed");
    let taken = |kernel: &Kernel| {
        let seen = known().get(kernel).copied();
        seen.unwrap_or_else(|| {
            let found = declared(kernel);
            known().insert(kernel.clone(), found);
            found
        })
    };
    let devices = fixtures::ALL.map(|(name, caps)| (name, caps(), None));
    let minimal = minimal().map(|(name, caps, limits)| (name, caps, Some(limits)));
    let devices: Vec<_> = devices.into_iter().chain(minimal).chain([("narrow", narrow(), None)]).collect();
    parallel::for_each(&devices, |(name, caps, limits)| {
        let opened = limits.clone().map(|limits| opened(caps, limits));
        let (mut there, mut refused) = (BTreeMap::<_, usize>::new(), BTreeMap::<_, usize>::new());
        for planned in plans::every(caps) {
            let what = planned.what;
            let plan = match &planned.plan {
                Err(Error::Unsupported { .. } | Error::Limit { .. }) => {
                    *refused.entry(what).or_default() += 1;
                    continue;
                }
                plan => plan.as_ref().unwrap_or_else(|error| panic!("{name}, {what}: {error}")),
            };
            *there.entry(what).or_default() += 1;
            assert_within(plan, &planned, caps, taken);
            if let Some(gpu) = &opened {
                gpu.prepare(plan).unwrap_or_else(|error| panic!("{name}, {what}: {plan}: {error}"));
            }
        }
        println!("{name}: planned {there:?}, refused {refused:?}");
        let impossible = IMPOSSIBLE.iter().filter(|(device, _)| device == name).map(|(_, what)| *what);
        let named: BTreeSet<&str> = there.keys().copied().chain(impossible.clone()).collect();
        let every: BTreeSet<&str> = there.keys().chain(refused.keys()).copied().collect();
        assert_eq!(named, every, "{name}: each operation is planned, or named as impossible");
        assert!(every.len() >= 27 + PROBLEMS.len(), "{name}: {every:?}");
        impossible.for_each(|what| assert!(!there.contains_key(what), "{name} plans {what}"));
    });
}

/// What a kernel's text takes of a device, and its immediates in bytes.
pub(crate) fn declared(kernel: &Kernel) -> (Needs, u32) {
    if kernel.language() == Language::Spirv {
        return module_needs(&kernel.words().expect("a module")).expect("a kernel");
    }
    let text = kernel.specialize().unwrap_or_else(|error| panic!("{kernel}: {error}"));
    let parsed = naga::front::wgsl::parse_str(&text);
    limits::taken(&parsed.unwrap_or_else(|error| panic!("{kernel}: {}", error.emit_to_string(&text))))
}

/// A device of wgpu's that computes nothing, opened with exactly these limits.
fn opened(caps: &Caps, limits: wgpu::Limits) -> Gpu {
    let gpu = support::noop_with(GpuOptions::default(), |desc| {
        desc.required_features = match caps.limits.immediate_bytes {
            0 => wgpu::Features::empty(),
            _ => wgpu::Features::IMMEDIATES,
        };
        desc.required_limits = limits;
    });
    assert_eq!(gpu.caps().limits, caps.limits, "the device has what the fixture says");
    gpu
}
