//! The example `embed` as a user runs it: its tokens, its embeddings in each type, what it refuses, and how it ends.

use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use support::example::{Ended, run, scratch};
use support::failure::says;
use tilewise::io::Safetensors;

#[path = "../../examples/embed/wordpiece.rs"]
mod wordpiece;

use wordpiece::Wordpieces;

/// Launches of a layer besides attention: the projections, the output, two products of the feed-forward block, two norms.
const LAUNCHES: u64 = 6;
/// Launches of attention.
const ATTENTION: u64 = 1;
/// The stored sentences.
const SENTENCES: usize = 40;
const HIDDEN: usize = 384;
/// The table of words in a published file.
const WORDS: &str = "bert.embeddings.word_embeddings.weight";

/// A file of the example's model.
fn data(file: &str) -> PathBuf {
    support::root().join("examples/data/minilm").join(file)
}

fn stored() -> Value {
    let text = fs::read_to_string(data("sentences.json")).expect("the example's data are there");
    serde_json::from_str(&text).expect("the file is JSON")
}

fn ids(of: &Value) -> Vec<i32> {
    serde_json::from_value(of["ids"].clone()).expect("a list of ids")
}

#[test]
fn wordpieces_are_those_of_the_stored_texts() {
    let pieces = Wordpieces::read(&data("vocab.txt")).expect("it is a vocabulary");
    assert_eq!((pieces.len(), pieces.padding()), (5000, 0));
    let stored = stored();
    let lists = ["sentences", "tokenizer_cases"].map(|list| stored[list].as_array().expect("a list"));
    assert_eq!(lists.map(Vec::len), [SENTENCES, 19]);
    for case in lists.into_iter().flatten() {
        let text = case["text"].as_str().expect("a text");
        let tokens = pieces.tokens(text, 256);
        assert_eq!((tokens.ids.len(), tokens.ids), (tokens.whole, ids(case)), "{text:?}");
    }
    // Separators of lines and paragraphs end a word. A final sigma is the same letter as any other.
    let tokens = |text| pieces.tokens(text, 256).ids;
    assert_eq!(tokens("rain\u{2028}falls\u{2029}now"), tokens("rain falls now"));
    assert_eq!(tokens("\u{feff}rain"), tokens("rain"));
}

#[test]
fn longer_texts_than_the_limit_are_cut() {
    let pieces = Wordpieces::read(&data("vocab.txt")).expect("it is a vocabulary");
    let text = "rain ".repeat(300);
    let (cut, whole) = (pieces.tokens(&text, 256), pieces.tokens(&text, 400));
    assert_eq!((cut.ids.len(), cut.whole, whole.ids.len(), whole.whole), (256, 302, 302, 302));
    assert_eq!(cut.ids[..255], whole.ids[..255]);
    assert_eq!(cut.ids.last(), whole.ids.last());
    assert_eq!(pieces.tokens(&text, 2).ids, [2, 3], "its begin and its end");
}

#[test]
fn a_file_that_is_no_vocabulary_is_refused() {
    let path = scratch("words.txt");
    fs::write(&path, "[PAD]\n[UNK]\nrain\n").expect("the folder can be written to");
    says(Wordpieces::read(&path), &["words.txt", "it lacks [CLS], [SEP]"]);
    fs::remove_file(path).expect("it was written");
}

fn embeddings(report: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(report["embeddings"].clone()).expect("lists of numbers")
}

/// The largest difference of entries, over all sentences.
fn difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    assert_eq!(a.len(), b.len());
    let pairs = a.iter().zip(b).flat_map(|(a, b)| {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b)
    });
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn expected() -> Vec<Vec<f64>> {
    let file = Safetensors::read(data("expected.safetensors")).expect("the example's data are there");
    let values = file.values("embeddings").expect("it has embeddings");
    values.chunks(HIDDEN).map(<[f64]>::to_vec).collect()
}

