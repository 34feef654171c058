//! How many launches norms of channels are, on devices as they are.

use support::laid::flat;
use tilewise::DType;
use tilewise::planning::ops::{ChannelPass, ChannelProblem, NormLayouts};
use tilewise::planning::{Problem, fixtures};

#[test]
fn a_norm_of_channels_is_one_launch_unless_its_workgroups_are_few_and_long() {
    for (pass, shape, groups, launches, why) in [
        (ChannelPass::Training, [1, 1_000_000, 3], 3, 3, "one workgroup would have all"),
        (ChannelPass::Training, [1, 100, 3], 3, 1, "one workgroup is enough"),
        (ChannelPass::Training, [1, 4000, 512], 512, 1, "its workgroups are short"),
        (ChannelPass::Group, [16, 196, 512], 32, 1, "its workgroups are short"),
        (ChannelPass::Group, [80, 5000, 128], 32, 1, "640 long workgroups occupy every device"),
        (ChannelPass::Group, [1, 5000, 4096], 1, 3, "one workgroup would have all"),
    ] {
        for (name, caps) in fixtures::ALL {
            let a = flat(&shape);
            let layouts = NormLayouts { a: &a, b: None, gamma: None, beta: None };
            let problem = ChannelProblem::new("test", pass, layouts, groups, DType::F16).expect("a norm");
            let plan = problem.plan(&caps()).unwrap_or_else(|error| panic!("{name}, {shape:?}: {error}"));
            let is_refused = caps().limits.storage_bindings < 5 && pass == ChannelPass::Training;
            let launches = if is_refused { 3 } else { launches };
            assert_eq!(plan.steps().len(), launches, "{name}, {shape:?}: {why}");
        }
    }
}
