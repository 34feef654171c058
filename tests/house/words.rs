//! Words of an English of our own that are retired: the field has one for each thing.

use std::collections::BTreeMap;

/// Whole words in any case, and what to write instead. A space stands for white space, a line break in a comment, or an
/// underscore: `in halves` is `in_halves` too. To retire a word, add a line.
const WORDS: &[(&str, &str)] = &[
    ("as it lies", "stored (out, in); read in place; no copy"),
    ("as it was trained", "stored (out, in)"),
    ("as the caller has it", "say where it is stored"),
    ("at the most", "at most"),
    ("be off by", "have an error of"),
    ("beside", "next to, alongside, with"),
    ("by how much", "the number by which, the increment"),
    ("costs nothing", "say what is saved: no copy, no launch"),
    ("does no harm", "is harmless"),
    ("found out", "verified, detected"),
    ("gives back", "returns, frees"),
    ("half sign", "sign half"),
    ("half signs", "sign half"),
    ("halved axis", "split axis"),
    ("hand back", "return; backward pass (vector-Jacobian product)"),
    ("handed back", "returned"),
    ("handed over", "passed"),
    ("hands back", "returns; backward pass (vector-Jacobian product)"),
    ("hands over", "passes"),
    ("has to know", "needs"),
    ("in front of", "before, leading"),
    ("in halves", "f16 split (high half and low half)"),
    ("is handed out", "a request gets it"),
    ("is not believed", "is ignored"),
    ("is there again", "is no longer missing"),
    ("it is told", "it is detected, it is reported"),
    ("most telling", "most informative"),
    ("no matter", "regardless of"),
    ("nobody else", "uniquely owned"),
    ("of such a", "name the thing"),
    ("of which the fastest", "the result is the fastest"),
    ("parts of k", "split-k, splits"),
    ("patch", "register tile, subgroup tile; fragment of a cooperative matrix"),
    ("patches", "register tiles, subgroup tiles; fragments of cooperative matrices"),
    ("pays nothing", "say what is saved: no copy, no launch"),
    ("puts back", "restores"),
    ("roof", "peak"),
    ("roofs", "peaks"),
    ("so many", "a number, a count, at most"),
    ("so they have an end", "is bounded"),
    ("split parts", "splits"),
    ("sums in parts", "split-k"),
    ("takes back", "restores, undoes"),
    ("takes them back", "restores, undoes"),
    ("that is there", "existing"),
    ("that which", "name the thing"),
    ("there is none", "say what is missing"),
    ("thin product", "skinny product, GEMV"),
    ("thin products", "skinny products, GEMV"),
    ("what became of", "the outcome of"),
    ("what comes back", "returns; gradient"),
    ("what stands between", "elementwise operations"),
    ("whichever way", "in both cases"),
    ("worked out", "computed"),
];

/// Parts of names, in this case.
const NAMES: &[(&str, &str)] = &[
    ("_AT_MOST", "MAX_"),
    ("HalfSigns", "SignHalf"),
    ("HalvedAxis", "SplitAxis"),
    ("Walk", "the vector width, the layout of the loop"),
];

/// Where they may not occur.
const ROOMS: &[&str] = &["src", "shaders", "book/src", "README.md", "CONTRIBUTING.md", "examples", "benches"];

/// Folders of other data, of what is built, and pages that programs write.
const LEFT_OUT: &[&str] = &["benches/peers/target", "benches/results", "examples/data", "book/src/katex"];

const ENDS: &[&str] = &["rs", "wgsl", "glsl", "md", "sh", "awk", "txt", "toml"];

#[test]
fn retired_words_are_not_used() {
    let mut found = Vec::new();
    let mut counts = BTreeMap::new();
    for room in ROOMS {
        let mut files = Vec::new();
        add_files(room, &mut files);
        for file in files {
            let text = std::fs::read_to_string(support::root().join(&file)).unwrap();
            for (line, retired, instead) in retired(&text) {
                let place = file.split('/').take(2).collect::<Vec<_>>().join("/");
                *counts.entry(place).or_insert(0) += 1;
                found.push(format!("{file}:{line}: \"{retired}\": write: {instead}"));
            }
        }
    }
    assert!(
        found.is_empty(),
        "{}
{} retired words: {counts:?}",
        found.join(
            "
"
        ),
        found.len()
    );
}

/// The files of a folder, or a file that there is.
fn add_files(path: &str, files: &mut Vec<String>) {
    if support::root().join(path).is_dir() {
        let entries = std::fs::read_dir(support::root().join(path)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        for name in names {
            let path = format!("{path}/{name}");
            if !LEFT_OUT.contains(&path.as_str()) {
                add_files(&path, files);
            }
        }
    } else if support::root().join(path).is_file()
        && path.rsplit('.').next().is_some_and(|end| ENDS.contains(&end))
    {
        files.push(path.to_owned());
    }
}

/// Retired words of a text: the line, the word, what to write instead.
fn retired(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let mut found = Vec::new();
    let (words, lines) = words(text);
    for &(retired, instead) in WORDS {
        let retired_words: Vec<&str> = retired.split(' ').collect();
        for (at, part) in words.windows(retired_words.len()).enumerate() {
            if part.iter().zip(&retired_words).all(|(word, retired)| word == retired) {
                found.push((lines[at], retired, instead));
            }
        }
    }
    for (at, line) in text.lines().enumerate() {
        let names = NAMES.iter().filter(|(name, _)| line.contains(name));
        found.extend(names.map(|&(name, instead)| (at + 1, name, instead)));
    }
    found.sort_unstable();
    found
}

/// The words of a text, in lower case, and the line of each. A mark between words is a word too, but for those that begin
/// a line of a comment.
fn words(text: &str) -> (Vec<String>, Vec<usize>) {
    let (mut words, mut lines) = (Vec::new(), Vec::new());
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start().trim_start_matches(['/', '!', '#', '>']);
        let mut word = String::new();
        for c in line.chars().chain([' ']) {
            if c.is_alphabetic() {
                word.extend(c.to_lowercase());
                continue;
            }
            for word in [std::mem::take(&mut word), c.to_string()] {
                if !word.trim_matches([' ', '_']).is_empty() {
                    words.push(word);
                    lines.push(at + 1);
                }
            }
        }
    }
    (words, lines)
}

#[test]
fn words_are_found_whole() {
    let found = |text: &str| -> Vec<(usize, &str)> {
        retired(text).into_iter().map(|(line, word, _)| (line, word)).collect()
    };
    assert_eq!(found("a patch of 4 x 4;\n PATCH_ROWS"), [(1, "patch"), (2, "patch")]);
    assert_eq!(found("dispatch, roofline, despatched, Patchwork"), []);
    assert_eq!(found("/// It lies as\n/// it lies."), [(1, "as it lies")]);
    assert_eq!(found("fn in_halves() {}"), [(1, "in halves")]);
    assert_eq!(found("so. Many, so, many"), []);
    assert_eq!(found("const ROWS_AT_MOST: u32; // at most"), [(1, "_AT_MOST")]);
    assert_eq!(found("struct RowWalk; // a random walk"), [(1, "Walk")]);
}
