//! Gradients of attention on cooperative matrices: the constants, and the shared memory of operands, products, weights and statistics.

const COLUMNS: u32 = BC / FRAGMENT; // of matrices
// Matrices of a team's rows, rounded up to whole blocks of BC elements.
const OF_ROWS: u32 = (DM + BC - 1u) / BC * COLUMNS;
const OF_SUMS: u32 = (SUMS + COLUMNS - 1u) / COLUMNS * COLUMNS; // likewise
const UNITS: u32 = 2u * BC * DM / 8u;          // of eight elements that a workgroup stages
const ROW_UNITS: u32 = FRAGMENT * BC / 8u;     // of eight elements that a subgroup stages
const TEAM: u32 = 2u * SUBGROUP;
const SHARE: u32 = FRAGMENT * BC / 4u / TEAM;  // of a team's scores, those of a lane, in quads
const_assert BC % FRAGMENT == 0u && D % FRAGMENT == 0u && DV % FRAGMENT == 0u && (DM == D || DM == DV);
const_assert SHARE * TEAM * 4u == FRAGMENT * BC;
// NOTE: an odd number of 16 bytes, so that rows start in different banks.
const LD: u32 = DM / 4u + 2u;
const S_LD: u32 = BC / 4u + 1u;
const P_LD: u32 = BC / 4u + 2u;
const TILE: u32 = BC * LD;

// BC rows of both of the other side's operands, followed by the copies of `attention_gradients_order`.
var<workgroup> tiles: array<vec4<f16>, 2u * TILE + MORE>;
var<workgroup> s_tile: array<vec4<f32>, SUBGROUPS * FRAGMENT * S_LD>; // products, or BC columns of sums
// The gradients of a team's scores, then its weights; or BC columns of its rows of both operands.
var<workgroup> p_tile: array<vec4<f16>, SUBGROUPS * FRAGMENT * P_LD>;
var<workgroup> tops: array<u32, SUBGROUPS>;    // the largest gradient of a score that is finite, its bits
var<workgroup> strange: array<u32, SUBGROUPS>; // whether a subgroup has staged elements that are not finite

// The second factors of sums are loaded from elements with zeros in place of those that are not finite, because zero times infinity
// or NaN is not zero.
fn stage_unit(operand: u32, row: u32, col: u32, elements: Unit) {
    let finite = only_finite(elements);
    let at = operand * TILE + row * LD + col / 4u;
    tiles[at] = finite.x;
    tiles[at + 1u] = finite.y;
    stage_turned(operand, row, col, finite);
}
