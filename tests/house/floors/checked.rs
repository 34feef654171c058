//! The rules on small crates: which break them, and how it is said.

use super::faults;
use super::known::Known;
use crate::imports::Imports;

/// The faults of a crate of these files.
fn of(files: &[(&str, &str)]) -> Vec<String> {
    of_known(files, &Known { circles: &[], up: &[] })
}

fn of_known(files: &[(&str, &str)], known: &Known) -> Vec<String> {
    let files = files.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
    faults(&Imports::of(&files), known)
}

#[track_caller]
fn one(files: &[(&str, &str)], expected: &str) {
    let found = of(files);
    assert!(found.len() == 1 && found[0].contains(expected), "{found:#?}");
}

#[track_caller]
fn none(files: &[(&str, &str)]) {
    assert_eq!(of(files), Vec::<String>::new());
}

const LEGAL: &[(&str, &str)] = &[
    (
        "lib.rs",
        "mod error; mod layout; pub mod gemm; pub mod planning; pub use gemm::{matmul, Gemm}; pub use half::f16;",
    ),
    ("error.rs", "pub struct Error; #[cfg(test)] mod tests { use crate::gemm::Gemm; }"),
    ("layout.rs", "use crate::error::Error; pub struct Layout;"),
    (
        "gemm/mod.rs",
        "mod api; mod problem; mod kernels; pub use api::{Gemm, matmul}; pub use problem::GemmProblem;",
    ),
    (
        "gemm/api.rs",
        "use super::problem::GemmProblem; pub struct Gemm; pub fn matmul() { super::kernels::tile(); }",
    ),
    ("gemm/problem.rs", "use crate::layout::Layout; pub struct GemmProblem;"),
    ("gemm/kernels/mod.rs", "pub mod tiled; pub use tiled::tile;"),
    ("gemm/kernels/tiled.rs", "pub fn tile() {}"),
    ("planning.rs", "pub mod gemm { pub use crate::gemm::GemmProblem; }"),
];

/// [`LEGAL`] with other texts for some files, and files more.
fn with<'a>(changed: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let kept = LEGAL.iter().filter(|(name, _)| changed.iter().all(|(other, _)| name != other));
    kept.chain(changed).copied().collect()
}

#[test]
fn a_legal_crate_has_no_faults() {
    none(LEGAL);
}

#[test]
fn an_arrow_up_is_a_fault() {
    let up =
        "src/layout.rs:2: crate::gemm::Gemm: `layout` imports src/gemm/api.rs, but `gemm` is not below it";
    one(&with(&[("layout.rs", "pub struct Layout;\nuse crate::gemm::Gemm;"), ("gemm/problem.rs", "")]), up);
}

#[test]
fn rooms_of_one_floor_do_not_import_each_other() {
    let lib = ("lib.rs", "mod gemm; mod peak;");
    let [gemm, peak] = [("gemm.rs", "use crate::peak::measure;"), ("peak.rs", "pub fn measure() {}")];
    one(&[lib, gemm, peak], "`gemm` imports src/peak.rs");
    let [gemm, peak] = [("gemm.rs", "pub fn matmul() {}"), ("peak.rs", "use crate::gemm::matmul;")];
    one(&[lib, gemm, peak], "`peak` imports src/gemm.rs");
}

#[test]
fn calls_of_methods_go_down_too() {
    let lib = ("lib.rs", "mod tensor; mod ops;");
    let tensor = ("tensor.rs", "pub struct Tensor; fn f(tensor: &Tensor) { tensor.contiguous() }");
    let ops = ("ops.rs", "use crate::tensor::Tensor; impl Tensor { pub fn contiguous(&self) {} }");
    let found = of(&[lib, tensor, ops]);
    assert!(
        found[0].contains("src/tensor.rs:1: .contiguous(): `tensor` calls a method of src/ops.rs"),
        "{found:?}"
    );
    assert!(found.len() == 2 && found[1].contains("a circle of 2 files"), "{found:?}");
    none(&[lib, ("tensor.rs", "pub struct Tensor;"), ops]);
}

