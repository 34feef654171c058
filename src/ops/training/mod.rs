//! What optimisers use: a layer's parameters and their gradients by name, and the step of gradient descent.

mod gradients;
mod parameter_mut;
mod parameters;
mod rate;

pub use gradients::Gradients;
pub(crate) use gradients::check_gradients;
pub use parameter_mut::ParameterMut;
pub use parameters::Parameters;
pub use rate::Rate;
