//! The order in which weights are stored, and the recognition of embeddings.

use crate::io::Safetensors;
use wildmatch::WildMatch;

/// The order of a weight's axes in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WeightOrder {
    /// (out, in), as linear layers of PyTorch store it.
    OutIn,
    /// (in, out), as `Conv1D` of GPT-2 in transformers stores it, and `Dense` of Keras and flax.
    InOut,
}

impl WeightOrder {
    /// The word for it in metadata.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::OutIn => "out_in",
            Self::InOut => "in_out",
        }
    }
}

/// The order of a weight of this shape: from a pattern, or from the length of its bias; otherwise (out, in).
pub(super) fn order_of(
    file: &Safetensors,
    name: &str,
    prefix: &str,
    [rows, cols]: [usize; 2],
    in_out: &[String],
) -> WeightOrder {
    if in_out.iter().any(|pattern| WildMatch::new(pattern).matches(name)) {
        return WeightOrder::InOut;
    }
    let bias = format!("{prefix}bias");
    let told = rows != cols && file.shape(&bias).is_ok_and(|shape| shape == [cols]);
    if told { WeightOrder::InOut } else { WeightOrder::OutIn }
}

/// Whether this is the name of an embedding, a table whose rows a model looks up. The module's name decides, which is
/// the part before `.weight`.
pub(super) fn is_embedding(name: &str) -> bool {
    let module = name.strip_suffix(".weight").unwrap_or(name);
    let own = module.rsplit('.').next().unwrap_or(module).to_ascii_lowercase();
    own.contains("embed") || own.ends_with("_emb") || matches!(own.as_str(), "emb" | "wte" | "wpe" | "shared")
}

#[cfg(test)]
mod tests {
    use super::is_embedding;

    #[test]
    fn embeddings_are_known_by_the_names_that_models_give_them() {
        for name in [
            "wte.weight",
            "transformer.wpe.weight",
            "model.embed_tokens.weight",
            "tok_embeddings.weight",
            "bert.embeddings.word_embeddings.weight",
            "shared.weight",
            "encoder.embed_positions.weight",
            "token_emb.weight",
            "emb.weight",
            "tok_embedding",
        ] {
            assert!(is_embedding(name), "{name}");
        }
        for name in [
            "lm_head.weight",
            "h.0.mlp.c_fc.weight",
            "embeddings.LayerNorm.weight",
            "bert.embeddings.projection.weight",
            "shared_expert.up_proj.weight",
            "weight",
            "member.weight",
        ] {
            assert!(!is_embedding(name), "{name}");
        }
    }
}
