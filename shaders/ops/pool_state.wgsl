//! What a pooling keeps of a window, four channels together: `nothing()` of no elements, `joined(state, v, place, is_new)` with
//! the element of number `place` of the image, which is not new if the state has it already, and `result(state, places)`, if the
//! window counts `places` elements along each axis.

//#variant largest
// The largest elements, and the numbers of the first of them. A NaN is the largest. Bits are compared as integers, because
// compilers may assume that there is no NaN: a key is in the order of the values, and both zeros have the same.
struct State {
    values: vec4<u32>, // bits
    keys: vec4<i32>,
    indices: vec4<i32>,
}

fn nothing() -> State {
    return State(vec4<u32>(0xff800000u), vec4<i32>(-2147483647), vec4<i32>(-1));
}

fn joined(state: State, v: vec4<f32>, place: u32, is_new: bool) -> State {
    let bits = bitcast<vec4<i32>>(v);
    let magnitudes = bits & vec4<i32>(0x7fffffff);
    let ordered = select(magnitudes, -magnitudes, bits < vec4<i32>());
    let keys = select(ordered, vec4<i32>(0x7fffffff), magnitudes > vec4<i32>(0x7f800000));
    let is_larger = keys > state.keys;
    return State(
        select(state.values, bitcast<vec4<u32>>(v), is_larger),
        select(state.keys, keys, is_larger),
        select(state.indices, vec4<i32>(i32(place)), is_larger),
    );
}

fn result(state: State, places: vec2<u32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(state.values);
}

//#variant mean
// The sum of the elements, divided by the number of places.
struct State {
    total: vec4<f32>,
    indices: vec4<i32>, // none
}

fn nothing() -> State {
    return State(vec4<f32>(), vec4<i32>());
}

fn joined(state: State, v: vec4<f32>, place: u32, is_new: bool) -> State {
    return State(state.total + select(vec4<f32>(), v, is_new), state.indices);
}

fn result(state: State, places: vec2<u32>) -> vec4<f32> {
    return state.total / (f32(places.x) * f32(places.y));
}
