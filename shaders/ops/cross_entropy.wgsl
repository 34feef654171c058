//! The cross-entropy of each row of logits and its target, and its gradient.
//!
//! shapes    A of up to 6 axes, any strides, classes along the last; targets: a class per row, or a probability per element; a weight per class -> a loss and a logarithm of the sum of exponentials per row, and the gradient C of A's shape, row-major from the start of its binding
//! grid      dims.lanes invocations per row, LANES a workgroup
//! subgroup  lanes of a row combine their values, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     rows past the end are empty, elements past a row's end are not stored: any length >= 1, any rows >= 1; a class that does not exist makes its row NaN

//#import places

//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by CrossEntropyProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
const QUADS: u32 = 1u; // groups of four elements that a lane loads together
const LANES: u32 = 256u;
//#end
const WIDTH: u32 = 4u * QUADS;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup
alias held = f32;

//#slot row_numbers default separate
//#slot row_results default separate
//#slot logits default strided
//#slot labels default classes
//#slot store_gradients default none
//#slot row_lanes default shared
//#import across x=most
//#import across x=sums
//#import logarithm

fn joined_most(x: held, y: held) -> held {
    return max(x, y);
}

fn joined_sums(x: held, y: held) -> held {
    return x + y;
}

// Where a row begins in A and in the probabilities.
fn places_of(row: u32) -> vec2<u32> {
    return places(row, 0u, dims.rank, vec3<u32>(dims.a_offset, dims.target_offset, 0u)).xy;
}

// The weights of four classes from `first` on. Those that do not exist have the weight of the last one.
fn weights_from(first: u32) -> vec4<f32> {
    let classes = min(vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.length - 1u));
    let at = dims.weight_offset + classes * dims.weight_stride;
    return vec4<f32>(weight_at(at.x), weight_at(at.y), weight_at(at.z), weight_at(at.w));
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    place: Place,
) {
    let lane = lane_at(place);
    let row = block_index(workgroup, grid) * rows_at_once() + row_of(lane);
    let part = part_of(lane);
    let own = min(row, dims.rows - 1u);
    let at = places_of(own);
    let label = label_of(own);
    let length = select(0u, dims.length, row < dims.rows); // rows past the end are empty
    let groups = (length + WIDTH - 1u) / WIDTH;
    let four = vec4<u32>(0u, 1u, 2u, 3u);

    // The lowest f32. A row without a larger element has an undefined sum and becomes NaN.
    let lowest = vec4<f32>(-3.4028234663852886e38);
    var most = lowest;
    for (var group = part; group < groups; group += dims.lanes) {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            let is_within = four + 4u * k < vec4<u32>(length - group * WIDTH);
            most = max(most, select(lowest, logits(at.x, group, k, length), is_within));
        }
    }
    let top = across_most(max(max(most.x, most.y), max(most.z, most.w)), lane);

    // Exponentials of the distances to the maximum, the weighted probabilities of the targets, and their products with the
    // distances. A class of probability 0 has no product, for any logit.
    var sums = vec4<f32>(0.0);
    var shares = vec4<f32>(0.0);
    var products = vec4<f32>(0.0);
    for (var group = part; group < groups; group += dims.lanes) {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            let first = group * WIDTH + 4u * k;
            let is_within = four + 4u * k < vec4<u32>(length - group * WIDTH);
            let distance = logits(at.x, group, k, length) - top;
            let share = select(vec4<f32>(0.0), label_shares(label, at.y, first), is_within);
            sums += select(vec4<f32>(0.0), exp_of(distance), is_within);
            shares += share;
            products += select(share * distance, vec4<f32>(0.0), share == vec4<f32>(0.0));
        }
    }
    let total = across_sums((sums.x + sums.y) + (sums.z + sums.w), lane);
    let share = across_sums((shares.x + shares.y) + (shares.z + shares.w), lane);
    let product = across_sums((products.x + products.y) + (products.z + products.w), lane);
    let logarithm = log_of(vec4<f32>(total)).x;

    if part == 0u && row < dims.rows {
        store_row(row, labelled(label, share * logarithm - product), top + logarithm);
    }
    if HAS_GRADIENT {
        // If no target counts, the gradient is 0.
        let divisor = counted_weight();
        let upstream = gradient_at(dims.g_offset + own * dims.g_stride) * dims.g * dims.factor;
        let scale = labelled(label, select(upstream / divisor, 0.0, divisor == 0.0));
        for (var group = part; group < groups; group += dims.lanes) {
            var e: array<vec4<f32>, QUADS>;
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                let softmax = exp_of(logits(at.x, group, k, length) - top) / total;
                let slope = share * softmax - label_shares(label, at.y, group * WIDTH + 4u * k);
                e[k] = select(scale * slope, vec4<f32>(0.0), vec4<bool>(label.is_ignored));
            }
            store_gradients(own * dims.length, group, length - group * WIDTH, e);
        }
    }
}
