//! Elements of both operands of products, eight at a time.

struct Eight {
    low: vec4<f32>,
    high: vec4<f32>,
}

//#slot eight x=a default places
//#slot eight x=y default places
