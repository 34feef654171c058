//! Layers of transformers.

use super::world::Transformer;
use super::{Row, row};
use pollster::block_on;
use tilewise::attention::{AttentionOptions, KeyValueCache, MultiHeadAttention, TransformerBlock};
use tilewise::io::SafetensorsWriter;
use tilewise::{Result, f16};

/// A row that works on the world's transformer alone.
fn of<R: 'static>(name: &'static str, example: fn(&mut Transformer) -> Result<R>) -> Row {
    super::row_of(name, |it| &mut it.transformer, example)
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        of("attention::KeyValueCache::append", |t| t.cache.append(&t.keys, &t.keys)),
        row("attention::KeyValueCache::new", |it| KeyValueCache::<f32>::new(&it.gpu, [1, 2, 8, 4])),
        of("attention::KeyValueCache::position", |t| t.replayable.position().map(drop)),
        row("attention::KeyValueCache::replayable", |it| {
            KeyValueCache::<f32>::replayable(&it.gpu, [1, 2, 8, 4])
        }),
        of("attention::MultiHeadAttention::backward", |t| t.layer.backward(&t.saved, &t.x)),
        of("attention::MultiHeadAttention::backward_into", |t| {
            t.layer.backward_into(&t.saved, &t.x, &mut t.gradients)
        }),
        of("attention::MultiHeadAttention::cache", |t| t.layer.cache(1, 9)),
        of("attention::MultiHeadAttention::cast", |t| t.layer.cast::<f16>()),
        of("attention::MultiHeadAttention::forward", |t| t.layer.forward(&t.x, &AttentionOptions::new())),
        of("attention::MultiHeadAttention::forward_cached", |t| {
            t.layer.forward_cached(&t.x, &mut t.cache, &AttentionOptions::new())
        }),
        of("attention::MultiHeadAttention::forward_cross", |t| {
            t.layer.forward_cross(&t.x, &t.x, &AttentionOptions::new())
        }),
        of("attention::MultiHeadAttention::forward_cross_saved", |t| {
            t.layer.forward_cross_saved(&t.x, &t.x, &AttentionOptions::new())
        }),
        of("attention::MultiHeadAttention::forward_saved", |t| {
            t.layer.forward_saved(&t.x, &AttentionOptions::new())
        }),
        of("attention::MultiHeadAttention::replayable_cache", |t| t.layer.replayable_cache(1, 9)),
        of("attention::MultiHeadAttention::save", |t| t.layer.save(SafetensorsWriter::new(), "of.")),
        of("attention::MultiHeadAttention::save_async", |t| {
            block_on(t.layer.save_async(SafetensorsWriter::new(), "of."))
        }),
        of("attention::TransformerBlock::cast", |t| t.block.cast::<f16>()),
        of("attention::TransformerBlock::forward", |t| t.block.forward(&t.x, &AttentionOptions::new())),
        of("attention::TransformerBlock::forward_cached", |t| {
            t.block.forward_cached(&t.x, &mut t.cache, &AttentionOptions::new())
        }),
        of("attention::TransformerBlock::save", |t| t.block.save(SafetensorsWriter::new(), "of.")),
        of("attention::TransformerBlock::save_async", |t| {
            block_on(t.block.save_async(SafetensorsWriter::new(), "of."))
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
