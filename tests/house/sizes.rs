//! Files hold one concept each: not more than a few screens, and not less than is worth a file.

use crate::floors::rust_files;

/// Lines that a file has at most.
const MAX_LINES: usize = 400;

/// Lines below which a file of `src` needs a reason.
const MIN_LINES: usize = 30;

/// Short files and why they are files.
const SHORT: &[(&str, &str)] = &[
    ("caps/assumptions.rs", "a type that only tests set"),
    ("caps/units.rs", "formatting that caps and machine share"),
    ("caps/robust_access.rs", "a type of its own"),
    ("clifford/layer/product/gradients.rs", "the gradients that both products return"),
    ("gpu/buffers/outcome.rs", "a type that recordings, staging slots and the count of uploads share"),
    ("gpu/kernels/prepared.rs", "a type that the plan cache and execution share"),
    ("gpu/handle/untested.rs", "a type that the handle and the tests of rows share"),
    ("gpu/extensions/absent.rs", "the answers where there is no Vulkan"),
    ("gpu/extensions/matrices.rs", "a type that both kinds of answers share"),
    ("kernel/grid.rs", "the one function of grids"),
    ("layout/overflow.rs", "a type of its own"),
    ("ops/norm/layouts.rs", "the operands of both kinds of norms"),
    ("tensor/view.rs", "the methods of a tensor that plans use"),
];

#[test]
fn files_have_less_than_400_lines() {
    let mut faults = Vec::new();
    for folder in ["src", "tests"] {
        for (file, text) in rust_files(folder) {
            let lines = text.lines().count();
            if lines >= MAX_LINES {
                faults.push(format!("{folder}/{file}: {lines} lines; split it by concept"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Lists of modules and re-exports, `mod.rs`, are as long as they are.
#[test]
fn short_files_have_a_reason() {
    let files = rust_files("src");
    let is_short = |file: &str| files.get(file).is_some_and(|text| text.lines().count() < MIN_LINES);
    let mut faults = Vec::new();
    for file in files.keys().filter(|file| !file.ends_with("mod.rs") && is_short(file)) {
        if SHORT.iter().all(|(short, _)| short != file) {
            faults.push(format!(
                "src/{file}: less than {MIN_LINES} lines; join it to what it belongs to, or give a reason"
            ));
        }
    }
    for (file, _) in SHORT.iter().filter(|(file, _)| !is_short(file)) {
        faults.push(format!("src/{file}: needs no reason any more"));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
