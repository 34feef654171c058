//! Layers of transformers.

use super::{Row, row};
use pollster::block_on;
use tilewise::attention::{AttentionOptions, KeyValueCache, MultiHeadAttention, TransformerBlock};
use tilewise::f16;
use tilewise::io::SafetensorsWriter;

pub(super) fn rows() -> Vec<Row> {
    vec![
        row("attention::KeyValueCache::append", |it| {
            it.transformer.cache.append(&it.transformer.keys, &it.transformer.keys)
        }),
        row("attention::KeyValueCache::new", |it| KeyValueCache::<f32>::new(&it.gpu, [1, 2, 8, 4])),
        row("attention::KeyValueCache::position", |it| it.transformer.replayable.position().map(drop)),
        row("attention::KeyValueCache::replayable", |it| {
            KeyValueCache::<f32>::replayable(&it.gpu, [1, 2, 8, 4])
        }),
        row("attention::MultiHeadAttention::backward", |it| {
            it.transformer.layer.backward(&it.transformer.saved, &it.transformer.x)
        }),
        row("attention::MultiHeadAttention::backward_into", |it| {
            let of = &mut it.transformer;
            of.layer.backward_into(&of.saved, &of.x, &mut of.gradients)
        }),
        row("attention::MultiHeadAttention::cache", |it| it.transformer.layer.cache(1, 9)),
        row("attention::MultiHeadAttention::cast", |it| it.transformer.layer.cast::<f16>()),
        row("attention::MultiHeadAttention::forward", |it| {
            it.transformer.layer.forward(&it.transformer.x, &AttentionOptions::new())
        }),
        row("attention::MultiHeadAttention::forward_cached", |it| {
            let of = &mut it.transformer;
            of.layer.forward_cached(&of.x, &mut of.cache, &AttentionOptions::new())
        }),
        row("attention::MultiHeadAttention::forward_cross", |it| {
            let of = &it.transformer;
            of.layer.forward_cross(&of.x, &of.x, &AttentionOptions::new())
        }),
        row("attention::MultiHeadAttention::forward_cross_saved", |it| {
            let of = &it.transformer;
            of.layer.forward_cross_saved(&of.x, &of.x, &AttentionOptions::new())
        }),
        row("attention::MultiHeadAttention::forward_saved", |it| {
            it.transformer.layer.forward_saved(&it.transformer.x, &AttentionOptions::new())
        }),
        row("attention::MultiHeadAttention::replayable_cache", |it| {
            it.transformer.layer.replayable_cache(1, 9)
        }),
        row("attention::MultiHeadAttention::save", |it| {
            it.transformer.layer.save(SafetensorsWriter::new(), "of.")
        }),
        row("attention::MultiHeadAttention::save_async", |it| {
            block_on(it.transformer.layer.save_async(SafetensorsWriter::new(), "of."))
        }),
        row("attention::TransformerBlock::cast", |it| it.transformer.block.cast::<f16>()),
        row("attention::TransformerBlock::forward", |it| {
            it.transformer.block.forward(&it.transformer.x, &AttentionOptions::new())
        }),
        row("attention::TransformerBlock::forward_cached", |it| {
            let of = &mut it.transformer;
            of.block.forward_cached(&of.x, &mut of.cache, &AttentionOptions::new())
        }),
        row("attention::TransformerBlock::save", |it| {
            it.transformer.block.save(SafetensorsWriter::new(), "of.")
        }),
        row("attention::TransformerBlock::save_async", |it| {
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
