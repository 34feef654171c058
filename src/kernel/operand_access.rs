//! A kernel's access to an operand: the type of its binding, and the slot variants that load and store its elements.

use super::storage_format::{AccessWidth, StorageFormat};

/// How a kernel accesses an operand.
///
/// If a 32-bit word holds several elements and a kernel stores single elements, each store changes a part of a word. Another
/// invocation may store another part at the same time. So the words are atomic, and loads of them are atomic too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OperandAccess {
    /// The format of the operand's elements.
    pub(crate) format: StorageFormat,
    /// The vector width of loads, if the kernel loads the operand.
    pub(super) load: Option<AccessWidth>,
    /// The vector width of stores, if the kernel stores the operand.
    pub(super) store: Option<AccessWidth>,
    /// Whether stored values are already rounded.
    pub(super) is_rounded: bool,
    /// Whether pairs of f16 are rounded and packed at once.
    is_at_once: bool,
}

impl OperandAccess {
    /// Access to an operand that is only read.
    pub(crate) const fn read(format: StorageFormat, width: AccessWidth) -> Self {
        Self { format, load: Some(width), store: None, is_rounded: false, is_at_once: false }
    }

    /// Access to an operand that is only written.
    pub(crate) const fn write(format: StorageFormat, width: AccessWidth) -> Self {
        Self { format, load: None, store: Some(width), is_rounded: false, is_at_once: false }
    }

    /// Access to a result of which each invocation writes up to four elements: in pairs, if a word holds two, all `strides` along
    /// the elements are 1, and the first index, a sum of multiples of `starts`, is even.
    pub(crate) fn write_pairs_or_elements(
        format: StorageFormat,
        strides: impl IntoIterator<Item = u32>,
        starts: impl IntoIterator<Item = u32>,
    ) -> Self {
        let are_neighbours = strides.into_iter().all(|stride| stride == 1);
        let are_pairs =
            format.elements_per_scalar() == 2 && starts.into_iter().all(|at| at.is_multiple_of(2));
        Self::write(format, if are_neighbours && are_pairs { AccessWidth::Two } else { AccessWidth::One })
    }

    /// Access to an operand that is written in quads ([`Kernel::quads`]), with values that are f16 already: its memory is words,
    /// on devices with f16 in shaders too.
    pub(crate) const fn write_rounded() -> Self {
        Self { is_rounded: true, ..Self::write(StorageFormat::PackedF16, AccessWidth::Four) }
    }

    /// Access to an operand that is written in quads ([`Kernel::quads`]), as words of two f16, on devices with f16 in shaders too.
    pub(crate) const fn write_words() -> Self {
        Self { is_at_once: true, ..Self::write(StorageFormat::PackedF16, AccessWidth::Four) }
    }

    /// The same access, which also reads the operand with vectors of `width`.
    pub(crate) const fn and_read(self, width: AccessWidth) -> Self {
        Self { load: Some(width), ..self }
    }

