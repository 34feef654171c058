//! A loss of the elements of two tensors, and its gradient: each loss, or sums of them.
//!
//! shapes    A and B of one shape of up to 6 axes, any strides; weights that broadcast to it -> a loss per element, or a sum per workgroup, and the gradient C, all row-major from the start of their bindings
//! grid      dims.blocks workgroups of LANES invocations; an invocation has every (dims.blocks * LANES)-th unit, of WIDTH elements of a row
//! subgroup  lanes combine their sums, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     elements past a row's end are not stored, workgroups past the end have no unit: any extents >= 1

//#import places

//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by LossProblem::kernel
alias a_unit = f32;
alias b_unit = f32;
alias c_unit = f32;
alias w_unit = f32;
alias sum = f32; // type of results before they are stored
const REDUCED: bool = true; // losses are added
const QUADS: u32 = 1u; // groups of four elements in a unit
const LANES: u32 = 256u;
//#end
const WIDTH: u32 = 4u * QUADS;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read> b: array<b_unit>;
@group(0) @binding(2) var<storage, read> w: array<w_unit>;
@group(0) @binding(3) var<storage, read> g: array<f32>;
@group(0) @binding(4) var<storage, read_write> losses: array<f32>;
var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup
alias held = f32;

//#slot loss_operands default strided
//#slot loss_weights default strided
//#slot loss_function default mse
//#slot store_gradients default none
//#slot row_lanes default shared
//#import across x=sums

fn joined_sums(x: held, y: held) -> held {
    return x + y;
}

// The places of an element of a row in A, B and the weights.
fn places_of(row: u32, col: u32) -> vec3<u32> {
    return places(row, 1u, dims.rank, dims.offsets.xyz + col * dims.axes.axis0.yzw);
}

// The gradients with respect to four losses, of which `count` exist.
fn upstream(at: u32, count: u32) -> vec4<f32> {
    let i = dims.offsets.w + (at + min(vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(count - 1u))) * dims.g_stride;
    return vec4<f32>(g[i.x], g[i.y], g[i.z], g[i.w]) * (dims.g * dims.factor);
}

fn store_losses(at: u32, count: u32, v: vec4<f32>) {
    losses[at] = v.x;
    if count > 1u { losses[at + 1u] = v.y; }
    if count > 2u { losses[at + 2u] = v.z; }
    if count > 3u { losses[at + 3u] = v.w; }
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    place: Place,
) {
    let lane = lane_at(place);
    let block = block_index(workgroup, grid);
    let all_units = select(0u, dims.all_units, block < dims.blocks);
    var own = vec4<f32>(0.0);
    for (var unit = block * LANES + lane; unit < all_units; unit += dims.blocks * LANES) {
        let row = unit / dims.units;
        let col = (unit - row * dims.units) * WIDTH;
        let at = places_of(row, col);
        let to = row * dims.axes.axis0.x + col;
        let count = dims.axes.axis0.x - col;
        var gradients: array<vec4<f32>, QUADS>;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            let x = a_values(at.x, k, count);
            let t = b_values(at.y, k, count);
            let weights = weights_of(at.z, k, count);
            let is_within = vec4<u32>(0u, 1u, 2u, 3u) + 4u * k < vec4<u32>(count);
            let loss = loss_of(x, t, weights);
            own += select(vec4<f32>(0.0), loss, is_within);
            if !REDUCED && count > 4u * k {
                store_losses(to + 4u * k, count - 4u * k, loss);
            }
            if HAS_GRADIENT && count > 4u * k {
                gradients[k] = upstream(to + 4u * k, count - 4u * k) * slope_of(x, t, weights);
            }
        }
        if HAS_GRADIENT {
            store_gradients(to, 0u, count, gradients);
        }
    }
    if REDUCED {
        let total = across_sums((own.x + own.y) + (own.z + own.w), lane);
        if lane == 0u && block < dims.blocks {
            losses[block] = total * dims.total_factor;
        }
    }
}
