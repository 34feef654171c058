//! Every shader of the crate, by name. `tests/shaders.rs` compares the tables with the folder.

macro_rules! wgsl {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../shaders/", $folder, $name, ".wgsl")))),*]
    };
}

/// The kernels: one entry point each, in `shaders/`.
pub const SHADERS: &[(&str, &str)] =
    wgsl!["": "cast", "coop_verify", "gemm_coop", "gemm_naive", "gemm_reduce", "gemm_tiled", "halves"];

/// The fragments that kernels import, in `shaders/common/`.
pub const FRAGMENTS: &[(&str, &str)] = wgsl!["common/":
    "a_column",
    "a_column_subgroup",
    "a_columns",
    "a_columns_subgroup",
    "activation",
    "activation_gelu",
    "activation_gelu_tanh",
    "activation_relu",
    "activation_sigmoid",
    "activation_silu",
    "activation_tanh",
    "bias",
    "bias_vector",
    "block",
    "convert",
    "convert_to_integer",
    "convert_to_real",
    "coop_load_x",
    "coop_load_x_scalar",
    "coop_stage_x",
    "coop_store_direct",
    "cross_terms",
    "cross_terms_added",
    "dims",
    "dims_uniform",
    "epilogue",
    "epilogue_forms",
    "gemm_block",
    "gemm_dims",
    "limit",
    "limit_i8",
    "limit_real",
    "load_x",
    "load_x_bf16",
    "load_x_bf16_atomic",
    "load_x_bf16x4",
    "load_x_i8",
    "load_x_packed",
    "load_x_packed4",
    "load_x_packed_atomic",
    "load_x_vec4",
    "math",
    "matrix_x",
    "matrix_x_columns",
    "multiply_add",
    "multiply_add_i32",
    "narrow",
    "narrow_bf16",
    "narrow_f16",
    "nothing",
    "pack_bf16",
    "pack_pair",
    "previous",
    "previous_element",
    "previous_vec4",
    "residual",
    "residual_matrix",
    "scaled",
    "scaled_back",
    "stage_x",
    "step_end",
    "step_end_f16",
    "step_sums",
    "step_sums_f16",
    "store_c",
    "store_c_packed4",
    "store_c_vec4",
    "store_element",
    "store_element_packed",
    "widen",
    "widen_bf16",
    "widen_f16",
    "widen_i8",
];

/// The table's name and text of this name.
pub(super) fn find(
    table: &[(&'static str, &'static str)],
    name: &str,
) -> Option<(&'static str, &'static str)> {
    table.iter().find(|(n, _)| *n == name).copied()
}
