//! The sizes of an attention's backward pass, in elements. Query head h has key head h / group.

struct Dims {
    q: vec4<u32>,  // of Q: the first element in its binding, then the strides of batch, head and query
    k: vec4<u32>,  // of K: likewise, and of the keys
    v: vec4<u32>,  // of V
    g: vec4<u32>,  // of the gradient of the result
    dq: vec4<u32>, // of the gradient of Q
    dk: vec4<u32>, // of K
    dv: vec4<u32>, // of V
    bias: vec4<u32>,       // strides of the bias: batch, head, query, key
    along: vec4<u32>,      // strides along the head dims of Q, K and V; then the bias's first element in its binding
    bias_shape: vec4<u32>, // of the given bias: 1, or batch, heads, queries, keys
    queries: u32,
    keys: u32,
    group: u32,    // query heads per key head
    kv_heads: u32,
    dim: u32,      // of Q and K
    dim_v: u32,    // of V and the result
    lanes: u32,    // invocations that share a row: a power of two, at most LANES
    along_g: u32,  // the stride along the head dim of the gradient of the result
    lower: i32,    // query i attends keys from i + lower
    upper: i32,    // to i + upper, both included
    keep: vec2<u32>,    // of the keep mask: the first element in its binding, and the stride of the batch
    keep_along: u32,    // its stride along the keys
    lengths: u32,       // of the key lengths: the first element in its binding
    lengths_stride: u32,
    slopes: u32,        // of the slopes: likewise
    slopes_stride: u32,
    scale: f32,
    batches: u32,
    heads: u32, // kv_heads times the batches
}
