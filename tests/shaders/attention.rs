//! The kernels of attention on cooperative matrices, in every form.

use std::collections::BTreeSet;
use support::wgsl;
use tilewise::Caps;
use tilewise::gpu::MatrixOrder;
use tilewise::planning::{Step, fixtures};

/// A device with matrices of both sizes.
fn caps() -> Caps {
    let mut caps = fixtures::lavapipe();
    caps.rows.extend(fixtures::h200().rows);
    caps
}

/// Checks that a kernel has the shared memory of its plan, and counts the accesses of these arrays of matrices, all by literals.
fn check(step: &Step, arrays: &[&str], caps: &Caps) -> u32 {
    use naga::Expression::{Access, AccessIndex, LocalVariable};
    let mut capabilities = wgsl::capabilities(caps);
    capabilities.insert(naga::valid::Capabilities::COOPERATIVE_MATRIX);
    let module = wgsl::validate(&step.kernel.specialize().unwrap(), capabilities).unwrap();
    let shared = module.global_variables.iter().filter(|(_, of)| of.space == naga::AddressSpace::WorkGroup);
    let bytes: u32 = shared.map(|(_, of)| module.types[of.ty].inner.size(module.to_ctx())).sum();
    assert_eq!(bytes, step.needs.workgroup_bytes, "{}", step.kernel);
    let main = &module.entry_points[0].function;
    let mut matrices = 0;
    for (_, expression) in main.expressions.iter() {
        let (mut base, is_computed) = match *expression {
            Access { base, .. } => (base, true),
            AccessIndex { base, .. } => (base, false),
            _ => continue,
        };
        while let Access { base: below, .. } | AccessIndex { base: below, .. } = main.expressions[base] {
            base = below;
        }
        if let LocalVariable(variable) = main.expressions[base] {
            let name = main.local_variables[variable].name.as_deref().unwrap_or_default();
            assert!(!is_computed, "{}: {name} is indexed by an expression", step.kernel);
            matrices += u32::from(arrays.contains(&name));
        }
    }
    matrices
}

#[test]
fn attention_on_matrices_has_the_shared_memory_of_its_plan_and_indexes_matrices_by_literals() {
    let caps = caps();
    let mut tiles = BTreeSet::new();
    for plan in wgsl::coop_plans(&caps) {
        let [step] = plan.steps() else { panic!("{plan}: one step") };
        let matrices = check(step, &["o", "s", "q_rows"], &caps);
        assert!(matrices > 6, "{plan}: {matrices} accesses of matrices");
        let order = if step.kernel.to_string().contains(":transposed") { "transposed" } else { "in order" };
        tiles.insert(format!("{order} {}", step.tile));
    }
    assert!(tiles.len() >= 5, "{tiles:?}");
    assert_eq!(fixtures::radv_rdna3().machine.matrix_order, MatrixOrder::AlongK);
}

#[test]
fn gradients_on_matrices_have_the_shared_memory_of_their_plan_and_index_matrices_by_literals() {
    let caps = caps();
    let mut kinds = BTreeSet::new();
    for plan in wgsl::coop_gradient_plans(&caps) {
        let [_, steps @ ..] = plan.steps() else { panic!("{plan}: three steps") };
        for step in steps {
            let matrices = check(step, &["own", "s", "sums"], &caps);
            assert!(matrices > 6, "{plan}: {matrices} accesses of matrices");
            let kernel = step.kernel.to_string();
            kinds.insert((
                kernel.contains(":transposed"),
                kernel.contains(":keys"),
                kernel.contains("mat8x8"),
            ));
        }
    }
    assert_eq!(kinds.len(), 8, "{kinds:?}");
}