/// The stored sentences in one type: every embedding, layer and rank is right.
fn assert_right(dtype: &str, tolerance: f64) {
    let Some(gpu) = support::gpu() else { return };
    let report = run("embed", &["--dtype", dtype, "--compare", "--json"], &[]).json();
    let number = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name}: {report}"));
    assert_eq!((&report["ok"], &report["dtype"]), (&true.into(), &dtype.into()));
    assert_eq!([&report["device"], &report["driver"]], [&gpu.caps().adapter, &gpu.caps().driver]);
    assert_eq!((number("sentences"), number("tokens")), (40.0, 628.0));
    assert!(number("bound_ratio") > 0.0 && number("bound_ratio") <= 1.0, "{}", report["checked"]);
    let rate = number("tokens") / number("seconds");
    assert!((number("tokens_per_second") / rate - 1.0).abs() < 1e-9);
    let plan = report["plan"].as_str().expect("the plans as text");
    // A slow device cuts a step of over half a second.
    let cut = plan.matches("1 step in 2 launches").count() as u64;
    assert_eq!(report["launches_per_layer"].as_u64(), Some(LAUNCHES + ATTENTION + cut), "{plan}");
    assert!(["query, key, value: ", "attention: ", "layer norms: "].iter().all(|step| plan.contains(step)));
    let error = difference(&embeddings(&report), &expected());
    assert!(error > 0.0 && error <= tolerance, "{dtype}: {error:.1e}");
    let shares = report["shares"].as_object().expect("a share for each kind of step");
    let total: f64 = shares.values().filter_map(Value::as_f64).sum();
    assert!(shares.len() == 8 && (total - 1.0).abs() < 1e-9, "{shares:?}");
    // Both kinds of errors of embeddings, six layers and an embedding of two sentences, and six results in a layer.
    let checked = &report["checked"];
    assert_eq!(checked["errors"].as_array().map(Vec::len), Some(2 + 2 * 7 + 6), "{checked}");
    assert_eq!((&checked["pairs"], &checked["texts"]), (&16.into(), &59.into()));
    for nothing in ["other_nearest", "lost_pairs", "other_tokens"] {
        assert_eq!(checked[nothing], json!([]), "{checked}");
    }
    let sentences = if dtype == "bf16" { 38 } else { SENTENCES };
    assert_eq!(checked["sentences"], sentences);
    if sentences == SENTENCES {
        let stored = stored();
        let nearest = stored["sentences"].as_array().expect("a list").iter().map(|s| s["nearest"].clone());
        assert_eq!(report["nearest"], nearest.collect::<Value>());
    }
}

#[test]
fn f32_embeds_as_f64_does() {
    assert_right("f32", 2e-6);
}

#[test]
fn f16_embeds_as_f64_does() {
    assert_right("f16", 5e-4);
}

#[test]
fn bf16_embeds_as_f64_does() {
    assert_right("bf16", 5e-3);
}

#[test]
fn lines_of_a_file_are_ranked_and_drawn() {
    let Some(_) = support::gpu() else { return };
    let [lines, svg] = ["lines.txt", "similarities.svg"].map(scratch);
    let stored = stored();
    let text = |index: usize| stored["sentences"][index]["text"].as_str().expect("a text");
    // A line break of Windows, an empty line, and no line break at the end.
    fs::write(&lines, format!("{}\r\n\n<&> {}", text(5), text(12))).expect("it can be written");
    let [file, picture] = [&lines, &svg].map(|path| path.display().to_string());
    let arguments = ["--file", &file, "--query", text(6), "--svg", &picture];
    let report = run("embed", &[&arguments[..], &["--json"]].concat(), &[]).json();
    let found = embeddings(&report);
    assert_eq!((found.len(), &report["ok"], &report["checked"]["sentences"]), (3, &true.into(), &6.into()));
    assert!(difference(&found[..1], &expected()[5..6]) <= 2e-6, "a line break is no part of the sentence");
    let ranking = report["ranking"].as_array().expect("a ranking");
    assert_eq!((ranking.len(), &ranking[0]["sentence"]), (3, &0.into()));
    let pair = stored["pairs"][2]["cosine"].as_f64().expect("a cosine");
    assert!((ranking[0]["cosine"].as_f64().expect("a cosine") - pair).abs() < 1e-5, "{ranking:?}");
    let drawn = fs::read_to_string(&svg).expect("the picture was written");
    assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"));
    assert_eq!(drawn.matches("<title>").count(), 9, "a cell for each pair");
    assert!(drawn.contains("&lt;&amp;>") && !drawn.contains("NaN"));
    let ended = run("embed", &["--query", &"rain ".repeat(300), text(5), text(12)], &[]).passed();
    assert!(ended.stderr.contains("note: the query has 302 tokens; it is cut to 256"), "{}", ended.stderr);
    ended.prints(["model      6 layers of 384", "query  ", "per layer", "shares ", "check      ok"]);
    let ended = run("embed", &[text(5), text(6)], &[]);
    let rows: Vec<&str> = ended.stdout.lines().skip_while(|line| !line.starts_with("cosines ")).collect();
    let starts = ["    0   1.000   0.887  Boil", "    1   0.887   1.000  Cook"];
    assert!(rows.len() > 4 && (0..2).all(|i| rows[2 + i].starts_with(starts[i])), "{}", ended.stdout);
    for path in [lines, svg] {
        fs::remove_file(path).expect("it was written");
    }
}

