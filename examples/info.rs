//! Shows every device of this machine: its capabilities, and the kernel that each operation would use on it.
//!
//! ```sh
//! cargo run --release --example info
//! cargo run --release --example info -- --json
//! ```
//! At the end, the device that [`Gpu::open`] chooses multiplies two matrices of integers. The exit status is 0 only if
//! there is a device and its product is exact.

use clap::Parser;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;
use support::{chosen_kernel, ended};
use tilewise::gpu::{CoopRow, Machine, RowSizes, RowSpeed, Verdict};
use tilewise::ops::Overflow;
use tilewise::planning::Problem;
use tilewise::planning::gemm::{GemmProblem, GemmTypes};
use tilewise::planning::ops::CastProblem;
use tilewise::{Caps, DType, Fill, Gpu, Layout, Plan, Result, f16, matmul, reference};

/// Shows every device of this machine: its capabilities, and the kernel that each operation would use on it.
#[derive(Parser)]
struct Args {
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// The products whose kernels are shown: m, n, k.
const PRODUCTS: [[usize; 3]; 4] = [[64, 64, 64], [1024, 1024, 1024], [16, 4096, 4096], [8192, 8192, 8192]];
/// The product that is computed at the end.
const CHECKED: [usize; 3] = [33, 17, 65];

// NOTE: public for `benches/programs.rs`, which starts it by its name.
pub(crate) fn main() -> ExitCode {
    ended(run(&Args::parse()))
}

/// Prints everything; returns whether the check passed.
fn run(args: &Args) -> Result<bool> {
    let gpu = Gpu::open()?;
    let devices: Vec<(Caps, Vec<Path>)> = Gpu::adapters()
        .iter()
        .map(|adapter| {
            let caps = Caps::of(adapter);
            // Only the opened device has run the self-tests of its rows.
            let caps = if untested(&caps) == untested(gpu.caps()) { gpu.caps().clone() } else { caps };
            let paths = paths(&caps);
            (caps, paths)
        })
        .collect();
    let exact = check(&gpu)?;
    let [m, n, k] = CHECKED;
    if args.json {
        let devices: Vec<Value> = devices.iter().map(|(caps, paths)| device_json(caps, paths)).collect();
        let check = json!({ "device": gpu.caps().adapter, "m": m, "n": n, "k": k, "ok": exact });
        println!("{}", json!({ "devices": devices, "check": check, "ok": exact }));
        return Ok(exact);
    }
    for (index, (caps, paths)) in devices.iter().enumerate() {
        println!("{index}: {caps}");
        for path in paths {
            let plan = path.plan.as_ref().map_or_else(ToString::to_string, ToString::to_string);
            println!("  {:<16} {}", path.op, path.problem);
            println!("  {:<16}   {}", "", plan.replace("\n  ", &format!("\n{:23}", "")));
        }
        println!();
    }
    let verdict = if exact { "exact" } else { "WRONG" };
    println!("check: {}, ({m}, {k}) x ({k}, {n}) of integers: {verdict}", gpu.caps().adapter);
    Ok(exact)
}

/// The capabilities as they were before the device was opened: without verdicts and speeds.
fn untested(caps: &Caps) -> Caps {
    let mut caps = caps.clone();
    caps.rows.iter_mut().for_each(|row| (row.verdict, row.speed) = (Verdict::Untested, None));
    caps
}

/// Computes one product of integers per operand type; returns whether all are exact.
fn check(gpu: &Gpu) -> Result<bool> {
    let [m, n, k] = CHECKED;
    let (a, b) = (Fill::Integers.values::<f32>(m * k, 1), Fill::Integers.values::<f32>(k * n, 2));
    let want = reference::gemm(&a, &b, CHECKED);
    let (a, b) = (gpu.tensor(&a, [m, k])?, gpu.tensor(&b, [k, n])?);
    let in_f32 = matmul(&a, &b)?.to_vec()?;
    let in_f16 = matmul(&a.cast::<f16>()?, &b.cast::<f16>()?)?.to_vec()?;
    Ok([in_f32, in_f16].iter().all(|c| want.compare(c).max_abs_err == 0.0))
}

/// An operation, and its plan on a device.
struct Path {
    op: &'static str,
    /// The problem as text; `json` has the same as keys.
    problem: String,
    json: Value,
    plan: Result<Plan>,
}

impl Path {
    fn product([m, n, k]: [usize; 3], types: GemmTypes, caps: &Caps) -> Self {
        let GemmTypes { ab, c, .. } = types;
        Self {
            op: "matmul",
            problem: format!("({m}, {k}) x ({k}, {n}), {ab} x {ab} -> {c}"),
            json: json!({ "m": m, "n": n, "k": k, "dtype": ab.to_string(), "out_dtype": c.to_string() }),
            plan: explain_product([m, n, k], types, caps),
        }
    }

    /// A copy or cast of a transposed view, as in `contiguous` and `cast`.
    fn copy(size: usize, [from, to]: [DType; 2], caps: &Caps) -> Self {
        let view = Layout::new("copy", &[size, size], &[1, size], 0, size * size);
        let problem = view.and_then(|view| CastProblem::new(&view, from, to, Overflow::Rust));
        Self {
            op: "copy",
            problem: format!("({size}, {size}) transposed, {from} -> {to}"),
            json: json!({ "m": size, "n": size, "dtype": from.to_string(), "out_dtype": to.to_string() }),
            plan: problem.and_then(|problem| problem.plan(caps)),
        }
    }

