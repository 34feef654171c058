//! Sine and cosine, the angle of a point, and related functions for exp and log of motors, on vectors of type `lanes`. Each is
//! within 8 ulp of its definition for angles from 0 to 2 pi, where built-ins only promise 2^-11.

struct SineCosine {
    sine: lanes,
    cosine: lanes,
}

fn sine_cosine(x: lanes) -> SineCosine {
    let n = round(x * 0.636619772);
    // Cody and Waite: pi / 2 in parts. The first three have few bits, so that n times them is exact, with or without fma.
    // NOTE: r is never below -1; the maximum keeps Mesa's compiler from adding the parts to one constant.
    var r = max(fma(n, lanes(-1.5703125), x), lanes(-1.0));
    r = max(fma(n, lanes(-4.83751297e-4), r), lanes(-1.0));
    r = max(fma(n, lanes(-7.54953362e-08), r), lanes(-1.0));
    r = fma(n, lanes(-2.56334407e-12), r);
    return in_quarter(r, n - 4.0 * floor(n * 0.25));
}

// Sine and cosine of r plus a number of quarters of a turn, 0 to 3. r is from -pi / 4 to pi / 4.
fn in_quarter(r: lanes, quarter: lanes) -> SineCosine {
    let z = r * r;
    var s = lanes(-1.9515296e-4);
    s = fma(s, z, lanes(8.33216087e-3));
    s = fma(s, z, lanes(-0.166666546));
    s = fma(s * z, r, r);
    var c = lanes(2.44331571e-5);
    c = fma(c, z, lanes(-1.38873163e-3));
    c = fma(c, z, lanes(4.16666456e-2));
    c = fma(c * z, z, fma(lanes(-0.5), z, lanes(1.0)));
    let odd = (quarter == lanes(1.0)) | (quarter == lanes(3.0));
    let lower = quarter >= lanes(2.0);
    let left = (quarter == lanes(1.0)) | (quarter == lanes(2.0));
    let sine = select(s, c, odd);
    let cosine = select(c, s, odd);
    return SineCosine(select(sine, -sine, lower), select(cosine, -cosine, left));
}

// sin x / x.
fn sinc_of(x: lanes, sine: lanes) -> lanes {
    return select(sine / x, lanes(1.0), x == lanes(0.0));
}

// (sin x - x cos x) / x^3 for x up to pi. Below pi / 2 the terms cancel, so a series replaces the formula.
fn fall_of(x: lanes, sinc: lanes, cosine: lanes) -> lanes {
    let z = x * x;
    var p = lanes(1.07060e-11);
    p = fma(p, z, lanes(-1.92708e-9));
    p = fma(p, z, lanes(2.50521084e-7));
    p = fma(p, z, lanes(-2.20458554e-5));
    p = fma(p, z, lanes(1.19047619e-3));
    p = fma(p, z, lanes(-3.33333333e-2));
    p = fma(p, z, lanes(0.333333333));
    return select((sinc - cosine) / z, p, x < lanes(1.57));
}

// The angle of the point (cosine, sine) with sine >= 0, from 0 to pi, at any distance from the origin.
fn angle_of(sine: lanes, cosine: lanes) -> lanes {
    let a = abs(cosine);
    let less = min(a, sine);
    let more = max(a, sine);
    // Beyond tan(pi / 8), compute the difference to pi / 4.
    let far = less > 0.414213562 * more;
    let t = select(less, less - more, far) / select(more, less + more, far);
    let z = t * t;
    var p = lanes(8.05374470e-2);
    p = fma(p, z, lanes(-0.138776854));
    p = fma(p, z, lanes(0.199777111));
    p = fma(p, z, lanes(-0.333329499));
    p = fma(p * z, t, t);
    p = select(p, 0.785398163 + p, far);
    p = select(p, 1.57079633 - p, sine > a);
    return select(p, 3.14159265 - p, cosine < lanes(0.0));
}

// The root of a sum of squares; 0 if it is below 2^-50, where squares lose digits. A built-in root is within 4.5 ulp; one Newton
// iteration makes that 1 ulp.
fn length_of(square: lanes) -> lanes {
    let root = sqrt(square);
    let better = fma(fma(-root, root, square), 0.5 / root, root);
    return select(better, lanes(0.0), square < lanes(7.88860905e-31));
}

// 1 / sqrt(square), with the same accuracy.
fn inverse_root(square: lanes) -> lanes {
    let root = 1.0 / sqrt(square);
    return fma(0.5 * root, fma(-square * root, root, lanes(1.0)), root);
}

// The largest magnitude of numbers is small below 2^-32 and large above 2^32: their squares are lost or overflow. The squares
// of numbers times this power of two are neither lost nor do they overflow.
fn scale_of(most: lanes) -> lanes {
    let upward = select(lanes(1.0), lanes(1.20892582e24), most < lanes(2.32830644e-10)); // 2^80
    return select(upward, lanes(8.27180613e-25), most > lanes(4.2949673e9)); // 2^-80
}

// The two factors of the scale: 2^30 and 2^50 for small numbers, 2^-4 and 2^-76 for large ones. Where `root` is one over the length
// of scaled numbers, x outer (root inner) is x over their length before. Both factors are normal numbers, and the first product is
// subnormal or infinite only if the second is, whatever the size of x.
fn outer_of(most: lanes) -> lanes {
    let upward = select(lanes(1.0), lanes(1.07374182e9), most < lanes(2.32830644e-10));
    return select(upward, lanes(0.0625), most > lanes(4.2949673e9));
}

fn inner_of(most: lanes) -> lanes {
    let upward = select(lanes(1.0), lanes(1.12589991e15), most < lanes(2.32830644e-10));
    return select(upward, lanes(1.32348898e-23), most > lanes(4.2949673e9));
}

// One over the scale.
fn unscale_of(most: lanes) -> lanes {
    let downward = select(lanes(1.0), lanes(8.27180613e-25), most < lanes(2.32830644e-10));
    return select(downward, lanes(1.20892582e24), most > lanes(4.2949673e9));
}

// NaN, computed at run time, because compilers reject constants that are NaN.
fn not_a_number() -> lanes {
    var bits = 0x7fc00000u;
    return lanes(bitcast<f32>(bits));
}