/// The header and the elements of the example's tensors.
fn tensors() -> (Map<String, Value>, Vec<u8>) {
    let bytes = fs::read(data("encoder.safetensors")).expect("the example's data are there");
    let length = bytes[..8].iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
    let header = serde_json::from_slice(&bytes[8..8 + length]).expect("its header is JSON");
    (header, bytes[8 + length..].to_vec())
}

/// A folder with a model of these tensors, and with the example's vocabulary.
fn model(name: &str, file: &str, header: &Map<String, Value>, elements: &[u8]) -> PathBuf {
    let folder = scratch(name);
    fs::create_dir_all(&folder).expect("the folder can be written to");
    let header = serde_json::to_vec(header).expect("it is JSON");
    let bytes = [&(header.len() as u64).to_le_bytes()[..], &header, elements].concat();
    fs::write(folder.join(file), bytes).expect("it can be written");
    fs::copy(data("vocab.txt"), folder.join("vocab.txt")).expect("the example's data are there");
    folder
}

fn run_model(folder: &Path, arguments: &[&str]) -> Ended {
    run("embed", &[&["--model", &folder.display().to_string(), "--json"], arguments].concat(), &[])
}

#[test]
fn files_of_a_published_model_are_loaded() {
    let Some(_) = support::gpu() else { return };
    let (header, mut elements) = tensors();
    // Other names, and a description next to the file.
    let tensors = header.into_iter().filter(|(name, _)| name != "__metadata__");
    let mut published: Map<_, _> = tensors.map(|(name, tensor)| (format!("bert.{name}"), tensor)).collect();
    // A word more: the longer table is at the end of the file, and the old one is a tensor that is not used.
    let words = published.remove(WORDS).expect("it has words");
    let [begin, end] =
        [0, 1].map(|i| usize::try_from(words["data_offsets"][i].as_u64().unwrap_or(0)).unwrap_or(0));
    let longer = [&elements[begin..end], &[0; 2 * HIDDEN]].concat();
    published.insert("bert.pooler.dense.weight".into(), words);
    for (name, dtype, shape, bytes) in [
        (WORDS, "F16", json!([5001, HIDDEN]), longer),
        ("bert.embeddings.position_ids", "I64", json!([1, 512]), vec![0; 8 * 512]),
    ] {
        let offsets = [elements.len(), elements.len() + bytes.len()];
        published.insert(name.into(), json!({ "dtype": dtype, "shape": shape, "data_offsets": offsets }));
        elements.extend(bytes);
    }
    let folder = model("published", "model.safetensors", &published, &elements);
    let vocabulary = fs::read_to_string(data("vocab.txt")).expect("the example's data are there");
    fs::write(folder.join("vocab.txt"), vocabulary + "unheard\n").expect("it can be replaced");
    let refused = run_model(&folder, &["x"]);
    assert!(refused.refusal().contains("config.json"), "the number of heads is unknown: {refused:?}");
    let config = json!({ "num_attention_heads": 12, "layer_norm_eps": 1e-12, "hidden_act": "gelu" });
    fs::write(folder.join("config.json"), config.to_string()).expect("it can be written");
    let report = run_model(&folder, &["Louder!"]).json();
    assert_eq!((&report["ok"], &report["checked"]["texts"]), (&true.into(), &Value::Null), "{report}");
    assert!(difference(&embeddings(&report), &expected()[19..20]) <= 2e-6);
    // With another epsilon it is another encoder, though it has the same weights.
    let config = json!({ "num_attention_heads": 12, "layer_norm_eps": 0.1 });
    fs::write(folder.join("config.json"), config.to_string()).expect("it can be written");
    let ended = run_model(&folder, &["Louder!"]);
    assert_eq!(ended.code(), Some(1), "{ended:?}");
    let report: Value = serde_json::from_str(&ended.stdout).expect("a JSON object all the same");
    assert!(report["ok"] == false && report["bound_ratio"].as_f64() > Some(1.0), "{report}");
    fs::remove_dir_all(folder).expect("it was written");
}

