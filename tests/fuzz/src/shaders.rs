//! Specialisation of shaders: every text gives a text without directives or an error, and loops are unrolled in order.

use crate::caps::caps;
use crate::plans::planned;
use arbitrary::{Result, Unstructured};
use std::fmt::Write;
use tilewise::planning::kernel::unroll;
use tilewise::planning::kernel::{INCLUDES, KERNELS};

fn assert_no_directives(text: &str, what: &str) {
    let includes = ["//#import ", "//#slot ", "//#variant ", "//#generated "];
    let is_left = |line: &&str| *line == "//#unroll" || includes.iter().any(|word| line.starts_with(word));
    let directive = text.lines().map(str::trim).find(is_left);
    assert_eq!(directive, None, "{what}");
}

fn parse(text: &str) -> naga::Module {
    naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(text)))
}

/// The first byte selects whether the others are the text, or encode the loops of a valid text.
pub(crate) fn unrolled(data: &[u8]) {
    match data.split_first() {
        Some((first, rest)) if first % 2 == 1 => {
            // Too few bytes give no loops.
            let _ = loops(&mut Unstructured::new(rest));
        }
        Some((_, rest)) => {
            let text = String::from_utf8_lossy(rest);
            if let Ok(out) = unroll(&text) {
                assert_no_directives(&out, &text);
            }
        }
        None => {}
    }
}

/// A loop, and the values of its counter.
struct Loop {
    head: String,
    values: Vec<u64>,
}

/// An expression with this value.
fn expression(u: &mut Unstructured<'_>, value: u64, constants: &[u64]) -> Result<String> {
    let named = constants.iter().position(|&known| known == value).map(|i| format!("C{i}"));
    Ok(match (u.int_in_range(0..=4)?, named) {
        (0, Some(name)) => name,
        (1, Some(name)) => format!("({name} * 3u + 1u) / 3u"),
        (2, _) => format!("{}u - {}u", value + 5, 5),
        (3, _) => format!("(({}u % {}u))", value, value + 1),
        _ => format!("{value}u"),
    })
}

fn a_loop(u: &mut Unstructured<'_>, counter: &str, constants: &[u64]) -> Result<Loop> {
    let (from, to) = (u.int_in_range(0..=4)?, u.int_in_range(0..=9)?);
    let by = u.int_in_range(1..=3u8)?;
    let (advance, values) = match u.int_in_range(0..=2)? {
        0 => ("++".to_owned(), (from..to).collect()),
        1 => {
            (format!(" += {}", expression(u, by.into(), constants)?), (from..to).step_by(by.into()).collect())
        }
        _ => {
            let (from, by) = (from.max(1), u64::from(by) + 1);
            let values =
                std::iter::successors(Some(from), |i| Some(i * by)).take_while(|&i| i < to).collect();
            let start = expression(u, from, constants)?;
            let (to, by) = (expression(u, to, constants)?, expression(u, by, constants)?);
            let head = format!("for (var {counter} = {start}; {counter} < {to}; {counter} *= {by}) {{");
            return Ok(Loop { head, values });
        }
    };
    let (start, to) = (expression(u, from, constants)?, expression(u, to, constants)?);
    Ok(Loop {
        head: format!("for (var {counter} = {start}; {counter} < {to}; {counter}{advance}) {{"),
        values,
    })
}

