//! The product of two scalars: what stands here for an algebra is made from its table.

let x0 = read_x(at.y, stride.y, count);
let y0 = read_y(at.z, stride.z, count);
let z0 = x0 * y0;
store_lanes(at.x, count, z0);
