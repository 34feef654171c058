//! What a backward pass of a norm does about a mean that was rounded when it was stored.

// Normalised elements have the mean 0. Where the given mean is large, compared with the deviation, they have this one instead, which
// is subtracted. What rounding leaves of elements of the size of 1 is not.
fn left_of_mean(mean: f32) -> f32 {
    return select(0.0, mean, abs(mean) > 9.53674316e-7);
}
