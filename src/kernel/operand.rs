//! How a kernel gets at an operand: one table from how its elements lie in memory to the type of its binding and the variants
//! that load and store it.

use super::memory::{Memory, Width};
use super::source::{Filling, Kernel};

/// How a kernel gets at an operand.
///
/// What is stored one by one where memory holds pairs is stored by halves of words, atomically: the other half may be another
/// invocation's. So its words are atomic, and loads are, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// How elements lie in memory.
    pub(crate) memory: Memory,
    /// How many are loaded at once, if any are.
    load: Option<Width>,
    /// How many are stored at once, if any are.
    store: Option<Width>,
}

impl Access {
    /// What is read alone.
    pub(crate) const fn read(memory: Memory, width: Width) -> Self {
        Self { memory, load: Some(width), store: None }
    }

    /// What is written alone.
    pub(crate) const fn write(memory: Memory, width: Width) -> Self {
        Self { memory, load: None, store: Some(width) }
    }

    /// The same, if what is written is read before, so many at once.
    pub(crate) const fn and_read(self, width: Width) -> Self {
        Self { load: Some(width), ..self }
    }

    /// The type of the binding's elements.
    pub(crate) fn unit(self) -> &'static str {
        match self.store.or(self.load) {
            Some(Width::One) if self.is_halves() => "atomic<u32>",
            Some(width) => self.memory.unit(width),
            // NOTE: no constructor makes this.
            None => self.memory.scalar(),
        }
    }

    /// Whether elements are packed into words as they are stored, with the slot `pack_pair`.
    pub(crate) fn packs(self) -> bool {
        self.store.is_some() && self.memory.per_scalar() == 2
    }

    /// Whether elements are stored as halves of words.
    pub(crate) fn is_halves(self) -> bool {
        self.packs() && self.store == Some(Width::One)
    }

    /// Declares the operand called `name`, in text that is made for a kernel: the type of its elements, and its binding.
    pub(crate) fn declaration(self, name: &str, binding: usize) -> String {
        let mode = if self.store.is_some() { "read_write" } else { "read" };
        format!(
            "//#param\nalias {name}_unit = f32;\n//#end\n\
             @group(0) @binding({binding}) var<storage, {mode}> {name}: array<{name}_unit>;\n"
        )
    }

    /// The slots of what loads and stores the operand called `name`, in text that is made for a kernel.
    pub(crate) fn functions(self, name: &str) -> String {
        let slot = |function, width: Option<Width>| {
            width.map(|_| format!("//#slot {function} x={name} default {ELEMENT}\n")).unwrap_or_default()
        };
        slot("load", self.load) + &slot("save", self.store)
    }

    /// The variant of the slot `load` (`shaders/common/load.wgsl`). What no kernel loads has none there: the specialiser says so.
    fn loader(self, width: Width) -> &'static str {
        match (width, self.memory) {
            // A binding has one type of elements.
            _ if self.store.is_some_and(|store| self.memory.unit(store) != self.memory.unit(width)) => {
                "of_another_unit"
            }
            (Width::One, Memory::F32 | Memory::F16 | Memory::I32) => ELEMENT,
            (Width::One, Memory::Packed) if self.is_halves() => "atomic_packed",
            (Width::One, Memory::Bf16) if self.is_halves() => "atomic_bf16",
            (Width::One, Memory::Packed) => "element_packed",
            (Width::One, Memory::Bf16) => "element_bf16",
            (Width::One, Memory::I8) => "element_i8",
            (Width::Two, Memory::F32 | Memory::F16 | Memory::I32) => "two",
            (Width::Two, Memory::Packed) => "two_packed",
            (Width::Two, Memory::Bf16) => "two_bf16",
            (Width::Two, Memory::I8) => "two_i8",
            (Width::Four, Memory::F32 | Memory::F16 | Memory::I32) => "four",
            (Width::Four, Memory::Packed) => "four_packed",
            (Width::Four, Memory::Bf16) => "four_bf16",
            (Width::Four, Memory::I8) => "four_i8",
        }
    }

    /// The variant of the slot `save` (`shaders/common/save.wgsl`); likewise.
    fn saver(self, width: Width) -> &'static str {
        match (width, self.memory) {
            (_, Memory::I8) => "packed_i8",
            (Width::One, Memory::F32 | Memory::F16 | Memory::I32) => ELEMENT,
            (Width::One, Memory::Packed | Memory::Bf16) => "element_packed",
            (Width::Two | Width::Four, Memory::F32 | Memory::F16 | Memory::I32) => "vector",
            (Width::Two, Memory::Packed | Memory::Bf16) => "two_packed",
            (Width::Four, Memory::Packed | Memory::Bf16) => "four_packed",
        }
    }

    /// The variant of the slot `pack_pair` (`shaders/common/pack_pair.wgsl`), if elements are packed.
    fn packer(self) -> Option<&'static str> {
        self.packs().then_some(if self.memory == Memory::Bf16 { "bf16" } else { "f16" })
    }
}

