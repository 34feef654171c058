//! Layers of transformers.

use super::{Row, row};
use pollster::block_on;
use tilewise::io::SafetensorsWriter;
use tilewise::{AttentionOptions, KeyValueCache, MultiHeadAttention, TransformerBlock, f16};

pub(super) fn rows() -> Vec<Row> {
    vec![
        row("KeyValueCache::append", |it| {
            it.transformer.cache.append(&it.transformer.keys, &it.transformer.keys)
        }),
        row("KeyValueCache::new", |it| KeyValueCache::<f32>::new(&it.gpu, [1, 2, 8, 4])),
        row("KeyValueCache::position", |it| it.transformer.replayable.position().map(drop)),
        row("KeyValueCache::replayable", |it| KeyValueCache::<f32>::replayable(&it.gpu, [1, 2, 8, 4])),
        row("MultiHeadAttention::backward", |it| {
            it.transformer.layer.backward(&it.transformer.saved, &it.transformer.x)
        }),
        row("MultiHeadAttention::backward_into", |it| {
            let of = &mut it.transformer;
            of.layer.backward_into(&of.saved, &of.x, &mut of.gradients)
        }),
        row("MultiHeadAttention::cache", |it| it.transformer.layer.cache(1, 9)),
        row("MultiHeadAttention::cast", |it| it.transformer.layer.cast::<f16>()),
        row("MultiHeadAttention::forward", |it| {
            it.transformer.layer.forward(&it.transformer.x, &AttentionOptions::new())
        }),
        row("MultiHeadAttention::forward_cached", |it| {
            let of = &mut it.transformer;
            of.layer.forward_cached(&of.x, &mut of.cache, &AttentionOptions::new())
        }),
        row("MultiHeadAttention::forward_cross", |it| {
            let of = &it.transformer;
            of.layer.forward_cross(&of.x, &of.x, &AttentionOptions::new())
        }),
        row("MultiHeadAttention::forward_cross_saved", |it| {
            let of = &it.transformer;
            of.layer.forward_cross_saved(&of.x, &of.x, &AttentionOptions::new())
        }),
        row("MultiHeadAttention::forward_saved", |it| {
            it.transformer.layer.forward_saved(&it.transformer.x, &AttentionOptions::new())
        }),
        row("MultiHeadAttention::replayable_cache", |it| it.transformer.layer.replayable_cache(1, 9)),
        row("MultiHeadAttention::save", |it| it.transformer.layer.save(SafetensorsWriter::new(), "of.")),
        row("MultiHeadAttention::save_async", |it| {
            block_on(it.transformer.layer.save_async(SafetensorsWriter::new(), "of."))
        }),
        row("TransformerBlock::cast", |it| it.transformer.block.cast::<f16>()),
        row("TransformerBlock::forward", |it| {
            it.transformer.block.forward(&it.transformer.x, &AttentionOptions::new())
        }),
        row("TransformerBlock::forward_cached", |it| {
            let of = &mut it.transformer;
            of.block.forward_cached(&of.x, &mut of.cache, &AttentionOptions::new())
        }),
        row("TransformerBlock::save", |it| it.transformer.block.save(SafetensorsWriter::new(), "of.")),
        row("TransformerBlock::save_async", |it| {
            block_on(it.transformer.block.save_async(SafetensorsWriter::new(), "of."))
        }),
        row("attention::MultiHeadAttentionBuilder::load", |it| {
            MultiHeadAttention::<f32>::builder(8, 2).load(&it.file, &it.gpu, "block.self_attn.")
        }),
        row("attention::MultiHeadAttentionBuilder::random", |it| {
            MultiHeadAttention::<f32>::builder(8, 2).random(&it.gpu)
        }),
        row("attention::TransformerBlockBuilder::load", |it| {
            TransformerBlock::<f32>::builder(8, 2, 4).load(&it.file, &it.gpu, "block.")
        }),
        row("attention::TransformerBlockBuilder::random", |it| {
            TransformerBlock::<f32>::builder(8, 2, 4).random(&it.gpu)
        }),
    ]
}
