//! The text work on shaders. The directives, which are comments of WGSL, each in a line of its own:
//!
//! - `//#import name x=a` pastes the functions and declarations of the file `name`, with every part `x` of its identifiers
//!   renamed to `a` (and `X` to `A`), so that one file serves several operands. What is imported twice is pasted once. A file
//!   is looked for in the kernel's folder, then in `common/`.
//! - `//#slot name x=a default v` pastes the variant of the file `name` that the plan has chosen, or else `v`. The slot of this
//!   example is called `name_a`. Variants begin with `//#variant v`; what stands above the first is pasted with each.
//! - `//#made name` ... `//#end`, in a kernel's own file, is a slot for text that plans make. What stands between, a sample, is
//!   pasted where none is made.
//! - `//#param` ... `//#end` holds `const` and `alias` defaults that the kernel sets by name.
//! - `//#unroll` before a loop with constant bounds writes it out.
//!
//! No directive pastes statements into a function: the `main` of a kernel stands in its file from the first line to the last.
//!
//! What a kernel or a directive names must exist, and what is pasted must agree with itself: all else is an error that says
//! where.

use super::library::{Library, SHADERS};
use super::paste::{Part, paste};
use super::source::Kernel;
use super::unroll::{UnrollError, unroll};
use super::words::words;
use crate::Result;
use std::collections::BTreeSet;

impl Kernel {
    /// The shader's text: what directives stand for pasted, parameters set, marked loops written out. Plain WGSL.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) if the shader, a slot, a variant or a parameter does not exist, or a directive cannot be followed; it
    /// says where. That is a bug in the plan or in the shader.
    pub fn specialize(&self) -> Result<String> {
        specialize_from(self, &SHADERS)
    }

    /// What the shader's text is made of beside its own file: files of `shaders/`, and which variants of those that fill slots.
    ///
    /// # Errors
    /// As [`specialize`](Self::specialize).
    pub fn parts(&self) -> Result<BTreeSet<Part>> {
        Ok(paste(self, &SHADERS)?.parts)
    }
}

/// The text of a kernel whose files are those of `library`.
pub(super) fn specialize_from(kernel: &Kernel, library: &Library) -> Result<String> {
    let pasted = paste(kernel, library)?;
    let text = unroll(&pasted.text).map_err(|UnrollError { line, why }| {
        kernel.error(pasted.places.get(line).map_or(why.clone(), |place| format!("{place}: {why}")))
    })?;
    let text = if kernel.is_in_pieces { from_block(kernel, &text)? } else { text };
    Ok(enable_types(&text))
}

/// How a shader counts its workgroups (`shaders/common/block.wgsl`).
const BLOCK: &str = "workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z)";

/// The same text for launches of a range of workgroups: one more field of the dims says which is the first.
fn from_block(kernel: &Kernel, text: &str) -> Result<String> {
    let end = text.find("struct Dims {").and_then(|start| Some(start + text[start..].find("\n}")?));
    match end {
        Some(end) if text.contains(BLOCK) => {
            let (before, behind) = text.split_at(end);
            let text = format!("{before}\n    first_block: u32, // of this launch{behind}");
            Ok(text.replace(BLOCK, &format!("dims.first_block + {BLOCK}")))
        }
        _ => {
            Err(kernel
                .error("cannot be launched in pieces: it has no dims or counts its workgroups otherwise"))
        }
    }
}

