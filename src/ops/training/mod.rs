//! What optimisers use: gradients by name.

mod gradients;

pub use gradients::Gradients;