    fn json(&self) -> Value {
        let mut value = json!({ "op": self.op });
        if let (Some(value), Some(problem)) = (value.as_object_mut(), self.json.as_object()) {
            value.extend(problem.clone());
        }
        match &self.plan {
            Ok(plan) => {
                value["kernel"] = chosen_kernel(plan).into();
                value["plan"] = plan.to_string().into();
            }
            Err(error) => value["error"] = error.to_string().into(),
        }
        value
    }
}

/// The plans of all operations on a device with these capabilities. Planning is pure, so no device is opened.
fn paths(caps: &Caps) -> Vec<Path> {
    let products = PRODUCTS.into_iter().flat_map(|size| {
        [DType::F32, DType::F16].map(|ab| Path::product(size, GemmTypes::new(ab, DType::F32), caps))
    });
    let copies =
        [[DType::F32, DType::F32], [DType::F32, DType::F16]].map(|types| Path::copy(1024, types, caps));
    products.chain(copies).collect()
}

fn explain_product([m, n, k]: [usize; 3], types: GemmTypes, caps: &Caps) -> Result<Plan> {
    let layout = |shape: [usize; 2]| Layout::contiguous("matmul", &shape);
    GemmProblem::new(&layout([m, k])?, &layout([k, n])?, &layout([m, n])?, types)?.explain(caps)
}

fn device_json(caps: &Caps, paths: &[Path]) -> Value {
    let limits = &caps.limits;
    json!({
        "device": caps.adapter,
        "backend": caps.backend,
        "driver": caps.driver,
        "device_type": caps.device_type.to_string(),
        "vendor": caps.vendor,
        "memory": caps.memory,
        "f16": caps.f16,
        "int64": caps.int64,
        "subgroups": caps.subgroups.map(|sizes| {
            json!({ "min": sizes.min, "max": sizes.max, "matrices": sizes.matrices })
        }),
        "tensor_cores": caps.has_tensor_cores(),
        "rows": caps.rows.iter().map(row_json).collect::<Vec<_>>(),
        "flexible_limits": caps.flexible_limits.map(|limits| {
            json!({
                "dimension": limits.dimension,
                "workgroup_invocations": limits.workgroup_invocations,
                "reserved_bytes": limits.reserved_bytes,
            })
        }),
        "spirv": caps.spirv,
        "extensions": caps.extensions.named().into_iter().collect::<BTreeMap<_, _>>(),
        "timestamps": caps.timestamps,
        "pipeline_cache": caps.pipeline_cache,
        "robust_buffer_access": caps.robust_buffer_access.to_string(),
        "limits": {
            "binding_bytes": limits.binding_bytes,
            "buffer_bytes": limits.buffer_bytes,
            "storage_bindings": limits.storage_bindings,
            "workgroup_bytes": limits.workgroup_bytes,
            "workgroup_invocations": limits.workgroup_invocations,
            "grid": limits.grid,
            "immediate_bytes": limits.immediate_bytes,
        },
        "machine": machine_json(&caps.machine),
        "paths": paths.iter().map(Path::json).collect::<Vec<_>>(),
    })
}

/// The assumptions about a device, each under the name of its field.
fn machine_json(machine: &Machine) -> Value {
    json!({
        "f32_flops": machine.f32_flops,
        "f16_flops": machine.f16_flops,
        "i8_flops": machine.i8_flops,
        "matrix_flops": machine.matrix_flops,
        "matrix_order": machine.matrix_order.to_string(),
        "bytes": machine.memory_bandwidth,
        "cache_bytes": machine.cache_bandwidth,
        "shared_bytes": machine.shared_bandwidth,
        "cache": machine.cache_size,
        "cores": machine.cores,
        "busy_invocations": machine.busy_invocations,
        "vector_lanes": machine.vector_lanes,
        "groups_per_core": machine.workgroups_per_core,
        "launch_seconds": machine.launch_seconds,
        "load_seconds": machine.load_seconds,
        "barrier_seconds": machine.barrier_seconds,
        "invocation_seconds": machine.invocation_seconds,
        "line_bytes": machine.line_bytes,
        "sector_bytes": machine.sector_bytes,
        "jump_bytes": machine.jump_bytes,
        "loads_together": machine.loads_in_flight,
        "elements_per_load": machine.elements_per_load,
        "shared_read_weight": machine.shared_read_weight,
        "cached_read_weight": machine.cached_read_weight,
        "registers": machine.registers,
        "accumulators": machine.accumulators,
        "matrix_accumulators": machine.matrix_accumulators,
        "compile_seconds": machine.compile_seconds,
        "workgroup_registers": machine.workgroup_registers,
        "core_registers": machine.core_registers,
        "terms": machine.max_terms,
        "unrolled": machine.max_unrolled,
        "loads_windows_ahead": machine.loads_windows_ahead,
    })
}

/// A row of exact sizes, or of multiples of m, n and k.
fn row_json(row: &CoopRow) -> Value {
    let CoopRow { sizes, m, n, k, a, b, c, scope, saturating, verdict, speed } = row;
    let invocations = match sizes {
        RowSizes::Multiples { invocations } => Some(invocations),
        _ => None,
    };
    json!({
        "sizes": sizes.to_string(),
        "m": m,
        "n": n,
        "k": k,
        "a": a.to_string(),
        "b": b.to_string(),
        "c": c.to_string(),
        "scope": scope.to_string(),
        "invocations": invocations,
        "saturating": saturating,
        "verdict": verdict.to_string(),
        "speed": speed.map(RowSpeed::times),
    })
}