    /// The element type of the binding's array.
    pub(crate) fn unit(self) -> &'static str {
        match self.store.or(self.load) {
            Some(AccessWidth::One) if self.stores_parts_of_words() => "atomic<u32>",
            Some(width) => self.format.unit(width),
            // NOTE: no constructor returns such a value.
            None => self.format.scalar(),
        }
    }

    /// Whether stores pack pairs of elements, with the slot `pack_pair`.
    pub(crate) fn packs_pairs(self) -> bool {
        self.store.is_some() && self.format.elements_per_scalar() == 2 && !self.is_rounded
    }

    /// Whether each store changes a part of a 32-bit word.
    pub(crate) fn stores_parts_of_words(self) -> bool {
        self.format.elements_per_scalar() > 1 && self.store == Some(AccessWidth::One)
    }

    /// The declaration of the operand `name` for a generated text: its binding, and the parameter for its element type.
    pub(crate) fn declaration(self, name: &str, binding: usize) -> String {
        let mode = if self.store.is_some() { "read_write" } else { "read" };
        format!(
            "//#param\nalias {name}_unit = f32;\n//#end\n\
             @group(0) @binding({binding}) var<storage, {mode}> {name}: array<{name}_unit>;\n"
        )
    }

    /// The `load` and `save` slots of the operand `name` for a generated text.
    pub(crate) fn functions(self, name: &str) -> String {
        let slot = |function, width: Option<AccessWidth>| {
            width.map(|_| format!("//#slot {function} x={name} default {ELEMENT}\n")).unwrap_or_default()
        };
        slot("load", self.load) + &slot("save", self.store)
    }

    /// The variant of the slot `load` (`shaders/common/load.wgsl`). The file has no variants for accesses that no kernel needs;
    /// specialisation fails for them.
    pub(super) fn load_variant(self, width: AccessWidth) -> &'static str {
        match (width, self.format) {
            // A binding has one element type, so loads and stores must agree on it.
            _ if self.store.is_some_and(|store| self.format.unit(store) != self.format.unit(width)) => {
                "of_another_unit"
            }
            (AccessWidth::One, StorageFormat::F32 | StorageFormat::F16 | StorageFormat::I32) => ELEMENT,
            (AccessWidth::One, StorageFormat::PackedF16) if self.stores_parts_of_words() => "atomic_packed",
            (AccessWidth::One, StorageFormat::Bf16) if self.stores_parts_of_words() => "atomic_bf16",
            (AccessWidth::One, StorageFormat::PackedF16) => "element_packed",
            (AccessWidth::One, StorageFormat::Bf16) => "element_bf16",
            (AccessWidth::One, StorageFormat::I8) if self.stores_parts_of_words() => "atomic_i8",
            (AccessWidth::One, StorageFormat::I8) => "element_i8",
            (AccessWidth::Two, StorageFormat::F32 | StorageFormat::F16 | StorageFormat::I32) => "two",
            (AccessWidth::Two, StorageFormat::PackedF16) => "two_packed",
            (AccessWidth::Two, StorageFormat::Bf16) => "two_bf16",
            (AccessWidth::Four, StorageFormat::F32 | StorageFormat::F16 | StorageFormat::I32) => "four",
            (AccessWidth::Four, StorageFormat::PackedF16) => "four_packed",
            (AccessWidth::Four, StorageFormat::Bf16) => "four_bf16",
            (AccessWidth::One, StorageFormat::E4m3) => "element_e4m3",
            (AccessWidth::One, StorageFormat::E5m2) => "element_e5m2",
            (AccessWidth::Two | AccessWidth::Four, StorageFormat::I8)
            | (AccessWidth::Two, StorageFormat::E4m3 | StorageFormat::E5m2) => "several_bytes",
            (AccessWidth::Four, StorageFormat::E4m3) => "four_e4m3",
            (AccessWidth::Four, StorageFormat::E5m2) => "four_e5m2",
        }
    }

    /// The variant of the slot `save` (`shaders/common/save.wgsl`), in the same way.
    pub(super) fn save_variant(self, width: AccessWidth) -> &'static str {
        match (width, self.format) {
            (AccessWidth::One, StorageFormat::I8) => "element_bytes",
            (_, StorageFormat::I8 | StorageFormat::E4m3 | StorageFormat::E5m2) => "packed_bytes",
            (AccessWidth::One, StorageFormat::F32 | StorageFormat::F16 | StorageFormat::I32) => ELEMENT,
            (AccessWidth::One, StorageFormat::PackedF16 | StorageFormat::Bf16) => "element_packed",
            (
                AccessWidth::Two | AccessWidth::Four,
                StorageFormat::F32 | StorageFormat::F16 | StorageFormat::I32,
            ) => "vector",
            (AccessWidth::Two, StorageFormat::PackedF16 | StorageFormat::Bf16) => "two_packed",
            (AccessWidth::Four, StorageFormat::PackedF16 | StorageFormat::Bf16) => "four_packed",
        }
    }

    /// The variant of the slot `pack_pair` (`shaders/common/pack_pair.wgsl`), if stores pack pairs.
    pub(super) fn pack_variant(self) -> Option<&'static str> {
        let variant = match self.format {
            StorageFormat::Bf16 => "bf16",
            _ if self.is_at_once => "f16_at_once",
            _ => "f16",
        };
        self.packs_pairs().then_some(variant)
    }
}

/// The default of the slots `load` and `save` in all shaders.
pub(super) const ELEMENT: &str = "element";

#[cfg(test)]
mod tests {
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
            main += &format!(
                "let value = {}(load_a(0u));\n",
                if access.format == I8 { "i32" } else { of(width) }
            );
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
}