#[test]
fn rooms_inside_of_a_room_have_an_order() {
    let files = |options, record| {
        [
            ("lib.rs", "mod gpu;"),
            ("gpu/mod.rs", "mod options; mod record; pub use record::work::Work;"),
            ("gpu/options/mod.rs", "pub mod chosen;"),
            ("gpu/options/chosen.rs", options),
            ("gpu/record/mod.rs", "pub mod work;"),
            ("gpu/record/work.rs", record),
        ]
    };
    none(&files("pub struct Chosen;", "use crate::gpu::options::chosen::Chosen; pub struct Work;"));
    let up = "`options` imports src/gpu/record/work.rs, but `record` is not below it";
    one(&files("use crate::gpu::Work;", "pub struct Work;"), up);
    let stray = [("lib.rs", "mod gpu;"), ("gpu/mod.rs", "mod attic;"), ("gpu/attic.rs", "")];
    one(&stray, "src/gpu/attic.rs: `gpu` has no room `attic`");
}

/// Paths in bodies, in macros, through names of modules, `super` and re-exports.
#[test]
fn every_kind_of_path_is_read() {
    let lib = (
        "lib.rs",
        "mod error; mod gemm; pub use gemm::deep::Deep; use gemm as product; pub(crate) use gemm::deep;",
    );
    let gemm = ("gemm/mod.rs", "pub mod deep;");
    let deep = ("gemm/deep.rs", "pub struct Deep; pub fn deep() {}");
    for path in [
        "fn f() { crate::gemm::deep::deep(); }",
        "fn f() -> String { format!(\"{}\", crate::gemm::deep::deep()) }",
        "fn f() { use crate::{gemm::{self}}; gemm::deep::deep() }",
        "fn f(_: Vec<crate::Deep>) {}",
        "fn f(_: super::Deep) {}",
        "use super::gemm::deep::{Deep as Other};",
        "use crate::product::deep::Deep;",
        "mod inner { fn f() { super::super::deep::deep() } }",
        "fn f() { use crate::gemm::deep::Deep; }",
        "macro_rules! f { () => { $crate::gemm::deep::deep() } }",
        "impl From<crate::gemm::deep::Deep> for u32 {}",
    ] {
        one(&[lib, gemm, deep, ("error.rs", path)], "`error` imports src/gemm/deep.rs");
    }
    for other in [
        "use std::gemm::deep::Deep;",
        "use ::gemm::deep::Deep;",
        "/// crate::gemm::deep::Deep\nfn f() {}",
        "fn f() -> &'static str { \"crate::gemm::deep::Deep\" }",
        "#[cfg(test)] mod tests { use crate::gemm::deep::Deep; }",
        "#[cfg(all(test, unix))] use crate::gemm::deep::Deep;",
        "struct S; impl S { #[cfg(test)] fn f() { crate::gemm::deep::deep() } }",
    ] {
        none(&[lib, gemm, deep, ("error.rs", other)]);
    }
    one(
        &[lib, gemm, deep, ("error.rs", "#[cfg(not(test))] use crate::gemm::deep::Deep;")],
        "`error` imports",
    );
}

#[test]
fn folders_that_import_each_other_are_a_fault() {
    let mutual = [
        ("gemm/mod.rs", "mod panels; mod kernels;"),
        ("gemm/api.rs", ""),
        ("gemm/kernels/mod.rs", "mod tiled; mod naive;"),
        ("gemm/kernels/tiled.rs", "use crate::gemm::panels::b::B; pub fn tile() {}"),
        ("gemm/kernels/naive.rs", "pub fn naive() {}"),
        ("gemm/panels/mod.rs", "mod a; pub mod b;"),
        ("gemm/panels/a.rs", "use super::super::kernels::naive::naive;"),
        ("gemm/panels/b.rs", "pub struct B;"),
        ("lib.rs", "mod gemm;"),
    ];
    one(&mutual, "src/gemm/kernels and src/gemm/panels import each other");
}

