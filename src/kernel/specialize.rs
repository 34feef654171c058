//! Specialises shaders: turns a file of `shaders/` and a [`Kernel`]'s parameters and slots into plain WGSL.
//!
//! A shader file is WGSL with *directives*: comments that begin with `//#`, each on a line of its own. This page is their
//! reference. Directives include functions and declarations from other files, mark parameters, and unroll loops. None includes
//! statements in a function, so the `main` of a kernel can be read in its file from the first line to the last.
//!
//! # `//#import name x=a`
//! Includes the file `name`: functions and declarations that several kernels share.
//! ```text
//! //#import block
//! //#import load_quad x=a
//! //#import load_quad x=b
//! ```
//! The file is `name.wgsl` in the kernel's own folder, otherwise in `shaders/common/`.
//!
//! `x=a` renames every identifier of the file that has a part `x` between underscores: `x_tile` becomes `a_tile`, and `X_LD`
//! becomes `A_LD`. One file can thus serve several operands of a kernel. A directive may have any number of renames. A file
//! is included once for each set of renames, however often it is imported.
//!
//! # `//#slot name x=a default v`
//! Includes one *variant* of the file `name`. The plan chooses it with [`Kernel::slot`]; without a choice the variant is `v`.
//! A slot without a `default` must be filled.
//! ```text
//! //#slot load x=a default element
//! //#slot load x=b default element
//! ```
//! The slot's name in Rust is the file's name followed by the new names of its renames. These two are `load_a` and `load_b`:
//! `kernel.slot("load_b", "four")` selects the variant `four` of `common/load.wgsl` for operand B.
//!
//! The file contains all variants. Each begins with a directive; the lines above the first variant belong to every variant:
//! ```text
//! //#variant element
//! fn load_x(at: u32) -> f32 { .. }
//! //#variant four
//! fn load_x(at: u32) -> vec4<f32> { .. }
//! ```
//!
//! # `//#generated name`
//! Includes text that the plan generates for this kernel and supplies with [`Kernel::generated`]. The directive is allowed
//! only in a kernel's own file. The comment below it is the contract. `explain --text` (`examples/explain`) prints the texts of a
//! plan.
//!
//! # `//#dims`
//! Writes the struct `Dims`: the members of the Pod with which the kernel was made (`Kernel::dims`), which
//! `shader_dims!` declares. A struct `Axes` and its function `axis_at` follow if a member has this type.
//!
//! # `//#param` ... `//#end`
//! Encloses parameters: `const` and `alias` declarations with defaults, and comments. The plan sets a parameter by its name
//! with [`Kernel::param`].
//! ```text
//! //#param  set by Naive::build
//! alias sum = f32;
//! const LANES: u32 = 64u;
//! //#end
//! ```
//!
//! # `//#unroll`
//! Unrolls the `for` loop below it, whose bounds must be constant: see [`unroll`]. Inside, the loop's counter is a literal,
//! which arrays of fragments need as index. An `if` of constants below it is decided.
//!
//! # `enable`
//! Shaders need no `enable` lines for f16 and cooperative matrices. The specialiser adds them if the final text uses the types.
//!
//! # Errors
//! Every file, slot, variant and parameter that a kernel or a directive names must exist. No slot or parameter may be set
//! twice, and directives for the same slot must agree. Otherwise specialisation returns an error with the file and line.

use super::expand::{Include, expand};
use super::identifiers::tokens;
use super::library::{Library, SHADERS};
use super::report::add_report;
use super::source::Kernel;
use super::unroll::{UnrollError, unroll};
use crate::Result;
use std::collections::BTreeSet;

impl Kernel {
    /// The kernel's text as plain WGSL, with all directives expanded and all parameters set.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) with the file and line if the shader, a slot, a variant or a parameter does not
    /// exist, or a directive is invalid. Such an error is a bug in a plan or a shader.
    pub fn specialize(&self) -> Result<String> {
        specialize_from(self, &SHADERS)
    }

    /// The files of `shaders/` that the kernel includes, and the variants of those that fill slots.
    ///
    /// # Errors
    /// As [`specialize`](Self::specialize).
    pub fn includes(&self) -> Result<BTreeSet<Include>> {
        Ok(expand(self, &SHADERS)?.includes)
    }
}

