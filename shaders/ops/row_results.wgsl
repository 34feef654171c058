//! The results of a row of a cross-entropy: `store_row(row, loss, log_sum)` stores the loss and the logarithm of the sum.

//#variant separate
// Each kind has a binding.
@group(0) @binding(5) var<storage, read_write> losses: array<f32>;
@group(0) @binding(6) var<storage, read_write> log_sums: array<f32>;

fn store_row(row: u32, loss: f32, log_sum: f32) {
    losses[row] = loss;
    log_sums[row] = log_sum;
}

//#variant joined
// One binding has the losses, followed by the logarithms.
@group(0) @binding(3) var<storage, read_write> results: array<f32>;

fn store_row(row: u32, loss: f32, log_sum: f32) {
    results[row] = loss;
    results[dims.log_sums_offset + row] = log_sum;
}

//#variant none
// Another launch stores them.
fn store_row(row: u32, loss: f32, log_sum: f32) {
}