#[test]
fn a_sub_folder_and_its_parent_import_in_one_direction() {
    let tiled = |text| ("gemm/kernels/tiled.rs", text);
    let pure = "use crate::gemm::problem::GemmProblem; pub fn tile() {}";
    // The parent's `api.rs` imports the kernels, so these import none of its files.
    one(&with(&[tiled(pure)]), "src/gemm and src/gemm/kernels import each other");
    none(&with(&[tiled(pure), ("gemm/api.rs", "pub struct Gemm; pub fn matmul() {}")]));
    // `mod.rs` may list what the kernels have, if they import nothing that it defines.
    let listed = |text| ("gemm/mod.rs", text);
    let list = "mod api; mod problem; mod kernels; pub use api::{Gemm, matmul}; pub use problem::GemmProblem;
        pub use kernels::tiled::tile;";
    let plain = ("gemm/api.rs", "pub struct Gemm; pub fn matmul() {}");
    none(&with(&[tiled(pure), plain, listed(list)]));
    let defined = format!("{list} pub struct Defined;");
    let kernels = ("gemm/kernels/mod.rs", "pub mod tiled; mod naive;");
    let back = ("gemm/kernels/naive.rs", "use crate::gemm::Defined;");
    one(
        &with(&[tiled(pure), kernels, back, plain, listed(&defined)]),
        "src/gemm/kernels and src/gemm/mod.rs import each other",
    );
}

#[test]
fn a_circle_of_files_is_a_fault() {
    let lib = ("lib.rs", "mod plan;");
    let plan = ("plan/mod.rs", "mod a; mod b; mod c; pub use c::C;");
    let two = [
        lib,
        plan,
        ("plan/a.rs", "pub struct A(super::b::B);"),
        ("plan/b.rs", "pub struct B(super::a::A);"),
        ("plan/c.rs", "pub struct C;"),
    ];
    one(&two, "a circle of 2 files:");
    let three = [
        lib,
        plan,
        ("plan/a.rs", "use super::b::B; pub struct A;"),
        ("plan/b.rs", "use super::C; pub struct B;"),
        ("plan/c.rs", "use super::a::A; pub struct C;"),
    ];
    let found = of(&three);
    assert_eq!(
        found,
        [[
            "a circle of 3 files:",
            "    src/plan/a.rs:1: super::b::B of src/plan/b.rs",
            "    src/plan/b.rs:1: super::C of src/plan/c.rs",
            "    src/plan/c.rs:1: super::a::A of src/plan/a.rs"
        ]
        .join("\n")]
    );
}

#[test]
fn what_is_known_is_no_fault_until_it_is_mended() {
    let circle = [
        ("lib.rs", "mod plan;"),
        ("plan/mod.rs", "mod a; mod b;"),
        ("plan/a.rs", "pub struct A(super::b::B);"),
        ("plan/b.rs", "pub struct B(super::a::A);"),
    ];
    let known = Known { circles: &[&["plan/a.rs", "plan/b.rs"]], up: &[] };
    assert_eq!(of_known(&circle, &known), Vec::<String>::new());
    let other = Known { circles: &[&["plan/a.rs", "plan/b.rs", "plan/c.rs"]], up: &[] };
    assert_eq!(of_known(&circle, &other).len(), 2, "the circle, and one that is none");
    let up = [
        ("lib.rs", "mod error; mod gemm;"),
        ("error.rs", "use crate::gemm::Gemm;"),
        ("gemm.rs", "pub struct Gemm;"),
    ];
    let known = Known { circles: &[], up: &[("error.rs", "gemm.rs")] };
    assert_eq!(of_known(&up, &known), Vec::<String>::new());
    let found = of_known(&[("lib.rs", "")], &known);
    assert!(
        found.len() == 1 && found[0].contains("src/error.rs does not use src/gemm.rs any more"),
        "{found:?}"
    );
}

#[test]
fn the_reference_reaches_no_device() {
    let files = [
        ("lib.rs", "mod gpu; mod gemm; mod reference;"),
        ("gpu.rs", "pub struct Gpu;"),
        ("gemm.rs", "use crate::gpu::Gpu; pub struct Gemm;"),
        ("reference.rs", "use crate::gemm::Gemm;"),
    ];
    one(&files, "src/reference.rs -> src/gemm.rs -> src/gpu.rs reaches `gpu`");
}

#[test]
fn lists_define_nothing_and_files_have_rooms() {
    let defined =
        with(&[("planning.rs", "pub mod gemm {\n pub use crate::gemm::GemmProblem;\n pub fn f() {} }")]);
    one(&defined, "src/planning.rs:3: this file holds re-exports only");
    one(&[("lib.rs", "mod attic;"), ("attic.rs", "")], "src/attic.rs: there is no room `attic`");
    let lib = ("lib.rs", "mod error; mod layout;");
    one(
        &[lib, ("error.rs", ""), ("layout.rs", "use crate::error::*;")],
        "src/layout.rs:1: crate::error::*: name what",
    );
}
