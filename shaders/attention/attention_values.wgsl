//! Stages the values of BC keys from j0 on in shared memory: `stage_values(v_base, j0, last, batch, is_edge, lane)`. Keys past the
//! last one repeat the last one. Masked values are zero. If some rows do not attend all keys, values that are not finite are also
//! staged as zero, because zero times these is not zero; the result says whether there are any. The matrix of keys `key` and
//! columns `col`, counted in matrices, begins at `key * V_NEXT_KEY + col * V_NEXT_COLUMN`.

// A key's eight values from column `col` on.
fn values_of(v_base: u32, j: u32, batch: u32, col: u32) -> Unit {
    let elements = value_unit(v_base + j * dims.v.w, col);
    if !KEEPS {
        return elements;
    }
    let kept = vec4<bool>(is_kept(batch, j));
    return Unit(select(vec4<f16>(), elements.x, kept), select(vec4<f16>(), elements.y, kept));
}

//#variant in_order
// A row for each key.
const V_ALONG_KEYS: bool = false;
const V_LD: u32 = DV / 4u + 2u; // NOTE: an odd number of 16 bytes, as for keys
const V_NEXT_KEY: u32 = FRAGMENT * V_LD;
const V_NEXT_COLUMN: u32 = FRAGMENT / 4u;
const V_UNITS: u32 = BC * DV / 8u;
var<workgroup> v_tile: array<vec4<f16>, BC * V_LD>;

fn stage_values(v_base: u32, j0: u32, last: u32, batch: u32, is_edge: bool, lane: u32) -> bool {
    var has_strange = false;
    //#unroll
    for (var n = 0u; n < (V_UNITS + LANES - 1u) / LANES; n++) {
        let unit = lane + n * LANES;
        if V_UNITS % LANES == 0u || unit < V_UNITS {
            let row = unit / (DV / 8u);
            let col = unit % (DV / 8u);
            var elements = values_of(v_base, min(j0 + row, last), batch, 8u * col);
            if is_edge {
                has_strange = has_strange || !are_finite(elements);
                elements = only_finite(elements);
            }
            v_tile[row * V_LD + 2u * col] = elements.x;
            v_tile[row * V_LD + 2u * col + 1u] = elements.y;
        }
    }
    return has_strange;
}

//#variant transposed
// A row for each column: matrices are loaded along keys. A lane loads units of two keys, and stores pairs of 4 bytes. Four lanes
// load 64 bytes of a key, and the next ones those of its neighbours, so that lanes write to different banks.
const V_ALONG_KEYS: bool = true;
const V_LD: u32 = BC / 4u + 2u;
const V_NEXT_KEY: u32 = FRAGMENT / 4u;
const V_NEXT_COLUMN: u32 = FRAGMENT * V_LD;
const V_PUTS: u32 = (DV + 31u) / 32u * 2u * BC;
var<workgroup> v_tile: array<vec4<f16>, DV * V_LD>;

fn stage_values(v_base: u32, j0: u32, last: u32, batch: u32, is_edge: bool, lane: u32) -> bool {
    var has_strange = false;
    //#unroll
    for (var n = 0u; n < (V_PUTS + LANES - 1u) / LANES; n++) {
        let put = lane + n * LANES;
        let row = put / 4u % (BC / 2u) * 2u;
        let col = put / (2u * BC) * 32u + put % 4u * 8u;
        if (V_PUTS % LANES == 0u && DV % 32u == 0u) || col < DV {
            var first = values_of(v_base, min(j0 + row, last), batch, col);
            var second = values_of(v_base, min(j0 + row + 1u, last), batch, col);
            if is_edge {
                has_strange = has_strange || !are_finite(first) || !are_finite(second);
                first = only_finite(first);
                second = only_finite(second);
            }
            // NOTE: another lane writes the other half of each vector. In SPIR-V, components are separate memory
            // locations.
            let at = col * V_LD + row / 4u;
            let half = row % 4u;
            //#unroll
            for (var e = 0u; e < 4u; e++) {
                v_tile[at + e * V_LD][half] = first.x[e];
                v_tile[at + e * V_LD][half + 1u] = second.x[e];
                v_tile[at + (e + 4u) * V_LD][half] = first.y[e];
                v_tile[at + (e + 4u) * V_LD][half + 1u] = second.y[e];
            }
        }
    }
    return has_strange;
}