/// What shaders name as the default of the slots `load` and `save`.
const ELEMENT: &str = "element";

impl Kernel {
    /// Says how the kernel gets at the operand called `name`: sets `<name>_unit`, and fills `load_<name>`, `save_<name>` and
    /// `pack_pair` as far as they are called for.
    #[must_use]
    pub(crate) fn operand(self, name: &'static str, access: Access) -> Self {
        let kernel = self.bound(name, access);
        match access.store.map(|width| access.saver(width)) {
            None | Some(ELEMENT) => kernel,
            Some(saver) => kernel.fill(format!("save_{name}"), saver),
        }
    }

    /// The same of the result, `c`, of a kernel that has a slot of its own for storing more than one element at once.
    #[must_use]
    pub(crate) fn result(self, access: Access) -> Self {
        let kernel = self.bound("c", access);
        if access.is_halves() { kernel.slot("save_c", "element_packed") } else { kernel }
    }

    fn bound(mut self, name: &'static str, access: Access) -> Self {
        self.params.push((format!("{name}_unit").into(), access.unit().to_owned()));
        match access.load.map(|width| access.loader(width)) {
            None | Some(ELEMENT) => {}
            Some(loader) => self = self.fill(format!("load_{name}"), loader),
        }
        match access.packer() {
            // Several results may be packed alike; what packs two in different ways is refused as the text is made.
            Some(packer) if !self.is_filled("pack_pair", packer) => self.slot("pack_pair", packer),
            _ => self,
        }
    }

    fn fill(mut self, name: String, variant: &'static str) -> Self {
        self.slots.push((name.into(), Filling::Variant(variant)));
        self
    }

    fn is_filled(&self, name: &str, variant: &'static str) -> bool {
        self.slots.iter().any(|(slot, filling)| slot == name && *filling == Filling::Variant(variant))
    }
}

#[cfg(test)]
mod tests {
    use super::{Access, Width};
    use crate::kernel::library::{Library, PARTS};
    use crate::kernel::specialize::specialize_from;
    use crate::kernel::{Kernel, Memory};
    use Memory::{Bf16, F16, F32, I8, I32, Packed};
    use Width::{Four, One, Two};

    const MEMORIES: [Memory; 6] = [F32, F16, Packed, Bf16, I8, I32];
    const WIDTHS: [Option<Width>; 4] = [None, Some(One), Some(Two), Some(Four)];

    /// What is loaded and stored of a memory, the unit, and what is filled in.
    type Row = (Memory, Option<Width>, Option<Width>, &'static str, &'static str);

