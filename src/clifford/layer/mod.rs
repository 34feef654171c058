//! Layers of networks whose features are multivectors: weighted products, and what stands between them.

mod connected;
mod connected_back;
mod connected_problem;
mod form;
mod gates;
mod gradients;
mod operands;

pub use connected::Connected;
pub use connected_back::{ConnectedBackDims, ConnectedBackProblem, plan_connected_back};
pub use connected_problem::{ConnectedProblem, Tabled};
pub use form::{Gate, GradeNorm, LayerProduct};
pub use gates::{GatesDims, GatesProblem, plan_gates};
pub use gradients::ProductGradients;
pub use operands::LAYER_DIMENSION_AT_MOST;
