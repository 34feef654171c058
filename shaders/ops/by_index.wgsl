//! Computes each element of a tensor from its index: one value, a value on the diagonal of a matrix, or numbers at equal distances.
//!
//! shapes    C without gaps from the start of its binding
//! grid      one invocation per four consecutive elements, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive elements
//! requires  nothing: memory is written as 32-bit words for all types
//! edges     the last elements are stored one by one, the rest of C's last word is preserved: any count >= 1

//#slot dims default immediate
//#import block
//#import numbers

// What an element is.
const VALUE: u32 = 0u;    // `value`
const DIAGONAL: u32 = 1u; // `value` on the diagonal, 0 elsewhere
const STEPS: u32 = 2u;    // `value` and a `step` for each index
const BETWEEN: u32 = 3u;  // from `value` to `last` in equal steps, counted from the nearer one

//#param  set by ByIndexProblem::plan_of_one
alias c_unit = vec4<u32>; // the memory of four elements
const TO: u32 = F32;      // the type, a constant of `numbers`
const PER_WORD: u32 = 1u; // elements of a word
const ELEMENT: u32 = STEPS;
const LANES: u32 = 64u;
//#end
const MASK: u32 = 0xffffffffu >> (32u - 32u / PER_WORD);

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;

//#slot save_bits x=c

// The number that is `at` of `steps` steps from one number to another, in whose range every intermediate result lies.
fn between(start: u32, end: u32, at: u32) -> u32 {
    let share = f32(at) / f32(max(dims.steps, 1u));
    let number = bitcast<f32>(start) * (1.0 - share) + bitcast<f32>(end) * share;
    return select(bitcast<u32>(number), start, at == 0u);
}

// The bits of the element of an index.
fn element(index: u32) -> u32 {
    if ELEMENT == DIAGONAL {
        let row = index / dims.columns;
        return select(0u, dims.value & MASK, index - row * dims.columns == row);
    }
    if ELEMENT == STEPS && is_real(TO) {
        let number = bitcast<f32>(dims.value) + f32(index) * bitcast<f32>(dims.step);
        return narrowed(TO, select(bitcast<u32>(number), dims.value, index == 0u));
    }
    if ELEMENT == STEPS {
        return (dims.value + index * dims.step) & MASK; // wraps: as integers do behind the last one
    }
    if ELEMENT == BETWEEN {
        let at = min(index, dims.steps);
        let behind = dims.steps - at;
        if at <= behind {
            return narrowed(TO, between(dims.value, dims.last, at));
        }
        return narrowed(TO, between(dims.last, dims.value, behind));
    }
    return dims.value & MASK;
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
    let first = dims.first + quad * 4u;
    let v = vec4<u32>(element(first), element(first + 1u), element(first + 2u), element(first + 3u));
    if quad * 4u + 4u <= dims.count {
        save_bits_c(quad, v);
    } else {
        save_first_bits_c(quad, dims.count - quad * 4u, v);
    }
}