/// Puts the `enable` lines that the types ask for at the top.
fn enable_types(text: &str) -> String {
    let code = || text.lines().map(|line| line.split("//").next().unwrap_or_default()).flat_map(words);
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

    /// A library of one kernel, `room/kernel`, and these parts, in the order of their names.
    fn library(kernel: &str, parts: &[(&'static str, &'static str)]) -> Library {
        let text: &'static str = kernel.to_owned().leak();
        assert!(parts.is_sorted(), "as the library is");
        Library { kernels: vec![("room/kernel", text)].leak(), parts: parts.to_vec().leak() }
    }

    const LOAD: (&str, &str) = (
        "common/load",
        "//! Loads.\n//#variant one\nfn load_x() {}\n//#variant two\n//#param\nconst X_WIDTH: u32 = 1u;\n//#end\nfn load_x() {}\n",
    );

    #[test]
    fn a_kernel_is_pasted_from_its_parts() {
        let parts = [
            ("common/both", "//! Imported.\nfn both_x(x_v: u32) -> u32 { return v.x; }\n"),
            LOAD,
            ("room/both", "//! In the kernel's own room.\n//#slot load x=x default two\nfn both_x() {}\n"),
        ];
        let kernel = "//! A kernel.\n//#import both x=a\n//#import both x=a\n//#slot load x=b default one\n\
                      //#made terms\nlet sample = 1;\n//#end\n";
        let library = library(kernel, &parts);
        let text = |kernel: Kernel| specialize_from(&kernel, &library).unwrap();
        let kernel = Kernel::new("room/kernel").generated(
            "terms",
            "made".into(),
            "//#slot load x=b default one\nlet made = 1;\n".into(),
        );
        assert_eq!(
            text(kernel.clone()),
            "//! A kernel.\nconst A_WIDTH: u32 = 1u;\nfn load_a() {}\nfn both_a() {}\nfn load_b() {}\nlet made = 1;\n"
        );
        assert_eq!(
            text(kernel.slot("load_b", "two").param("A_WIDTH", "2u")),
            "//! A kernel.\nconst A_WIDTH: u32 = 2u;\nfn load_a() {}\nfn both_a() {}\nconst B_WIDTH: u32 = 1u;\nfn load_b() {}\n\
             let made = 1;\n"
        );
    }

    #[test]
    fn a_sample_stands_where_no_text_is_made_with_all_that_it_pastes() {
        let parts = [("common/both", "fn both_x() {}\n"), LOAD];
        let kernel = "first\n//#made terms\n// A contract.\n//#import both x=a\n//#param\nconst N: u32 = 2u;\n//#end\n\
                      //#slot load x=b default one\n//#unroll\nfor (var i = 0u; i < N; i++) {\nf(i);\n}\n//#end\nlast\n";
        let library = library(kernel, &parts);
        let kernel = || Kernel::new("room/kernel");
        let text = |kernel: Kernel| specialize_from(&kernel, &library).unwrap();
        let head = "first\n// A contract.\nfn both_a() {}\n";
        assert_eq!(
            text(kernel()),
            format!("{head}const N: u32 = 2u;\nfn load_b() {{}}\n{{\nf(0u);\n}}\n{{\nf(1u);\n}}\nlast\n")
        );
        assert_eq!(
            text(kernel().param("N", "1u").slot("load_b", "two")),
            format!(
                "{head}const N: u32 = 1u;\nconst B_WIDTH: u32 = 1u;\nfn load_b() {{}}\n{{\nf(0u);\n}}\nlast\n"
            )
        );
        let made = || kernel().generated("terms", String::new(), "//#import both x=c\nmade\n".into());
        assert_eq!(text(made()), "first\nfn both_c() {}\nmade\nlast\n");
        assert_eq!(text(kernel().generated("terms", String::new(), String::new())), "first\nlast\n");
        for (kernel, said) in [
            (made().param("N", "1u"), "has no parameter N; it has "),
            (made().slot("load_b", "two"), "has no slot load_b; it has terms (shaders/room/kernel.wgsl:2)"),
        ] {
            let error = specialize_from(&kernel, &library).expect_err("the sample is not there").to_string();
            assert!(error.contains(said), "{error}\n{said}");
        }
    }

    /// What the error says of a kernel with this text.
    fn refused(text: &str, parts: &[(&'static str, &'static str)], kernel: Kernel) -> String {
        specialize_from(&kernel, &library(text, parts)).expect_err(text).to_string()
    }

    const KERNEL: &str = "shaders/room/kernel.wgsl";

    #[test]
    fn what_a_kernel_names_and_its_text_has_not_is_an_error_that_says_what_it_has() {
        let text = "//! A kernel.\n//#param\nconst BM: u32 = 1u;\n//#end\n//#slot load x=a default one\n\
                    //#made terms\n//#end\n";
        let kernel = || Kernel::new("room/kernel");
        let made = |slot, text: &str| kernel().generated(slot, String::new(), text.to_owned());
        for (kernel, said) in [
            (Kernel::new("room/other"), "no shaders/room/other.wgsl".to_owned()),
            (kernel().slot("load_b", "one"), format!("{KERNEL} has no slot load_b; it has load_a ({KERNEL}:5), terms ({KERNEL}:6)")),
            (kernel().param("BN", 1), format!("{KERNEL} has no parameter BN; it has BM ({KERNEL}:3)")),
            (kernel().param("A_WIDTH", 1), format!("{KERNEL} has no parameter A_WIDTH; it has BM ({KERNEL}:3)")),
            (
                kernel().slot("load_a", "six"),
                format!(
                    "{KERNEL}:5: slot load_a: shaders/common/load.wgsl has no variant six; it has one (shaders/common/load.wgsl:2), \
                     two (shaders/common/load.wgsl:4)"
                ),
            ),
            (
                kernel().slot("load_a", "one").slot("load_a", "two"),
                format!("{KERNEL} has two fillings for the slot load_a ({KERNEL}:5)"),
            ),
            (
                kernel().param("BM", "2u").param("BM", "4u"),
                format!("{KERNEL} has two values for the parameter BM ({KERNEL}:3)"),
            ),
            (
                made("terms", "fn terms() {}\n//#import magic\n"),
                "the text made for terms:2: there is neither shaders/room/magic.wgsl nor shaders/common/magic.wgsl".to_owned(),
            ),
            (
                made("terms", "//#made more\n//#end\n"),
                "the text made for terms:1: slot more: a //#made stands in a kernel's own file alone".to_owned(),
            ),
            (
                made("magic", ""),
                format!("{KERNEL} has no slot magic; it has load_a ({KERNEL}:5), terms ({KERNEL}:6)"),
            ),
            (
                made("load_a", "fn load_a() {}\n"),
                format!("{KERNEL}:5: slot load_a has variants: text that is made fills a //#made alone"),
            ),
            (
                kernel().slot("terms", "one"),
                format!("{KERNEL}:6: slot terms has no variant one: it is filled with text that is made"),
            ),
            (
                made("terms", "").generated("terms", String::new(), String::new()),
                format!("{KERNEL} has two fillings for the slot terms ({KERNEL}:6)"),
            ),
        ] {
            let error = refused(text, &[LOAD], kernel);
            assert!(error.contains(&said), "{error}\n{said}");
        }
    }

    #[test]
    fn a_text_that_cannot_be_pasted_is_an_error_with_file_and_line() {
        for (text, said) in [
            ("//#improt load", "1: cannot read `//#improt load`"),
            ("\nx = 1; //#unroll", "2: `x = 1; //#unroll`: a directive has a line of its own"),
            (
                "\n//#import magic",
                "2: there is neither shaders/room/magic.wgsl nor shaders/common/magic.wgsl",
            ),
            ("\n//#slot magic default one", "2: there is neither shaders/room/magic.wgsl nor"),
            ("\n//#slot load x=a", "2: slot load_a has no default, and the kernel fills it with nothing"),
            ("\n//#slot load x=a default six", "2: slot load_a: shaders/common/load.wgsl has no variant six"),
            ("\n//#slot plain default one", "2: slot plain: shaders/common/plain.wgsl has no variants"),
            (
                "\n//#slot twice default a",
                "2: slot twice: shaders/common/twice.wgsl:3: the variant a is at shaders/common/twice.wgsl:2 too",
            ),
            (
                "//#slot load x=a default one\n//#slot load x=a default two",
                "2: slot load_a has another default at shaders/room/kernel.wgsl:1",
            ),
            (
                "//#slot load x=a default one\n//#slot load y=a default one",
                "2: slot load_a has other new names at shaders/room/kernel.wgsl:1",
            ),
            ("//#import again", "again.wgsl:2: is pasted too deep"),
            (
                "//#import load x=a",
                "shaders/common/load.wgsl:2: the variant one stands in no slot's file, or in one that is imported",
            ),
            (
                "//#import made",
                "shaders/common/made.wgsl:2: slot terms: a //#made stands in a kernel's own file alone",
            ),
            ("\n//#made terms\nx", "2: the sample has no //#end below it"),
            ("//#made terms\n//#param\nconst A: u32 = 1u;\n//#end", "1: the sample has no //#end below it"),
            (
                "//#made terms\n//#made more\n//#end\n//#end",
                "2: the sample of shaders/room/kernel.wgsl:1 has no //#end above it",
            ),
            ("//#made terms\n//#improt load\n//#end", "2: cannot read `//#improt load`"),
            ("//#made terms\n//#slot load x=a\n//#end", "2: slot load_a has no default"),
            ("//#made terms\n//#variant a\n//#end", "2: the variant a stands in no slot's file"),
            (
                "//#made terms\n//#end\n//#made terms\n//#end",
                "3: slot terms is at shaders/room/kernel.wgsl:1 too",
            ),
            (
                "//#slot load x=a default one\n//#made load_a\n//#end",
                "2: slot load_a is at shaders/room/kernel.wgsl:1 too",
            ),
            (
                "//#made load_a\n//#end\n//#slot load x=a default one",
                "3: slot load_a has a //#made at shaders/room/kernel.wgsl:1",
            ),
            ("//#param\n//#made terms\n//#end", "2: the parameters of shaders/room/kernel.wgsl:1 have no"),
            ("//#param\nconst A: u32 = 1u;", "1: the parameters have no //#end below them"),
            (
                "//#param\n//#import plain\n//#end",
                "2: the parameters of shaders/room/kernel.wgsl:1 have no //#end above it",
            ),
            ("const A: u32 = 1u;\n//#end", "2: there is no //#param above it"),
            ("//#param\nvar<private> a: u32;\n//#end", "2: `var<private> a: u32;` is no parameter"),
            ("//#param\nconst A: u32 = 1u +\n//#end", "2: `const A: u32 = 1u +` is no parameter"),
            (
                "//#param\nconst A: u32 = 1u;\n//#end\n//#param\nalias A = f32;\n//#end",
                "5: the parameter A is at shaders/room/kernel.wgsl:2 too",
            ),
            (
                "fn f() {\n//#unroll\nfor (var i = 0u; i < n; i++) {\n}\n}",
                "3: cannot unroll `for (var i = 0u; i < n; i++) {`",
            ),
        ] {
            let parts = [
                ("common/again", "//! Pastes itself.\n//#import again x=y_x\n"),
                LOAD,
                ("common/made", "//! Imported.\n//#made terms\n//#end\n"),
                ("common/plain", "//! Functions.\nfn plain() {}\n"),
                ("common/twice", "//! A slot.\n//#variant a\n//#variant a\n"),
            ];
            let error = refused(text, &parts, Kernel::new("room/kernel"));
            assert!(error.contains("room/kernel") && error.contains(said), "{error}\n{said}");
            assert!(
                !said.starts_with(|c: char| c.is_ascii_digit())
                    || error.contains(&format!("{KERNEL}:{said}")),
                "{error}"
            );
        }
    }
}
