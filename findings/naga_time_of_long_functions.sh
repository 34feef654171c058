#!/usr/bin/env bash
# naga 30 reads WGSL in a time that grows with the square of the length of a function.
#
# Guess: a text twice as long takes twice as long to parse, whether its statements are in one function or in many.
# Seen: in many short functions that is so. In one function, time grows with the square of the number of expressions: from some
# thousands on, most of it. For each expression naga asks for the types that it has not resolved yet by
# `expressions.iter().skip(resolved)`; the iterator is a `map`, which skips one by one, so that every expression walks over all
# before it (`Typifier::grow`). Generated kernels that unroll their loops are such functions; what is moved to a function of its own
# is read faster.
#
# Version: naga 30.0.2 of crates.io, at opt-level 3. Run on Debian 12, x86-64, with Rust 1.95. Four times as many statements took 14
# to 15 times as long in one function (91 ms, 1.33 s), and 4 times as long in functions of 100 (10 ms, 45 ms).
# Passes where this is what happens (at least 8 times, and at most 6 times), and fails where it has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cargo init --quiet --vcs none --name reading
cat >>Cargo.toml <<'END'
naga = { version = "=30.0.2", features = ["wgsl-in"] }

[profile.release]
opt-level = 3
END
cat >src/main.rs <<'END'
use std::fmt::Write;
use std::time::Instant;

/// Statements in functions of at most `each`.
fn text(statements: usize, each: usize) -> String {
    let mut text = String::new();
    let functions = statements.div_ceil(each);
    for function in 0..functions {
        writeln!(text, "fn part{function}(given: f32) -> f32 {{\n    var x = given;").unwrap();
        for at in 0..each.min(statements - function * each) {
            writeln!(text, "    x = x * {at}.5 + given;").unwrap();
        }
        writeln!(text, "    return x;\n}}").unwrap();
    }
    text
}

/// The fastest of five.
fn seconds(text: &str) -> f64 {
    let once = || {
        let start = Instant::now();
        naga::front::wgsl::parse_str(text).unwrap();
        start.elapsed().as_secs_f64()
    };
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn main() {
    const FEW: usize = 5_000;
    let mut ratios = [0.0; 2];
    for (ratio, (name, each)) in ratios.iter_mut().zip([("one function", usize::MAX), ("functions of 100", 100)]) {
        let [few, many] = [FEW, 4 * FEW].map(|count| seconds(&text(count, each.min(count))));
        *ratio = many / few;
        println!("{name:<17} {FEW} statements {:6.1} ms, {} statements {:7.1} ms: {ratio:4.1} times", few * 1e3, 4 * FEW, many * 1e3);
    }
    std::process::exit(i32::from(ratios[0] < 8.0 || ratios[1] > 6.0));
}
END
cargo run --quiet --release
