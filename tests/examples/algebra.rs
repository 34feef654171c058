//! The example `algebra` as a user runs it: what expressions and tables come to, and what is refused where.

use serde_json::Value;
use support::example::{Ended, run};

/// What an expression comes to, the same on the CPU and on the device.
fn value(signature: &[&str], expression: &str) -> Value {
    let arguments = [&["--signature"], signature, &["--json", "--expr", expression]].concat();
    let report = run("algebra", &arguments, &[]).json();
    assert_eq!(report["ok"], true, "{report}");
    assert!(report["bound_ratio"].as_f64().is_some_and(|ratio| ratio <= 1.0), "{report}");
    report
}

fn assert_value(signature: &[&str], expression: &str, want: &str) {
    let report = value(signature, expression);
    assert_eq!((&report["cpu"], &report["gpu"]), (&want.into(), &want.into()), "{expression}: {report}");
}

#[test]
fn expressions_come_to_what_they_mean() {
    let Some(_) = support::gpu() else { return };
    assert_value(&["3,0,0"], "(1 + 2e12) * e3", "e3 + 2e123");
    // Every function, by a digit of its own.
    let functions = "rev(e12) + 10 * inv(0.5e1) + 100 * dual(e1) + 1000 * undual(e2) + involute(2e2) + conj(3e3) \
                     + norm(3e1 + 4e2) + grade(7 + 5e1 + e12, 1) + comm(e1, e13) + scalar(8e23, e23)";
    assert_value(&["3"], functions, "-3 + 25e1 - 2e2 - 2e3 - e12 - 1000e13 + 100e23");
    assert_value(&["3,0,1"], "e12 & e30 + (e1 ^ e2 | e2) . 3e1", "4");
    assert_value(&["3,0,1", "--null-first"], "e0 * e0 + e01 >> e1 + e1 << e12", "e0 + e2");
    // Of an algebra that nothing else is of, and of the largest: all blades.
    assert_value(&["2,1,1"], "e3 * e3 + e0 * e0 + e321", "-1 - e123");
    let report = value(&["4,3,1"], "(1 + e1234) * (e5 + e7) ^ (e2 - 0.1e0) * ~(e12 + e670)");
    assert_eq!(report["signature"], "Cl(4,3,1)");
}

#[test]
fn operators_bind_as_help_says() {
    let Some(_) = support::gpu() else { return };
    run("algebra", &["--help"], &[]).prints(["binds tightest"]);
    // Each alone would come to something else in any other order.
    let terms = [
        ("e1 * e2 ^ e1", "-e2"),
        ("e1 | e2 ^ e1", "-e2"),
        ("e1 * e1 | e1", "e1"),
        ("1 + e1 * e1", "2"),
        ("1 - 2 - 3", "-4"),
        ("e1 << e12 << e2", "1"),
        ("~e1 ^ e2", "e12"),
        ("~1 + e12", "1 + e12"),
        ("-e1 * -2 e1 ", "2"),
        ("2e-1 * 10", "2"),
    ];
    for (expression, want) in terms {
        assert_value(&["2,0,0"], expression, want);
    }
}

#[test]
fn rounding_is_within_its_bound_and_shown() {
    let Some(gpu) = support::gpu() else { return };
    let third = "norm(0.1 + 0.7e12 - 0.3e13) * inv(0.1e1 + 0.2e2) * (0.3 + 0.1e123) - 0.7e1 * 0.9e2";
    for signature in ["3,0,0", "2,1,0", "1,2,0", "0,3,0"] {
        let report = value(&[signature], third);
        assert!(report["difference"].as_f64().is_some_and(|x| x > 0.0 && x < 1e-5), "{report}");
        assert_eq!(report["device"].as_str(), Some(gpu.caps().adapter.as_str()));
    }
    run("algebra", &["--expr", third], &[]).passed().prints([
        "algebra    Cl(3,0,0)",
        "CPU  ",
        "GPU  ",
        "difference ",
        "check      ok",
    ]);
    // Beyond f32.
    let large = run("algebra", &["--expr", "1e+30 * 1e+30e1"], &[]);
    assert_eq!(large.code(), Some(1), "{large:?}");
    assert!(large.stdout.contains("inf") && large.stdout.contains("check      FAILED"), "{large:?}");
}

