//! Operand x of a sketch, in place of `memory_x`: its entries are made from a seed where they are staged, and nothing of
//! it is in memory but the table of the normal distribution. Its index along k takes the place of an address.

//#import philox
//#import entries

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn x_vector(at: u32, outer: u32, extent: u32) -> vec4<f32> {
    return entries(outer, at, vec2<u32>(dims.x_batch0, dims.x_batch1));
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> vec4<f32> {
    return x_vector(at + k0, outer, extent);
}

fn table(i: u32) -> u32 {
    return x[i];
}
