//! What the search finds, and what it does not take for a fault: small kernels whose faults are known.

use super::faults::Faults;
use super::launch::{Launch, Operand};
use super::run::edges;
use super::shader::Shader;
use tilewise::planning::kernel::Kernel;

/// The faults of a kernel with this body, whose dims are `x` and `y`, of an operand `a` of 64 words, the first a 7.
fn faults(body: &str, dims: [u32; 2]) -> (Vec<String>, usize) {
    let text = format!(
        "struct Dims {{\n    x: u32,\n    y: u32,\n}}\n\
         @group(1) @binding(0) var<uniform> dims: Dims;\n\
         @group(0) @binding(0) var<storage, read_write> a: array<u32>;\n\
         @compute @workgroup_size(4)\n\
         fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {{\n{body}\n}}\n"
    );
    let operand = Operand { bytes: 256, words: Some(vec![7]) };
    let launch = Launch {
        tile: String::new(),
        what: "a small kernel".into(),
        kernel: Kernel::new("small"),
        grid: [3, 1, 1],
        dims: bytemuck::cast_slice(&dims).to_vec(),
        operands: vec![operand],
        subgroup: 4,
    };
    let mut faults = Faults::default();
    edges(&Shader::new("small", text), &launch, &mut faults);
    (faults.lines(), faults.needed.len())
}

#[test]
fn what_wraps_is_named_with_its_line_and_its_values() {
    const LARGE: [u32; 2] = [70_000, 3];
    for (line, says) in [
        ("a[0] = dims.x * dims.x;", "U(4900000000)"),
        ("a[0] = dims.y - dims.x;", "U(-69997)"),
        ("a[0] = dims.x << 16u;", "U(4587520000)"),
        ("a[0] = u32(i32(dims.x) * -70000);", "I(-4900000000)"),
        ("a[0] = (vec2<u32>(lane, dims.x) * dims.x).y;", "U(4900000000)"),
        ("a[0] = dims.x / (dims.y - 3u);", "divided by 0"),
        // Before it is chosen whether it is taken.
        ("a[0] = select(1u, dims.y - 4u, lane > 9u);", "U(-1)"),
        ("a[dims.x] = 1u;", "no element 70000 of a, which has 64"),
        ("a[32u * workgroup.x] = 1u;", "no element 64 of a"),
        ("a[61u + lane] = 1u;", "no element 64 of a"),
        // The reduction of split-k as it was.
        (
            "for (var i = 0u; i <= dims.x * dims.x * dims.y / dims.x - 1u; i += dims.x) { a[0] += 1u; }",
            "U(4900000000)",
        ),
    ] {
        let (found, _) = faults(line, LARGE);
        assert!(found.iter().any(|fault| fault.contains(says) && fault.contains(line)), "{line}: {found:?}");
    }
}

#[test]
fn the_last_turn_of_a_long_loop_is_run() {
    let last = "a[0] = i * 3u;";
    let of = |head: &str| faults(&format!("for ({head}) {{\n{last}\n}}"), [1 << 31, 1]).0;
    let long = of("var i = lane; i < dims.x; i += 64u");
    assert!(long.len() == 1 && long[0].contains(last), "{long:?}");
    assert!(of("var i = lane; i < dims.x / 2u; i += 64u").is_empty());
    let down = of("var i = dims.x / 2u; i > dims.y - 1u; i -= 1u");
    assert!(down.is_empty(), "{down:?}");
    let endless = faults("for (var i = 0u; dims.y < dims.x; i += 0u) { a[0] = i; }", [2, 1]).0;
    assert!(endless.len() == 1 && endless[0].contains("no end"), "{endless:?}");
    let halving =
        faults("for (var i = dims.x; i > 0u; i /= 2u) { a[i / dims.x] = dims.y - 1u; }", [1 << 31, 1]).0;
    assert!(halving.is_empty(), "{halving:?}");
}

#[test]
fn what_is_guarded_or_not_known_is_no_fault() {
    for body in [
        "if dims.x < 64u { a[dims.x] = 1u; }",
        "if a[1] < 64u { a[a[1]] = 1u; }",
        "if a[1] == 0u { a[dims.x] = 1u; }",
        "a[a[1]] = a[1] * 70000u;",
        "for (var i = a[1]; i < a[2]; i++) { a[i] = i + 1u; }",
        "a[min(dims.x, 63u)] = 1u;",
        "var at = 0u; if a[1] == 0u { at = 70000u; } a[at] = 1u;",
    ] {
        let (found, _) = faults(body, [70_000, 3]);
        assert!(found.is_empty(), "{body}: {found:?}");
    }
    // But what a table holds is known.
    let (found, _) = faults("a[a[0] * 10u] = 1u;", [70_000, 3]);
    assert!(found.len() == 1 && found[0].contains("no element 70"), "{found:?}");
}

#[test]
fn a_mark_lets_a_number_wrap_and_is_counted() {
    assert_eq!(
        faults("let x = dims.x * dims.x; // wraps: a test\na[x / 100000000u] = 1u;", [70_000, 3]),
        (vec![], 1)
    );
    assert_eq!(faults("let x = dims.y * 2u; // wraps: a test\na[x] = 1u;", [70_000, 3]), (vec![], 0));
}