#[test]
fn tables_are_printed_aligned() {
    let plane = run("algebra", &["--signature", "2", "--table"], &[]).passed();
    let lines = [
        "geometric product of Cl(2,0,0): row times column",
        "    |   1   e1  e2 e12",
        "----+-----------------",
        "  1 |   1   e1  e2 e12",
        " e1 |  e1    1 e12  e2",
        " e2 |  e2 -e12   1 -e1",
        "e12 | e12  -e2  e1  -1",
    ];
    assert!(plane.stdout.lines().eq(lines), "{}", plane.stdout);
    let of = |arguments: &[&str]| run("algebra", &[&["--table", "--json"], arguments].concat(), &[]).json();
    let outer = of(&["--product", "outer"]);
    assert_eq!((&outer["product"], &outer["signature"]), (&"outer".into(), &"Cl(3,0,0)".into()));
    assert_eq!(outer["table"][2], Value::from(vec!["e2", "-e12", "0", "e23", "0", "-e123", "0", "0"]));
    let joined = of(&["--product", "regressive", "--signature", "2,0,1", "--null-first"]);
    assert_eq!(joined["blades"], Value::from(vec!["1", "e0", "e1", "e2", "e01", "e02", "e12", "e012"]));
    assert_eq!(joined["table"][5][6], "e2");
    let large = of(&["--signature", "8", "--product", "left-contraction"]);
    assert_eq!(large["table"].as_array().map(Vec::len), Some(256));
}

/// Where the caret stands under an expression, and what is behind it.
fn place(ended: &Ended) -> (usize, String) {
    assert_eq!((ended.code(), ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    let lines: Vec<&str> = ended.stderr.lines().filter(|line| !line.starts_with("tilewise: ")).collect();
    let [head, _, caret] = lines[..] else { panic!("not three lines: {ended:?}") };
    assert_eq!(head, "error: expression: it does not parse here");
    let (before, why) = caret.split_once("^ ").unwrap_or_else(|| panic!("no caret: {ended:?}"));
    (before.len() - 2, why.to_owned())
}

#[test]
fn what_does_not_parse_is_shown_with_its_place() {
    let operand = "a number, a blade, a function or `(` is expected";
    let functions =
        "`exp` is not one of the functions rev inv dual undual involute conj norm grade comm scalar";
    for (expression, column, why) in [
        ("(1 + 2e12) * e9", 13, "Cl(3,0,0) has no vector e9"),
        ("(1 + 2e12 * e3", 14, "`)` is expected"),
        ("1 + 2e12) * e3", 8, "no `(` matches this"),
        ("", 0, operand),
        ("1 + ", 4, operand),
        ("e1 ^^ e2", 4, operand),
        ("e1 e2", 3, "an operator is expected"),
        ("2 (e1)", 2, "an operator is expected"),
        ("e1 @ e2", 3, "an operator is expected"),
        ("e1 < e2", 3, "an operator is expected"),
        ("e1 + e22", 5, "e22 has e2 twice"),
        ("1 + exp(e1)", 4, functions),
        ("grade(e1, 4)", 10, "a grade of Cl(3,0,0) is expected, 0 to 3"),
        ("grade(e1, e1)", 10, "a grade of Cl(3,0,0) is expected, 0 to 3"),
        ("grade(e1)", 8, "`,` is expected"),
        ("norm e1", 5, "`(` is expected"),
        ("comm(e1, e2, e3)", 11, "`)` is expected"),
        ("1e+999", 0, "1e+999 is too large a number"),
        ("\u{3b1} + 1", 0, operand),
    ] {
        let ended = run("algebra", &["--expr", expression], &[]);
        assert_eq!(place(&ended), (column, why.to_owned()), "{expression:?}");
    }
    // Deep enough to overflow a stack, were nothing counted.
    for deep in ["(".repeat(100_000), "-".repeat(100_000), vec!["1"; 60_000].join("+")] {
        let (_, why) = place(&run("algebra", &["--expr", &deep], &[]));
        assert!(why.contains("at most 500"), "{why}");
    }
}

#[test]
fn what_has_no_value_is_refused_in_one_sentence() {
    let Some(_) = support::gpu() else { return };
    for expression in ["inv(1 + e1)", "inv(e12 - e12)", "inv(e1 + e12)"] {
        let ended = run("algebra", &["--expr", expression], &[]);
        assert!(ended.refusal().starts_with("inverse: "), "{ended:?}");
    }
    for (arguments, words) in [
        (&["--signature", "5,3,1", "--expr", "1"][..], &["5,3,1", "at most 8 basis vectors, not 9"][..]),
        (&["--signature", "3,x", "--expr", "1"], &["3,x", "three numbers"]),
        (&["--table", "--product", "cross"], &["cross", "geometric, outer"]),
        (&["--signature", "3"], &["--expr"]),
        (&["--table", "--expr", "1"], &["cannot be used with"]),
    ] {
        let ended = run("algebra", arguments, &[]);
        assert_eq!(ended.code(), Some(2), "{ended:?}");
        assert!(words.iter().all(|word| ended.stderr.contains(word)), "{words:?}: {ended:?}");
    }
}
