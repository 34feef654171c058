//! A reduction. `term_of(x, at, origin)` is the state of one element: its index is `at` (along the first axis that is reduced), and
//! `origin` is another element of the same row, if NEEDS_ORIGIN. `quad_term` is the state of four elements. `joined(x, y)` joins
//! two states, and so does `followed(x, y)` if the elements of y come after those of x. `nothing_from(at)` is the state of no
//! elements; elements from index `at` on may follow it. `total(x)` is the result.

//#variant sum
// The sum of the elements, or their mean.
const NEEDS_ORIGIN: bool = false;

fn nothing_from(at: u32) -> held {
    return held(0.0);
}

fn term_of(x: element, at: u32, origin: element) -> held {
    return x;
}

fn quad_term(x: vec4<element>, at: u32, origin: element) -> held {
    return (x.x + x.y) + (x.z + x.w);
}

fn joined(x: held, y: held) -> held {
    return x + y;
}

fn followed(x: held, y: held) -> held {
    return x + y;
}

fn total(x: held) -> sum {
    return select(x, x / bitcast<f32>(dims.number), dims.finish == DIVIDED);
}

//#variant integers
// The sum of integers, which wraps.
const NEEDS_ORIGIN: bool = false;

fn nothing_from(at: u32) -> held {
    return held(0);
}

fn term_of(x: element, at: u32, origin: element) -> held {
    return x;
}

fn quad_term(x: vec4<element>, at: u32, origin: element) -> held {
    return (x.x + x.y) + (x.z + x.w);
}

fn joined(x: held, y: held) -> held {
    return x + y;
}

fn followed(x: held, y: held) -> held {
    return x + y;
}

fn total(x: held) -> sum {
    return x;
}

//#variant squares
// The sum of the squares, or its root.
const NEEDS_ORIGIN: bool = false;

fn nothing_from(at: u32) -> held {
    return held(0.0);
}

fn term_of(x: element, at: u32, origin: element) -> held {
    return x * x;
}

fn quad_term(x: vec4<element>, at: u32, origin: element) -> held {
    return (x.x * x.x + x.y * x.y) + (x.z * x.z + x.w * x.w);
}

fn joined(x: held, y: held) -> held {
    return x + y;
}

fn followed(x: held, y: held) -> held {
    return x + y;
}

fn total(x: held) -> sum {
    return select(x, sqrt(x), dims.finish == ROOT);
}

//#variant magnitudes
// The sum of the absolute values.
const NEEDS_ORIGIN: bool = false;

fn nothing_from(at: u32) -> held {
    return held(0.0);
}

fn term_of(x: element, at: u32, origin: element) -> held {
    return abs(x);
}

fn quad_term(x: vec4<element>, at: u32, origin: element) -> held {
    return (abs(x.x) + abs(x.y)) + (abs(x.z) + abs(x.w));
}

fn joined(x: held, y: held) -> held {
    return x + y;
}

fn followed(x: held, y: held) -> held {
    return x + y;
}

fn total(x: held) -> sum {
    return x;
}

//#variant product
// The product of the elements.
const NEEDS_ORIGIN: bool = false;

fn nothing_from(at: u32) -> held {
    return held(1.0);
}

fn term_of(x: element, at: u32, origin: element) -> held {
    return x;
}

fn quad_term(x: vec4<element>, at: u32, origin: element) -> held {
    return (x.x * x.y) * (x.z * x.w);
}

fn joined(x: held, y: held) -> held {
    return x * y;
}

fn followed(x: held, y: held) -> held {
    return x * y;
}

fn total(x: held) -> sum {
    return x;
}

//#variant extreme
// The largest element, or the smallest, or the largest absolute value; NaN if there is one. Bits are compared as integers, because
// no driver flushes these or loses a NaN. The state has the largest and the smallest as signed integers, and the largest as an
// unsigned one. Negative floats are in the reverse order of their bits.
//#import top_bits
const NEEDS_ORIGIN: bool = false;

fn nothing_from(at: u32) -> held {
    return vec3<u32>(0x80000000u, 0x7fffffffu, 0u);
}

fn term_of(x: element, at: u32, origin: element) -> held {
    return vec3<u32>(x << UNUSED_BITS);
}

fn quad_term(x: vec4<element>, at: u32, origin: element) -> held {
    let bits = x << vec4<u32>(UNUSED_BITS);
    let signed = bitcast<vec4<i32>>(bits);
    let largest = max(max(signed.x, signed.y), max(signed.z, signed.w));
    let smallest = min(min(signed.x, signed.y), min(signed.z, signed.w));
    return vec3<u32>(bitcast<u32>(largest), bitcast<u32>(smallest), max(max(bits.x, bits.y), max(bits.z, bits.w)));
}

fn joined(x: held, y: held) -> held {
    let largest = max(bitcast<i32>(x.x), bitcast<i32>(y.x));
    let smallest = min(bitcast<i32>(x.y), bitcast<i32>(y.y));
    return vec3<u32>(bitcast<u32>(largest), bitcast<u32>(smallest), max(x.z, y.z));
}

fn followed(x: held, y: held) -> held {
    return joined(x, y);
}

