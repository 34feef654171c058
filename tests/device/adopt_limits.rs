//! Devices that an application opened with odd limits: an error says what the device lacks. It is no failure of the device.

use tilewise::{Activation, Error, Fill, Gpu, Result, matmul, ops, wgpu};

/// A limit by name, as an application sets it.
type Limit = (&'static str, fn(&mut wgpu::Limits, u32));

/// The limits that compute shaders and their buffers depend on.
const LIMITS: &[Limit] = &[
    ("max_bind_groups", |limits, n| limits.max_bind_groups = n),
    ("max_bindings_per_bind_group", |limits, n| limits.max_bindings_per_bind_group = n),
    ("max_dynamic_uniform_buffers_per_pipeline_layout", |limits, n| {
        limits.max_dynamic_uniform_buffers_per_pipeline_layout = n;
    }),
    ("max_dynamic_storage_buffers_per_pipeline_layout", |limits, n| {
        limits.max_dynamic_storage_buffers_per_pipeline_layout = n;
    }),
    ("max_storage_buffers_per_shader_stage", |limits, n| limits.max_storage_buffers_per_shader_stage = n),
    ("max_uniform_buffers_per_shader_stage", |limits, n| limits.max_uniform_buffers_per_shader_stage = n),
    ("max_uniform_buffer_binding_size", |limits, n| limits.max_uniform_buffer_binding_size = n.into()),
    ("max_storage_buffer_binding_size", |limits, n| limits.max_storage_buffer_binding_size = n.into()),
    ("max_buffer_size", |limits, n| limits.max_buffer_size = n.into()),
    ("min_uniform_buffer_offset_alignment", |limits, n| limits.min_uniform_buffer_offset_alignment = n),
    ("min_storage_buffer_offset_alignment", |limits, n| limits.min_storage_buffer_offset_alignment = n),
    ("max_compute_workgroup_storage_size", |limits, n| limits.max_compute_workgroup_storage_size = n),
    ("max_compute_invocations_per_workgroup", |limits, n| limits.max_compute_invocations_per_workgroup = n),
    ("max_compute_workgroup_size_x", |limits, n| limits.max_compute_workgroup_size_x = n),
    ("max_compute_workgroup_size_y", |limits, n| limits.max_compute_workgroup_size_y = n),
    ("max_compute_workgroup_size_z", |limits, n| limits.max_compute_workgroup_size_z = n),
    ("max_compute_workgroups_per_dimension", |limits, n| limits.max_compute_workgroups_per_dimension = n),
    ("max_immediate_size", |limits, n| limits.max_immediate_size = n),
];

/// Values below, at and above what kernels need, most of them no power of two. A full sweep takes all.
const VALUES: &[u32] = &[0, 1, 3, 4093, 2, 5, 31, 64, 100, 129, 255, 512, 1000, 16_384, 65_537];
const FEW: usize = 4;

type Operation = fn(&Gpu) -> Result<()>;

/// A few launches of every kind: elementwise, along rows, products with and without an epilogue, a loss.
fn operations(gpu: &Gpu) -> Vec<(&'static str, Result<()>)> {
    let with_operands = |run: Operation| run(gpu);
    let operation: [(&'static str, Operation); 9] = [
        ("tensor", |gpu| gpu.tensor(&[1.0f32; 35], [5, 7])?.to_vec().map(drop)),
        ("random", |gpu| gpu.random::<f32>([5, 7], Fill::Uniform, 1)?.to_vec().map(drop)),
        ("add", |gpu| {
            let x = gpu.tensor(&[1.0f32; 35], [5, 7])?;
            ops::add(&x, &x)?.to_vec().map(drop)
        }),
        ("cast", |gpu| gpu.tensor(&[1.0f32; 35], [5, 7])?.cast::<tilewise::bf16>()?.to_vec().map(drop)),
        ("sum", |gpu| ops::sum(&gpu.tensor(&[1.0f32; 35], [5, 7])?, 1)?.to_vec().map(drop)),
        ("softmax", |gpu| ops::softmax(&gpu.tensor(&[1.0f32; 3000], [1, 3000])?, 1)?.to_vec().map(drop)),
        ("LayerNorm::run", |gpu| {
            let x = gpu.tensor(&[1.0f32; 35], [5, 7])?;
            ops::LayerNorm::new().run(&x)?.to_vec().map(drop)
        }),
        ("matmul", |gpu| {
            let x = gpu.tensor(&[1.0f32; 4900], [70, 70])?;
            matmul(&x, &x)?.to_vec().map(drop)
        }),
        ("linear", |gpu| {
            let x = gpu.tensor(&[1.0f32; 35], [5, 7])?;
            let b = gpu.tensor(&[1.0f32; 5], [5])?;
            tilewise::linear(&x, &x, Some(&b), Activation::Gelu)?.to_vec().map(drop)
        }),
    ];
    operation.into_iter().map(|(name, run)| (name, with_operands(run))).collect()
}

/// Adopts a device with one odd limit, and returns every error that calls itself a failure of the device.
fn failures(
    adapter: &wgpu::Adapter,
    features: wgpu::Features,
    (name, set): &Limit,
    value: u32,
) -> (bool, Vec<String>) {
    let mut desc = Gpu::device_descriptor(adapter);
    desc.required_features &= features;
    set(&mut desc.required_limits, value);
    // What this adapter does not give is no device.
    let Ok((device, queue)) = pollster::block_on(adapter.request_device(&desc)) else {
        return (false, Vec::new());
    };
    let mut failures = Vec::new();
    let mut note = |call: &str, error: Error| match error {
        Error::Limit { .. } | Error::Unsupported { .. } | Error::OutOfMemory { .. } => {}
        other => failures.push(format!("{name} {value}, {call}: {other}")),
    };
    match Gpu::adopt(adapter, device, queue) {
        Err(error) => note("adopt", error),
        Ok(gpu) => {
            for (call, result) in operations(&gpu) {
                if let Err(error) = result {
                    note(call, error);
                }
            }
        }
    }
    (true, failures)
}

/// Asserts that no odd limit among `values` leads to a failure of the device, with immediates and without.
fn hold(adapter: &wgpu::Adapter, values: &[u32]) {
    let mut found = Vec::new();
    let mut opened = 0;
    for features in [wgpu::Features::all(), wgpu::Features::empty()] {
        for limit in LIMITS {
            for &value in values {
                let (open, failures) = failures(adapter, features, limit, value);
                opened += usize::from(open);
                found.extend(failures);
            }
        }
    }
    assert!(opened > values.len() * LIMITS.len(), "{opened} devices opened");
    assert!(found.is_empty(), "{} of {opened} devices:\n{}", found.len(), found.join("\n"));
}

#[test]
fn odd_limits_are_no_failures_of_the_device() {
    hold(&support::noop_adapter(), if support::is_full_sweep() { VALUES } else { &VALUES[..FEW] });
}

/// What an application may set to zero because its own shaders do not need it.
#[test]
fn what_a_device_lacks_is_named_when_it_is_adopted() {
    let adapter = support::noop_adapter();
    for (name, value, words) in [
        ("max_compute_workgroup_size_y", 0, "compute shaders"),
        ("max_compute_workgroups_per_dimension", 0, "compute shaders"),
        ("max_dynamic_uniform_buffers_per_pipeline_layout", 0, "a uniform buffer at dynamic offsets"),
        ("max_bind_groups", 1, "2 bind groups"),
        ("max_uniform_buffer_binding_size", 255, "256 bytes of a uniform buffer"),
        ("max_buffer_size", 1000, "one buffer in bytes is 16384, but this device allows 1000"),
    ] {
        let (_, set) = LIMITS.iter().find(|(known, _)| *known == name).unwrap();
        let mut desc = Gpu::device_descriptor(&adapter);
        desc.required_features = wgpu::Features::empty();
        set(&mut desc.required_limits, value);
        let (device, queue) = pollster::block_on(adapter.request_device(&desc)).unwrap();
        let error = Gpu::adopt(&adapter, device, queue).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. } | Error::Limit { .. }), "{name}: {error}");
        let said = error.to_string();
        assert!(said.starts_with("Gpu::adopt") && said.contains(words), "{name}: {said}");
    }
}
