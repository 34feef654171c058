//! Definitions of the operations in f64, as plain loops, and the error bounds that the kernels satisfy. Applications
//! can test against them.
//!
//! | to | call |
//! |---|---|
//! | compare results with a definition and its bounds | [`Definition`], [`compare`], [`Comparison`] |
//! | bound roundings | [`gamma`], [`gamma_f16`], [`tolerance`], [`store_tolerance`], [`sum_tolerance`], [`precision_tolerance`], [`activation_tolerance`], [`slope_tolerance`] |
//! | define products | [`gemm()`], [`gemm_entries`], [`projection`], [`GemmReference`], [`EpilogueReference`], [`QuantisedReference`], [`requantise`], [`F16SplitReference`], [`f16_split`] |
//! | define functions of elements | [`apply`], [`apply_integers`], [`add`], [`sub`], [`mul`], [`activations`], [`activations_backward`], [`activate`], [`activation_slope`], [`activation_lipschitz`] |
//! | define reductions | [`sum`], [`mean`], [`max`], [`min`], [`prod`], [`max_abs`], [`sum_abs`], [`sum_squares`], [`norm`], [`var`], [`argmax`], [`argmin`], [`cumsum`] |
//! | define softmax and losses | [`softmax()`], [`log_softmax`], [`softmax_backward`], [`log_softmax_backward`], [`SoftmaxReference`], [`CrossEntropyReference`], [`LossReference`] |
//! | define norms | [`layer_norm`], [`rms_norm`], [`group_norm`], [`batch_norm`], [`layer_norm_backward`], [`rms_norm_backward`], [`group_norm_backward`], [`batch_norm_backward`] |
//! | define copies and indices | [`concat()`], [`stack`], [`repeat`], [`pad`], [`eye`], [`arange`], [`linspace`], [`tril`], [`triu`], [`one_hot`], [`embedding`], [`embedding_backward`], [`gather`], [`index_select`], [`index_add`], [`scatter_add`], [`from_texels`], [`to_texels`] |
//! | define convolutions | [`ConvReference`], [`ConvEpilogueReference`] |
//! | define operations on images | [`PoolWindows`], [`max_pool2d`], [`max_pool2d_backward`], [`avg_pool2d`], [`avg_pool2d_backward`], [`interpolate`], [`interpolate_backward`], [`pixel_shuffle`], [`pixel_unshuffle`] |
//! | define layers | [`LinearReference`], [`AttentionReference`], [`MultiHeadReference`], [`TransformerBlockReference`], [`rotary()`], [`rotary_backward`], [`rotary_angles`], [`SkLinearReference`], [`MvLinearReference`], [`MvFeaturesReference`], [`LayerProductReference`] |

mod activation;
mod attention;
mod attention_backward;
mod bounded;
mod bounds;
mod convolution;
mod cqrrpt;
mod cross_entropy;
mod elements;
mod epilogue;
mod functions;
mod gemm;
mod indexed;
mod joined;
mod layer_gate;
mod layer_product;
mod linear;
mod lines;
mod losses;
mod multi_head;
mod mv_features;
mod mv_linear;
mod norm_statistics;
mod norms;
mod pooled;
mod precision;
mod quantised;
mod reductions;
mod resized;
mod rotary;
mod shapes;
mod sk_linear;
mod softmax;
mod texels;
mod transformer_block;
mod transformer_steps;

pub use activation::{
    activate, activation_lipschitz, activation_slope, activation_tolerance, slope_tolerance,
};
pub use attention::AttentionReference;
pub use attention_backward::AttentionGradientDefinitions;
pub use bounded::{BoundedGradients, BoundedValues};
pub use bounds::{
    Comparison, MAX_F16_PRODUCTS, compare, gamma, gamma_f16, store_tolerance, sum_tolerance, tolerance,
};
pub use convolution::{ConvEpilogueReference, ConvReference};
pub use cqrrpt::{PivotedReference, cqrrpt_core};
pub use cross_entropy::{CrossEntropyReference, CrossEntropyValues, TargetValues};
pub use elements::{Definition, activations, activations_backward, add, mul, sub};
pub use epilogue::EpilogueReference;
pub use functions::{apply, apply_integers};
pub use gemm::{GemmReference, gemm, gemm_entries, projection};
pub use indexed::{embedding, embedding_backward, gather, index_add, index_select, scatter_add};
pub use joined::{concat, stack};
pub use layer_product::{LayerProductGradients, LayerProductReference};
pub use linear::{LinearDefinitions, LinearReference};
pub use losses::{LossReference, LossValues};
pub use multi_head::MultiHeadReference;
pub use mv_features::{MvFeaturesReference, MvFeaturesValues};
pub use mv_linear::{MvLinearReference, MvLinearValues};
pub use norms::{
    NormDefinition, NormGradientDefinitions, batch_norm, batch_norm_backward, group_norm,
    group_norm_backward, layer_norm, layer_norm_backward, rms_norm, rms_norm_backward,
};
pub use pooled::{PoolWindows, avg_pool2d, avg_pool2d_backward, max_pool2d, max_pool2d_backward};
pub use precision::{F16SplitReference, f16_split, precision_tolerance};
pub use quantised::{QuantisedReference, requantise};
pub use reductions::*;
pub use resized::{interpolate, interpolate_backward, pixel_shuffle, pixel_unshuffle};
pub use rotary::{rotary, rotary_angles, rotary_backward};
pub use shapes::*;
pub use sk_linear::{SkLinearGradients, SkLinearReference};
pub use softmax::{SoftmaxReference, log_softmax, log_softmax_backward, softmax, softmax_backward};
pub use texels::{from_texels, to_texels};
pub use transformer_block::TransformerBlockReference;
pub use transformer_steps::WeightAndBias;
