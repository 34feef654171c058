//! A sparse operator applied where X has a row for each of its lines: the line is added to where its nonzeros lie.
//!
//! shapes    X (lines, columns) -> Y (places, columns), any strides; f32 sums, each in the order of the lines
//! grid      ceil(columns / width) tiles of columns x ceil(places / rows) ranges of places x parts of the lines
//! subgroup  not used; ACROSS lanes run along columns, as many as there are of these along places
//! requires  LANES invocations, and the nonzeros of LIST lines with one each in shared memory
//! edges     past the last column it is read again and not stored: any lines, places, columns >= 1

//#slot dims default immediate
//#import block

//#param  set by Tile::kernel; these defaults are a legal tile
alias x_unit = f32;
const LANES: u32 = 64u;
const ACROSS: u32 = 64u; // lanes along columns
const EACH: u32 = 4u;    // columns of a lane
const MOST: u32 = 4u;    // nonzeros of a line, rounded up to a power of two
const LIST: u32 = 2048u; // nonzeros that are sorted at once
//#end
const_assert LANES % ACROSS == 0u && LIST >= MOST && BUCKETS % LANES == 0u;

const ROWS: u32 = 256u; // of Y at most
// Lists are sorted by counting what falls into each of these: a row's lines, or some of them that follow one another.
const BUCKETS: u32 = 1024u;
const PER_LANE: u32 = BUCKETS / LANES;

@group(0) @binding(0) var<storage, read> x: array<x_unit>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

var<workgroup> buckets: array<atomic<u32>, BUCKETS>;
var<workgroup> totals: array<u32, LANES>;
var<workgroup> list: array<u32, LIST>;
var<workgroup> ends: array<u32, ROWS + 1u>; // in the list: of each row, behind a 0

//#slot sparse default elements

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let tiles = (dims.columns + dims.width - 1u) / dims.width;
    let ranges = (dims.places + dims.rows - 1u) / dims.rows;
    let index = block_index(workgroup, grid);
    if index >= tiles * ranges * dims.parts {
        return;
    }
    let column0 = index % tiles * dims.width;
    let row0 = index / tiles % ranges * dims.rows;
    let rows = min(dims.rows, dims.places - row0);
    let part = index / tiles / ranges;
    let begin = part * dims.part;
    let last = min(dims.lines, begin + dims.part);
    let segments = BUCKETS / dims.rows; // buckets of a row

    for (var first = begin; first < last;) {
        var lines = min(dims.chunk, last - first);
        var shift: u32; // from a line in the chunk to its segment
        var count: u32; // nonzeros in the lane's buckets
        loop {
            for (var bucket = lane; bucket < BUCKETS; bucket += LANES) {
                atomicStore(&buckets[bucket], 0u);
            }
            workgroupBarrier();
            shift = max(32u - countLeadingZeros(lines - 1u), firstLeadingBit(segments)) - firstLeadingBit(segments);
            for (var line = lane; line < lines; line += LANES) {
                draw(first + line);
                for (var t = 0u; t < dims.nonzeros; t++) {
                    let row = (drawn[t] >> 1u) - row0; // wraps: beyond all rows if before the first
                    if row < rows { atomicAdd(&buckets[row * segments + (line >> shift)], 1u); }
                }
            }
            workgroupBarrier();
            count = 0u;
            for (var i = 0u; i < PER_LANE; i++) {
                count += atomicLoad(&buckets[lane * PER_LANE + i]);
            }
            totals[lane] = count;
            workgroupBarrier();
            for (var width = 1u; width < LANES; width *= 2u) {
                var below = 0u;
                if lane >= width { below = totals[lane - width]; }
                workgroupBarrier();
                totals[lane] += below;
                workgroupBarrier();
            }
            if totals[LANES - 1u] <= LIST {
                break;
            }
            // More than were to be expected: one line always fits.
            lines = (lines + 1u) / 2u;
        }
        // From counts to where buckets begin, which then move on to where they end.
        var at = totals[lane] - count;
        for (var i = 0u; i < PER_LANE; i++) {
            let bucket = lane * PER_LANE + i;
            let next = at + atomicLoad(&buckets[bucket]);
            atomicStore(&buckets[bucket], at);
            at = next;
        }
        workgroupBarrier();
        for (var line = lane; line < lines; line += LANES) {
            draw(first + line);
            for (var t = 0u; t < dims.nonzeros; t++) {
                let row = (drawn[t] >> 1u) - row0; // wraps: beyond all rows if before the first
                if row < rows {
                    list[atomicAdd(&buckets[row * segments + (line >> shift)], 1u)] = (line << 1u) | (drawn[t] & 1u);
                }
            }
        }
        workgroupBarrier();
        // Within a bucket lines came in any order; there are few.
        if lane == 0u { ends[0] = 0u; }
        for (var bucket = lane; bucket < BUCKETS; bucket += LANES) {
            var low = 0u;
            if bucket > 0u { low = atomicLoad(&buckets[bucket - 1u]); }
            let to = atomicLoad(&buckets[bucket]);
            for (var next = low + 1u; next < to; next++) {
                let entry = list[next];
                var place = next;
                while place > low && list[place - 1u] > entry {
                    list[place] = list[place - 1u];
                    place--;
                }
                list[place] = entry;
            }
            if (bucket + 1u) % segments == 0u { ends[bucket / segments + 1u] = to; }
        }
        workgroupBarrier();
        let factor = select(1.0, dims.scale, first + lines == last);
        sum_rows(lane, column0, row0, rows, first, part * dims.y_part, first > begin, factor);
        first += lines;
    }
}
