//! Writes the bindings of a kernel, and the functions that read and write them, for the existing operands.

use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::ops::vectors::Moves;

/// A kernel with its generated text.
pub(crate) struct Writer {
    kernel: Kernel,
    pub(crate) moves: Moves,
    pub(crate) format: StorageFormat,
    bindings: usize,
    pub(crate) text: String,
}

impl Writer {
    pub(crate) fn new(kernel: Kernel, moves: Moves, format: StorageFormat) -> Self {
        Self { kernel, moves, format, bindings: 0, text: String::new() }
    }

    /// The kernel with the generated text in the slot `operands`.
    pub(crate) fn done(self, description: String) -> Kernel {
        self.kernel.generated("operands", description, self.text)
    }

    /// Adds a function.
    pub(crate) fn function(&mut self, head: &str, body: &str) {
        self.text += &function(head, body);
    }

    /// An operand that is read.
    pub(crate) fn read(&mut self, name: &'static str) {
        self.read_as(name, self.format);
    }

    /// An operand that is read in words if its elements are f16 and move in vectors, even on devices with f16 in shaders.
    pub(crate) fn read_words(&mut self, name: &'static str) {
        self.read_as(name, if self.has_words() { StorageFormat::PackedF16 } else { self.format });
    }

    /// Whether elements are f16 and move in vectors, so that they can be words.
    fn has_words(&self) -> bool {
        self.moves == Moves::Vectors && self.format == StorageFormat::F16
    }

    fn read_as(&mut self, name: &'static str, format: StorageFormat) {
        let width = if self.moves == Moves::Vectors { AccessWidth::Four } else { AccessWidth::One };
        self.bind(name, OperandAccess::read(format, width));
        self.text += &match self.moves {
            Moves::Elements => {
                format!("//#slot load x={name} default element\n//#slot load_quad x={name} default reals\n")
            }
            Moves::Vectors => format!("//#slot aligned_quad x={name} default plain\n"),
        };
    }

    /// An operand that is read element by element, even if others move in vectors.
    pub(crate) fn read_elements(&mut self, name: &'static str) {
        let access = OperandAccess::read(self.format, AccessWidth::One);
        self.text += &access.declaration(name, self.bindings);
        self.text += &format!("//#slot load x={name} default element\n");
        self.bindings += 1;
        let kernel = std::mem::replace(&mut self.kernel, Kernel::new(""));
        self.kernel = kernel.operand(name, access);
    }

    /// A result with contiguous rows, and the function that stores a group of its elements.
    pub(crate) fn write(&mut self, name: &'static str) {
        let width = if self.moves == Moves::Vectors { AccessWidth::Four } else { AccessWidth::One };
        self.write_by(name, OperandAccess::write(self.format, width));
    }

    /// As [`write`](Self::write), for values that are already rounded to the storage type ([`as_stored`]).
    pub(crate) fn write_rounded(&mut self, name: &'static str) {
        if self.has_words() {
            self.write_by(name, OperandAccess::write_rounded());
        } else {
            self.write(name);
        }
    }

    /// As [`write`](Self::write), in words if elements are f16 and move in vectors, even on devices with f16 in shaders: these may
    /// convert to f16 in software.
    pub(crate) fn write_words(&mut self, name: &'static str) {
        if self.has_words() {
            self.write_by(name, OperandAccess::write_words());
        } else {
            self.write(name);
        }
    }

    fn write_by(&mut self, name: &'static str, access: OperandAccess) {
        self.bind(name, access);
        let by = match self.moves {
            Moves::Elements => "elements",
            Moves::Vectors => "vectors",
        };
        self.text += &format!("//#slot store_row x={name} default {by}\n");
    }

    /// A binding of f32 elements that is accessed by itself.
    pub(crate) fn f32s(&mut self, name: &str, mode: &str) {
        self.array(name, mode, "f32");
    }

    /// A binding of elements of a WGSL type that is accessed by itself.
    pub(crate) fn array(&mut self, name: &str, mode: &str, element: &str) {
        self.text += &format!(
            "@group(0) @binding({}) var<storage, {mode}> {name}: array<{element}>;\n",
            self.bindings
        );
        self.bindings += 1;
    }

    fn bind(&mut self, name: &'static str, access: OperandAccess) {
        self.text += &access.declaration(name, self.bindings);
        self.bindings += 1;
        let kernel = std::mem::replace(&mut self.kernel, Kernel::new(""));
        self.kernel = match self.moves {
            Moves::Elements => kernel.operand(name, access),
            Moves::Vectors => kernel.quads(name, access),
        };
    }

    /// The expression of quad `k` of a group of an operand's elements: `length` elements that begin at `start`, `stride` apart.
    pub(crate) fn loaded(&self, name: &str, start: &str, stride: &str) -> String {
        match self.moves {
            Moves::Elements => {
                format!("load_quad_{name}({start} + 4u * group * {stride}, {stride}, length - 4u * group)")
            }
            Moves::Vectors => format!("quad_{name}(({start} / WIDTH + group) * QUADS + k)"),
        }
    }
}

fn function(head: &str, body: &str) -> String {
    format!("\nfn {head} {{\n{body}}}\n")
}

/// A function that rounds values to the storage type. The slot `pack_pair` of every kernel has the rounding of its type
/// (`shaders/common/rounded.wgsl`).
pub(crate) fn as_stored(format: StorageFormat) -> String {
    let value = match format {
        StorageFormat::F16 | StorageFormat::PackedF16 | StorageFormat::Bf16 => {
            "vec4<f32>(rounded(v.xy), rounded(v.zw))"
        }
        StorageFormat::F32
        | StorageFormat::I8
        | StorageFormat::I32
        | StorageFormat::E4m3
        | StorageFormat::E5m2 => "v",
    };
    function("as_stored(v: vec4<f32>) -> vec4<f32>", &format!("    return {value};\n"))
}
