//! What the shaders' files say: their headers, directives and parameters.

use support::families::F32;
use support::wgsl;
use tilewise::Error;
use tilewise::gemm::GemmKernel;
use tilewise::planning::clifford::CliffordDims;
use tilewise::planning::gemm::{GemmDims, Pin};
use tilewise::planning::kernel::{INCLUDES, KERNELS, Kernel};
use tilewise::planning::ops::RotaryDims;
use tilewise::planning::sketch::HadamardDims;
use tilewise::planning::{Problem, fixtures};

#[test]
fn every_kernel_says_what_it_is_in_the_fixed_lines_of_its_header() {
    const FIELDS: [&str; 6] = ["", "shapes", "grid", "subgroup", "requires", "edges"];
    for (name, text) in KERNELS {
        let header: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        assert!(header[0].len() > 20 && header[0].ends_with('.'), "{name}: its purpose in a sentence");
        let fields: Vec<&str> =
            header[1..].iter().filter_map(|line| line.get(..11).or(Some(""))).map(str::trim).collect();
        assert_eq!(fields, FIELDS, "{name}");
        assert!(
            header[2..].iter().all(|line| line.len() > 14 && line.as_bytes()[10] == b' '),
            "{name}: {header:?}"
        );
    }
    for (name, text) in INCLUDES {
        assert!(
            text.starts_with("//! ") && text.lines().next().is_some_and(|line| line.len() > 20),
            "{name}"
        );
    }
}

const DIRECTIVES: [&str; 8] =
    ["//#import", "//#slot", "//#variant", "//#generated", "//#dims", "//#param", "//#end", "//#unroll"];

#[test]
fn there_are_eight_directives_and_no_others() {
    for (name, text) in KERNELS.iter().chain(INCLUDES) {
        for line in text.lines().filter(|line| line.contains("//#")) {
            let word = line.split_whitespace().next().unwrap_or_default();
            assert!(DIRECTIVES.contains(&word), "{name}: {line}");
        }
        let count = |directive| text.lines().filter(|line| line.starts_with(directive)).count();
        assert_eq!(count("//#param"), count("//#end"), "{name}");
    }
}

#[test]
fn uniforms_of_every_device_have_room_as_immediates() {
    let sizes = [
        size_of::<GemmDims>(),
        size_of::<RotaryDims>(),
        size_of::<HadamardDims>(),
        size_of::<CliffordDims>(),
    ];
    assert_eq!(sizes, [128; 4]);
}

#[test]
fn what_does_not_exist_is_an_error_that_names_it() {
    for (kernel, names) in [
        (Kernel::new("gemm/magic"), vec!["gemm/magic", "the kernel does not exist"]),
        (Kernel::new("gemm/naive").slot("load_z", "element"), vec!["gemm/naive", "no slot load_z"]),
        (
            Kernel::new("gemm/naive").slot("load_a", "magic"),
            vec!["shaders/gemm/naive.wgsl:", "load_a", "shaders/common/load.wgsl has no variant magic"],
        ),
        (Kernel::new("gemm/naive").param("BQ", 4), vec!["gemm/naive", "no parameter BQ"]),
        (Kernel::new("gemm/naive").param("GROUP", 4), vec!["no parameter GROUP"]),
        (Kernel::new("gemm/tiled").param("TM", "dims.m"), vec!["gemm/tiled", "cannot unroll"]),
    ] {
        let error = kernel.specialize().expect_err("it does not exist");
        assert!(matches!(error, Error::Input { .. }), "{kernel}: {error:?}");
        let said = error.to_string();
        assert!(names.iter().all(|name| said.contains(name)), "{kernel}: {said}");
    }
}

#[test]
fn an_illegal_tile_does_not_pass_validation() {
    let tile = GemmKernel::Tiled.tiles().iter().find(|tile| [tile.bm, tile.bk, tile.tm] == [64, 16, 4]);
    let problem = wgsl::plain([128; 3], F32).pinned(Pin::Tile(*tile.expect("a usual tile")));
    let text = problem.plan(&fixtures::h200()).unwrap().steps()[0].kernel.specialize().unwrap();
    let validated = |text: &str| wgsl::validate(text, naga::valid::Capabilities::all()).map(|_| ());
    assert_eq!(validated(&text), Ok(()));
    for (legal, illegal) in
        [("TM: u32 = 4", "TM: u32 = 6"), ("BM: u32 = 64", "BM: u32 = 60"), ("BK: u32 = 16", "BK: u32 = 7")]
    {
        assert!(text.contains(legal), "{legal}");
        let error = validated(&text.replace(legal, illegal)).expect_err("a const_assert holds");
        assert!(error.contains("const_assert"), "{illegal}: {error}");
    }
}