    /// Every access that has variants.
    const TABLE: [Row; 48] = [
        (F32, Some(One), None, "f32", ""),
        (F32, Some(Two), None, "vec2<f32>", "load_a:two"),
        (F32, Some(Four), None, "vec4<f32>", "load_a:four"),
        (F32, None, Some(One), "f32", ""),
        (F32, None, Some(Two), "vec2<f32>", "save_a:vector"),
        (F32, None, Some(Four), "vec4<f32>", "save_a:vector"),
        (F32, Some(One), Some(One), "f32", ""),
        (F32, Some(Two), Some(Two), "vec2<f32>", "load_a:two save_a:vector"),
        (F32, Some(Four), Some(Four), "vec4<f32>", "load_a:four save_a:vector"),
        (F16, Some(One), None, "f16", ""),
        (F16, Some(Two), None, "vec2<f16>", "load_a:two"),
        (F16, Some(Four), None, "vec4<f16>", "load_a:four"),
        (F16, None, Some(One), "f16", ""),
        (F16, None, Some(Two), "vec2<f16>", "save_a:vector"),
        (F16, None, Some(Four), "vec4<f16>", "save_a:vector"),
        (F16, Some(One), Some(One), "f16", ""),
        (F16, Some(Two), Some(Two), "vec2<f16>", "load_a:two save_a:vector"),
        (F16, Some(Four), Some(Four), "vec4<f16>", "load_a:four save_a:vector"),
        (Packed, Some(One), None, "u32", "load_a:element_packed"),
        (Packed, Some(Two), None, "u32", "load_a:two_packed"),
        (Packed, Some(Four), None, "vec2<u32>", "load_a:four_packed"),
        (Packed, None, Some(One), "atomic<u32>", "pack_pair:f16 save_a:element_packed"),
        (Packed, None, Some(Two), "u32", "pack_pair:f16 save_a:two_packed"),
        (Packed, None, Some(Four), "vec2<u32>", "pack_pair:f16 save_a:four_packed"),
        (
            Packed,
            Some(One),
            Some(One),
            "atomic<u32>",
            "load_a:atomic_packed pack_pair:f16 save_a:element_packed",
        ),
        (Packed, Some(One), Some(Two), "u32", "load_a:element_packed pack_pair:f16 save_a:two_packed"),
        (Packed, Some(Two), Some(Two), "u32", "load_a:two_packed pack_pair:f16 save_a:two_packed"),
        (Packed, Some(Four), Some(Four), "vec2<u32>", "load_a:four_packed pack_pair:f16 save_a:four_packed"),
        (Bf16, Some(One), None, "u32", "load_a:element_bf16"),
        (Bf16, Some(Two), None, "u32", "load_a:two_bf16"),
        (Bf16, Some(Four), None, "vec2<u32>", "load_a:four_bf16"),
        (Bf16, None, Some(One), "atomic<u32>", "pack_pair:bf16 save_a:element_packed"),
        (Bf16, None, Some(Two), "u32", "pack_pair:bf16 save_a:two_packed"),
        (Bf16, None, Some(Four), "vec2<u32>", "pack_pair:bf16 save_a:four_packed"),
        (
            Bf16,
            Some(One),
            Some(One),
            "atomic<u32>",
            "load_a:atomic_bf16 pack_pair:bf16 save_a:element_packed",
        ),
        (Bf16, Some(One), Some(Two), "u32", "load_a:element_bf16 pack_pair:bf16 save_a:two_packed"),
        (Bf16, Some(Two), Some(Two), "u32", "load_a:two_bf16 pack_pair:bf16 save_a:two_packed"),
        (Bf16, Some(Four), Some(Four), "vec2<u32>", "load_a:four_bf16 pack_pair:bf16 save_a:four_packed"),
        (I8, Some(One), None, "u32", "load_a:element_i8"),
        (I32, Some(One), None, "i32", ""),
        (I32, Some(Two), None, "vec2<i32>", "load_a:two"),
        (I32, Some(Four), None, "vec4<i32>", "load_a:four"),
        (I32, None, Some(One), "i32", ""),
        (I32, None, Some(Two), "vec2<i32>", "save_a:vector"),
        (I32, None, Some(Four), "vec4<i32>", "save_a:vector"),
        (I32, Some(One), Some(One), "i32", ""),
        (I32, Some(Two), Some(Two), "vec2<i32>", "load_a:two save_a:vector"),
        (I32, Some(Four), Some(Four), "vec4<i32>", "load_a:four save_a:vector"),
    ];

