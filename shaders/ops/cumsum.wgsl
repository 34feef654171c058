//! Cumulative sums along an axis, in a fixed order.
//!
//! shapes    A of up to 6 axes, any strides -> C of its shape, row-major; f32 sums
//! grid      dims.lanes invocations per part of a row, LANES a workgroup
//! subgroup  not used; the lanes of a part exchange sums in shared memory
//! requires  nothing
//! edges     rows past the end are empty, elements past a row's end are not stored: any length >= 1, any rows >= 1

//#import cumsum_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by CumsumProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
const QUADS: u32 = 1u; // groups of four elements that a lane loads together
const GROUPS: u32 = 4u; // neighbouring groups of a lane
const LANES: u32 = 256u;
//#end
const WIDTH: u32 = 4u * QUADS;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;
var<workgroup> sums: array<f32, LANES>; // of the lanes up to each

//#slot row_of x=a default strided
//#slot cumsum_output default whole

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let member = block_index(workgroup, grid) * (LANES / dims.lanes) + lane / dims.lanes;
    let own = lane % dims.lanes;
    let row = member / dims.parts;
    let part = member - row * dims.parts;
    let at = row_start(min(row, dims.rows - 1u), 0u);
    // The elements of the part, and its groups, counted from the row's begin. Rows past the end are empty.
    let end = select(0u, min(dims.strides.w, (part + 1u) * dims.chunk), row < dims.rows);
    let groups = (end + WIDTH - 1u) / WIDTH;
    let begin = part * dims.chunk / WIDTH;
    let four = vec4<u32>(0u, 1u, 2u, 3u);

    var before = 0.0;
    if row < dims.rows { before = sum_before(at.z, part); }
    // All lanes of the workgroup have the same number of iterations, because they wait for each other.
    for (var first = 0u; first < dims.chunk / WIDTH; first += dims.lanes * GROUPS) {
        var running = 0.0;
        var kept: array<array<vec4<f32>, QUADS>, GROUPS>;
        //#unroll
        for (var g = 0u; g < GROUPS; g++) {
            let group = begin + first + own * GROUPS + g;
            if group < groups {
                //#unroll
                for (var k = 0u; k < QUADS; k++) {
                    let is_within = four + 4u * k < vec4<u32>(end - group * WIDTH);
                    var v = select(vec4<f32>(0.0), row_quad_a(at.y, dims.strides.y, group, k, end), is_within);
                    v.y += v.x;
                    v.w += v.z;
                    v = vec4<f32>(v.x, v.y, v.z + v.y, v.w + v.y) + running;
                    running = v.w;
                    kept[g][k] = v;
                }
            }
        }
        // The sum of the earlier lanes, and of all lanes.
        var offset = before;
        if dims.lanes == 1u {
            before += running;
        } else {
            sums[lane] = running;
            workgroupBarrier();
            for (var step = 1u; step < dims.lanes; step *= 2u) {
                var lower = 0.0;
                if own >= step { lower = sums[lane - step]; }
                workgroupBarrier();
                sums[lane] += lower;
                workgroupBarrier();
            }
            if own > 0u { offset += sums[lane - 1u]; }
            before += sums[lane - own + dims.lanes - 1u];
            workgroupBarrier();
        }
        //#unroll
        for (var g = 0u; g < GROUPS; g++) {
            let group = begin + first + own * GROUPS + g;
            if group < groups {
                //#unroll
                for (var k = 0u; k < QUADS; k++) {
                    kept[g][k] += offset;
                }
                emit_group(at.x, dims.strides.x, group, end - group * WIDTH, kept[g]);
            }
        }
    }
    if own == 0u && row < dims.rows {
        emit_total(at.z, part, before);
    }
}
