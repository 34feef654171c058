//! Runs the invocations of launches at which something may go wrong: the first, the last, and those between them.

use super::faults::Faults;
use super::launch::Launch;
use super::machine::Machine;
use super::shader::Shader;
use naga::AddressSpace;
use std::collections::HashMap;
use tilewise::planning::kernel::{Kernel, Language};

/// What is found in these launches.
pub(crate) fn check(launches: Vec<Launch>) -> Faults {
    let mut by_kernel: HashMap<Kernel, Vec<Launch>> = HashMap::new();
    for launch in launches.into_iter().filter(|launch| launch.kernel.language() == Language::Wgsl) {
        let known = by_kernel.entry(launch.kernel.clone()).or_default();
        if !known.iter().any(|other| other.is_same(&launch)) {
            known.push(launch);
        }
    }
    let mut faults = Faults::default();
    for (kernel, launches) in by_kernel {
        faults.kernels += 1;
        faults.launches += launches.len();
        let shader = Shader::new(kernel.shader(), kernel.specialize().expect("a plan's kernel is legal"));
        faults.shaders.insert(kernel.shader());
        faults.parts.extend(kernel.includes().expect("a plan's kernel is legal"));
        for launch in &launches {
            faults.tiles.insert((kernel.shader(), launch.tile.clone()));
            edges(&shader, launch, &mut faults);
        }
    }
    faults
}

/// The first, second, middle and last blocks, and the last of the grid, which may be past them; of each some of the first,
/// middle and last invocations, and of the last block the last that does anything.
pub(crate) fn edges(shader: &Shader, launch: &Launch, faults: &mut Faults) {
    let [x, y, z] = launch.grid.map(u64::from);
    let blocks = x * y * z;
    let lanes: u32 = shader.module.entry_points[0].workgroup_size.iter().product();
    let last = last_of(blocks, |block| run(shader, launch, block, 0, &mut Faults::default()));
    let lane = last_of(lanes.into(), |lane| run(shader, launch, last, lane, &mut Faults::default()));
    let (half, end) = (u64::from(lanes) / 2 + 1, u64::from(lanes) - 1);
    let blocks_and_lanes = [
        (0, 0),
        (0, end),
        (1, half),
        (last / 2, half),
        (last, 0),
        (last, lane),
        (last, end),
        (blocks - 1, 1),
    ];
    let mut at: Vec<(u64, u64)> =
        blocks_and_lanes.into_iter().filter(|&(block, lane)| block < blocks && lane <= end).collect();
    at.sort_unstable();
    at.dedup();
    for (block, lane) in at {
        run(shader, launch, block, lane, faults);
    }
}

/// The last of so many that does anything, if those before it do.
fn last_of(count: u64, mut does: impl FnMut(u64) -> bool) -> u64 {
    if does(count - 1) {
        return count - 1;
    }
    let (mut low, mut high) = (0, count - 1);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if does(middle) { low = middle } else { high = middle }
    }
    low
}

/// Runs one invocation; whether it does anything.
fn run(shader: &Shader, launch: &Launch, block: u64, lane: u64, faults: &mut Faults) -> bool {
    let [x, y, _] = launch.grid.map(u64::from);
    let index = |n: u64| u32::try_from(n).expect("a grid of 32 bits");
    let workgroup = [block % x, block / x % y, block / x / y].map(index);
    let globals = shader.module.global_variables.iter();
    let mut uniforms =
        globals.filter(|(_, g)| matches!(g.space, AddressSpace::Uniform | AddressSpace::Immediate));
    let (_, dims) = uniforms.next().expect("a kernel has dims");
    let dims = shader.read(dims.ty, &launch.dims);
    let mut machine =
        Machine { shader, launch, faults, dims, workgroup, lane: index(lane), quiet: 0, touched: false };
    machine.run();
    machine.touched
}
