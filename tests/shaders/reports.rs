//! Kernels on cooperative matrices report their subgroup size on devices that have several. On other devices their texts do
//! not change.

use std::collections::BTreeSet;
use support::wgsl;
use tilewise::gpu::SubgroupSizes;
use tilewise::planning::fixtures;
use tilewise::planning::kernel::Kernel;

/// The kernels on cooperative matrices, in every form of their result.
fn kernels(subgroups: SubgroupSizes) -> Vec<Kernel> {
    let mut caps = fixtures::lavapipe();
    caps.subgroups = Some(subgroups);
    let mut kernels = wgsl::form_kernels(&caps);
    kernels.extend(wgsl::connected_kernels(&caps));
    kernels.retain(|kernel| kernel.shader() == "gemm/coop");
    kernels
        .extend(wgsl::coop_plans(&caps).iter().flat_map(|plan| plan.steps()).map(|step| step.kernel.clone()));
    kernels
}

#[test]
fn kernels_on_matrices_report_their_subgroup_size_where_there_are_several() {
    let one = kernels(SubgroupSizes { min: 8, max: 8, matrices: Some(8) });
    let several = kernels(SubgroupSizes { min: 4, max: 8, matrices: Some(8) });
    assert_eq!(one.len(), several.len());
    let mut capabilities = wgsl::capabilities(&fixtures::lavapipe());
    capabilities.insert(naga::valid::Capabilities::COOPERATIVE_MATRIX);
    let mut stores = BTreeSet::new();
    for (one, several) in one.iter().zip(&several) {
        let [before, after] = [one, several].map(|kernel| kernel.specialize().unwrap());
        assert!(!before.contains("subgroup_size"), "{one}");
        // Beside matrices no atomic is valid for Vulkan: naga declares no capability for it.
        assert!(!after.contains("atomic"), "{several}");
        let built_in = "    @builtin(subgroup_size) subgroup_size: u32,\n";
        let (start, rest) = after.split_once("    // Launched with zeros for dims").expect("the report");
        let (report, end) = rest.split_once("        return;\n    }\n").expect("the report's end");
        assert_eq!(start.replacen(built_in, "", 1) + end, before, "{several}: nothing else changes");
        stores.insert(report.lines().find(|line| line.contains("[0]")).expect("a store").trim().to_owned());
        wgsl::validate(&after, capabilities).unwrap_or_else(|error| panic!("{several}: {error}"));
    }
    // f32 and f16 elements; vectors of bf16; vectors of f32 and f16.
    let want = [
        "c[0] = c_unit(subgroup_size);",
        "c[0] = c_unit(vec2<u32>(subgroup_size));",
        "c[0] = c_unit(vec4<u32>(subgroup_size));",
        "y[0] = y_unit(subgroup_size);",
        "y[0] = y_unit(vec4<u32>(subgroup_size));",
    ];
    assert_eq!(stores.into_iter().collect::<Vec<_>>(), want);
}