/// Specialises a kernel with the files of a library.
pub(super) fn specialize_from(kernel: &Kernel, library: &Library) -> Result<String> {
    let expanded = expand(kernel, library)?;
    let text = unroll(&expanded.text).map_err(|UnrollError { line, why }| {
        kernel
            .error(expanded.locations.get(line).map_or(why.clone(), |location| format!("{location}: {why}")))
    })?;
    let text = if kernel.is_launched_in_pieces { add_first_block(kernel, &text)? } else { text };
    let text = if kernel.requires.reports_subgroup_size { add_report(kernel, &text)? } else { text };
    Ok(enable_types(&text))
}

/// The linear workgroup index, as `shaders/common/block.wgsl` computes it.
const BLOCK_INDEX: &str = "workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z)";

/// Changes a text for launches of a range of workgroups: appends the index of the first workgroup to the dims, and adds it to
/// the linear workgroup index.
fn add_first_block(kernel: &Kernel, text: &str) -> Result<String> {
    let end = text.find("struct Dims {").and_then(|start| Some(start + text[start..].find("\n}")?));
    match end {
        Some(end) if text.contains(BLOCK_INDEX) => {
            let (before, after) = text.split_at(end);
            let text = format!("{before}\n    first_block: u32, // of this launch{after}");
            Ok(text.replace(BLOCK_INDEX, &format!("dims.first_block + {BLOCK_INDEX}")))
        }
        _ => Err(kernel.error(
            "cannot be launched in pieces: its text needs `struct Dims` and the index of `common/block.wgsl`",
        )),
    }
}

/// Adds the `enable` lines that the text's types need.
fn enable_types(text: &str) -> String {
    let code = || text.lines().map(|line| line.split("//").next().unwrap_or_default()).flat_map(tokens);
    let mut enabled = String::with_capacity(text.len() + 64);
    if code().any(|word| word == "f16") {
        enabled.push_str("enable f16;\n");
    }
    if code().any(|word| word.starts_with("coop_mat")) {
        enabled.push_str("enable wgpu_cooperative_matrix;\n");
    }
    enabled + text
}

#[cfg(test)]
mod tests {
    use super::specialize_from;
    use crate::kernel::Kernel;
    use crate::kernel::library::Library;

    /// A library of the kernel `room/kernel` and the given includes, sorted by name.
    fn library(kernel: &str, includes: &[(&'static str, &'static str)]) -> Library {
        let text: &'static str = kernel.to_owned().leak();
        assert!(includes.is_sorted(), "the library searches sorted tables");
        Library { kernels: vec![("room/kernel", text)].leak(), includes: includes.to_vec().leak() }
    }

    const LOAD: (&str, &str) = (
        "common/load",
        "//! Loads.\n//#variant one\nfn load_x() {}\n//#variant two\n//#param\nconst X_WIDTH: u32 = 1u;\n//#end\nfn load_x() {}\n",
    );

    #[test]
    fn a_kernel_includes_its_imports_and_slots() {
        let includes = [
            ("common/both", "//! Imported.\nfn both_x(x_v: u32) -> u32 { return v.x; }\n"),
            LOAD,
            ("room/both", "//! In the kernel's own folder.\n//#slot load x=x default two\nfn both_x() {}\n"),
        ];
        let kernel = "//! A kernel.\n//#import both x=a\n//#import both x=a\n//#slot load x=b default one\n\
                      //#generated terms\n";
        let library = library(kernel, &includes);
        let text = |kernel: Kernel| specialize_from(&kernel, &library).unwrap();
        let kernel = Kernel::new("room/kernel").generated(
            "terms",
            "description".into(),
            "//#slot load x=b default one\nlet generated = 1;\n".into(),
        );
        assert_eq!(
            text(kernel.clone()),
            "//! A kernel.\nconst A_WIDTH: u32 = 1u;\nfn load_a() {}\nfn both_a() {}\nfn load_b() {}\nlet generated = 1;\n"
        );
        assert_eq!(
            text(kernel.slot("load_b", "two").param("A_WIDTH", "2u")),
            "//! A kernel.\nconst A_WIDTH: u32 = 2u;\nfn load_a() {}\nfn both_a() {}\nconst B_WIDTH: u32 = 1u;\nfn load_b() {}\n\
             let generated = 1;\n"
        );
    }