fn total(x: held) -> sum {
    if is_real(A_TYPE) {
        let is_nan = bitcast<i32>(x.x) > i32(INFINITY) || x.z > (INFINITY | SIGN);
        var bits = select(x.x, x.y, x.x >= SIGN); // the smallest magnitude, if all are negative
        if dims.finish == SMALLEST { bits = select(x.y, x.z, x.y >= SIGN); } // the largest magnitude, if one is negative
        if dims.finish == MAGNITUDE { bits = max(select(x.x, 0u, x.x >= SIGN), x.z & ~SIGN); }
        return bitcast<sum>(select(widened(A_TYPE, bits >> UNUSED_BITS), 0x7fc00000u, is_nan));
    }
    return bitcast<sum>(widened(A_TYPE, select(x.x, x.y, dims.finish == SMALLEST) >> UNUSED_BITS));
}

//#variant place
// The index of the first of the largest, or smallest, elements, or of the first NaN. The state of elements is the largest of
// their keys, which are integers in the order of the values, and its inverted index, so that the first of equal keys wins.
//#import top_bits
const NEEDS_ORIGIN: bool = false;
const LOWEST_KEY: i32 = -2147483647 - 1;

fn nothing_from(at: u32) -> held {
    return vec2<u32>(bitcast<u32>(LOWEST_KEY), ~at);
}

fn keys_of(x: vec4<element>) -> vec4<i32> {
    let bits = (x << vec4<u32>(UNUSED_BITS)) ^ vec4<u32>(dims.number); // the reverse order, if the smallest is wanted
    if is_real(A_TYPE) {
        // The bits of a negative float without its sign are negated: both zeros are 0. Sums wrap, so that every NaN is above infinity.
        let ordered = select(bits, SIGN - bits, bits >= vec4<u32>(SIGN)) + (SIGN + INFINITY);
        return min(bitcast<vec4<i32>>(ordered), vec4<i32>(i32(SIGN - 2u * (SIGN - INFINITY) + 1u)));
    }
    return bitcast<vec4<i32>>(bits);
}

fn term_of(x: element, at: u32, origin: element) -> held {
    return vec2<u32>(bitcast<u32>(keys_of(vec4<element>(x)).x), ~at);
}

fn quad_term(x: vec4<element>, at: u32, origin: element) -> held {
    let keys = bitcast<vec4<u32>>(keys_of(x));
    let low = followed(vec2<u32>(keys.x, ~at), vec2<u32>(keys.y, ~at - 1u));
    let high = followed(vec2<u32>(keys.z, ~at - 2u), vec2<u32>(keys.w, ~at - 3u));
    return followed(low, high);
}

fn joined(x: held, y: held) -> held {
    return select(followed(x, y), y, x.x == y.x && y.y > x.y);
}

fn followed(x: held, y: held) -> held {
    return select(x, y, bitcast<i32>(y.x) > bitcast<i32>(x.x));
}

fn total(x: held) -> sum {
    return bitcast<sum>(~x.y);
}

//#variant moments
// The variance. The state has the number of elements, their mean, and the sum of their squared distances to it (Chan, Golub and
// LeVeque). One element of the row is subtracted from all, so that the result is accurate for a large mean.
const NEEDS_ORIGIN: bool = true;

fn nothing_from(at: u32) -> held {
    return held(0.0);
}

fn term_of(x: element, at: u32, origin: element) -> held {
    return vec3<f32>(1.0, x - origin, 0.0);
}

fn quad_term(v: vec4<element>, at: u32, origin: element) -> held {
    let x = v - origin;
    let mean = 0.25 * ((x.x + x.y) + (x.z + x.w));
    let d = x - mean;
    return vec3<f32>(4.0, mean, (d.x * d.x + d.y * d.y) + (d.z * d.z + d.w * d.w));
}

fn joined(x: held, y: held) -> held {
    let count = x.x + y.x;
    let share = y.x / max(count, 1.0);
    let d = y.y - x.y;
    return vec3<f32>(count, x.y + d * share, (x.z + y.z) + (x.x * share * d) * d);
}

fn followed(x: held, y: held) -> held {
    return joined(x, y);
}

fn total(x: held) -> sum {
    return x.z / bitcast<f32>(dims.number);
}

//#variant moments_of_windows
// The variance of elements in several windows. Each window subtracts another element, so the state also has this element.
const NEEDS_ORIGIN: bool = true;

fn nothing_from(at: u32) -> held {
    return held(0.0);
}

fn term_of(x: element, at: u32, origin: element) -> held {
    return vec4<f32>(1.0, x - origin, 0.0, origin);
}

fn quad_term(v: vec4<element>, at: u32, origin: element) -> held {
    let x = v - origin;
    let mean = 0.25 * ((x.x + x.y) + (x.z + x.w));
    let d = x - mean;
    return vec4<f32>(4.0, mean, (d.x * d.x + d.y * d.y) + (d.z * d.z + d.w * d.w), origin);
}

fn joined(x: held, y: held) -> held {
    let count = x.x + y.x;
    let share = y.x / max(count, 1.0);
    let d = (y.y - x.y) + (y.w - x.w);
    let both = vec4<f32>(count, x.y + d * share, (x.z + y.z) + (x.x * share * d) * d, x.w);
    // A state of no elements has no origin.
    return select(select(both, y, x.x == 0.0), x, y.x == 0.0);
}

fn followed(x: held, y: held) -> held {
    return joined(x, y);
}

fn total(x: held) -> sum {
    return x.z / bitcast<f32>(dims.number);
}
