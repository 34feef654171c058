//! Applies a sparse operator whose lines are rows of X: each is added, with signs, to the rows of Y at its nonzeros.
//!
//! shapes    X (lines, columns) -> Y (positions, columns), any strides; f32 sums, each in the order of the lines
//! grid      ceil(columns / width) tiles of columns x ceil(positions / rows) ranges of positions x splits of the lines
//! subgroup  not used; ACROSS lanes run along columns, LANES / ACROSS along positions
//! requires  LANES invocations; LIST nonzeros in shared memory
//! edges     lanes past the last column read it again and do not store: any lines, positions, columns >= 1

//#slot dims default immediate
//#import block

//#param  set by Tile::kernel; these defaults are a legal tile
alias x_unit = f32;
const LANES: u32 = 64u;
const ACROSS: u32 = 64u; // lanes along columns
const EACH: u32 = 4u;    // columns of a lane
const LIST: u32 = 2048u; // nonzeros that are sorted at once
//#end
const_assert LANES % ACROSS == 0u && BUCKETS % LANES == 0u && LIST >= 64u; // a line has at most 64 nonzeros

const ROWS: u32 = 256u; // largest number of rows of Y in a workgroup
// Buckets for a counting sort of the list. A row of Y has one or more buckets, each for a range of consecutive lines.
const BUCKETS: u32 = 1024u;
const PER_LANE: u32 = BUCKETS / LANES;

@group(0) @binding(0) var<storage, read> x: array<x_unit>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

var<workgroup> buckets: array<atomic<u32>, BUCKETS>;
var<workgroup> totals: array<u32, LANES>;
var<workgroup> list: array<u32, LIST>;
var<workgroup> ends: array<u32, ROWS + 1u>; // where the entries of each row end in the list, after a leading 0

//#slot sparse default elements

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let tiles = (dims.columns + dims.width - 1u) / dims.width;
    let ranges = (dims.positions + dims.rows - 1u) / dims.rows;
    let index = block_index(workgroup, grid);
    if index >= tiles * ranges * dims.splits {
        return;
    }
    let column0 = index % tiles * dims.width;
    let row0 = index / tiles % ranges * dims.rows;
    let rows = min(dims.rows, dims.positions - row0);
    let split = index / tiles / ranges;
    let begin = split * dims.split_lines;
    let last = min(dims.lines, begin + dims.split_lines);
    let segments = BUCKETS / dims.rows; // buckets of a row

    for (var first = begin; first < last;) {
        var lines = min(dims.chunk, last - first);
        var shift: u32; // from a line of the chunk to its segment
        var count: u32; // nonzeros in the buckets of this lane
        loop {
            for (var bucket = lane; bucket < BUCKETS; bucket += LANES) {
                atomicStore(&buckets[bucket], 0u);
            }
            workgroupBarrier();
            shift = max(32u - countLeadingZeros(lines - 1u), firstLeadingBit(segments)) - firstLeadingBit(segments);
            for (var line = lane; line < lines; line += LANES) {
                let segment = line >> shift;
                var drawn = Drawn();
                for (var t = 0u; t < dims.nonzeros; t += 4u) {
                    drawn = draw(first + line, t, drawn.moved);
                    //#unroll
                    for (var i = 0u; i < 4u; i++) {
                        let nonzero = drawn.nonzeros[i];
                        let row = (nonzero >> 1u) - row0; // wraps: past all rows if it is before the first
                        if t + i < dims.nonzeros && row < rows { atomicAdd(&buckets[row * segments + segment], 1u); }
                    }
                }
            }
            workgroupBarrier();
            count = 0u;
            for (var i = 0u; i < PER_LANE; i++) {
                count += atomicLoad(&buckets[lane * PER_LANE + i]);
            }
            totals[lane] = count;
            for (var width = 1u; width < LANES; width *= 2u) {
                workgroupBarrier();
                var below = 0u;
                if lane >= width { below = totals[lane - width]; }
                workgroupBarrier();
                totals[lane] += below;
            }
            // A barrier before the load, and one after it. A plain load would not be uniform to a browser's compiler.
            if workgroupUniformLoad(&totals[LANES - 1u]) <= LIST {
                break;
            }
            // There are more nonzeros than expected: halve the chunk. A single line always fits.
            lines = (lines + 1u) / 2u;
        }
        // Turns the counts into the beginnings of the buckets. Filling a bucket then moves its beginning to its end.
        var at = totals[lane] - count;
        for (var i = 0u; i < PER_LANE; i++) {
            let bucket = lane * PER_LANE + i;
            let next = at + atomicLoad(&buckets[bucket]);
            atomicStore(&buckets[bucket], at);
            at = next;
        }
        workgroupBarrier();
        for (var line = lane; line < lines; line += LANES) {
            let segment = line >> shift;
            var drawn = Drawn();
            for (var t = 0u; t < dims.nonzeros; t += 4u) {
                drawn = draw(first + line, t, drawn.moved);
                //#unroll
                for (var i = 0u; i < 4u; i++) {
                    let nonzero = drawn.nonzeros[i];
                    let row = (nonzero >> 1u) - row0; // wraps: past all rows if it is before the first
                    if t + i < dims.nonzeros && row < rows {
                        list[atomicAdd(&buckets[row * segments + segment], 1u)] = (line << 1u) | (nonzero & 1u);
                    }
                }
            }
        }
        workgroupBarrier();
        // Lines enter a bucket in any order. There are few in each, so insertion sort orders them.
        if lane == 0u { ends[0] = 0u; }
        for (var bucket = lane; bucket < BUCKETS; bucket += LANES) {
            var low = 0u;
            if bucket > 0u { low = atomicLoad(&buckets[bucket - 1u]); }
            let to = atomicLoad(&buckets[bucket]);
            for (var next = low + 1u; next < to; next++) {
                let entry = list[next];
                var slot = next;
                while slot > low && list[slot - 1u] > entry {
                    list[slot] = list[slot - 1u];
                    slot--;
                }
                list[slot] = entry;
            }
            if (bucket + 1u) % segments == 0u { ends[bucket / segments + 1u] = to; }
        }
        workgroupBarrier();
        let factor = select(1.0, dims.scale, first + lines == last);
        sum_rows(lane, column0, row0, rows, first, split * dims.y_split, first > begin, factor);
        first += lines;
    }
}
