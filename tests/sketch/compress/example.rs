//! The example `compress` as a user runs it: what it makes and measures, what it refuses, and how it ends.

use super::model::Model;
use serde_json::Value;
use support::example::run;

#[test]
fn the_example_measures_what_it_made() {
    let Some(gpu) = support::gpu() else { return };
    let model = Model::new::<f32>(&gpu, "example");
    let [input, output] = [&model.input, &model.output].map(|path| path.display().to_string());
    let select = ["--select", "a.*.weight", "--select", "*norm*"];
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
    for (budget, value) in [("--budget-params", "0.6"), ("--budget-flops", "0.6"), ("--max-error", "0.1")] {
        let arguments = [&[&input, &output, budget, value, "--json"], &select[..]].concat();
        let report = run("compress", &arguments, &[]).json();
        assert_eq!(
            (&report["ok"], report["device"].as_str()),
            (&true.into(), Some(gpu.caps().adapter.as_str()))
        );
        let names = report["layers"].as_array().unwrap().iter().map(|layer| layer["name"].as_str().unwrap());
        assert_eq!(names.collect::<Vec<_>>(), ["a.down.weight", "a.up.weight", "b.norm.weight"]);
        for layer in &report["layers"].as_array().unwrap()[..2] {
            let [told, measured] = ["rel_error", "measured_rel_error"].map(|key| number(&layer[key]));
            assert!((told - measured).abs() <= 1e-3 * measured && measured > 0.0, "{layer}");
            assert!(budget != "--max-error" || measured <= 0.1, "{layer}");
        }
        assert!(report["layers"][2]["dense"].as_str().is_some_and(|why| why.contains("40")), "{report}");
        let share = number(&report["params"]) / number(&report["dense_params"]);
        assert!(budget == "--max-error" || share <= 0.6, "{report}");
        assert!(number(&report["bytes"]) < number(&report["dense_bytes"]), "{report}");
        assert_eq!(model.files(), ["in.safetensors", "out.safetensors"]);
    }
    run("compress", &[&input, &output], &[]).passed().prints([
        "in.safetensors",
        "a.up.weight",
        "50.0% of the dense layer's params",
        "check      ok",
    ]);
    for (arguments, words) in [
        (&[input.as_str(), input.as_str()][..], &["is the input"][..]),
        (&["/nonexistent/x.safetensors", &output], &["/nonexistent/x.safetensors", "cannot be opened"]),
        (&[&input, "/nonexistent/x.safetensors"], &["/nonexistent/x.safetensors", "cannot be written"]),
        (&[&input, &output, "--select", "x*"], &["x*", "selects no matrix"]),
        (&[&input, &output, "--max-error", "2"], &["budget", "2"]),
        (&[&input, &output, "--budget-params=-1"], &["budget", "-1"]),
    ] {
        run("compress", &[arguments, &["--json"]].concat(), &[]).refuses(words);
    }
    let ended = run("compress", &[&input, &output, "--max-error", "0.1", "--budget-flops", "0.5"], &[]);
    assert!(ended.code() == Some(2) && ended.stderr.contains("cannot be used with"), "{ended:?}");
}
