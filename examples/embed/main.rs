//! Embeds sentences by a BERT-style encoder: similar sentences get vectors with a large cosine.
//!
//! ```sh
//! cargo run --release --example embed
//! cargo run --release --example embed -- "The weather is fine." "What a sunny day!" "The bank closed."
//! cargo run --release --example embed -- --dtype f16 --compare --svg similarities.svg
//! cargo run --release --example embed -- --file LINES.txt --query "how do I cook rice?"
//! cargo run --release --example embed -- --model all-MiniLM-L6-v2 --json
//! ```
//! Without sentences of your own, it embeds 40 stored ones. It prints the cosines of all pairs, or of more than 12 sentences
//! the most similar one of each; tokens per second; launches per layer; and the share of each kind of step in the time. It
//! compares the embeddings of the stored sentences (with sentences of your own, of the first 8) with those of the same
//! encoder in f64, and, with `--compare`, the results of the layers too. The exit status is 0 only if every value is within
//! its tolerance, and the most similar sentences are the same where they are clear in f64. The book's page "A transformer,
//! from tokens to vectors" explains the steps.
//!
//! The model, all-MiniLM-L6-v2 with a smaller vocabulary, is in `examples/data/minilm`. `--model` takes the folder of a
//! published BERT model of this kind, with `model.safetensors`, `vocab.txt` and `config.json`; another model than
//! all-MiniLM-L6-v2 has no stored embeddings to be compared with.

mod batch;
mod check;
mod config;
mod encoder;
mod heat_map;
mod lines;
mod model;
mod passes;
mod reference;
mod report;
mod similarity;
mod speed;
mod tolerance;
mod watch;
mod wordpiece;

use batch::BATCH;
use check::{Found, compare};
use clap::{Parser, ValueEnum};
use encoder::Encoder;
use heat_map::MAX_DRAWN;
use model::Model;
use passes::{Embedded, embed, layer_plans, longest_batch, shares};
use pictures::picture::unwritable;
use reference::{Expected, Stored};
use report::{Ranking, Report};
use similarity::{Similarities, ranked};
use std::path::PathBuf;
use std::process::ExitCode;
use support::reported;
use tilewise::{Error, Gpu, Real, Result, bf16, f16};
use tolerance::Tolerance;
use wordpiece::Tokens;

/// The most sentences whose similarities are computed pair by pair.
const MAX_PAIRED: usize = 1000;

/// Embeds sentences by a BERT-style encoder, and compares their vectors.
#[derive(Parser)]
struct Args {
    /// The sentences; without them, 40 stored ones
    #[arg(value_name = "SENTENCE", conflicts_with = "file")]
    sentences: Vec<String>,
    /// Reads the sentences from this file, one a line
    #[arg(long, value_name = "LINES")]
    file: Option<PathBuf>,
    /// Ranks the sentences by their cosine with this one
    #[arg(long, value_name = "SENTENCE")]
    query: Option<String>,
    /// The folder of another model: model.safetensors, vocab.txt, config.json
    #[arg(long, value_name = "DIR", default_value_os_t = data(), hide_default_value = true)]
    model: PathBuf,
    /// The type of weights and activations
    #[arg(long, default_value = "f32")]
    dtype: Type,
    /// Compares the results of the layers too
    #[arg(long)]
    compare: bool,
    /// Times 8 texts of 64 tokens, and the products of the encoder alone
    #[arg(long)]
    speed: bool,
    /// Draws the similarities into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Type {
    F32,
    F16,
    Bf16,
}

/// The folder of the model and of the stored sentences.
fn data() -> PathBuf {
    support::data("minilm")
}

fn main() -> ExitCode {
    let args = Args::parse();
    let report = match args.dtype {
        Type::F32 => run::<f32>(&args),
        Type::F16 => run::<f16>(&args),
        Type::Bf16 => run::<bf16>(&args),
    };
    reported(report, args.json, Report::json, Report::ok)
}

