//! Clifford layers.

use super::world::Space;
use super::{Row, row};
use tilewise::clifford::layer::{CliffordLayer, Connected, ProductKind};
use tilewise::{Result, f16};

/// A row that works on the world's space alone.
fn of<R: 'static>(name: &'static str, example: fn(&mut Space) -> Result<R>) -> Row {
    super::row_of(name, |it| &mut it.space, example)
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        of("clifford::layer::CliffordLayer::backward", |s| s.layer.backward(&s.x, &s.y)),
        of("clifford::layer::CliffordLayer::backward_into", |s| {
            s.layer.backward_into(&s.x, &s.y, &mut s.gradients)
        }),
        of("clifford::layer::CliffordLayer::cast", |s| s.layer.cast::<f16>()),
        of("clifford::layer::CliffordLayer::forward", |s| s.layer.forward(&s.x)),
        row("clifford::layer::CliffordLayerBuilder::random", |it| {
            let builder = CliffordLayer::<f32>::builder(it.space.product, ProductKind::Steerable);
            builder.random::<f32>(&it.gpu, [2, 2])
        }),
        of("clifford::layer::Connected::backward", |s| {
            Connected::new(s.product, &s.x, &s.y, &s.weight)?.backward(&s.y)
        }),
        of("clifford::layer::Connected::run", |s| Connected::new(s.product, &s.x, &s.y, &s.weight)?.run()),
        of("clifford::layer::LayerProduct::connected", |s| s.product.connected(&s.x, &s.y, &s.weight)),
        of("clifford::layer::LayerProduct::connected_backward", |s| {
            s.product.connected_backward(&s.x, &s.y, &s.weight, &s.y)
        }),
        of("clifford::layer::LayerProduct::normalized", |s| s.product.normalized(&s.x)),
        of("clifford::layer::LayerProduct::normalized_backward", |s| {
            s.product.normalized_backward(&s.x, &s.y)
        }),
        of("clifford::layer::LayerProduct::steerable", |s| s.product.steerable(&s.x, &s.y, s.layer.weight())),
        of("clifford::layer::LayerProduct::steerable_backward", |s| {
            s.product.steerable_backward(&s.x, &s.y, s.layer.weight(), &s.y)
        }),
        of("clifford::layer::MvLayerNorm::backward", |s| s.layer_norm.backward(&s.x, &s.y)),
        of("clifford::layer::MvLayerNorm::backward_into", |s| {
            s.layer_norm.backward_into(&s.x, &s.y, &mut s.layer_norm_gradients)
        }),
        of("clifford::layer::MvLayerNorm::forward", |s| s.layer_norm.forward(&s.x)),
        of("clifford::layer::MvLinear::backward", |s| s.linear.backward(&s.x, &s.y)),
        of("clifford::layer::MvLinear::backward_into", |s| {
            s.linear.backward_into(&s.x, &s.y, &mut s.linear_gradients)
        }),
        of("clifford::layer::MvLinear::cast", |s| s.linear.cast::<f16>()),
        of("clifford::layer::MvLinear::forward", |s| s.linear.forward(&s.x)),
        of("clifford::layer::MvNormalization::backward", |s| s.normalization.backward(&s.x, &s.y)),
        of("clifford::layer::MvNormalization::backward_into", |s| {
            s.normalization.backward_into(&s.x, &s.y, &mut s.normalization_gradients)
        }),
        of("clifford::layer::MvNormalization::forward", |s| s.normalization.forward(&s.x)),
        of("clifford::layer::MvSilu::backward", |s| s.silu.backward(&s.x, &s.y)),
        of("clifford::layer::MvSilu::backward_into", |s| {
            s.silu.backward_into(&s.x, &s.y, &mut s.silu_gradients)
        }),
        of("clifford::layer::MvSilu::forward", |s| s.silu.forward(&s.x)),
    ]
}
