//! Elements of both operands of products, eight at a time.

struct Eight {
    low: vec4<f32>,
    high: vec4<f32>,
}

//#import eight_x x=a
//#import eight_x x=y
