//! Every shader parses, validates and keeps the house's rules, in every form that a plan can give it.

use crate::conversions::rounding_by_conversion;
use crate::drivers::found;
use crate::kernels::{along_k, cast_kernels, devices, gemm_kernels, other_kernels, product_kernels};
use crate::rules::mixes;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use support::{parallel, wgsl};
use tilewise::Caps;
use tilewise::gemm::{GemmKernel, Tile};
use tilewise::planning::gemm::GemmProblem;
use tilewise::planning::kernel::{INCLUDES, Include, KERNELS, Kernel, ShaderInterface, shader_interface};

/// Kernels that were looked at on a device that allows as much.
type Seen = HashSet<(Kernel, String)>;

/// Every kernel that a pass of a Hadamard transform may take on a device, each as large as its pass says, but for those
/// that were seen.
fn hadamard_kernels(caps: &Caps, seen: &Seen) -> Vec<Kernel> {
    let mut kernels = HashSet::new();
    for pass in wgsl::hadamard_passes(caps) {
        let kernel = pass.kernel(caps);
        let known = seen.contains(&(kernel.clone(), format!("{:?}", wgsl::capabilities(caps))));
        if known || !kernels.insert(kernel.clone()) {
            continue;
        }
        let text = kernel.specialize().unwrap();
        let module =
            wgsl::validate(&text, wgsl::capabilities(caps)).unwrap_or_else(|e| panic!("{kernel}: {e}"));
        let lanes = module.entry_points[0].workgroup_size.iter().product::<u32>();
        assert_eq!(lanes, pass.tile.invocations(), "{kernel}");
        let shared = module.global_variables.iter().filter(|(_, v)| v.space == naga::AddressSpace::WorkGroup);
        let bytes: u32 = shared.map(|(_, v)| module.types[v.ty].inner.size(module.to_ctx())).sum();
        assert_eq!(bytes, pass.workgroup_bytes(), "{kernel}");
    }
    kernels.into_iter().collect()
}

/// The shaders in a folder and those below, by their paths below `shaders/` without the ending.
fn files(folder: &Path, prefix: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        let name = format!("{prefix}{}", path.file_stem().expect("a file has a name").to_string_lossy());
        if path.is_dir() {
            found.append(&mut files(&path, &format!("{name}/")));
        } else if path.extension().is_some_and(|extension| extension == "wgsl") {
            found.insert(name, std::fs::read_to_string(&path).expect("the file can be read"));
        }
    }
    found
}

#[test]
fn the_tables_hold_every_file_of_the_folders_and_nothing_else() {
    assert!(KERNELS.is_sorted() && INCLUDES.is_sorted(), "the tables are in order");
    assert!(KERNELS.iter().all(|(_, text)| text.matches("@compute").count() == 1), "an entry point each");
    let listed = KERNELS.iter().chain(INCLUDES).map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    assert_eq!(listed.collect::<BTreeMap<_, _>>(), files(&support::root().join("shaders"), ""));
}