fn run<T: Real>(args: &Args) -> Result<Report> {
    let model = Model::open(&args.model).map_err(left_out)?;
    let stored = Stored::read(&data().join("sentences.json")).map_err(left_out)?;
    let own = match &args.file {
        Some(path) => Some(lines::read(path)?),
        None => (!args.sentences.is_empty()).then(|| args.sentences.clone()),
    };
    let sentences = own.clone().unwrap_or_else(|| stored.texts());
    check_picture(args, sentences.len())?;
    let gpu = Gpu::open()?;
    let encoder = Encoder::<T>::load(&gpu, &model)?;
    let padding = model.pieces.padding();
    let texts = tokens(&model, &sentences, |at| format!("sentence {at}"));
    let embedded = embed(&gpu, &encoder, &texts, padding)?;
    let known = if own.is_none() { Some(&embedded) } else { None };
    let found = check(&gpu, &model, &encoder, &stored, known, args)?;
    let ranking =
        args.query.as_ref().map(|query| rank(&gpu, &model, &encoder, query, &embedded)).transpose()?;
    let similarities = (sentences.len() <= MAX_PAIRED).then(|| Similarities::of(&embedded.embeddings));
    if let (Some(path), Some(similarities)) = (&args.svg, &similarities) {
        let title = format!("{} sentences, {}", sentences.len(), T::DTYPE);
        std::fs::write(path, heat_map::svg(&title, &sentences, similarities))
            .map_err(|error| unwritable(path, &error))?;
    }
    let longest = longest_batch(&texts);
    Ok(Report {
        dtype: T::DTYPE,
        model: args.model.display().to_string(),
        config: encoder.config,
        shares: shares(&gpu, &encoder, longest, padding)?,
        plans: layer_plans(&gpu, &encoder, longest, padding)?,
        speed: if args.speed { Some(speed::speed(&gpu, &encoder, padding)?) } else { None },
        gpu,
        sentences,
        embedded,
        similarities,
        ranking,
        found,
    })
}

/// Says where the example's data are, if they are not here.
fn left_out(error: Error) -> Error {
    match error {
        Error::Input { what, why } if !data().exists() => {
            let where_from = "the published package leaves it out: run this in a clone of the repository";
            Error::Input { what, why: format!("{why}; {where_from}") }
        }
        other => other,
    }
}

/// A picture of a thousand sentences shows nothing.
fn check_picture(args: &Args, sentences: usize) -> Result<()> {
    if args.svg.is_none() || sentences <= MAX_DRAWN {
        return Ok(());
    }
    let why = format!("draws at most {MAX_DRAWN} sentences; got {sentences}");
    Err(Error::Input { what: "--svg".into(), why })
}

/// The tokens of texts. A text that is cut is reported.
fn tokens(model: &Model, texts: &[String], name: fn(usize) -> String) -> Vec<Tokens> {
    let limit = model.max_tokens();
    let all: Vec<Tokens> = texts.iter().map(|text| model.pieces.tokens(text, limit)).collect();
    for (at, text) in all.iter().enumerate().filter(|(_, text)| text.whole > limit) {
        eprintln!("note: {} has {} tokens; it is cut to {limit}", name(at), text.whole);
    }
    all
}

/// Ranks the embedded sentences by their cosine with a query.
fn rank<T: Real>(
    gpu: &Gpu,
    model: &Model,
    encoder: &Encoder<T>,
    query: &String,
    embedded: &Embedded,
) -> Result<Ranking> {
    let text = tokens(model, std::slice::from_ref(query), |_| "the query".into());
    let vector = embed(gpu, encoder, &text, model.pieces.padding())?.embeddings.concat();
    Ok(Ranking { query: query.clone(), places: ranked(&vector, &embedded.embeddings) })
}

/// Compares the embeddings of the stored sentences, if the model is the one that they were computed with.
fn check<T: Real>(
    gpu: &Gpu,
    model: &Model,
    encoder: &Encoder<T>,
    stored: &Stored,
    known: Option<&Embedded>,
    args: &Args,
) -> Result<Option<Found>> {
    let data = &data();
    let original = Model::open(data)?;
    if !model.is_one_with(&original)? {
        if args.compare {
            let why = "the stored results are those of another model".into();
            return Err(Error::Input { what: "--compare".into(), why });
        }
        return Ok(None);
    }
    let expected = Expected::read(&data.join("expected.safetensors"), stored)?;
    let same_rows = model.pieces.len() == original.pieces.len();
    let tolerance = if same_rows { Tolerance::of(T::DTYPE) } else { Tolerance::of_unrounded(T::DTYPE) };
    let (limit, padding) = (model.max_tokens(), model.pieces.padding());
    let texts: Vec<Tokens> =
        stored.sentences.iter().map(|sentence| model.pieces.tokens(&sentence.text, limit)).collect();
    let embeddings = match known {
        Some(embedded) => embedded.embeddings.clone(),
        None => embed(gpu, encoder, &texts[..BATCH.min(texts.len())], padding)?.embeddings,
    };
    let mut found = Found::of(&embeddings, stored, &expected, tolerance);
    if same_rows {
        let (others, all) = stored.other_tokens(&model.pieces, limit);
        found.tokens = Some((others.into_iter().map(str::to_owned).collect(), all));
    }
    if args.compare {
        found.rows.extend(compare(gpu, encoder, &texts, padding, &expected, tolerance)?);
    }
    Ok(Some(found))
}
