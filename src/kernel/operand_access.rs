//! A kernel's access to an operand: the type of its binding, and the slot variants that load and store its elements.

use super::source::{Kernel, SlotContent};
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
    load: Option<AccessWidth>,
    /// The vector width of stores, if the kernel stores the operand.
    store: Option<AccessWidth>,
    /// Whether stored values are already rounded.
    is_rounded: bool,
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
    fn load_variant(self, width: AccessWidth) -> &'static str {
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
    fn save_variant(self, width: AccessWidth) -> &'static str {
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
    fn pack_variant(self) -> Option<&'static str> {
        let variant = match self.format {
            StorageFormat::Bf16 => "bf16",
            _ if self.is_at_once => "f16_at_once",
            _ => "f16",
        };
        self.packs_pairs().then_some(variant)
    }
}

/// The default of the slots `load` and `save` in all shaders.
const ELEMENT: &str = "element";
/// The default of the slots `aligned_quad` and `save_quad`.
const PLAIN: &str = "plain";

impl Kernel {
    /// Sets the access to the operand `name`: the parameter `<name>_unit`, and the slots `load_<name>`, `save_<name>` and
    /// `pack_pair` if the access needs variants other than their defaults.
    #[must_use]
    pub(crate) fn operand(self, name: &'static str, access: OperandAccess) -> Self {
        let kernel = self.bind(name, access);
        match access.store.map(|width| access.save_variant(width)) {
            None | Some(ELEMENT) => kernel,
            Some(variant) => kernel.fill(format!("save_{name}"), variant),
        }
    }

    /// Sets the access to the result `c` of a kernel that stores vectors through a slot of its own family. Only stores of parts
    /// of words fill the slot `save_c`.
    #[must_use]
    pub(crate) fn result(self, access: OperandAccess) -> Self {
        let kernel = self.bind("c", access);
        if !access.stores_parts_of_words() {
            return kernel;
        }
        kernel.slot("save_c", access.save_variant(AccessWidth::One))
    }

    /// Sets the access to the result `c` of a kernel that stores up to four neighbours through the slot `store_quad`.
    #[must_use]
    pub(crate) fn quad_result(self, access: OperandAccess) -> Self {
        let kernel = self.result(access);
        if access.store == Some(AccessWidth::Two) { kernel.slot("store_quad", "pairs") } else { kernel }
    }

    /// Sets the access to the operand `name` of a kernel that counts its elements in groups of four: the parameter
    /// `<name>_unit`, and the slots `aligned_quad_<name>`, `save_quad_<name>` and `pack_pair`. The width of all accesses is four.
    #[must_use]
    pub(crate) fn quads(mut self, name: &'static str, access: OperandAccess) -> Self {
        self.params.push((format!("{name}_unit").into(), access.unit().to_owned()));
        let load = match access.format {
            StorageFormat::Bf16 => "bf16",
            _ if access.format.elements_per_scalar() == 2 => "packed",
            _ => PLAIN,
        };
        if access.load.is_some() && load != PLAIN {
            self = self.fill(format!("aligned_quad_{name}"), load);
        }
        if access.is_rounded {
            self = self.fill(format!("save_quad_{name}"), "rounded");
        } else if access.packs_pairs() {
            self = self.fill(format!("save_quad_{name}"), "packed");
        } else if access.store.is_some() && access.format == StorageFormat::I8 {
            self = self.fill(format!("save_quad_{name}"), "bytes");
        }
        self.packing(access)
    }

    fn bind(mut self, name: &'static str, access: OperandAccess) -> Self {
        self.params.push((format!("{name}_unit").into(), access.unit().to_owned()));
        match access.load.map(|width| access.load_variant(width)) {
            None | Some(ELEMENT) => {}
            Some(variant) => self = self.fill(format!("load_{name}"), variant),
        }
        self.packing(access)
    }

    /// Fills the slot `pack_pair` if the access packs pairs.
    fn packing(self, access: OperandAccess) -> Self {
        match access.pack_variant() {
            // Several results may share a variant. Specialisation refuses different variants in one slot.
            Some(variant) if !self.is_filled("pack_pair", variant) => self.slot("pack_pair", variant),
            _ => self,
        }
    }

    fn fill(mut self, name: String, variant: &'static str) -> Self {
        self.slots.push((name.into(), SlotContent::Variant(variant)));
        self
    }

    fn is_filled(&self, name: &str, variant: &'static str) -> bool {
        self.slots.iter().any(|(slot, content)| slot == name && *content == SlotContent::Variant(variant))
    }
}

#[cfg(test)]
#[path = "operand_access_tests.rs"]
mod tests;
