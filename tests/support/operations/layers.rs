//! Clifford layers.

use super::{Row, row};
use tilewise::clifford::layer::{CliffordLayer, Connected, ProductKind};
use tilewise::f16;

pub(super) fn rows() -> Vec<Row> {
    vec![
        row("clifford::layer::CliffordLayer::backward", |it| {
            it.space.layer.backward(&it.space.x, &it.space.y)
        }),
        row("clifford::layer::CliffordLayer::backward_into", |it| {
            it.space.layer.backward_into(&it.space.x, &it.space.y, &mut it.space.gradients)
        }),
        row("clifford::layer::CliffordLayer::cast", |it| it.space.layer.cast::<f16>()),
        row("clifford::layer::CliffordLayer::forward", |it| it.space.layer.forward(&it.space.x)),
        row("clifford::layer::CliffordLayerBuilder::random", |it| {
            let builder = CliffordLayer::<f32>::builder(it.space.product, ProductKind::Steerable);
            builder.random::<f32>(&it.gpu, [2, 2])
        }),
        row("clifford::layer::Connected::backward", |it| {
            Connected::new(it.space.product, &it.space.x, &it.space.y, &it.space.weight)?
                .backward(&it.space.y)
        }),
        row("clifford::layer::Connected::run", |it| {
            Connected::new(it.space.product, &it.space.x, &it.space.y, &it.space.weight)?.run()
        }),
        row("clifford::layer::LayerProduct::connected", |it| {
            it.space.product.connected(&it.space.x, &it.space.y, &it.space.weight)
        }),
        row("clifford::layer::LayerProduct::connected_backward", |it| {
            it.space.product.connected_backward(&it.space.x, &it.space.y, &it.space.weight, &it.space.y)
        }),
        row("clifford::layer::LayerProduct::normalized", |it| it.space.product.normalized(&it.space.x)),
        row("clifford::layer::LayerProduct::normalized_backward", |it| {
            it.space.product.normalized_backward(&it.space.x, &it.space.y)
        }),
        row("clifford::layer::LayerProduct::steerable", |it| {
            it.space.product.steerable(&it.space.x, &it.space.y, it.space.layer.weight())
        }),
        row("clifford::layer::LayerProduct::steerable_backward", |it| {
            it.space.product.steerable_backward(
                &it.space.x,
                &it.space.y,
                it.space.layer.weight(),
                &it.space.y,
            )
        }),
        row("clifford::layer::MvLayerNorm::backward", |it| {
            it.space.layer_norm.backward(&it.space.x, &it.space.y)
        }),
        row("clifford::layer::MvLayerNorm::backward_into", |it| {
            it.space.layer_norm.backward_into(&it.space.x, &it.space.y, &mut it.space.layer_norm_gradients)
        }),
        row("clifford::layer::MvLayerNorm::forward", |it| it.space.layer_norm.forward(&it.space.x)),
        row("clifford::layer::MvLinear::backward", |it| it.space.linear.backward(&it.space.x, &it.space.y)),
        row("clifford::layer::MvLinear::backward_into", |it| {
            it.space.linear.backward_into(&it.space.x, &it.space.y, &mut it.space.linear_gradients)
        }),
        row("clifford::layer::MvLinear::cast", |it| it.space.linear.cast::<f16>()),
        row("clifford::layer::MvLinear::forward", |it| it.space.linear.forward(&it.space.x)),
        row("clifford::layer::MvNormalization::backward", |it| {
            it.space.normalization.backward(&it.space.x, &it.space.y)
        }),
        row("clifford::layer::MvNormalization::backward_into", |it| {
            it.space.normalization.backward_into(
                &it.space.x,
                &it.space.y,
                &mut it.space.normalization_gradients,
            )
        }),
        row("clifford::layer::MvNormalization::forward", |it| it.space.normalization.forward(&it.space.x)),
        row("clifford::layer::MvSilu::backward", |it| it.space.silu.backward(&it.space.x, &it.space.y)),
        row("clifford::layer::MvSilu::backward_into", |it| {
            it.space.silu.backward_into(&it.space.x, &it.space.y, &mut it.space.silu_gradients)
        }),
        row("clifford::layer::MvSilu::forward", |it| it.space.silu.forward(&it.space.x)),
    ]
}
