//! The common part of `gather` and `scatter`: the uniform, the offsets of a column, drawing the nonzeros of a line, and
//! summing rows. A line is a column or a row of the operator; its nonzeros are at positions. Columns run over all axes
//! of X other than the operator's, with batches one after another.
//!
//! `sum_rows(lane, column0, row0, rows, first, y_split, before, factor)` computes `rows` rows of Y from row0 on, in the
//! columns of this workgroup from column0 on. Row i is the sum of the rows of X in the list from ends[i] to ends[i +
//! 1], in this order. A list entry is twice the number of the row of X, counted from `first`, plus 1 if the row is
//! subtracted. `y_split` is the offset of the sums of this split in Y, in elements. If `before` is true, Y already
//! holds sums of earlier lines, and the new ones are added. The sums are multiplied by `factor` before they are stored.

//#import philox
//#slot seed default number

// The offsets of a column's first element in X and in Y.
fn column_at(column: u32) -> vec2<u32> {
    let outer = column / dims.extent0;
    let i = vec3<u32>(column % dims.extent0, outer % dims.extent1, outer / dims.extent1);
    return vec2<u32>(
        dims.x_offset + i.x * dims.x_stride0 + i.y * dims.x_stride1 + i.z * dims.x_stride2,
        i.x * dims.y_stride0 + i.y * dims.y_stride1 + i.z * dims.y_stride2,
    );
}

// Four nonzeros of a line, in the order in which they are drawn, and the state for drawing the next ones.
struct Drawn {
    nonzeros: vec4<u32>, // twice the position, plus 1 for a negative sign
    moved: vec2<u32>, // bit t is set if the position of nonzero t was taken, so that it has the last one instead
}

// The random words of nonzeros `first` to `first + 3` of a line. `first` is a multiple of 4.
fn words_of(line: u32, first: u32) -> vec4<u32> {
    return philox(vec4<u32>(line, first / 4u, 0u, dims.tag), seed());
}

// A position below each bound.
fn below(words: vec4<u32>, bounds: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(
        mul_high(words.x, bounds.x),
        mul_high(words.y, bounds.y),
        mul_high(words.z, bounds.z),
        mul_high(words.w, bounds.w),
    );
}

// The last position from which each of four nonzeros is drawn, if positions are distinct.
fn lasts_of(first: u32) -> vec4<u32> {
    return vec4<u32>(0u, 1u, 2u, 3u) + (dims.positions - dims.nonzeros + first);
}

// The positions of nonzeros `first` to `first + 3`, which have been drawn before.
fn positions_of(line: u32, first: u32, moved: vec2<u32>) -> vec4<u32> {
    let lasts = lasts_of(first);
    let bits = vec4<u32>(select(moved.x, moved.y, first >= 32u)) >> (vec4<u32>(0u, 1u, 2u, 3u) + first % 32u);
    return select(below(words_of(line, first), lasts + 1u), lasts, (bits & vec4<u32>(1u)) == vec4<u32>(1u));
}

// Draws nonzeros `first` to `first + 3` of a line. `first` is a multiple of 4, `moved` is that of the nonzeros before.
// Nonzeros past the last one are not used. Earlier ones are drawn again instead of kept, because arrays of private
// memory with computed indices are slow. `SparseLines::nonzeros` in `src/sketch/operator/sparse_lines.rs` does the
// same.
fn draw(line: u32, first: u32, moved: vec2<u32>) -> Drawn {
    let words = words_of(line, first);
    let signs = words & vec4<u32>(1u);
    if dims.distinct == 0u {
        return Drawn((below(words, vec4<u32>(dims.positions)) << vec4<u32>(1u)) | signs, moved);
    }
    // Floyd's algorithm: draw from the positions up to `last`; if that one is taken, take `last`.
    let lasts = lasts_of(first);
    let own = below(words, lasts + 1u);
    var taken = vec4<bool>();
    for (var before = 0u; before < first; before += 4u) {
        let others = positions_of(line, before, moved);
        taken |= own == others.xxxx;
        taken |= own == others.yyyy;
        taken |= own == others.zzzz;
        taken |= own == others.wwww;
    }
    // Then the earlier nonzeros of these four.
    let x = select(own.x, lasts.x, taken.x);
    let is_y = taken.y || own.y == x;
    let y = select(own.y, lasts.y, is_y);
    let is_z = taken.z || own.z == x || own.z == y;
    let z = select(own.z, lasts.z, is_z);
    let is_w = taken.w || own.w == x || own.w == y || own.w == z;
    let w = select(own.w, lasts.w, is_w);
    let bits = (u32(taken.x) | (u32(is_y) << 1u) | (u32(is_z) << 2u) | (u32(is_w) << 3u)) << (first % 32u);
    let now = moved | select(vec2<u32>(bits, 0u), vec2<u32>(0u, bits), first >= 32u);
    return Drawn((vec4<u32>(x, y, z, w) << vec4<u32>(1u)) | signs, now);
}

