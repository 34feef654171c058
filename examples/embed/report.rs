//! The report: what the sentences have in common, what the encoder costs, and whether it is right.

use crate::batch::BATCH;
use crate::check::Found;
use crate::config::Config;
use crate::heat_map::short;
use crate::passes::Embedded;
use crate::similarity::Similarities;
use crate::speed::Speed;
use serde_json::{Value, json};
use std::fmt;
use support::significant;
use tilewise::{DType, Gpu, Plan};

/// The most lines of a table, and the most characters of a sentence in it.
const LINES: usize = 60;
const CHARACTERS: usize = 60;
/// The most sentences whose cosines are printed pair by pair. Of more, only the nearest of each is.
const PAIRED: usize = 12;
/// The places of a ranking that are printed.
const PLACES: usize = 10;

/// Embeddings, their similarities, and the check.
pub(crate) struct Report {
    pub(crate) gpu: Gpu,
    pub(crate) dtype: DType,
    pub(crate) model: String,
    pub(crate) config: Config,
    pub(crate) sentences: Vec<String>,
    pub(crate) embedded: Embedded,
    /// Of all pairs, if there are not too many sentences.
    pub(crate) similarities: Option<Similarities>,
    pub(crate) ranking: Option<Ranking>,
    /// Seconds of each kind of step in a pass of the longest batch.
    pub(crate) shares: Vec<(&'static str, f64)>,
    /// The plans of a layer in that batch, in order.
    pub(crate) plans: Vec<(&'static str, Plan)>,
    pub(crate) speed: Option<Speed>,
    /// None if the model is not the one whose embeddings are stored.
    pub(crate) found: Option<Found>,
}

/// The sentences in the order of their cosines with a query: index and cosine.
pub(crate) struct Ranking {
    pub(crate) query: String,
    pub(crate) places: Vec<(usize, f64)>,
}

impl Report {
    fn tokens_per_second(&self) -> f64 {
        self.embedded.tokens as f64 / self.embedded.seconds
    }

    /// Whether all embeddings are finite and everything that was checked is right.
    pub(crate) fn ok(&self) -> bool {
        self.embedded.embeddings.iter().flatten().all(|x| x.is_finite())
            && self.found.as_ref().is_none_or(Found::ok)
    }

    /// Each kind of step and its share of the time.
    fn shares(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let total: f64 = self.shares.iter().map(|(_, seconds)| seconds).sum();
        self.shares.iter().map(move |&(name, seconds)| (name, seconds / total))
    }

    /// The plans of a layer, as text.
    fn plan(&self) -> String {
        self.plans.iter().map(|(name, plan)| format!("{name}: {plan}\n")).collect()
    }

    pub(crate) fn json(&self) -> Value {
        let (caps, Embedded { embeddings, seconds, tokens, launches_per_layer }) =
            (self.gpu.caps(), &self.embedded);
        let speed = self.speed.as_ref().map(|speed| {
            let [texts, length] = speed.shape;
            json!({
                "texts": texts,
                "tokens": length,
                "launches_per_layer": speed.launches_per_layer,
                "encoder_seconds": speed.encoder,
                "products_seconds": speed.products.seconds,
                "over_products": speed.products.ratio,
                "products_by_weights_seconds": speed.by_weights.seconds,
                "over_products_by_weights": speed.by_weights.ratio,
            })
        });
        let ranking = self.ranking.as_ref().map(|ranking| {
            let place = |&(index, cosine): &(usize, f64)| json!({ "sentence": index, "cosine": cosine });
            ranking.places.iter().map(place).collect::<Vec<_>>()
        });
        let nearest = self.similarities.as_ref().map(|similarities| {
            let of = |index| similarities.nearest(index).map(|(nearest, _)| nearest);
            (0..similarities.count()).map(of).collect::<Vec<_>>()
        });
        json!({
            "device": caps.adapter,
            "backend": caps.backend,
            "driver": caps.driver,
            "dtype": self.dtype.to_string(),
            "model": self.model,
            "sentences": self.sentences.len(),
            "tokens": tokens,
            "seconds": seconds,
            "tokens_per_second": self.tokens_per_second(),
            "launches_per_layer": launches_per_layer,
            "shares": self.shares().map(|(name, share)| (name.to_owned(), json!(share)))
                .collect::<serde_json::Map<_, _>>(),
            "plan": self.plan(),
            "speed": speed,
            "nearest": nearest,
            "ranking": ranking,
            "embeddings": embeddings,
            "checked": self.found.as_ref().map(Found::json),
            "bound_ratio": self.found.as_ref().map(Found::bound_ratio),
            "ok": self.ok(),
        })
    }

    /// The cosines of all pairs, or the most similar other sentence of each.
    fn write_similarities(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.similarities {
            None => writeln!(f, "nearest    not computed for {} sentences", self.sentences.len()),
            Some(similarities) if similarities.count() <= PAIRED => self.write_cosines(f, similarities),
            Some(similarities) => self.write_nearest(f, similarities),
        }
    }

    /// The cosines of all pairs.
    fn write_cosines(&self, f: &mut fmt::Formatter<'_>, similarities: &Similarities) -> fmt::Result {
        let columns: String = (0..similarities.count()).map(|index| format!("{index:>8}")).collect();
        writeln!(f, "cosines    of all pairs\n     {columns}")?;
        for (index, sentence) in self.sentences.iter().enumerate() {
            let row: String = similarities.row(index).iter().map(|cosine| format!("{cosine:>8.3}")).collect();
            writeln!(f, "  {index:>3}{row}  {}", short(sentence, CHARACTERS))?;
        }
        Ok(())
    }

    /// The most similar other sentence of each.
    fn write_nearest(&self, f: &mut fmt::Formatter<'_>, similarities: &Similarities) -> fmt::Result {
        writeln!(f, "nearest    the sentence with the largest cosine")?;
        for (index, sentence) in self.sentences.iter().enumerate().take(LINES) {
            if let Some((nearest, cosine)) = similarities.nearest(index) {
                let [own, other] = [sentence, &self.sentences[nearest]].map(|text| short(text, CHARACTERS));
                writeln!(f, "  {index:>3}  {own:<CHARACTERS$}  {cosine:>6.3}  {nearest:>3}  {other}")?;
            }
        }
        if self.sentences.len() > LINES {
            writeln!(f, "  ... and {} more", self.sentences.len() - LINES)?;
        }
        Ok(())
    }
}

impl Ranking {
    fn write(&self, f: &mut fmt::Formatter<'_>, sentences: &[String]) -> fmt::Result {
        writeln!(f, "query      {}", short(&self.query, CHARACTERS))?;
        for &(index, cosine) in self.places.iter().take(PLACES) {
            writeln!(f, "  {cosine:>6.3}  {index:>3}  {}", short(&sentences[index], CHARACTERS))?;
        }
        Ok(())
    }
}

impl Found {
    fn json(&self) -> Value {
        let row =
            |row: &crate::check::Row| json!({ "name": row.name, "error": row.error, "allowed": row.allowed });
        json!({
            "errors": self.rows.iter().map(row).collect::<Vec<_>>(),
            "sentences": self.sentences,
            "other_nearest": self.other_nearest,
            "pairs": self.pairs,
            "lost_pairs": self.lost_pairs,
            "texts": self.tokens.as_ref().map(|(_, all)| all),
            "other_tokens": self.tokens.as_ref().map(|(others, _)| others),
        })
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "errors     largest, and allowed")?;
        for row in &self.rows {
            writeln!(f, "  {:<32}{:>9.2e}  {:>9.2e}", row.name, row.error, row.allowed)?;
        }
        for &index in &self.other_nearest {
            writeln!(f, "  sentence {index} has another nearest sentence than in f64")?;
        }
        for [a, b] in &self.lost_pairs {
            writeln!(f, "  sentences {a} and {b} are not each other's nearest")?;
        }
        for text in self.tokens.iter().flat_map(|(others, _)| others) {
            writeln!(f, "  other tokens than stored: {}", short(text, CHARACTERS))?;
        }
        Ok(())
    }

    /// What was checked.
    fn scope(&self) -> String {
        let tokens =
            self.tokens.as_ref().map_or(String::new(), |(_, all)| format!("tokens of {all} texts, "));
        format!(
            "{tokens}embeddings within {} of their tolerance, the nearest of {} sentences, {} pairs",
            significant(self.bound_ratio()),
            self.sentences,
            self.pairs
        )
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([texts, length], encoder) = (self.shape, significant(self.encoder * 1e3));
        writeln!(f, "speed      {texts} texts of {length} tokens: {encoder} ms")?;
        for (name, alone) in [("all products", &self.products), ("those by weights", &self.by_weights)] {
            let [milliseconds, ratio] = [alone.seconds * 1e3, alone.ratio].map(significant);
            writeln!(f, "  {name} alone {milliseconds} ms; the encoder takes {ratio} times as long")?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (caps, config, embedded) = (self.gpu.caps(), &self.config, &self.embedded);
        writeln!(f, "device     {}, {}, {}", caps.adapter, caps.backend, caps.driver)?;
        writeln!(
            f,
            "model      {} layers of {} features, {} heads, {} pieces, in {}",
            config.layers, config.hidden, config.heads, config.vocabulary, self.dtype
        )?;
        writeln!(
            f,
            "sentences  {}, of {} tokens, in batches of {BATCH}",
            self.sentences.len(),
            embedded.tokens
        )?;
        writeln!(
            f,
            "time       {} ms, {} tokens per second",
            significant(embedded.seconds * 1e3),
            significant(self.tokens_per_second())
        )?;
        writeln!(
            f,
            "launches   {} per layer, without those that add up split k",
            embedded.launches_per_layer
        )?;
        let shares: Vec<String> =
            self.shares().map(|(name, share)| format!("{name} {:.0} %", share * 100.0)).collect();
        writeln!(f, "shares     {}", shares.join("; "))?;
        for (name, plan) in &self.plans {
            let steps = plan.steps().iter().map(|step| format!("{} {}", step.kernel.shader(), step.tile));
            writeln!(f, "plan       {name}: {}", steps.collect::<Vec<_>>().join(", then "))?;
        }
        if let Some(speed) = &self.speed {
            write!(f, "{speed}")?;
        }
        match &self.ranking {
            Some(ranking) => ranking.write(f, &self.sentences)?,
            None => self.write_similarities(f)?,
        }
        let verdict = if self.ok() { "ok" } else { "FAILED" };
        match &self.found {
            None => writeln!(f, "check      {verdict} (no embeddings of this model are stored)"),
            Some(found) => {
                found.write(f)?;
                writeln!(f, "check      {verdict} ({})", found.scope())
            }
        }
    }
}
