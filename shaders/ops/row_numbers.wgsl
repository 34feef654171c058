//! The numbers of a cross-entropy besides logits and targets: `weight_at(i)` and `gradient_at(i)` are a weight and a gradient with
//! respect to a loss, `counted_weight()` is the sum of the weights of all targets, or 1, and `store_row(row, loss, log_sum)` stores
//! the results of a row.

//#variant separate
// Each kind has a binding.
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read> g: array<f32>;
@group(0) @binding(4) var<storage, read> counted: array<f32>;
@group(0) @binding(5) var<storage, read_write> losses: array<f32>;
@group(0) @binding(6) var<storage, read_write> log_sums: array<f32>;

fn weight_at(i: u32) -> f32 {
    return weight[i];
}

fn gradient_at(i: u32) -> f32 {
    return g[i];
}

fn counted_weight() -> f32 {
    return counted[0];
}

fn store_row(row: u32, loss: f32, log_sum: f32) {
    losses[row] = loss;
    log_sums[row] = log_sum;
}

//#variant joined
// One binding has all that is read, one the losses and behind them the logarithms.
@group(0) @binding(2) var<storage, read> numbers: array<f32>;
@group(0) @binding(3) var<storage, read_write> results: array<f32>;

fn weight_at(i: u32) -> f32 {
    return numbers[i];
}

fn gradient_at(i: u32) -> f32 {
    return numbers[i];
}

fn counted_weight() -> f32 {
    return numbers[dims.counted_offset];
}

fn store_row(row: u32, loss: f32, log_sum: f32) {
    results[row] = loss;
    results[dims.log_sums_offset + row] = log_sum;
}

//#variant without_results
// One binding has all that is read. Another launch stores the losses and the logarithms.
@group(0) @binding(2) var<storage, read> numbers: array<f32>;

fn weight_at(i: u32) -> f32 {
    return numbers[i];
}

fn gradient_at(i: u32) -> f32 {
    return numbers[i];
}

fn counted_weight() -> f32 {
    return numbers[dims.counted_offset];
}

fn store_row(row: u32, loss: f32, log_sum: f32) {
}
