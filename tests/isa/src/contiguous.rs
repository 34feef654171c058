//! The rules for contiguous operands: AMD's compiler moves them 16 bytes at a time, and `add` has few instructions per element.

use crate::assembly::Widths;
use crate::row::Row;

/// The targets whose compiler makes one access of a vector. NVIDIA's open compiler splits it, because each component has a bounds
/// check of its own.
const WIDE: [&str; 2] = ["navi31", "gfx1201"];

/// The kernel of softmax along rows.
pub(crate) const SOFTMAX: &str = "ops/softmax";

/// A step whose operands are contiguous, and what is held to 16 bytes.
#[derive(Clone, Copy, PartialEq)]
enum Contiguous {
    /// All accesses in the heaviest block: the usual plans of elementwise functions and casts.
    HeaviestBlock,
    /// The whole kernel: softmax along rows, whose heaviest block may be the exponentials of elements in registers.
    Kernel,
}

impl Contiguous {
    /// What is held to 16 bytes in a step, if its operands are contiguous.
    fn of(row: &Row) -> Option<Self> {
        if ["elementwise", "cast"].contains(&row.family.as_str()) {
            return Some(Self::HeaviestBlock);
        }
        let is_softmax = [SOFTMAX, "ops/softmax_backward"].contains(&row.kernel.as_str());
        (is_softmax && row.name.ends_with("along rows")).then_some(Self::Kernel)
    }
}

/// Whether the widest accesses are of 16 bytes, and others are of single elements or words, as at the end of a row.
fn is_wide_but_for_edges(accesses: &Widths) -> bool {
    accesses.contains_key(&16) && accesses.keys().all(|&bytes| bytes <= 4 || bytes == 16)
}

/// The step with contiguous operands that moves them in narrower accesses than the target allows, if the row is one.
pub(crate) fn narrow(row: &Row) -> Option<String> {
    if !WIDE.contains(&row.target.as_str()) || row.refused.is_some() {
        return None;
    }
    let held = Contiguous::of(row)?;
    let fault = |accesses: &Widths, what: &str| {
        let widths: Vec<_> = accesses.iter().map(|(bytes, count)| format!("{count} of {bytes}")).collect();
        let widths = if widths.is_empty() { "none".into() } else { widths.join(", ") };
        let Row { target, name, kernel, .. } = row;
        format!("{target}: {name} ({kernel}): accesses of contiguous operands in bytes: {widths}; {what}")
    };
    let is_judged = held == Contiguous::HeaviestBlock || !row.global.is_empty();
    if is_judged && !row.global.keys().eq(&[16]) {
        return Some(fault(&row.global, "all must be of 16"));
    }
    let whole = [(&row.loads, "loads"), (&row.stores, "stores")];
    let (accesses, which) = whole.into_iter().find(|(accesses, _)| !is_wide_but_for_edges(accesses))?;
    (held == Contiguous::Kernel)
        .then(|| fault(accesses, &format!("all {which} must be of 16, but for those of at most 4 at edges")))
}

/// The instructions of the whole kernel for an element of `add f32` when each element was moved alone (commit 8748cd7).
const ONE_BY_ONE: [(&str, f64); 3] =
    [("navi31", 426.0 / 4.0), ("gfx1201", 430.0 / 4.0), ("nv176", 380.0 / 4.0)];

