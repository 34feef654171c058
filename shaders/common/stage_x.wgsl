//! Stages one block of operand x in shared memory: BK rows of X_BLOCK elements along the outer axis,
//! four to a vector, zero past the edges. Lanes run along the axis that is contiguous in memory.
//!
//! Every lane writes whole vectors: writing components of a shared vector is a read-modify-write on
//! some back ends, and two lanes would race.

const X_LD: u32 = X_BLOCK / 4u + 1u; // NOTE: odd, so that rows start in different banks
const X_QUADS: u32 = X_BLOCK / 4u;
var<workgroup> x_tile: array<vec4<f32>, BK * X_LD>;

fn x_index(outer: u32, k: u32) -> u32 {
    return dims.x_offset + outer * dims.x_outer + k * dims.x_k;
}

// One element in the first component; zero past the edges.
fn x_element(outer: u32, extent: u32, k: u32) -> f32 {
    if outer < extent && k < dims.k {
        return vec4<f32>(load_x(x_index(outer, k))).x;
    }
    return 0.0;
}

// Four elements, along the axis that the loads run along: in or out as a whole.
fn x_vector(outer: u32, extent: u32, k: u32) -> vec4<f32> {
    if outer < extent && k < dims.k {
        return vec4<f32>(load_x(x_index(outer, k)));
    }
    return vec4<f32>();
}

fn stage_x(outer0: u32, extent: u32, k0: u32, lane: u32) {
    if X_STAGE == STAGE_VECTOR_K {
        for (var i = lane; i < X_QUADS * (BK / 4u); i += LANES) {
            let kk = i % (BK / 4u) * 4u;
            let quad = i / (BK / 4u);
            let outer = outer0 + quad * 4u;
            let v0 = x_vector(outer, extent, k0 + kk);
            let v1 = x_vector(outer + 1u, extent, k0 + kk);
            let v2 = x_vector(outer + 2u, extent, k0 + kk);
            let v3 = x_vector(outer + 3u, extent, k0 + kk);
            x_tile[kk * X_LD + quad] = vec4<f32>(v0.x, v1.x, v2.x, v3.x);
            x_tile[(kk + 1u) * X_LD + quad] = vec4<f32>(v0.y, v1.y, v2.y, v3.y);
            x_tile[(kk + 2u) * X_LD + quad] = vec4<f32>(v0.z, v1.z, v2.z, v3.z);
            x_tile[(kk + 3u) * X_LD + quad] = vec4<f32>(v0.w, v1.w, v2.w, v3.w);
        }
    } else if X_STAGE == STAGE_VECTOR_OUTER {
        for (var i = lane; i < X_QUADS * BK; i += LANES) {
            let quad = i % X_QUADS;
            let kk = i / X_QUADS;
            x_tile[kk * X_LD + quad] = x_vector(outer0 + quad * 4u, extent, k0 + kk);
        }
    } else {
        for (var i = lane; i < X_QUADS * BK; i += LANES) {
            let along_k = X_STAGE == STAGE_SCALAR_K;
            let quad = select(i % X_QUADS, i / BK, along_k);
            let kk = select(i / X_QUADS, i % BK, along_k);
            let outer = outer0 + quad * 4u;
            x_tile[kk * X_LD + quad] = vec4<f32>(
                x_element(outer, extent, k0 + kk),
                x_element(outer + 1u, extent, k0 + kk),
                x_element(outer + 2u, extent, k0 + kk),
                x_element(outer + 3u, extent, k0 + kk),
            );
        }
    }
}
