//! The kernel of attention on cooperative matrices, in every form.

use std::collections::BTreeSet;
use support::wgsl;
use tilewise::gpu::MatrixOrder;
use tilewise::planning::fixtures;

#[test]
fn attention_on_matrices_has_the_shared_memory_of_its_plan_and_indexes_matrices_by_literals() {
    use naga::Expression::{Access, AccessIndex, LocalVariable};
    let mut caps = fixtures::lavapipe();
    caps.rows.extend(fixtures::h200().rows);
    let mut tiles = BTreeSet::new();
    let mut capabilities = wgsl::capabilities(&caps);
    capabilities.insert(naga::valid::Capabilities::COOPERATIVE_MATRIX);
    for plan in wgsl::coop_plans(&caps) {
        let [step] = plan.steps() else { panic!("{plan}: one step") };
        let module = wgsl::validate(&step.kernel.specialize().unwrap(), capabilities).unwrap();
        let shared =
            module.global_variables.iter().filter(|(_, of)| of.space == naga::AddressSpace::WorkGroup);
        let bytes: u32 = shared.map(|(_, of)| module.types[of.ty].inner.size(module.to_ctx())).sum();
        assert_eq!(bytes, step.needs.workgroup_bytes, "{plan}");
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
                assert!(!is_computed, "{plan}: {name} is indexed by an expression");
                matrices += u32::from(["o", "s", "q_rows"].contains(&name));
            }
        }
        assert!(matrices > 6, "{plan}: {matrices} accesses of matrices");
        let order = if step.kernel.to_string().contains(":transposed") { "transposed" } else { "in order" };
        tiles.insert(format!("{order} {}", step.tile));
    }
    assert!(tiles.len() >= 5, "{tiles:?}");
    assert_eq!(fixtures::radv_rdna3().machine.matrix_order, MatrixOrder::AlongK);
}
