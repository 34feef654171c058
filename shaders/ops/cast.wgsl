//! Copies a view to a contiguous tensor and converts its type, in integer code.
//!
//! shapes    A of up to 6 axes, any strides -> C of the same shape, row-major from the start of its binding
//! grid      one invocation per word of C (1, 2 or 4 elements), LANES a workgroup
//! subgroup  not used; consecutive invocations write consecutive words
//! requires  nothing: memory is read and written as 32-bit words for all types
//! edges     invocations past the end return: any count >= 1; the rest of C's last word is preserved

//#import places
//#slot dims default immediate
//#import block

//#param  set by CastProblem::kernel
const A_PER_WORD: u32 = 1u;
const C_PER_WORD: u32 = 1u;
const FROM: u32 = F32;       // types of A and C, constants of `numbers`
const TO: u32 = F32;
const KEPT: bool = true;     // elements keep their bits, also those of NaN
const LIMITED: bool = false; // values outside the range of TO saturate
const LANES: u32 = 64u;
//#end
const A_BITS: u32 = 32u / A_PER_WORD;
const C_BITS: u32 = 32u / C_PER_WORD;
const A_MASK: u32 = 0xffffffffu >> (32u - A_BITS);
const C_MASK: u32 = 0xffffffffu >> (32u - C_BITS);

@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> c: array<u32>;

//#import converted

// The element at this index of C, in its lowest bits.
fn element(at: u32) -> u32 {
    let index = places(at, 0u, dims.rank, vec3<u32>(0u, dims.a_offset, 0u)).y;
    let bits = (a[index / A_PER_WORD] >> (index % A_PER_WORD * A_BITS)) & A_MASK;
    return converted(bits);
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let first = (block_index(workgroup, grid) * LANES + lane) * C_PER_WORD;
    if first < dims.count {
        var word = 0u;
        for (var i = 0u; i < min(C_PER_WORD, dims.count - first); i++) {
            word |= element(first + i) << (i * C_BITS);
        }
        if C_PER_WORD > 1u && dims.count - first < C_PER_WORD {
            // No other invocation writes to the last word.
            word |= c[first / C_PER_WORD] & ~(0xffffffffu >> (32u - (dims.count - first) * C_BITS));
        }
        c[first / C_PER_WORD] = word;
    }
}