#[test]
fn another_model_has_no_stored_embeddings() {
    let Some(_) = support::gpu() else { return };
    let (header, mut elements) = tensors();
    let norm = &header["embeddings.LayerNorm.bias"]["data_offsets"][0];
    let begin = usize::try_from(norm.as_u64().expect("an offset")).expect("an offset");
    elements[begin..begin + 4].copy_from_slice(&0.5f32.to_le_bytes());
    let folder = model("another", "encoder.safetensors", &header, &elements);
    let report = run_model(&folder, &["--dtype", "bf16", "Louder!"]).json();
    assert_eq!((&report["ok"], &report["bound_ratio"]), (&true.into(), &Value::Null), "{report}");
    assert!(difference(&embeddings(&report), &expected()[19..20]) > 1e-4);
    let ended = run_model(&folder, &["--compare", "Louder!"]);
    ended.refuses(["--compare: the stored results are those of another model"]);
    fs::remove_dir_all(folder).expect("it was written");
}

#[test]
fn a_model_that_does_not_fit_is_refused_with_every_fault() {
    let (mut header, elements) = tensors();
    let query = "encoder.layer.3.attention.self.query.weight";
    let moved = header.remove(query).expect("it is there");
    header.insert("encoder.layer.3.extra".into(), moved);
    header["embeddings.LayerNorm.bias"]["shape"] = json!([2, 192]);
    header["encoder.layer.5.output.dense.weight"]["shape"] = json!([1536, 384]);
    let folder = model("misfit", "encoder.safetensors", &header, &elements);
    let refusal = |ended: Ended, words: &[&str]| {
        ended.refuses(words);
    };
    let faults = [
        "encoder.safetensors",
        &format!("missing: {query}"),
        "misshapen: embeddings.LayerNorm.bias [2, 192], which must be [384]",
        "encoder.layer.5.output.dense.weight [1536, 384], which must be [384, 1536]",
        "unknown: encoder.layer.3.extra",
    ];
    refusal(run_model(&folder, &[]), &faults);
    let vocabulary = fs::read_to_string(data("vocab.txt")).expect("the example's data are there");
    fs::copy(data("encoder.safetensors"), folder.join("encoder.safetensors")).expect("it can be replaced");
    fs::write(folder.join("vocab.txt"), vocabulary + "another\n").expect("it can be replaced");
    refusal(run_model(&folder, &[]), &["vocab.txt", "has 5001 pieces", "has 5000 rows"]);
    fs::remove_file(folder.join("vocab.txt")).expect("it was written");
    refusal(run_model(&folder, &[]), &["vocab.txt", "cannot be read"]);
    for (config, words) in [
        (json!({ "num_attention_heads": 7 }), &["multiple of the heads", "384 and 7"][..]),
        (json!({ "num_attention_heads": 1.5 }), &["config.json", "num_attention_heads", "1.5"]),
        (json!({ "hidden_act": "relu" }), &["config.json", "hidden_act", "relu"]),
        (json!({ "num_hidden_layers": 5 }), &["not an encoder of 5 layers", "unknown: encoder.layer.5"]),
    ] {
        fs::write(folder.join("config.json"), config.to_string()).expect("it can be written");
        refusal(run_model(&folder, &[]), words);
    }
    refusal(run_model(Path::new("/nonexistent"), &[]), &["/nonexistent", "neither encoder.safetensors"]);
    fs::remove_dir_all(folder).expect("it was written");
}

#[test]
fn wrong_input_ends_with_a_short_message() {
    let lines = scratch("latin.txt");
    let file = lines.display().to_string();
    for (bytes, words) in [
        (&b"one\ncaf\xe9\n"[..], &["latin.txt", "line 2 is not UTF-8", "byte 4"][..]),
        (b"", &["latin.txt", "holds no line"]),
        (&[b'\n'; 201], &["--svg", "at most 200", "201"]),
    ] {
        fs::write(&lines, bytes).expect("it can be written");
        run("embed", &["--file", &file, "--svg", "x.svg", "--json"], &[]).refuses(words);
    }
    fs::remove_file(lines).expect("it was written");
    run("embed", &["--file", "/nonexistent/lines"], &[]).refuses(["/nonexistent/lines: cannot be read"]);
    for arguments in [&["--dtype", "f64"][..], &["--layers", "3"], &["--file", "a", "sentence"]] {
        let ended = run("embed", arguments, &[]);
        assert_eq!((ended.code(), ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains(arguments[0]) && ended.stderr.contains("--help"), "{}", ended.stderr);
    }
}
