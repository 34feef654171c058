//! The order in shared memory of the second factors of sums, which are rows of the other side's operands. The matrix of rows `r`
//! and columns `c`, counted in matrices, begins at `B_FIRST + r * B_NEXT_ROW + c * B_NEXT_COLUMN`, and that of the second operand
//! `B_OPERAND` later.

//#variant in_order
// The same as for products.
const B_ALONG_ROWS: bool = false;
const MORE: u32 = 0u;
const B_FIRST: u32 = 0u;
const B_OPERAND: u32 = TILE;
const B_LD: u32 = LD;
const B_NEXT_ROW: u32 = FRAGMENT * LD;
const B_NEXT_COLUMN: u32 = FRAGMENT / 4u;

fn stage_turned(operand: u32, row: u32, col: u32, elements: Unit) {}

//#variant transposed
// A second copy with a row for each column: matrices are loaded along the other side's rows.
const B_ALONG_ROWS: bool = true;
const MORE: u32 = TURNED * B_LD;
const B_FIRST: u32 = 2u * TILE;
const B_OPERAND: u32 = DM * B_LD;
const B_LD: u32 = BC / 4u + 2u;
const B_NEXT_ROW: u32 = FRAGMENT / 4u;
const B_NEXT_COLUMN: u32 = FRAGMENT * B_LD;

fn stage_turned(operand: u32, row: u32, col: u32, elements: Unit) {
    let column = operand * DM + col;
    if column < TURNED {
        // NOTE: other lanes write the other components. In SPIR-V, components are separate memory locations.
        let at = B_FIRST + column * B_LD + row / 4u;
        let part = row % 4u;
        //#unroll
        for (var e = 0u; e < 4u; e++) {
            tiles[at + e * B_LD][part] = elements.x[e];
            tiles[at + (e + 4u) * B_LD][part] = elements.y[e];
        }
    }
}
