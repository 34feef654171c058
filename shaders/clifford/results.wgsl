//! What an invocation of `clifford/product` computes. In its place plans make text from an algebra's table of signs.
//!
//! `results(at, stride, step, count)` reads all blades of X, and of Y if there is one, computes each blade of C and stores
//! it. `at` are the places of C, X and Y (x, y, z) at the invocation's first position and the first blade, `stride` is from
//! position to position, and `step` from blade to blade, in elements. `count` says how many positions there are, from 1 to
//! WIDTH; behind them nothing is stored. It calls `read_x` and `read_y` for operands, `store_beside` for C, and what it
//! imports.

//#variant sample
// The product of two scalars.
fn results(at: vec3<u32>, stride: vec3<u32>, step: vec3<u32>, count: u32) {
    let x0 = read_x(at.y + 0u * step.y, stride.y, count);
    let y0 = read_y(at.z + 0u * step.z, stride.z, count);
    // 1
    let z0 = x0 * y0;
    store_beside(at.x + 0u * step.x, count, z0);
}
