//! Fills a tensor with standard normal numbers from a seed: four words of Philox for four elements.
//!
//! shapes    C without gaps from the start of its binding
//! grid      one invocation per four consecutive elements, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive elements
//! requires  nothing: memory is written as 32-bit words for all types
//! edges     the last elements are stored one by one, the rest of C's last word is preserved: any count >= 1

//#slot dims default immediate
//#import block
//#import numbers
//#import philox
//#import normal_entry

//#param  set by NormalProblem::kernel
alias c_unit = vec4<u32>; // the memory of four elements
const TO: u32 = F32;      // the type, a constant of `numbers`
const TAG: u32 = 9u;      // the last word of the counter
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(1) var<storage, read> quantiles: array<u32>;

//#slot save_bits x=c

// Entry `i` of the table of `normal_entry`.
fn table(i: u32) -> u32 {
    return quantiles[i];
}

// The bits of an element, rounded to nearest, ties to even.
fn element(word: u32) -> u32 {
    return narrowed(TO, bitcast<u32>(normal_entry(word)));
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let quad = block_index(workgroup, grid) * LANES + lane;
    if quad >= (dims.count + 3u) / 4u {
        return;
    }
    let words = philox(vec4<u32>(dims.first + quad, 0u, 0u, TAG), vec2<u32>(dims.seed_low, dims.seed_high));
    let v = vec4<u32>(element(words.x), element(words.y), element(words.z), element(words.w));
    if quad * 4u + 4u <= dims.count {
        save_bits_c(quad, v);
    } else {
        save_first_bits_c(quad, dims.count - quad * 4u, v);
    }
}