    #[test]
    fn generated_text_may_have_directives() {
        let includes = [("common/both", "fn both_x() {}\n"), LOAD];
        let kernel = "first\n//#generated terms\n// A contract.\nlast\n";
        let library = library(kernel, &includes);
        let kernel =
            |text: &str| Kernel::new("room/kernel").generated("terms", String::new(), text.to_owned());
        let text = |kernel: Kernel| specialize_from(&kernel, &library).unwrap();
        let terms = "//#import both x=a\n//#param\nconst N: u32 = 2u;\n//#end\n//#slot load x=b default one\n//#unroll\n\
                     for (var i = 0u; i < N; i++) {\nf(i);\n}\n";
        assert_eq!(
            text(kernel(terms)),
            "first\nfn both_a() {}\nconst N: u32 = 2u;\nfn load_b() {}\n{\nf(0u);\n}\n{\nf(1u);\n}\n// A contract.\nlast\n"
        );
        assert_eq!(
            text(kernel(terms).param("N", "1u").slot("load_b", "two")),
            "first\nfn both_a() {}\nconst N: u32 = 1u;\nconst B_WIDTH: u32 = 1u;\nfn load_b() {}\n{\nf(0u);\n}\n// A contract.\n\
             last\n"
        );
        assert_eq!(text(kernel("")), "first\n// A contract.\nlast\n");
    }

    /// The error of specialising a kernel with this text.
    fn refused(text: &str, includes: &[(&'static str, &'static str)], kernel: Kernel) -> String {
        specialize_from(&kernel, &library(text, includes)).expect_err(text).to_string()
    }

    const KERNEL: &str = "shaders/room/kernel.wgsl";

    #[test]
    fn an_unknown_name_is_an_error_that_lists_the_known_ones() {
        let text = "//! A kernel.\n//#param\nconst BM: u32 = 1u;\n//#end\n//#slot load x=a default one\n\
                    //#generated terms\n";
        let kernel = || Kernel::new("room/kernel");
        let generated = |slot, text: &str| kernel().generated(slot, String::new(), text.to_owned());
        let filled = || generated("terms", "");
        for (kernel, said) in [
            (Kernel::new("room/other"), "no shaders/room/other.wgsl".to_owned()),
            (filled().slot("load_b", "one"), format!("{KERNEL} has no slot load_b; its slots are load_a ({KERNEL}:5), terms ({KERNEL}:6)")),
            (filled().param("BN", 1), format!("{KERNEL} has no parameter BN; its parameters are BM ({KERNEL}:3)")),
            (filled().param("A_WIDTH", 1), format!("{KERNEL} has no parameter A_WIDTH; its parameters are BM ({KERNEL}:3)")),
            (
                kernel().slot("load_a", "six"),
                format!(
                    "{KERNEL}:5: slot load_a: shaders/common/load.wgsl has no variant six; its variants are one (shaders/common/load.wgsl:2), \
                     two (shaders/common/load.wgsl:4)"
                ),
            ),
            (
                filled().slot("load_a", "one").slot("load_a", "two"),
                format!("{KERNEL} has the slot load_a ({KERNEL}:5), which the kernel fills twice"),
            ),
            (
                filled().param("BM", "2u").param("BM", "4u"),
                format!("{KERNEL} has the parameter BM ({KERNEL}:3), which the kernel sets twice"),
            ),
            (
                generated("terms", "fn terms() {}\n//#import magic\n"),
                "text generated for terms:2: neither shaders/room/magic.wgsl nor shaders/common/magic.wgsl exists".to_owned(),
            ),
            (
                generated("terms", "//#generated more\n"),
                "text generated for terms:1: slot more: //#generated is only allowed in a kernel's own file".to_owned(),
            ),
            (
                filled().generated("magic", String::new(), String::new()),
                format!("{KERNEL} has no slot magic; its slots are load_a ({KERNEL}:5), terms ({KERNEL}:6)"),
            ),
            (
                generated("load_a", "fn load_a() {}\n"),
                format!("{KERNEL}:5: slot load_a takes a variant: generated text can only fill a //#generated"),
            ),
            (
                kernel().slot("terms", "one"),
                format!("{KERNEL}:6: slot terms takes generated text: it has no variant one"),
            ),
            (
                generated("terms", "").generated("terms", String::new(), String::new()),
                format!("{KERNEL} has the slot terms ({KERNEL}:6), which the kernel fills twice"),
            ),
        ] {
            let error = refused(text, &[LOAD], kernel);
            assert!(error.contains(&said), "{error}\n{said}");
        }
    }

