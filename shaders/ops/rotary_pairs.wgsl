//! Which elements form pairs. `groups_of_pairs(unit)` are the two groups of WIDTH elements that have the pairs of an invocation, and
//! `rotated(v, cosines, sines)` rotates them, where v has the quads of both groups.

//#variant halves
// Elements of the first half of the rotary dims, with those of the second half.
fn groups_of_pairs(unit: u32) -> Groups {
    return Groups(vec2<u32>(0u, dims.pairs), vec2<u32>(unit), dims.pairs);
}

fn rotated(
    v: array<vec4<f32>, BOTH>,
    cosines: array<vec4<f32>, QUADS>,
    sines: array<vec4<f32>, QUADS>,
) -> array<vec4<f32>, BOTH> {
    var turned: array<vec4<f32>, BOTH>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        turned[k] = v[k] * cosines[k] - v[QUADS + k] * sines[k];
        turned[QUADS + k] = v[QUADS + k] * cosines[k] + v[k] * sines[k];
    }
    return turned;
}

//#variant interleaved
// Neighbours: the first of an even index.
fn groups_of_pairs(unit: u32) -> Groups {
    return Groups(vec2<u32>(0u), vec2<u32>(2u * unit, 2u * unit + 1u), 2u * dims.pairs);
}

fn rotated(
    v: array<vec4<f32>, BOTH>,
    cosines: array<vec4<f32>, QUADS>,
    sines: array<vec4<f32>, QUADS>,
) -> array<vec4<f32>, BOTH> {
    var turned: array<vec4<f32>, BOTH>;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        let x = vec4<f32>(v[2u * k].xz, v[2u * k + 1u].xz);
        let y = vec4<f32>(v[2u * k].yw, v[2u * k + 1u].yw);
        let new_x = x * cosines[k] - y * sines[k];
        let new_y = y * cosines[k] + x * sines[k];
        turned[2u * k] = vec4<f32>(new_x.x, new_y.x, new_x.y, new_y.y);
        turned[2u * k + 1u] = vec4<f32>(new_x.z, new_y.z, new_x.w, new_y.w);
    }
    return turned;
}
