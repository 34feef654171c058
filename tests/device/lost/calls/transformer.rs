//! Layers of transformers.

use super::Written;
use pollster::block_on;
use tilewise::io::SafetensorsWriter;
use tilewise::{AttentionOptions, KeyValueCache, MultiHeadAttention, TransformerBlock, f16};

pub(super) const CALLS: &[Written] = &[
    ("KeyValueCache::append", |it| {
        let x = it.a.reshape([1, 2, 4, 8])?.slice(3, ..4)?;
        it.transformer.cache.append(&x, &x)
    }),
    ("KeyValueCache::new", |it| KeyValueCache::<f32>::new(&it.gpu, [1, 2, 8, 4]).map(drop)),
    ("KeyValueCache::position", |it| it.transformer.replayable.position().map(drop)),
    ("KeyValueCache::replayable", |it| KeyValueCache::<f32>::replayable(&it.gpu, [1, 2, 8, 4]).map(drop)),
    ("MultiHeadAttention::backward", |it| {
        it.transformer.layer.backward(&it.transformer.saved, &it.transformer.x).map(drop)
    }),
    ("MultiHeadAttention::cache", |it| it.transformer.layer.cache(1, 9).map(drop)),
    ("MultiHeadAttention::cast", |it| it.transformer.layer.cast::<f16>().map(drop)),
    ("MultiHeadAttention::descend", |it| it.transformer.layer.descend(&it.transformer.gradients, 0.5)),
    ("MultiHeadAttention::forward", |it| {
        it.transformer.layer.forward(&it.transformer.x, &AttentionOptions::new()).map(drop)
    }),
    ("MultiHeadAttention::forward_cached", |it| {
        let of = &mut it.transformer;
        of.layer.forward_cached(&of.x, &mut of.cache, &AttentionOptions::new()).map(drop)
    }),
    ("MultiHeadAttention::forward_cross", |it| {
        let of = &it.transformer;
        of.layer.forward_cross(&of.x, &of.x, &AttentionOptions::new()).map(drop)
    }),
    ("MultiHeadAttention::forward_cross_saved", |it| {
        let of = &it.transformer;
        of.layer.forward_cross_saved(&of.x, &of.x, &AttentionOptions::new()).map(drop)
    }),
    ("MultiHeadAttention::forward_saved", |it| {
        it.transformer.layer.forward_saved(&it.transformer.x, &AttentionOptions::new()).map(drop)
    }),
    ("MultiHeadAttention::replayable_cache", |it| it.transformer.layer.replayable_cache(1, 9).map(drop)),
    ("MultiHeadAttention::save", |it| it.transformer.layer.save(SafetensorsWriter::new(), "of.").map(drop)),
    ("MultiHeadAttention::save_async", |it| {
        block_on(it.transformer.layer.save_async(SafetensorsWriter::new(), "of.")).map(drop)
    }),
    ("TransformerBlock::cast", |it| it.transformer.block.cast::<f16>().map(drop)),
    ("TransformerBlock::forward", |it| {
        it.transformer.block.forward(&it.transformer.x, &AttentionOptions::new()).map(drop)
    }),
    ("TransformerBlock::forward_cached", |it| {
        let of = &mut it.transformer;
        of.block.forward_cached(&of.x, &mut of.cache, &AttentionOptions::new()).map(drop)
    }),
    ("TransformerBlock::save", |it| it.transformer.block.save(SafetensorsWriter::new(), "of.").map(drop)),
    ("TransformerBlock::save_async", |it| {
        block_on(it.transformer.block.save_async(SafetensorsWriter::new(), "of.")).map(drop)
    }),
    ("attention::MultiHeadAttentionBuilder::load", |it| {
        MultiHeadAttention::<f32>::builder(8, 2).load(&it.file, &it.gpu, "block.self_attn.").map(drop)
    }),
    ("attention::MultiHeadAttentionBuilder::random", |it| {
        MultiHeadAttention::<f32>::builder(8, 2).random(&it.gpu).map(drop)
    }),
    ("attention::TransformerBlockBuilder::load", |it| {
        TransformerBlock::<f32>::builder(8, 2, 4).load(&it.file, &it.gpu, "block.").map(drop)
    }),
    ("attention::TransformerBlockBuilder::random", |it| {
        TransformerBlock::<f32>::builder(8, 2, 4).random(&it.gpu).map(drop)
    }),
];
