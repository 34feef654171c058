//! Merges neighbouring sorted runs of pairs, stably.
//!
//! shapes    pairs in sorted runs of `run` -> pairs in sorted runs of twice as many; the last run may be shorter, or alone
//! grid      one invocation per pair, LANES a workgroup: it looks for its place in the other run
//! subgroup  not used
//! requires  nothing
//! edges     invocations past the end return

struct Dims {
    count: u32, // of pairs
    run: u32,
    reserved: vec2<u32>,
}

//#slot dims default immediate
//#import block

//#param  set by ScatterProblem::merge_kernel
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> to: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> pairs: array<vec2<u32>>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let at = block_index(workgroup, grid) * LANES + lane;
    if at >= dims.count {
        return;
    }
    let pair = pairs[at];
    let run = at / dims.run;
    let is_second = run % 2u == 1u;
    let first = (run - run % 2u) * dims.run; // of both runs
    // The other run, which may be shorter or empty.
    let other = select(min(first + dims.run, dims.count), first, is_second);
    var low = other;
    var high = min(other + dims.run, dims.count);
    // Pairs of the first run are before equal ones of the second.
    while low < high {
        let middle = low + (high - low) / 2u;
        let key = pairs[middle].x;
        if key < pair.x || (is_second && key == pair.x) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    to[first + (at - run * dims.run) + (low - other)] = pair;
}
