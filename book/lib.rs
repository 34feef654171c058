//! Doc tests and tests of the book. Every Rust block of the chapters and of the README is compiled and run as a doc test.
//! The unit tests compare quoted lines and tables with the code.
//!
//! `cargo test --release -p tilewise-book` runs both.

pub mod gated_block;
pub mod minilm;

/// Declares a module for each chapter, so that its doc tests are reported with the chapter's line numbers.
macro_rules! chapters {
    ($($name:ident: $file:literal),* $(,)?) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!($file)]
            mod $name {}
        )*

        #[cfg(test)]
        const CHAPTERS: &[(&str, &str)] = &[$(($file, include_str!($file))),*];
    };
}

chapters! {
    readme: "../README.md",
    introduction: "src/introduction.md",
    quickstart: "src/quickstart.md",
    data_flow: "src/data-flow.md",
    ordering: "src/ordering.md",
    replay: "src/replay.md",
    staging: "src/staging.md",
    wgpu_applications: "src/wgpu-applications.md",
    forms: "src/forms.md",
    types: "src/types.md",
    ops: "src/ops.md",
    ops_reference: "src/ops-reference.md",
    ops_kernels: "src/ops-kernels.md",
    convolution: "src/convolution.md",
    attention: "src/attention.md",
    transformer_layers: "src/transformer-layers.md",
    transformer: "src/transformer.md",
    writing_a_layer: "src/writing-a-layer.md",
    sketching: "src/sketching.md",
    factorisations: "src/factorisations.md",
    sketched_layers: "src/sketched-layers.md",
    compressing: "src/compressing.md",
    clifford: "src/clifford.md",
    motors: "src/motors.md",
    clifford_layers: "src/clifford-layers.md",
    vulkan_applications: "src/vulkan-applications.md",
    numerics: "src/numerics.md",
    porting: "src/porting.md",
    precision: "src/precision.md",
    portability: "src/portability.md",
    drivers: "src/drivers.md",
    troubleshooting: "src/troubleshooting.md",
    gemm: "src/gemm.md",
    start_up: "src/start-up.md",
    tensor_cores: "src/tensor-cores.md",
    gemv: "src/gemv.md",
    clifford_kernels: "src/clifford-kernels.md",
    adding_a_kernel: "src/adding-a-kernel.md",
    measuring: "src/measuring.md",
    benchmark: "src/benchmark.md",
    cost_model: "src/cost-model.md",
    results_gpu: "src/results-gpu.md",
    results_software: "src/results-software.md",
    peers: "src/peers.md",
    lavapipe: "src/lavapipe.md",
    tuning: "src/tuning.md",
    modules: "src/modules.md",
    compilers: "src/compilers.md",
    rejected: "src/rejected.md",
    glossary: "src/glossary.md",
}

#[cfg(test)]
mod tests;
