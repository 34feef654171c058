//! Tests of accesses to operands: each is in a table and its text is valid, or it is refused.

use super::{AccessWidth, OperandAccess};
use crate::kernel::library::{INCLUDES, Library};
use crate::kernel::specialize::specialize_from;
use crate::kernel::{Kernel, StorageFormat};
use AccessWidth::{Four, One, Two};
use StorageFormat::{Bf16, E4m3, E5m2, F16, F32, I8, I32, PackedF16};

const FORMATS: [StorageFormat; 8] = [F32, F16, PackedF16, Bf16, I8, I32, E4m3, E5m2];
const WIDTHS: [Option<AccessWidth>; 4] = [None, Some(One), Some(Two), Some(Four)];

/// The vector widths of loads and stores, the unit, and the slots that are filled.
type Row = (Option<AccessWidth>, Option<AccessWidth>, &'static str, &'static str);

/// Every access to elements that are numbers of WGSL, here of the type `f32`.
const NUMBERS: [Row; 9] = [
    (Some(One), None, "f32", ""),
    (Some(Two), None, "vec2<f32>", "load_a:two"),
    (Some(Four), None, "vec4<f32>", "load_a:four"),
    (None, Some(One), "f32", ""),
    (None, Some(Two), "vec2<f32>", "save_a:vector"),
    (None, Some(Four), "vec4<f32>", "save_a:vector"),
    (Some(One), Some(One), "f32", ""),
    (Some(Two), Some(Two), "vec2<f32>", "load_a:two save_a:vector"),
    (Some(Four), Some(Four), "vec4<f32>", "load_a:four save_a:vector"),
];

/// Every access to elements of which a word holds a pair, here bf16.
const PAIRS: [Row; 10] = [
    (Some(One), None, "u32", "load_a:element_bf16"),
    (Some(Two), None, "u32", "load_a:two_bf16"),
    (Some(Four), None, "vec2<u32>", "load_a:four_bf16"),
    (None, Some(One), "atomic<u32>", "pack_pair:bf16 save_a:element_packed"),
    (None, Some(Two), "u32", "pack_pair:bf16 save_a:two_packed"),
    (None, Some(Four), "vec2<u32>", "pack_pair:bf16 save_a:four_packed"),
    (Some(One), Some(One), "atomic<u32>", "load_a:atomic_bf16 pack_pair:bf16 save_a:element_packed"),
    (Some(One), Some(Two), "u32", "load_a:element_bf16 pack_pair:bf16 save_a:two_packed"),
    (Some(Two), Some(Two), "u32", "load_a:two_bf16 pack_pair:bf16 save_a:two_packed"),
    (Some(Four), Some(Four), "vec2<u32>", "load_a:four_bf16 pack_pair:bf16 save_a:four_packed"),
];

/// Every access to packed i8.
const BYTES: [Row; 3] = [
    (Some(One), None, "u32", "load_a:element_i8"),
    (None, Some(One), "atomic<u32>", "save_a:element_bytes"),
    (Some(One), Some(One), "atomic<u32>", "load_a:atomic_i8 save_a:element_bytes"),
];

/// Every access to floats of 8 bits, here E4M3.
const FLOATS8: [Row; 2] =
    [(Some(One), None, "u32", "load_a:element_e4m3"), (Some(Four), None, "u32", "load_a:four_e4m3")];