#[test]
fn every_kernel_is_valid_and_as_large_as_its_tile_says() {
    let mut takers: BTreeMap<Include, BTreeSet<&str>> = BTreeMap::new();
    let mut count = 0;
    let mut seen = Seen::new();
    for caps in &devices() {
        let kernels = product_kernels(caps);
        let allowed = wgsl::capabilities(caps);
        let others = [other_kernels(caps), hadamard_kernels(caps, &seen)].concat();
        for kernel in kernels.iter().map(|(_, _, kernel)| kernel).chain(&others) {
            for part in kernel.includes().expect("a plan's kernel is legal") {
                takers.entry(part).or_default().insert(kernel.shader());
            }
        }
        let check = |of: Option<(&Tile, &GemmProblem)>, kernel: &Kernel| {
            let text = kernel.specialize().unwrap();
            let module = wgsl::validate(&text, allowed).unwrap_or_else(|error| panic!("{kernel}: {error}"));
            for faults in [naga_traps(&text), found(&text), mixes(&text)] {
                assert_eq!(faults, Vec::<String>::new(), "{kernel}");
            }
            assert_eq!(rounding_by_conversion(&module, &may_pack(kernel)), Vec::<String>::new(), "{kernel}");
            assert!(!text.contains("//#"), "{kernel}: text left to paste");
            assert_eq!(shader_interface(&text).as_ref(), Ok(&declared(&module)), "{kernel}");
            // Casts compute with bits alone.
            let options = kernel.to_string()[kernel.shader().len()..].replace("bf16", "");
            // This kernel moves quads of f16 as words.
            let of_units = |option: &str| option.contains("_unit=") && option.contains("f16");
            let wants_f16 = match kernel.shader() {
                "ops/cast" => false,
                "conv/depthwise" => options.split(' ').any(of_units),
                _ => options.contains("f16"),
            };
            assert_eq!(text.contains("enable f16;"), caps.f16 && wants_f16, "{kernel}");
            let [main] = &module.entry_points[..] else { panic!("{kernel}: one entry point") };
            assert_eq!(main.name, "main", "{kernel}");
            let Some((tile, problem)) = of else { return };
            assert_eq!(main.workgroup_size.iter().product::<u32>(), tile.invocations(caps), "{kernel}");
            let shared =
                module.global_variables.iter().filter(|(_, v)| v.space == naga::AddressSpace::WorkGroup);
            let bytes: u32 = shared.map(|(_, v)| module.types[v.ty].inner.size(module.to_ctx())).sum();
            let is_transposed = kernel.to_string().contains(":transposed");
            let planned = if is_transposed { along_k(caps) } else { caps.clone() };
            assert_eq!(bytes, tile.workgroup_bytes(problem, &planned), "{kernel}");
        };
        let fresh: Vec<&Kernel> =
            others.iter().filter(|kernel| seen.insert(((*kernel).clone(), format!("{allowed:?}")))).collect();
        parallel::for_each(&kernels, |(tile, problem, kernel)| check(Some((tile, problem)), kernel));
        parallel::for_each(&fresh, |kernel| check(None, kernel));
        count += kernels.len() + fresh.len();
    }
    println!("{count} kernels");
    for ((file, variant), kernels) in &takers {
        let variant = variant.map(|variant| format!(", {variant}")).unwrap_or_default();
        println!("{file}{variant}: {}", kernels.iter().copied().collect::<Vec<_>>().join(" "));
    }
    let untaken: Vec<Include> =
        support::includes::every().into_iter().filter(|part| !takers.contains_key(part)).collect();
    assert_eq!(untaken, Vec::new(), "each part is in the kernel of some plan");
}

/// The operands and the dims that a module declares.
fn declared(module: &naga::Module) -> ShaderInterface {
    let variables = || module.global_variables.iter().map(|(_, variable)| variable);
    let mut operands = BTreeMap::new();
    for variable in variables() {
        if let naga::AddressSpace::Storage { access } = variable.space {
            let binding = variable.binding.expect("an operand is bound").binding;
            operands.insert(binding, access.contains(naga::StorageAccess::STORE));
        }
    }
    let dims = variables().find(|variable| variable.space == naga::AddressSpace::Immediate);
    let immediates = dims.map(|dims| module.types[dims.ty].inner.size(module.to_ctx()));
    ShaderInterface { writes: operands.into_values().collect(), immediates }
}

#[test]
fn registers_are_indexed_by_literals_alone() {
    use naga::Expression::{Access, AccessIndex, LocalVariable};
    for (tile, _, kernel) in gemm_kernels(&devices()[0]) {
        // What is left of loops when all that index registers are written out.
        let left: Option<&[&str]> = match tile.kernel {
            GemmKernel::Naive | GemmKernel::Gemv => continue,
            GemmKernel::Broadcast => Some(&["begin < k_end", "k0 + BK <= end", "k_at < end"]),
            GemmKernel::Tiled => Some(&["k0 < k_end", "kk < BK"]),
            GemmKernel::Dot => Some(&["k0 < k_end", "word < WORDS"]),
            GemmKernel::Coop => Some(&["k0 < k_end", "piece < ROWS * COLS", "quad < FRAGMENT * FRAGMENT"]),
            _ => None,
        };
        let text = kernel.specialize().unwrap();
        let (_, main) = text.split_once("fn main(").expect("there is a main");
        let mut loops: Vec<&str> =
            main.lines().map(str::trim).filter(|line| line.starts_with("for (")).collect();
        loops.dedup(); // one a matrix
        if let Some(left) = left {
            assert_eq!(loops.len(), left.len(), "{tile}: {loops:?}");
            assert!(loops.iter().zip(left).all(|(found, left)| found.contains(left)), "{tile}: {loops:?}");
        }
        let module = wgsl::validate(&text, naga::valid::Capabilities::all()).unwrap();
        let main = &module.entry_points[0].function;
        let mut literal = 0;
        for (_, expression) in main.expressions.iter() {
            let (mut base, computed) = match *expression {
                Access { base, .. } => (base, true),
                AccessIndex { base, .. } => (base, false),
                _ => continue,
            };
            while let Access { base: below, .. } | AccessIndex { base: below, .. } = main.expressions[base] {
                base = below;
            }
            if let LocalVariable(variable) = main.expressions[base] {
                let name = main.local_variables[variable].name.as_deref().unwrap_or_default();
                assert!(!computed, "{tile}: {name} is indexed by an expression");
                literal += 1;
            }
        }
        // Vectors, of which each is written four times; or matrices, set to zero, added to and stored.
        let (accumulators, accesses) = match tile.fragment {
            0 => (tile.tm * tile.tn / 4, 4),
            edge => (tile.tm / edge * (tile.tn / edge), 3),
        };
        assert!(
            literal >= accesses * accumulators,
            "{tile}: {literal} accesses of {accumulators} accumulators"
        );
    }
}

