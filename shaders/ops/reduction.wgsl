//! A reduction. `term_of(x, at, origin)` is what is known of one element: its index is `at` (along the first axis that is
//! reduced), and `origin` is another element of the same row, if NEEDS_ORIGIN. `quad_term` is what is known of up to four. `joined(x, y)`
//! knows what both know, NOTHING knows of no element, and `total(x)` is the result.

//#variant sum
// The sum of the elements, or their mean.
const NOTHING: held = held(0.0);
const NEEDS_ORIGIN: bool = false;

fn term_of(x: element, at: u32, origin: element) -> held {
    return x;
}

fn quad_term(v: vec4<element>, is_within: vec4<bool>, at: u32, origin: element) -> held {
    let x = select(vec4<element>(0.0), v, is_within);
    return (x.x + x.y) + (x.z + x.w);
}

fn joined(x: held, y: held) -> held {
    return x + y;
}

fn total(x: held) -> sum {
    return select(x, x / bitcast<f32>(dims.number), dims.finish == 1u);
}

//#variant integers
// The sum of integers, which wraps.
const NOTHING: held = held(0);
const NEEDS_ORIGIN: bool = false;

fn term_of(x: element, at: u32, origin: element) -> held {
    return x;
}

fn quad_term(v: vec4<element>, is_within: vec4<bool>, at: u32, origin: element) -> held {
    let x = select(vec4<element>(0), v, is_within);
    return (x.x + x.y) + (x.z + x.w);
}

fn joined(x: held, y: held) -> held {
    return x + y;
}

fn total(x: held) -> sum {
    return x;
}

//#variant squares
// The sum of the squares, or its root.
const NOTHING: held = held(0.0);
const NEEDS_ORIGIN: bool = false;

fn term_of(x: element, at: u32, origin: element) -> held {
    return x * x;
}

fn quad_term(v: vec4<element>, is_within: vec4<bool>, at: u32, origin: element) -> held {
    let x = select(vec4<element>(0.0), v, is_within);
    return (x.x * x.x + x.y * x.y) + (x.z * x.z + x.w * x.w);
}

fn joined(x: held, y: held) -> held {
    return x + y;
}

fn total(x: held) -> sum {
    return select(x, sqrt(x), dims.finish == 2u);
}

//#variant product
// The product of the elements.
const NOTHING: held = held(1.0);
const NEEDS_ORIGIN: bool = false;

fn term_of(x: element, at: u32, origin: element) -> held {
    return x;
}

fn quad_term(v: vec4<element>, is_within: vec4<bool>, at: u32, origin: element) -> held {
    let x = select(vec4<element>(1.0), v, is_within);
    return (x.x * x.y) * (x.z * x.w);
}

fn joined(x: held, y: held) -> held {
    return x * y;
}

fn total(x: held) -> sum {
    return x;
}

//#variant extreme
// The largest element, or the smallest, or the largest absolute value; NaN if there is one. Elements are compared by keys, which
// are integers: they are neither flushed nor lose a NaN on any driver.
//#import keys
const NOTHING: held = held(0u);
const NEEDS_ORIGIN: bool = false;

fn term_of(x: element, at: u32, origin: element) -> held {
    return key_of(x);
}

fn quad_term(v: vec4<element>, is_within: vec4<bool>, at: u32, origin: element) -> held {
    let x = select(vec4<u32>(0u), vec4<u32>(key_of(v.x), key_of(v.y), key_of(v.z), key_of(v.w)), is_within);
    return max(max(x.x, x.y), max(x.z, x.w));
}

fn joined(x: held, y: held) -> held {
    return max(x, y);
}

fn total(x: held) -> sum {
    return bitcast<sum>(bits_of_key(x));
}

//#variant place
// The index of the first of the largest, or smallest, elements, or of the first NaN. What is known of an element is its key, and
// its index inverted, so that of equal keys the first index wins.
//#import keys
const NOTHING: held = held(0u);
const NEEDS_ORIGIN: bool = false;

fn term_of(x: element, at: u32, origin: element) -> held {
    return vec2<u32>(key_of(x), ~at);
}

fn quad_term(v: vec4<element>, is_within: vec4<bool>, at: u32, origin: element) -> held {
    let low = joined(term_of(v.x, at, origin), select(NOTHING, term_of(v.y, at + 1u, origin), is_within.y));
    let third = select(NOTHING, term_of(v.z, at + 2u, origin), is_within.z);
    let fourth = select(NOTHING, term_of(v.w, at + 3u, origin), is_within.w);
    return select(NOTHING, joined(low, joined(third, fourth)), is_within.x);
}

fn joined(x: held, y: held) -> held {
    return select(x, y, y.x > x.x || (y.x == x.x && y.y > x.y));
}

fn total(x: held) -> sum {
    return bitcast<sum>(~x.y);
}

//#variant moments
// The variance. What is known are the number of elements, their mean, and the sum of their squared distances to it (Chan, Golub and
// LeVeque). One element of the row is subtracted from all, so that a large mean costs no accuracy.
const NOTHING: held = held(0.0);
const NEEDS_ORIGIN: bool = true;

fn term_of(x: element, at: u32, origin: element) -> held {
    return vec3<f32>(1.0, x - origin, 0.0);
}

fn quad_term(v: vec4<element>, is_within: vec4<bool>, at: u32, origin: element) -> held {
    let ones = select(vec4<f32>(0.0), vec4<f32>(1.0), is_within);
    let count = (ones.x + ones.y) + (ones.z + ones.w);
    let x = select(vec4<f32>(0.0), v - origin, is_within);
    let mean = ((x.x + x.y) + (x.z + x.w)) / max(count, 1.0);
    let d = select(vec4<f32>(0.0), x - mean, is_within);
    return vec3<f32>(count, mean, (d.x * d.x + d.y * d.y) + (d.z * d.z + d.w * d.w));
}

fn joined(x: held, y: held) -> held {
    let count = x.x + y.x;
    let share = y.x / max(count, 1.0);
    let d = y.y - x.y;
    return vec3<f32>(count, x.y + d * share, (x.z + y.z) + (x.x * share * d) * d);
}

fn total(x: held) -> sum {
    return x.z / bitcast<f32>(dims.number);
}
