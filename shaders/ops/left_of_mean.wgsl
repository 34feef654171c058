//! The correction of a rounded mean in the backward pass of a norm.

// Normalised elements should have the mean 0. If the given mean is large compared with the deviation, they have this mean instead,
// and it is subtracted. Rounding errors of elements of the size of 1 are not corrected.
fn left_of_mean(mean: f32) -> f32 {
    return select(0.0, mean, abs(mean) > 9.53674316e-7);
}