#[test]
fn casts_have_no_floats_that_a_driver_could_flush_or_round() {
    for kernel in cast_kernels(&devices()[0]) {
        let module =
            wgsl::validate(&kernel.specialize().unwrap(), naga::valid::Capabilities::IMMEDIATES).unwrap();
        let float = |scalar: naga::Scalar| scalar.kind == naga::ScalarKind::Float;
        for (_, of) in module.types.iter() {
            use naga::TypeInner::{Matrix, Scalar, Vector};
            let is_float = match of.inner {
                Scalar(scalar) | Vector { scalar, .. } | Matrix { scalar, .. } => float(scalar),
                _ => false,
            };
            assert!(!is_float, "{kernel}: {of:?}");
        }
    }
}

#[test]
fn casts_that_compute_the_same_share_a_pipeline() {
    let caps = &devices()[0];
    // 20 casts and a copy for each of three sizes; with limits, from five types to three reals, and from i32 to i8; and 42 from or
    // to the two types of 8 bits with a fraction. All of them for views without gaps, and for others.
    assert_eq!(cast_kernels(caps).len(), 2 * (20 + 3 + 5 * 3 + 1 + 42));
}

/// What naga 30 accepts and gets wrong, or panics at, in a shader's text.
fn naga_traps(text: &str) -> Vec<String> {
    let is_name = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_place = |word: &str| {
        let inner = word.strip_prefix('&').and_then(|place| place.strip_suffix(']'));
        inner
            .and_then(|place| place.split_once('['))
            .is_some_and(|(array, index)| is_name(array) && is_name(index))
    };
    let mut traps = Vec::new();
    for line in text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()) {
        let mut trap = |why: &str| traps.push(format!("{why}: {line}"));
        if line.starts_with("enable subgroups") {
            trap("naga has no such extension: subgroup operations need no directive");
        }
        if let Some((_, call)) = line.split_once("coopStore") {
            let args = call.trim_start_matches('T').trim_start_matches('(').trim_end_matches([';', ')']);
            if !args.split(',').map(str::trim).all(|arg| is_name(arg) || is_place(arg)) {
                trap("naga panics at computed arguments of a store: bind them with let");
            }
        }
        if let Some((head, call)) = line.split_once("coopLoad") {
            if !(head.starts_with("var ") && head.contains(':')) {
                trap("naga takes a fragment's type from the pointer: load into a typed var");
            }
            let array = call
                .split_once('&')
                .and_then(|(_, place)| place.split_once('['))
                .map_or("", |(name, _)| name);
            if ["array<u32", "array<vec2<u32", "array<vec4<u32"]
                .iter()
                .any(|t| text.contains(&format!(" {array}: {t}")))
            {
                trap("naga loads integers through an array of them, whatever the fragment's type");
            }
        }
    }
    traps
}

#[test]
fn the_check_for_nagas_traps_finds_them() {
    let good =
        "var<storage> a: array<f16>;\nvar x: MA = coopLoadT<MA>(&a[at], lda);\ncoopStoreT(v, &out[at], ld);";
    assert_eq!(naga_traps(good), Vec::<String>::new());
    for bad in [
        "enable subgroups;",
        "coopStoreT(v, &out[i * n], ld);",
        "coopStore(v, &out[at], d.n);",
        "let x = coopLoadT<MA>(&a[at], lda);",
        "var x = coopLoad<MA>(&a[at], lda);",
        "var<storage> p: array<u32>;\nvar x: MA = coopLoad<MA>(&p[at], lda);",
    ] {
        assert_eq!(naga_traps(bad).len(), 1, "{bad}");
    }
}

/// The functions that may pack halves by the built-in: sums of norms are rounded before.
fn may_pack(kernel: &Kernel) -> Vec<&'static str> {
    let includes = kernel.includes().expect("a plan's kernel is legal");
    let is_rounded = includes.contains(&("common/save_quad", Some("rounded")));
    is_rounded.then_some("save_quad_total").into_iter().collect()
}