fn loops(u: &mut Unstructured<'_>) -> Result<()> {
    let constants: Vec<u64> = (0..3).map(|_| u.int_in_range(0..=6)).collect::<Result<_>>()?;
    let mut text = String::new();
    for (i, value) in constants.iter().enumerate() {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "const C{i}: u32 = {};", expression(u, *value, &constants[..i])?);
    }
    text.push_str("fn f() -> u32 {\nvar sums: array<u32, 65536>;\n");
    let mut wanted = vec![Vec::new()];
    let counters = &["i", "j", "k"][..u.int_in_range(0..=3)?];
    for counter in counters {
        let Loop { head, values } = a_loop(u, counter, &constants)?;
        let _ = writeln!(text, "//#unroll\n{head}");
        wanted = wanted
            .iter()
            .flat_map(|outer: &Vec<u64>| {
                values.iter().map(|&i| [&outer[..], &[i]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    // The index is constant, the value is left as it is.
    let terms = |of: &dyn Fn(usize) -> String| {
        (0..counters.len()).fold(String::new(), |terms, at| format!("{terms} + {}", of(at)))
    };
    let leaf = |index: &str, terms: &str| format!("sums[{index}] += 1u{terms};");
    let named = terms(&|at| counters[at].to_owned());
    let index = format!("C0 * 2u{named}");
    let _ = writeln!(text, "{}", leaf(&index, &named));
    text.push_str(&"}\n".repeat(counters.len()));
    text.push_str("return sums[0];\n}\n");
    parse(&text);
    let out = unroll(&text).unwrap_or_else(|error| panic!("{}\n{text}", error.why));
    assert_no_directives(&out, &text);
    parse(&out);
    let found: Vec<&str> = out.lines().filter(|line| line.starts_with("sums[")).collect();
    let unrolled = |values: &Vec<u64>| {
        let literals = terms(&|at| format!("{}u", values[at]));
        let at = format!("{}u", 2 * constants[0] + values.iter().sum::<u64>());
        leaf(if counters.is_empty() { &index } else { &at }, &literals)
    };
    let wanted: Vec<String> = wanted.iter().map(unrolled).collect();
    assert_eq!(found, wanted, "{text}");
    Ok(())
}

pub(crate) fn unrolled_seeds() -> Vec<Vec<u8>> {
    let text = "0const N: u32 = 4u;\nconst H: u32 = (N + 2u) / 2u % 7u;\n//#unroll\nfor (var i = 0u; i < H; i++) {\n\
                x[i] = 1; // {\n//#unroll\nfor (var j = i; j < N; j += 2u) {\ny[i][j] = i_j;\n}\n}\n//#unroll\n\
                for (var half = 1u; half < N; half *= 2u) {\nx[half] = 1;\n}\n";
    let loops = crate::noise(48).into_iter().map(|bytes| [&[1], &bytes[..]].concat());
    std::iter::once(text.into()).chain(loops).collect()
}

/// The names of a shader's parameters and slots.
fn names(text: &'static str) -> [Vec<&'static str>; 2] {
    let declared = |line: &'static str| {
        let rest = line.strip_prefix("const ").or_else(|| line.strip_prefix("alias "))?;
        rest.split([':', '=', ' ']).next()
    };
    let blocks = text.split("//#param").skip(1).filter_map(|block| block.split("//#end").next());
    let params = blocks.flat_map(str::lines).filter_map(declared).collect();
    let slot =
        |line: &'static str| line.strip_prefix("//#slot ").or_else(|| line.strip_prefix("//#generated "));
    let slots = text.lines().map(str::trim).filter_map(slot);
    [params, slots.filter_map(|slot| slot.split_whitespace().next()).collect()]
}

const VALUES: [&str; 13] =
    ["0u", "1u", "2u", "8u", "64u", "4096u", "4294967295u", "f32", "f16", "u32", "vec4<f32>", "1u + (", ""];

/// The kernel of a random plan, with random parameters and variants.
pub(crate) fn specialised(data: &[u8]) {
    // Too few bytes give no kernel.
    let _ = kernel(&mut Unstructured::new(data));
}

fn kernel(u: &mut Unstructured<'_>) -> Result<()> {
    let caps = caps(u)?;
    let Ok(plan) = planned(u, &caps)?.plan else { return Ok(()) };
    let mut kernel = u.choose(plan.steps())?.kernel.clone();
    let Some((_, text)) = KERNELS.iter().find(|(name, _)| *name == kernel.shader()) else { return Ok(()) };
    let [params, slots] = names(text);
    let variants: Vec<&str> = INCLUDES
        .iter()
        .flat_map(|(_, text)| text.lines().filter_map(|line| line.strip_prefix("//#variant ")))
        .collect();
    let changes = u.int_in_range(0..=4)?;
    for _ in 0..changes {
        if u.arbitrary()? && !params.is_empty() {
            kernel = kernel.param(u.choose(&params)?, u.choose(&VALUES)?);
        } else if !slots.is_empty() {
            kernel = kernel.slot(u.choose(&slots)?, u.choose(&variants)?);
        }
    }
    match kernel.specialize() {
        Ok(text) => {
            assert_no_directives(&text, &kernel.to_string());
            if changes == 0 {
                parse(&text);
            }
        }
        Err(error) => assert!(changes > 0, "{kernel}: {error}"),
    }
    Ok(())
}

pub(crate) fn specialised_seeds() -> Vec<Vec<u8>> {
    crate::noise(128)
}
