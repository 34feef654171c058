//! Layer norm and RMS norm of rows that are too long for registers: they are read twice; the operands are generated code.
//!
//! shapes    as norm.wgsl
//! grid      one workgroup of LANES invocations per row
//! subgroup  not used; lanes combine their values in shared memory
//! requires  nothing
//! edges     workgroups past the last row return, elements past a row's end are not stored: any length >= 1, any rows >= 1

//#import norm_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by NormProblem::kernel
const CENTRED: bool = true; // the mean is subtracted
const QUADS: u32 = 1u;      // groups of four elements that a lane loads together
const HELD: u32 = 4u;       // such groups of a row that a lane holds together
const LANES: u32 = 256u;
const WHOLE: bool = false; // rows consist of whole groups
//#end
const WIDTH: u32 = 4u * QUADS;
alias sum = f32; // type of results before they are stored

//#import norm_within

//#generated operands
// As in norm.wgsl.

// The default: neither residual nor gamma nor statistics.
//#param
alias a_unit = f32;
alias y_unit = f32;
//#end
@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> y: array<y_unit>;

//#slot load x=a default element
//#slot load_quad x=a default reals
//#slot save x=y default element

fn value(at: vec2<u32>, group: u32, k: u32, length: u32) -> vec4<f32> {
    return load_quad_a(at.x + 4u * group * dims.a_stride, dims.a_stride, length - 4u * group);
}

fn store_total(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>) {}

fn scaled(v: vec4<f32>, group: u32, k: u32, length: u32) -> vec4<f32> {
    return v;
}

fn store_y(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>) {
    let at = start + 4u * group;
    save_y(at, v[0].x);
    if count > 1u { save_y(at + 1u, v[0].y); }
    if count > 2u { save_y(at + 2u, v[0].z); }
    if count > 3u { save_y(at + 3u, v[0].w); }
}

fn store_statistics(row: u32, mean: f32, rstd: f32) {}
//#end

// Of the elements of each lane: their number, their mean, and the sum of their squared distances to it.
var<workgroup> parts: array<vec3<f32>, LANES>;

// The same of two sets of elements together (Chan, Golub and LeVeque, 1979).
fn joined(x: vec3<f32>, y: vec3<f32>) -> vec3<f32> {
    let count = x.x + y.x;
    let share = y.x / max(count, 1.0);
    let apart = y.y - x.y;
    return vec3<f32>(count, x.y + apart * share, (x.z + y.z) + apart * apart * (x.x * share));
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let row = block_index(workgroup, grid);
    if row >= dims.rows {
        return;
    }
    let at = row_places(row);
    let length = dims.length;
    let groups = (length + WIDTH - 1u) / WIDTH;

    var all = vec3<f32>(0.0);
    for (var first = lane; first < groups; first += LANES * HELD) {
        // Of the groups in registers: the mean, then the distances to it.
        var own: array<vec4<f32>, HELD * QUADS>;
        var sums = vec4<f32>(0.0);
        var count = 0u;
        //#unroll
        for (var h = 0u; h < HELD; h++) {
            let group = first + h * LANES;
            if group < groups {
                let left = length - group * WIDTH;
                count += min(left, WIDTH);
                //#unroll
                for (var k = 0u; k < QUADS; k++) {
                    own[h * QUADS + k] = within(value(at, group, k, length), k, left);
                    sums += own[h * QUADS + k];
                }
            }
        }
        var mean = 0.0;
        if CENTRED {
            mean = ((sums.x + sums.y) + (sums.z + sums.w)) / f32(count);
        }
        var squares = vec4<f32>(0.0);
        //#unroll
        for (var h = 0u; h < HELD; h++) {
            let group = first + h * LANES;
            if group < groups {
                //#unroll
                for (var k = 0u; k < QUADS; k++) {
                    let off = within(own[h * QUADS + k] - mean, k, length - group * WIDTH);
                    squares += off * off;
                }
            }
        }
        all = joined(all, vec3<f32>(f32(count), mean, (squares.x + squares.y) + (squares.z + squares.w)));
    }
    parts[lane] = all;
    workgroupBarrier();
    for (var width = LANES / 2u; width > 0u; width /= 2u) {
        if lane < width {
            parts[lane] = joined(parts[lane], parts[lane + width]);
        }
        workgroupBarrier();
    }
    let mean = parts[0].y;
    let rstd = inverseSqrt(parts[0].z / f32(length) + dims.eps);
    if lane == 0u {
        store_statistics(row, mean, rstd);
    }

    for (var group = lane; group < groups; group += LANES) {
        var v: array<vec4<f32>, QUADS>;
        var normed: array<vec4<f32>, QUADS>;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            v[k] = value(at, group, k, length);
            normed[k] = scaled((v[k] - mean) * rstd, group, k, length);
        }
        store_total(row * length, group, length - group * WIDTH, v);
        store_y(row * length, group, length - group * WIDTH, normed);
    }
}
