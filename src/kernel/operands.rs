//! The operands of a kernel: the parameter of a binding's type, and the slots that its accesses fill.

use super::operand_access::{ELEMENT, OperandAccess};
use super::source::{Kernel, SlotContent};
use super::storage_format::{AccessWidth, StorageFormat};

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
