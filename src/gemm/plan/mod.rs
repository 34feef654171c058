//! How a matrix product is computed: the one choice among the kernels' tiles and numbers of splits, and the resulting steps.

mod candidates;
mod choice;
mod f16_products;
mod gemm;
mod on_device;
mod panel_steps;
mod panels;
mod predict;
mod reasons;
mod steps;
mod trial;

pub(crate) use trial::GeneratedTrial;
