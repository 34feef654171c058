//! A sparse operator as it is applied: the sizes, in elements, where columns lie, and the nonzeros of a line. A line of
//! the operator has nonzeros at places: lines are added to places, or places to lines. Columns are what is beside the
//! operator's axis, those of all batches in a row.

//#import philox

struct Dims {
    lines: u32,
    places: u32,
    nonzeros: u32,  // of a line
    different: u32, // 1: at different places, 0: at any
    seed0: u32,
    seed1: u32,
    tag: u32, // the last word of the counter
    scale: f32,
    columns: u32,
    extent0: u32, // of the innermost axis of the columns, and of the next
    extent1: u32,
    x_offset: u32, // first element of X in its binding
    x_axis: u32,   // strides of X: along the operator's axis, and along those of the columns
    x_stride0: u32,
    x_stride1: u32,
    x_stride2: u32,
    y_axis: u32, // of Y
    y_stride0: u32,
    y_stride1: u32,
    y_stride2: u32,
    rows: u32,  // of Y that a workgroup makes: a power of two where they are places
    width: u32, // columns of a workgroup
    part: u32,  // lines that a workgroup sums
    chunk: u32, // lines that it takes at once, if their nonzeros fit
    parts: u32,
    y_part: u32, // elements from the sums of a part to those of the next
    reserved0: u32,
    reserved1: u32,
}

// The first elements of a column, in X and in Y.
fn column_at(column: u32) -> vec2<u32> {
    let outer = column / dims.extent0;
    let i = vec3<u32>(column % dims.extent0, outer % dims.extent1, outer / dims.extent1);
    return vec2<u32>(
        dims.x_offset + i.x * dims.x_stride0 + i.y * dims.x_stride1 + i.z * dims.x_stride2,
        i.x * dims.y_stride0 + i.y * dims.y_stride1 + i.z * dims.y_stride2,
    );
}

// The nonzeros of the line that was drawn last, in the order in which they are drawn: the place, and in the lowest bit
// whether it is -1. MOST is how many a line may have.
var<private> drawn: array<u32, MOST>;

// Draws the nonzeros of a line: `Sparse::line` in `src/sketch/operator.rs` is the same.
fn draw(line: u32) {
    var words = vec4<u32>();
    for (var t = 0u; t < MOST; t++) {
        if t >= dims.nonzeros {
            break;
        }
        if t % 4u == 0u {
            words = philox(vec4<u32>(line, t / 4u, 0u, dims.tag), vec2<u32>(dims.seed0, dims.seed1));
        }
        let word = words[t % 4u];
        var place: u32;
        if dims.different == 1u {
            // Floyd: of the first so many places; one that is taken already gives way to the last of them.
            let last = dims.places - dims.nonzeros + t;
            place = mul_high(word, last + 1u);
            var taken = false;
            for (var before = 0u; before < t; before++) {
                taken |= drawn[before] >> 1u == place;
            }
            place = select(place, last, taken);
        } else {
            place = mul_high(word, dims.places);
        }
        drawn[t] = (place << 1u) | (word & 1u);
    }
}