//#variant elements
// Loads each column separately.
//#slot load x=x default element

fn sum_rows(
    lane: u32, column0: u32, row0: u32, rows: u32, first: u32, y_split: u32, before: bool, factor: f32,
) {
    let columns = min(column0 + dims.width, dims.columns);
    let row_lane = select(lane / ACROSS, 0u, ACROSS == LANES);
    for (var column = column0 + lane % ACROSS; column < columns; column += ACROSS * EACH) {
        var starts: array<vec2<u32>, EACH>;
        //#unroll
        for (var i = 0u; i < EACH; i++) {
            starts[i] = column_at(min(column + i * ACROSS, dims.columns - 1u));
        }
        for (var row = row_lane; row < rows; row += LANES / ACROSS) {
            let y_at = y_split + (row0 + row) * dims.y_axis;
            var sums: array<f32, EACH>;
            if before {
                //#unroll
                for (var i = 0u; i < EACH; i++) {
                    if column + i * ACROSS < dims.columns { sums[i] = y[y_at + starts[i].y]; }
                }
            }
            let end = ends[row + 1u];
            for (var at = ends[row]; at < end; at++) {
                let entry = list[at];
                let sign = entry << 31u;
                let x_at = (first + (entry >> 1u)) * dims.x_axis;
                //#unroll
                for (var i = 0u; i < EACH; i++) {
                    sums[i] += bitcast<f32>(bitcast<u32>(load_x(starts[i].x + x_at)) ^ sign);
                }
            }
            //#unroll
            for (var i = 0u; i < EACH; i++) {
                if column + i * ACROSS < dims.columns { y[y_at + starts[i].y] = factor * sums[i]; }
            }
        }
    }
}

//#variant pairs
// Loads two neighbouring columns of X at once, as 64 bits.
fn sum_rows(
    lane: u32, column0: u32, row0: u32, rows: u32, first: u32, y_split: u32, before: bool, factor: f32,
) {
    let columns = min(column0 + dims.width, dims.columns);
    let row_lane = select(lane / ACROSS, 0u, ACROSS == LANES);
    for (var column = column0 + lane % ACROSS * 2u; column < columns; column += ACROSS * EACH) {
        var starts: array<vec2<u32>, EACH / 2u>;
        //#unroll
        for (var i = 0u; i < EACH / 2u; i++) {
            starts[i] = column_at(min(column + i * 2u * ACROSS, dims.columns - 2u));
        }
        for (var row = row_lane; row < rows; row += LANES / ACROSS) {
            let y_at = y_split + (row0 + row) * dims.y_axis;
            var sums: array<vec2<f32>, EACH / 2u>;
            if before {
                //#unroll
                for (var i = 0u; i < EACH / 2u; i++) {
                    let at = y_at + starts[i].y;
                    if column + i * 2u * ACROSS < dims.columns { sums[i] = vec2<f32>(y[at], y[at + 1u]); }
                }
            }
            let end = ends[row + 1u];
            for (var at = ends[row]; at < end; at++) {
                let entry = list[at];
                let sign = vec2<u32>(entry << 31u);
                let x_at = (first + (entry >> 1u)) * dims.x_axis;
                //#unroll
                for (var i = 0u; i < EACH / 2u; i++) {
                    let pair = x[(starts[i].x + x_at) / 2u];
                    sums[i] += bitcast<vec2<f32>>(vec2<u32>(u32(pair), u32(pair >> 32u)) ^ sign);
                }
            }
            //#unroll
            for (var i = 0u; i < EACH / 2u; i++) {
                let at = y_at + starts[i].y;
                if column + i * 2u * ACROSS < dims.columns {
                    y[at] = factor * sums[i].x;
                    y[at + 1u] = factor * sums[i].y;
                }
            }
        }
    }
}
