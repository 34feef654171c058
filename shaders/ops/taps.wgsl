//! The elements of a window along one axis of a pooling.

// The first one, their number and distance, and the number with those in the padding.
struct Taps {
    first: u32,
    count: u32,
    step: u32,
    places: u32,
}