    /// A kernel that loads and stores an operand so, with the library's own variants.
    fn validated(access: Access) -> Result<(), String> {
        let of = |width| ["f32", "vec2<f32>", "vec4<f32>"][width as usize];
        let mut text = "//#slot pack_pair default f16\n".to_owned();
        text += &access.declaration("a", 0);
        text += &access.functions("a");
        let mut main = String::new();
        if let Some(width) = access.load {
            main += &format!(
                "let value = {}(load_a(0u));\n",
                if access.memory == I8 { "i32" } else { of(width) }
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
        let library = Library { kernels: vec![("test/kernel", &*text.leak())].leak(), parts: PARTS };
        let text = specialize_from(&Kernel::new("test/kernel").operand("a", access), &library);
        let text = text.map_err(|error| error.to_string())?;
        let module = naga::front::wgsl::parse_str(&text).map_err(|error| error.emit_to_string(&text))?;
        let (flags, all) = (naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all());
        let valid = naga::valid::Validator::new(flags, all).validate(&module);
        valid.map(|_| ()).map_err(|error| error.emit_to_string(&text))
    }

    #[test]
    fn every_access_has_its_row_of_the_table_and_is_legal_or_else_is_refused() {
        let mut rows = 0;
        for (memory, load, store) in MEMORIES
            .into_iter()
            .flat_map(|memory| WIDTHS.map(|load| WIDTHS.map(|store| (memory, load, store))))
            .flatten()
            .filter(|(_, load, store)| load.is_some() || store.is_some())
        {
            let access = Access { memory, load, store };
            let valid = validated(access);
            match TABLE.iter().find(|(m, l, s, ..)| (*m, *l, *s) == (memory, load, store)) {
                Some((.., unit, filled)) => {
                    rows += 1;
                    assert_eq!(valid, Ok(()), "{access:?}");
                    let said = Kernel::new("test/kernel").operand("a", access).to_string();
                    let mut words: Vec<&str> = said.split(' ').collect();
                    assert_eq!(words.remove(1), format!("a_unit={unit}"), "{access:?}");
                    let mut filled: Vec<&str> = filled.split_whitespace().collect();
                    words.remove(0);
                    words.sort_unstable();
                    filled.sort_unstable();
                    assert_eq!(words, filled, "{access:?}");
                }
                None => assert!(valid.is_err(), "{access:?} is no row"),
            }
        }
        assert_eq!(rows, TABLE.len(), "every row is an access");
    }

    #[test]
    fn a_result_is_stored_by_elements_or_by_what_its_family_has() {
        for (access, said) in [
            (Access::write(F32, One), "test c_unit=f32"),
            (Access::write(Bf16, One), "test c_unit=atomic<u32> pack_pair:bf16 save_c:element_packed"),
            (Access::write(Bf16, Two), "test c_unit=u32 pack_pair:bf16"),
            (
                Access::write(Packed, One).and_read(One),
                "test c_unit=atomic<u32> load_c:atomic_packed pack_pair:f16 save_c:element_packed",
            ),
            (Access::write(F16, Four), "test c_unit=vec4<f16>"),
        ] {
            assert_eq!(Kernel::new("test").result(access).to_string(), said);
        }
    }

    #[test]
    fn two_results_are_packed_alike_or_refused() {
        let text = "alias sum = f32;\n//#param\nalias u_unit = f32;\nalias v_unit = f32;\n//#end\n//#slot pack_pair default f16\n\
                    //#slot save x=u default element\n//#slot save x=v default element\n";
        let library = Library { kernels: vec![("test/kernel", text)].leak(), parts: PARTS };
        let of = |u, v| {
            let kernel = Kernel::new("test/kernel")
                .operand("u", Access::write(u, Two))
                .operand("v", Access::write(v, Two));
            specialize_from(&kernel, &library)
        };
        assert!(of(Bf16, Bf16).is_ok() && of(Packed, Packed).is_ok() && of(Bf16, F32).is_ok());
        let error = of(Packed, Bf16).unwrap_err().to_string();
        assert!(error.contains("two fillings for the slot pack_pair"), "{error}");
    }
}