/// The step `add f32` that has more than half of those instructions for an element, if the row is that.
pub(crate) fn many(row: &Row) -> Option<String> {
    let (_, before) = ONE_BY_ONE.into_iter().find(|(target, _)| *target == row.target)?;
    if row.name != "add f32" || row.refused.is_some() {
        return None;
    }
    // For example `64 invocations, 8 elements each, f32`.
    let words: Vec<&str> = row.tile.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let elements = words.windows(2).find(|pair| pair[1] == "elements").and_then(|pair| pair[0].parse().ok());
    let each = f64::from(row.instructions) / elements.unwrap_or(1.0);
    (each > before / 2.0).then(|| {
        format!(
            "{}: add f32: {each} instructions per element, more than half of {before} ({})",
            row.target, row.tile
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{WIDE, many, narrow};
    use crate::assembly::Compiler;
    use crate::row::Row;

    /// Two loads and a store, as AMD's compiler prints them.
    const VECTORS: &str = "BB0:\n\
        \tbuffer_load_b128 v[0:3], v8, s[0:3], 0 offen ; e\n\
        \tbuffer_load_b128 v[4:7], v8, s[4:7], 0 offen ; e\n\
        \tv_add_f32_e32 v0, v0, v4 ; 0\n\
        \tbuffer_store_b128 v[0:3], v8, s[8:11], 0 offen ; e\n";

    /// The row of an assembly for a target.
    fn row(family: &str, [name, kernel]: [&str; 2], target: &str, assembly: &str) -> Row {
        let counted = Compiler::Aco.count(assembly);
        Row {
            name: name.into(),
            family: family.into(),
            kernel: kernel.into(),
            tile: "64 invocations, 8 elements each, f32".into(),
            target: target.into(),
            instructions: counted.instructions,
            global: counted.heaviest.global,
            loads: counted.loads,
            stores: counted.stores,
            ..Row::default()
        }
    }

    const ADD: [&str; 2] = ["add f32", "ops/elementwise_vectors"];

    #[test]
    fn a_narrow_load_is_a_fault() {
        let one = VECTORS.replacen("buffer_load_b128", "buffer_load_b32", 1);
        let cases = [
            ("elementwise", ADD),
            ("cast", ["cast f32 to f16", "ops/cast_vectors"]),
            ("rows", ["softmax f16, along rows", "ops/softmax"]),
        ];
        for (target, (family, names)) in WIDE.into_iter().flat_map(|target| cases.map(|case| (target, case)))
        {
            assert_eq!(narrow(&row(family, names, target, VECTORS)), None);
            let found = narrow(&row(family, names, target, &one)).expect("a load of 4 bytes is narrow");
            assert!(found.starts_with(target) && found.contains("1 of 4, 2 of 16"), "{found}");
            let found = narrow(&row(family, names, target, "")).expect("nothing is accessed");
            assert!(found.contains("bytes: none"), "{found}");
        }
        // Other operands and other compilers are not held to it.
        assert_eq!(narrow(&row("rows", ["softmax f16, along columns", "ops/softmax"], "navi31", &one)), None);
        assert_eq!(narrow(&row("elementwise", ADD, "nv176", &one)), None);
    }

    /// The heaviest block of a softmax may be the exponentials of elements in registers: then all others are judged.
    #[test]
    fn a_softmax_is_judged_as_a_whole() {
        let names = ["softmax f16, along rows", "ops/softmax"];
        let heaviest = "BB1:\n".to_owned() + &"\tv_fma_f32 v0, v1, v2, v3 ; c\n".repeat(9);
        let edge = "BB2:\n\tbuffer_store_b16 v0, v1, s[0:3], 0 offen ; e\n";
        let of = |text: &str| narrow(&row("rows", names, "navi31", &format!("{text}{heaviest}{edge}")));
        assert_eq!(of(VECTORS), None);
        let halves = VECTORS.replace("buffer_load_b128", "buffer_load_b64");
        assert!(of(&halves).expect("loads of 8 bytes are narrow").contains("2 of 8; all loads"));
        let words = VECTORS.replace("buffer_load_b128", "buffer_load_b32");
        assert!(of(&words).expect("loads of 4 bytes are narrow").contains("2 of 4; all loads"));
        let stored = VECTORS.replace("buffer_store_b128", "buffer_store_b32");
        assert!(of(&stored).expect("stores of 4 bytes are narrow").contains("1 of 2, 1 of 4; all stores"));
        // The rule of the heaviest block holds, too, if that block accesses memory.
        let heavy = format!("{heaviest}\tbuffer_store_b32 v0, v1, s[0:3], 0 offen ; e\n");
        let found = narrow(&row("rows", names, "navi31", &format!("{VECTORS}{heavy}")));
        assert!(found.expect("the heaviest block is narrow").contains("1 of 4; all must be of 16"));
    }

    #[test]
    fn many_instructions_for_an_element_are_a_fault() {
        let of =
            |target, instructions| many(&Row { instructions, ..row("elementwise", ADD, target, VECTORS) });
        assert_eq!(
            [of("navi31", 426), of("gfx1201", 430), of("nv176", 380), of("nv192", 900)],
            [const { None }; 4]
        );
        let found = of("nv176", 384).expect("48 for an element are too many");
        assert!(found.contains("48 instructions per element, more than half of 95"), "{found}");
        // Without a number of elements, an invocation is taken to have one.
        let whole = Row { tile: "64 invocations".into(), ..row("elementwise", ADD, "navi31", VECTORS) };
        assert_eq!(many(&Row { instructions: 53, ..whole.clone() }), None);
        assert!(many(&Row { instructions: 54, ..whole }).is_some());
    }
}