/// Every access to this format that the slots have variants for, and what its rows say instead of another word.
fn rows_of(format: StorageFormat) -> (&'static [Row], &'static [[&'static str; 2]]) {
    match format {
        F32 => (&NUMBERS, &[]),
        F16 => (&NUMBERS, &[["f32", "f16"]]),
        I32 => (&NUMBERS, &[["f32", "i32"]]),
        Bf16 => (&PAIRS, &[]),
        PackedF16 => (&PAIRS, &[["_bf16", "_packed"], [":bf16", ":f16"]]),
        I8 => (&BYTES, &[]),
        E4m3 => (&FLOATS8, &[]),
        E5m2 => (&FLOATS8, &[["e4m3", "e5m2"]]),
    }
}

/// Validates a kernel with this access to an operand, with the library's slot files.
fn validated(access: OperandAccess) -> Result<(), String> {
    let of = |width| ["f32", "vec2<f32>", "vec4<f32>"][width as usize];
    let mut text = "//#slot pack_pair default f16\n".to_owned();
    text += &access.declaration("a", 0);
    text += &access.functions("a");
    let mut main = String::new();
    if let Some(width) = access.load {
        main +=
            &format!("let value = {}(load_a(0u));\n", if access.format == I8 { "i32" } else { of(width) });
    }
    if let Some(width) = access.store {
        let lanes = of(width);
        text += &format!(
            "const WIDTH: u32 = {}u;\nalias sum = f32;\nalias lanes = {lanes};\n",
            1 << width as u32
        );
        main += &format!("save_a(0u, {lanes}());\n");
    }
    text += &format!("@compute @workgroup_size(1)\nfn main() {{\n{main}}}\n");
    let library = Library { kernels: vec![("test/kernel", &*text.leak())].leak(), includes: INCLUDES };
    let text = specialize_from(&Kernel::new("test/kernel").operand("a", access), &library);
    let text = text.map_err(|error| error.to_string())?;
    let module = naga::front::wgsl::parse_str(&text).map_err(|error| error.emit_to_string(&text))?;
    let (flags, all) = (naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all());
    let valid = naga::valid::Validator::new(flags, all).validate(&module);
    valid.map(|_| ()).map_err(|error| error.emit_to_string(&text))
}

#[test]
fn an_access_is_in_a_table_and_legal_or_it_is_refused() {
    let mut found = 0;
    for (format, load, store) in FORMATS
        .into_iter()
        .flat_map(|format| WIDTHS.map(|load| WIDTHS.map(|store| (format, load, store))))
        .flatten()
        .filter(|(_, load, store)| load.is_some() || store.is_some())
    {
        let access = OperandAccess { format, load, store, is_rounded: false, is_at_once: false };
        let valid = validated(access);
        let (rows, renames) = rows_of(format);
        let renamed =
            |text: &str| renames.iter().fold(text.to_owned(), |text, [from, to]| text.replace(from, to));
        match rows.iter().find(|(l, s, ..)| (*l, *s) == (load, store)) {
            Some((.., unit, filled)) => {
                found += 1;
                assert_eq!(valid, Ok(()), "{access:?}");
                let text = Kernel::new("test/kernel").operand("a", access).to_string();
                let mut words: Vec<&str> = text.split(' ').collect();
                assert_eq!(words.remove(1), format!("a_unit={}", renamed(unit)), "{access:?}");
                let filled = renamed(filled);
                let mut filled: Vec<&str> = filled.split_whitespace().collect();
                words.remove(0);
                words.sort_unstable();
                filled.sort_unstable();
                assert_eq!(words, filled, "{access:?}");
            }
            None => assert!(valid.is_err(), "{access:?} is in no table"),
        }
    }
    let rows = FORMATS.map(|format| rows_of(format).0.len());
    assert_eq!(found, rows.iter().sum::<usize>(), "every row of the tables is an access");
}

#[test]
fn a_result_is_stored_by_elements_or_by_a_slot_of_its_family() {
    for (access, text) in [
        (OperandAccess::write(F32, One), "test c_unit=f32"),
        (OperandAccess::write(Bf16, One), "test c_unit=atomic<u32> pack_pair:bf16 save_c:element_packed"),
        (OperandAccess::write(Bf16, Two), "test c_unit=u32 pack_pair:bf16"),
        (
            OperandAccess::write(PackedF16, One).and_read(One),
            "test c_unit=atomic<u32> load_c:atomic_packed pack_pair:f16 save_c:element_packed",
        ),
        (OperandAccess::write(F16, Four), "test c_unit=vec4<f16>"),
    ] {
        assert_eq!(Kernel::new("test").result(access).to_string(), text);
    }
}

#[test]
fn results_with_different_packing_are_refused() {
    let text = "alias sum = f32;\n//#param\nalias u_unit = f32;\nalias v_unit = f32;\n//#end\n//#slot pack_pair default f16\n\
                //#slot save x=u default element\n//#slot save x=v default element\n";
    let library = Library { kernels: vec![("test/kernel", text)].leak(), includes: INCLUDES };
    let of = |u, v| {
        let kernel = Kernel::new("test/kernel")
            .operand("u", OperandAccess::write(u, Two))
            .operand("v", OperandAccess::write(v, Two));
        specialize_from(&kernel, &library)
    };
    assert!(of(Bf16, Bf16).is_ok() && of(PackedF16, PackedF16).is_ok() && of(Bf16, F32).is_ok());
    let error = of(PackedF16, Bf16).unwrap_err().to_string();
    assert!(
        error.contains("pack_pair (shaders/test/kernel.wgsl:6), which the kernel fills twice"),
        "{error}"
    );
}