    #[test]
    fn an_invalid_directive_is_an_error_with_file_and_line() {
        for (text, said) in [
            ("//#improt load", "1: malformed directive `//#improt load`"),
            ("\nx = 1; //#unroll", "2: `x = 1; //#unroll`: a directive must have a line of its own"),
            ("\n//#import magic", "2: neither shaders/room/magic.wgsl nor shaders/common/magic.wgsl exists"),
            ("\n//#slot magic default one", "2: neither shaders/room/magic.wgsl nor"),
            ("\n//#slot load x=a", "2: slot load_a has no default, and the kernel does not fill it"),
            ("\n//#slot load x=a default six", "2: slot load_a: shaders/common/load.wgsl has no variant six"),
            ("\n//#slot plain default one", "2: slot plain: shaders/common/plain.wgsl has no variants"),
            (
                "\n//#slot twice default a",
                "2: slot twice: shaders/common/twice.wgsl:3: the variant a is already defined at shaders/common/twice.wgsl:2",
            ),
            (
                "//#slot load x=a default one\n//#slot load x=a default two",
                "2: slot load_a has another default at shaders/room/kernel.wgsl:1",
            ),
            (
                "//#slot load x=a default one\n//#slot load y=a default one",
                "2: slot load_a has other renames at shaders/room/kernel.wgsl:1",
            ),
            ("//#import again", "again.wgsl:2: files are included too deeply"),
            (
                "//#import load x=a",
                "shaders/common/load.wgsl:2: //#variant one is only allowed in a file that fills a slot",
            ),
            (
                "//#import generated",
                "shaders/common/generated.wgsl:2: slot terms: //#generated is only allowed in a kernel's own file",
            ),
            ("\n//#generated terms\nx", "2: the kernel has no text for terms"),
            (
                "//#slot load x=a default one\n//#generated load_a\n//#generated load_a",
                "2: slot load_a is already declared at shaders/room/kernel.wgsl:1",
            ),
            ("//#param\n//#generated terms\n//#end", "2: the //#param at shaders/room/kernel.wgsl:1 needs"),
            ("//#param\nconst A: u32 = 1u;", "1: the //#param has no //#end"),
            (
                "//#param\n//#import plain\n//#end",
                "2: the //#param at shaders/room/kernel.wgsl:1 needs an //#end before this line",
            ),
            ("const A: u32 = 1u;\n//#end", "2: //#end without //#param"),
            ("//#param\nvar<private> a: u32;\n//#end", "2: `var<private> a: u32;` is not a parameter"),
            ("//#param\nconst A: u32 = 1u +\n//#end", "2: `const A: u32 = 1u +` is not a parameter"),
            (
                "//#param\nconst A: u32 = 1u;\n//#end\n//#param\nalias A = f32;\n//#end",
                "5: the parameter A is already declared at shaders/room/kernel.wgsl:2",
            ),
            (
                "fn f() {\n//#unroll\nfor (var i = 0u; i < n; i++) {\n}\n}",
                "3: cannot unroll `for (var i = 0u; i < n; i++) {`",
            ),
        ] {
            let includes = [
                ("common/again", "//! Imports itself.\n//#import again x=y_x\n"),
                ("common/generated", "//! Imported.\n//#generated terms\n"),
                LOAD,
                ("common/plain", "//! Functions.\nfn plain() {}\n"),
                ("common/twice", "//! A slot.\n//#variant a\n//#variant a\n"),
            ];
            let error = refused(text, &includes, Kernel::new("room/kernel"));
            assert!(error.contains("room/kernel") && error.contains(said), "{error}\n{said}");
            assert!(
                !said.starts_with(|c: char| c.is_ascii_digit())
                    || error.contains(&format!("{KERNEL}:{said}")),
                "{error}"
            );
        }
    }
}
