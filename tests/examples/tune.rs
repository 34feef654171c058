//! The example `tune` as a user runs it.

use support::example::run;

#[test]
fn tune_prints_what_was_chosen_before_and_what_won_and_remembers_it() {
    let Some(_) = support::gpu() else { return };
    let folder = support::folder("tune-example");
    let cache = [("TILEWISE_CACHE", folder.to_str().expect("a path"))];
    let succeeded = |arguments: &[&str]| {
        let ended = run("tune", arguments, &cache).passed();
        ended.stdout
    };
    let nothing = succeeded(&["--show"]);
    assert!(nothing.contains("nothing was tuned on this device so far"), "{nothing}");
    let arguments = ["--ops", "gemm,sketch,attention", "--sizes", "24x32x16", "--dtypes", "f32"];
    let tuned = succeeded(&arguments);
    for text in [
        "matmul 24x32x16 f32",
        "sketch of 24x16 of [16, 32] f32",
        "attention 8x1 heads, 24 queries, 32 keys of 16, f32",
        "predicted to be the fastest: ",
        "the fastest:                 won",
        "gain: ",
    ] {
        assert!(tuned.contains(text), "{text} is missing: {tuned}");
    }
    let shown = succeeded(&["--show"]);
    assert_eq!(shown.matches(", tuned on ").count(), 3, "{shown}");
    assert!(shown.contains("gemm/naive") && shown.contains("attention/attention"), "{shown}");
    let forgotten = succeeded(&["--forget"]);
    assert!(forgotten.contains("forgotten: what was tried in 3 runs"), "{forgotten}");
    assert!(succeeded(&["--show"]).contains("nothing was tuned"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn tune_refuses_what_it_cannot_do_in_plain_words() {
    let Some(_) = support::gpu() else { return };
    let folder = support::folder("tune-refused");
    let cache = [("TILEWISE_CACHE", folder.to_str().expect("a path"))];
    for (arguments, words) in [
        (&["--sizes", "12x"][..], "`12x` is not a size"),
        (&["--sizes", "1x2x3x4"], "is not a size such as 512"),
        (&["--sizes", "0"], "of numbers above 0"),
        (&["--sizes", "99999999999999999999"], "is not a size"),
        (&["--ops", "convolution"], "convolution"),
        (&["--dtypes", "f64"], "f64"),
        (&["--ops", "attention", "--dtypes", "i8"], "attention takes f32, f16 or bf16"),
        (&["--ops", "sketch", "--dtypes", "i8"], "sketch takes f32, f16 or bf16"),
        (&["--ops", "sketch", "--dtypes", "e5m2"], "sketch takes f32, f16 or bf16, not e5m2"),
        (&["--sizes", "4294967296"], "4294967296"),
    ] {
        let ended = run("tune", arguments, &cache);
        assert!(matches!(ended.code(), Some(1 | 2)) && ended.stdout.is_empty(), "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains(words), "{arguments:?}: {}", ended.stderr);
    }
    let refusal = run("tune", &[], &[("TILEWISE_CACHE", "off")]).refusal().to_owned();
    assert!(refusal.contains("TILEWISE_CACHE") && refusal.contains("off"), "{refusal}");
}
