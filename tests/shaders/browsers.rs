//! What a browser's compiler takes and naga does not check. A browser gets the texts as they are: wgpu's naga never sees them.
//!
//! - **Literals** are read in f64, and one beyond the largest f32 or f16 is refused before it is rounded.
//! - **Immediates** hold no arrays, at no depth.
//! - **Barriers** stand in uniform control flow: not behind a branch on shared memory that was read by a plain load
//!   (`workgroupUniformLoad` reads it uniformly), nor behind one on the number of an invocation.
//! - `enable wgpu_cooperative_matrix` and integers of 64 bits are wgpu's own: no plan for a browser has them.
//! - Operations of subgroups want `enable subgroups;`, which naga 30 refuses. wgpu 30 has no subgroups in browsers.
//!
//! The first two are held here. All are held by Tint, the compiler of Chromium: `.ci/run` gives it the texts that this test
//! writes to the folder `TILEWISE_TEXTS`.

use crate::kernels;
use crate::plans;
use std::collections::{BTreeMap, HashSet};
use tilewise::Caps;
use tilewise::gpu::SubgroupSizes;
use tilewise::planning::fixtures;
use tilewise::planning::kernel::Kernel;

/// Fewer texts than these mean that a list is missing.
const LEAST: usize = 2000;

/// Browsers without and with f16 and subgroups; in shorter sweeps not those with subgroups alone, or only with both or neither. Dims go through a ring.
fn browsers() -> Vec<Caps> {
    let each = [(false, false), (true, true), (true, false), (false, true)];
    let taken = each.into_iter().take(support::by_sweep(4, 3, 2));
    let caps = taken.map(|(f16, has_subgroups)| {
        let mut caps = fixtures::bare_webgpu();
        caps.f16 = f16;
        caps.subgroups = has_subgroups.then_some(SubgroupSizes { min: 8, max: 8, matrices: None });
        assert_eq!(caps.limits.immediate_bytes, 0);
        caps
    });
    caps.collect()
}

/// What only wgpu has.
const OF_WGPU: [&str; 2] = ["enable wgpu_cooperative_matrix;", "= u64;"];

/// Every text that a browser may get, and those of kernels for other devices, with the kernel's description.
fn texts() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let text_of = |kernel: &Kernel| kernel.specialize().expect("a plan's kernel is legal");
    let is_of_wgpu = |text: &str| OF_WGPU.iter().any(|word| text.contains(word));
    for caps in browsers() {
        let named = plans::all(&caps).into_iter().chain(plans::sweep(&caps));
        // What needs cooperative matrices is no plan there.
        for plan in named.filter_map(|named| named.plan.ok()) {
            for step in plan.steps() {
                let text = text_of(&step.kernel);
                assert!(!is_of_wgpu(&text), "{}", step.kernel);
                texts.entry(text).or_insert_with(|| step.kernel.to_string());
            }
        }
    }
    for kernel in kernels::devices().iter().flat_map(kernels::all) {
        let text = text_of(&kernel);
        if !is_of_wgpu(&text) {
            texts.entry(text).or_insert_with(|| kernel.to_string());
        }
    }
    texts
}

#[test]
fn texts_are_what_a_browsers_compiler_takes() {
    let texts = texts();
    println!("{} texts", texts.len());
    assert!(texts.len() >= LEAST, "{} texts", texts.len());
    for (text, kernel) in &texts {
        assert_eq!(beyond_all(text), Vec::<&str>::new(), "{kernel}: literals beyond the largest number");
        let has_dims = text.contains("var<immediate> dims: Dims;");
        assert_eq!(text.contains("var<immediate>"), has_dims, "{kernel}: dims and nothing else");
        assert!(!has_dims || !holds_arrays("Dims", text), "{kernel}: an array in immediates");
    }
    let Some(folder) = std::env::var_os("TILEWISE_TEXTS").map(std::path::PathBuf::from) else { return };
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    // A text for each set of the slots and of the parameters that are no numbers: a compiler takes tiles of all sizes or of none.
    let mut forms = HashSet::new();
    let taken = texts.iter().filter(|(_, kernel)| forms.insert(without_numbers(kernel)));
    for (i, (text, kernel)) in taken.enumerate() {
        let written = std::fs::write(folder.join(format!("{i:05}.wgsl")), format!("// {kernel}\n{text}"));
        written.expect("the text can be written");
    }
}

/// A kernel's description without the values of parameters that are numbers.
fn without_numbers(kernel: &str) -> String {
    let is_number = |value: &str| value.trim_end_matches('u').parse::<f64>().is_ok();
    let word = |word: &str| match word.split_once('=') {
        Some((name, value)) if is_number(value) => name.to_string(),
        _ => word.to_string(),
    };
    kernel.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The literals of a text that are beyond the largest number of their type.
fn beyond_all(text: &str) -> Vec<&str> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let words = code.flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || "_.+".contains(c))));
    words.filter(|word| is_beyond_all(word)).collect()
}

fn is_beyond_all(word: &str) -> bool {
    let (digits, largest) = match word.strip_suffix('h') {
        Some(digits) => (digits, 65504.0),
        None => (word.strip_suffix('f').unwrap_or(word), f64::from(f32::MAX)),
    };
    // Integers and hexadecimal digits end in letters or are small.
    word.starts_with(|c: char| c.is_ascii_digit()) && digits.parse().is_ok_and(|value: f64| value > largest)
}

/// Whether a struct of a text has an array, or a struct with one.
fn holds_arrays(name: &str, text: &str) -> bool {
    let Some((_, rest)) = text.split_once(&format!("struct {name} {{")) else { return false };
    let body = rest.split('}').next().unwrap_or_default();
    let members = body.lines().filter_map(|line| line.split("//").next()?.split_once(':'));
    let mut types = members.map(|(_, of)| of.trim().trim_end_matches(','));
    types.any(|of| of.starts_with("array<") || holds_arrays(of, text))
}

#[test]
fn the_checks_for_browsers_find_what_they_look_for() {
    for bad in ["let x = -3.40282347e38;", "f(1e39f)", "65520.0h", "vec2<f32>(4e38)"] {
        assert_eq!(beyond_all(bad).len(), 1, "{bad}");
    }
    for good in ["-3.4028234663852886e38", "0x7f800000u", "65504.0h", "x1e39", "1e-39", "v.x // 1e39"] {
        assert_eq!(beyond_all(good), Vec::<&str>::new(), "{good}");
    }
    let of =
        |member: &str| format!("struct Inner {{\n    a: array<u32, 4>,\n}}\nstruct Dims {{\n{member}\n}}");
    for (member, holds) in [
        ("    a: array<vec4<u32>, 5>, // axes", true),
        ("    a: Inner,", true),
        ("    a: vec4<u32>, // array<u32>", false),
    ] {
        assert_eq!(holds_arrays("Dims", &of(member)), holds, "{member}");
    }
}
