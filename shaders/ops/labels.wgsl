//! The targets of rows: `label_of(row)` is that of a row, `label_shares(label, at, first)` the probabilities of four classes from
//! `first` on, multiplied by their weights, and `labelled(label, x)` is x, 0 for an ignored row, or NaN for a class that does not
//! exist. `at` is the begin of the row's probabilities.

//#variant classes
// A class per row.
@group(0) @binding(1) var<storage, read> targets: array<i32>;

struct Label {
    index: u32, // of the class
    share: f32, // the weighted probability of the class, without the part that smoothing spreads over all classes
    is_ignored: bool,
    is_valid: bool,
}

fn label_of(row: u32) -> Label {
    let index = bitcast<u32>(targets[dims.target_offset + row]);
    let known = min(index, dims.length - 1u);
    let share = dims.kept * weight_at(dims.weight_offset + known * dims.weight_stride);
    return Label(known, share, dims.ignores == 1u && index == dims.ignored, index == known);
}

fn label_shares(label: Label, at: u32, first: u32) -> vec4<f32> {
    let classes = vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u);
    let share = select(vec4<f32>(0.0), vec4<f32>(label.share), classes == vec4<u32>(label.index));
    if dims.spread == 0.0 {
        return share;
    }
    return share + dims.spread * weights_from(first);
}

fn labelled(label: Label, x: f32) -> f32 {
    let value = select(0x7fc00000u, bitcast<u32>(x), label.is_valid);
    return bitcast<f32>(select(value, 0u, label.is_ignored));
}

//#variant probabilities
// A probability per class.
//#param
alias p_unit = f32;
//#end
@group(0) @binding(1) var<storage, read> p: array<p_unit>;
//#slot load x=p default element
//#slot load_quad x=p default reals

struct Label {
    is_ignored: bool,
}

fn label_of(row: u32) -> Label {
    return Label(false);
}

fn label_shares(label: Label, at: u32, first: u32) -> vec4<f32> {
    let known = min(first, dims.length - 1u);
    let quad = load_quad_p(at + known * dims.target_stride, dims.target_stride, dims.length - known);
    return fma(vec4<f32>(dims.kept), quad, vec4<f32>(dims.spread)) * weights_from(first);
}

fn labelled(label: Label, x: f32) -> f32 {
    return x;
}
