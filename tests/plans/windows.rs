//! Windows: under small bindings, plans of every family respect the limits of the device, and write each element of a result once.

use crate::needs::declared;
use std::collections::{BTreeSet, HashMap};
use support::families::{Of, growing};
use support::heads::heads;
use support::laid::flat;
use support::limits::{self, Planned, assert_within};
use tilewise::planning::attention::{
    AttentionBackward, AttentionGradientsOf, AttentionProblem, AttentionRange, AttentionStatistics,
};
use tilewise::planning::kernel::{Kernel, Needs};
use tilewise::planning::ops::{Elementwise, ElementwiseProblem, GatherProblem, Taken};
use tilewise::planning::{Access, Buffer, Parameter, Plan, Problem, fixtures};
use tilewise::{Caps, DType, Error};

/// The elements of the largest operand, with gaps between rows: several windows.
const ELEMENTS: usize = 60_000;

/// Families that compute more together than a small binding has, or are not cut: those have other forms that are.
const TOGETHER: [&str; 8] = [
    "RMS norm of long rows, backward",
    "attention of one query",
    "connected layer",
    "connected layer, backward",
    "copy from a position",
    "copy to a position",
    "f16_split",
    "gates",
];

/// What a kernel's text takes of a device, and its immediates in bytes.
#[test]
fn windows_respect_the_limits_and_write_each_element_once() {
    let mut known: HashMap<Kernel, (Needs, u32)> = HashMap::new();
    let mut taken = |kernel: &Kernel| *known.entry(kernel.clone()).or_insert_with(|| declared(kernel));
    let (families, mut cut, mut together) = (growing(), 0, BTreeSet::new());
    for (name, caps) in fixtures::ALL {
        let unlimited = caps();
        for binding_bytes in [64 << 10, 96 << 10] {
            let mut caps = caps();
            caps.limits.binding_bytes = binding_bytes;
            for (what, case) in &families {
                let plan = |caps: &Caps| case(&Of::large(ELEMENTS, caps).with_gaps());
                let whole = match plan(&unlimited) {
                    // It has fewer bindings than the kernel takes.
                    Err(Error::Unsupported { .. }) => continue,
                    whole => whole.unwrap_or_else(|error| panic!("{name}, {what}: {error}")),
                };
                let plan = match plan(&caps) {
                    Err(Error::Limit { .. }) => {
                        together.insert(*what);
                        continue;
                    }
                    plan => plan.unwrap_or_else(|error| panic!("{name}, {what}: {error}")),
                };
                cut += usize::from(plan.to_string().contains("windows"));
                let planned = Planned { what, plan: Ok(plan.clone()) };
                assert_within(&plan, &planned, &caps, &mut taken);
                let is_large = |parameter: &Parameter| {
                    limits::window_bytes(&parameter.layout, parameter.dtype) > binding_bytes
                };
                let is_cut = whole.parameters().iter().any(is_large);
                // Temporaries may be too large, too.
                assert!(!is_cut || plan.to_string().contains("windows"), "{name}, {what}: {plan}");
                assert!(!whole.to_string().contains("windows"), "{what}: {whole}");
                for (index, parameter) in plan.parameters().iter().enumerate() {
                    assert_eq!(parameter.access, whole.parameters()[index].access, "{what}");
                    if parameter.access == Access::Write {
                        let bytes = (parameter.layout.len() * parameter.dtype.size()) as u64;
                        assert_eq!(written(&plan, index), bytes, "{name}, {what}: operand {index}: {plan}");
                    }
                }
            }
        }
    }
    assert_eq!(together, BTreeSet::from(TOGETHER));
    println!("{} families, {cut} plans in windows", families.len());
    assert!(families.len() > 80 && cut > 1000, "{cut} plans of {} families are cut", families.len());
}

/// The bytes of an operand that all steps write.
fn written(plan: &Plan, operand: usize) -> u64 {
    let of_step = plan.steps().iter().flat_map(|step| step.args.iter().zip(&step.work.written));
    of_step.filter(|(arg, _)| arg.buffer == Buffer::Operand(operand)).map(|(_, bytes)| bytes).sum()
}

/// A table that is larger than a binding: rows are taken window by window, each from the window that has it.
#[test]
fn a_table_is_read_in_windows() {
    let mut caps = fixtures::lavapipe();
    caps.limits.binding_bytes = 16 << 10;
    let problem = GatherProblem::new(Taken::Rows, &flat(&[1000, 64]), &flat(&[50]), DType::F32).unwrap();
    let plan = problem.plan(&caps).unwrap();
    let shaders: Vec<&str> = plan.steps().iter().map(|step| step.kernel.shader()).collect();
    assert_eq!(shaders.len(), 16, "{plan}");
    assert_eq!(shaders[0], "ops/gather_vectors");
    assert!(shaders[1..].iter().all(|&shader| shader == "ops/gather_more"), "{plan}");
}

/// Rows of which each needs more memory between its steps than a binding has: the error is of the smallest window, which tells how
/// much is to be sliced off.
#[test]
fn the_error_of_the_smallest_window_names_an_axis() {
    let mut caps = fixtures::lavapipe();
    caps.limits.binding_bytes = 4096;
    let (q, lse) = (flat(&[1, 6, 300, 1]), flat(&[1, 6, 300, 2]));
    let layouts = heads([&q, &q, &q]);
    let none = AttentionStatistics::None;
    let forward = AttentionProblem::new(layouts, AttentionRange::default(), none, DType::F32).unwrap();
    let of = AttentionGradientsOf::Operands;
    let found = AttentionBackward::new(forward, [&q, &lse, &q], of).unwrap().plan(&caps).unwrap_err();
    // Four numbers for each of the queries of one head.
    assert!(matches!(found, Error::Limit { needed: 4800, allowed: 4096, .. }), "{found}");
    assert!(found.to_string().contains("a temporary buffer in bytes (slice along axis 2)"), "{found}");
}

/// Each window takes memory of the host.
#[test]
fn there_are_at_most_4096_windows() {
    let mut caps = fixtures::lavapipe();
    caps.limits.binding_bytes = 64 << 10;
    let sum = |rows| {
        let a = Of::large(rows * 15_001, &caps).with_gaps().rows(rows, &[15_001])?;
        ElementwiseProblem::of_one_type(Elementwise::ADD, &[&a; 2], &flat(a.shape()), DType::F32)?.plan(&caps)
    };
    assert!(sum(4096).unwrap().steps().len() >= 4096);
    let error = sum(4097).unwrap_err();
    let is_expected = matches!(&error, Error::Limit { what, needed: 4097, allowed: 4096, .. } if what == "the number of windows");
    assert!(is_expected, "{error}");
}
