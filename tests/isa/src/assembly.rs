//! Counts a compiled kernel's instructions by their kind: in the whole kernel, and in its heaviest basic block.

use crate::issue;
use std::collections::BTreeMap;

/// The number of memory accesses of each width. The width is in bytes for one invocation.
pub type Widths = BTreeMap<u32, u32>;

/// A compiler whose assembly can be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// Mesa's compiler for AMD GPUs.
    Aco,
    /// Mesa's compiler for NVIDIA GPUs.
    Nak,
    /// Mesa's compiler for Intel GPUs.
    Brw,
}

/// The instruction counts of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Instructions of the whole kernel.
    pub instructions: u32,
    /// The heaviest basic block, which is the inner loop if the kernel has one: the block with the most multiply-adds and memory
    /// accesses, where a matrix instruction counts as a hundred. Among equal blocks it is the longest.
    pub heaviest: Block,
    /// Loads from storage buffers in the whole kernel, code for edges included.
    pub loads: Widths,
    /// Stores to storage buffers, and atomic operations, in the whole kernel.
    pub stores: Widths,
    /// Conversions from f32 to f16 that truncate, in the whole kernel.
    pub truncations: u32,
}

/// The instruction counts of a basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// All instructions.
    pub instructions: u32,
    /// Matrix instructions.
    pub matrix: u32,
    /// Multiply-adds of scalars and vectors.
    pub multiply_adds: u32,
    /// AMD: cycles of the vector unit for all but matrix instructions, in subgroups of 32 and of 64 invocations.
    pub vector_cycles: [u32; 2],
    /// Loads and stores of storage buffers.
    pub global: Widths,
    /// Loads and stores of shared memory.
    pub shared: Widths,
}

/// The kind of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Matrix,
    MultiplyAdd,
    Global(u32),
    Shared(u32),
    Other,
}

impl Compiler {
    /// The compiler that writes an assembly of this name, or None if the driver's text is no assembly.
    #[must_use]
    pub fn of_text(name: &str) -> Option<Self> {
        match name {
            "Assembly" => Some(Self::Aco),
            "NAK assembly" => Some(Self::Nak),
            name if name.contains("GEN Assembly") => Some(Self::Brw),
            _ => None,
        }
    }

    /// Counts the instructions of an assembly.
    #[must_use]
    pub fn count(self, assembly: &str) -> Counted {
        let mut blocks = vec![Block::default()];
        let (mut loads, mut stores, mut truncations) = (Widths::new(), Widths::new(), 0);
        for line in assembly.lines() {
            if self.begins_block(line) {
                blocks.push(Block::default());
            }
            if let (Some(op), Some(block)) = (self.operation(line), blocks.last_mut()) {
                let kind = self.kind(op);
                block.add(kind);
                truncations += u32::from(self.truncates(op));
                if let Kind::Global(bytes) = kind {
                    *if is_load(op) { &mut loads } else { &mut stores }.entry(bytes).or_default() += 1;
                }
                if self == Self::Aco {
                    let cycles = issue::cycles(op);
                    block.vector_cycles = [0, 1].map(|i| block.vector_cycles[i] + cycles[i]);
                }
            }
        }
        let instructions = blocks.iter().map(|block| block.instructions).sum();
        let heaviest = blocks.into_iter().max_by_key(Block::weight).unwrap_or_default();
        Counted { instructions, heaviest, loads, stores, truncations }
    }

    /// The lines of the heaviest block.
    #[must_use]
    pub fn heaviest_lines(self, assembly: &str) -> Vec<&str> {
        let mut blocks = vec![(Block::default(), Vec::new())];
        for line in assembly.lines() {
            if self.begins_block(line) {
                blocks.push(Default::default());
            }
            if let (Some(op), Some((block, lines))) = (self.operation(line), blocks.last_mut()) {
                block.add(self.kind(op));
                lines.push(line);
            }
        }
        blocks.into_iter().max_by_key(|(block, _)| block.weight()).map(|(_, lines)| lines).unwrap_or_default()
    }

    fn begins_block(self, line: &str) -> bool {
        match self {
            Self::Aco => line.starts_with("BB"),
            Self::Nak => line.starts_with("block"),
            Self::Brw => line.starts_with("START B") || line.starts_with('L') && line.ends_with(':'),
        }
    }

    /// The operation of a line, if it is an instruction.
    pub(crate) fn operation(self, line: &str) -> Option<&str> {
        match self {
            // For example `\tv_fma_f32 v0, v1, v2, v3 ; 12345678`. Instructions that LLVM cannot print count too.
            Self::Aco if line.starts_with("(invalid") => Some("invalid"),
            Self::Aco => line.strip_prefix('\t')?.split_whitespace().next(),
            // For example `  @!p0  r0 = ffma r1 r2 r3 // delay=4`. Lines that list the successors of a block have no delay.
            Self::Nak => {
                let (code, _) = line.split_once("//")?;
                let code = code.split_once('=').map_or(code, |(_, code)| code);
                code.split_whitespace().find(|word| !word.starts_with('@'))
            }
            // For example `(+f0.0) mad(16) g1<1>F ...  { align1 };`, or `(W)     add (16)  r1:d  r2:d {I@1}`.
            Self::Brw => {
                let code = line.trim_start();
                let code = code
                    .strip_prefix('(')
                    .and_then(|rest| rest.split_once(')'))
                    .map_or(code, |(_, rest)| rest);
                let (operation, rest) = code.trim_start().split_once('(')?;
                let operation = operation.trim_end();
                let is_width = rest.split_once(')').is_some_and(|(width, _)| width.parse::<u32>().is_ok());
                let is_word = operation.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
                // The operation of a message is at the end of its line.
                let is_message =
                    operation.split('.').next().is_some_and(|name| name == "send" || name == "sends");
                match is_message.then(|| line.split_whitespace().find(|word| is_lsc(word))).flatten() {
                    Some(message) => Some(message),
                    None => (is_width && is_word && !operation.is_empty()).then_some(operation),
                }
            }
        }
    }

    /// Whether an operation converts from f32 to f16 and rounds toward zero.
    fn truncates(self, op: &str) -> bool {
        match self {
            Self::Aco => op.starts_with("v_cvt_pk_rtz_f16") || op.starts_with("v_cvt_pkrtz_f16"),
            Self::Nak => {
                starts_with_any(op, &["f2f.f16.", "f2fp."]) && op.split('.').any(|part| part == "rz")
            }
            Self::Brw => false, // its rounding is a mode
        }
    }

    fn kind(self, op: &str) -> Kind {
        match self {
            Self::Aco => aco(op),
            Self::Nak => nak(op),
            Self::Brw => brw(op),
        }
    }
}

impl Block {
    fn weight(&self) -> (u32, u32) {
        let accesses: u32 = self.global.values().chain(self.shared.values()).sum();
        (100 * self.matrix + self.multiply_adds + accesses, self.instructions)
    }

    fn add(&mut self, kind: Kind) {
        self.instructions += 1;
        match kind {
            Kind::Matrix => self.matrix += 1,
            Kind::MultiplyAdd => self.multiply_adds += 1,
            Kind::Global(bytes) => *self.global.entry(bytes).or_default() += 1,
            Kind::Shared(bytes) => *self.shared.entry(bytes).or_default() += 1,
            Kind::Other => {}
        }
    }
}

/// Whether an access to a storage buffer is a load, in any compiler's words.
fn is_load(op: &str) -> bool {
    starts_with_any(op, &["buffer_load", "global_load", "flat_load", "ld.", "load"])
}

/// Whether an operation starts with one of these prefixes.
fn starts_with_any(op: &str, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| op.starts_with(prefix))
}

fn aco(op: &str) -> Kind {
    // The last number of bits in the name, as in `buffer_load_d16_hi_b16` and `ds_add_rtn_u32`.
    let bits = op.rsplit('_').find_map(|part| part.strip_prefix(['b', 'u', 'i', 'f'])?.parse::<u32>().ok());
    let bytes = bits.unwrap_or(32) / 8;
    if starts_with_any(op, &["v_wmma", "v_swmmac"]) {
        Kind::Matrix
    } else if starts_with_any(op, &["v_fma", "v_pk_fma", "v_dot", "v_dual_fma", "v_mad"]) {
        Kind::MultiplyAdd
    } else if starts_with_any(op, &["buffer_load", "buffer_store", "buffer_atomic", "global_", "flat_"]) {
        Kind::Global(bytes)
    } else if starts_with_any(op, &["ds_bpermute", "ds_permute", "ds_swizzle"]) || !op.starts_with("ds_") {
        Kind::Other // exchanges values between lanes without accessing memory
    } else if op.contains("2addr") {
        Kind::Shared(2 * bytes)
    } else {
        Kind::Shared(bytes)
    }
}

fn nak(op: &str) -> Kind {
    let mut parts = op.split('.');
    let name = parts.next().unwrap_or_default();
    let width = parts.clone().find_map(|part| match part {
        "u8" | "s8" => Some(1),
        "u16" | "s16" => Some(2),
        "b32" | "u32" | "i32" | "f32" => Some(4),
        "b64" | "u64" | "i64" => Some(8),
        "b128" => Some(16),
        _ => None,
    });
    let bytes = width.unwrap_or(4);
    match name {
        "hmma" | "imma" => Kind::Matrix,
        "ffma" | "hfma2" | "dfma" | "idp4" => Kind::MultiplyAdd,
        // Loads matrices of 8 x 8 f16. Each lane receives 4 bytes of a matrix.
        "ldsm" => {
            Kind::Shared(parts.find_map(|part| part.strip_prefix('x')?.parse::<u32>().ok()).unwrap_or(1) * 4)
        }
        "ld" | "st" | "atom" | "red" if parts.clone().any(|part| part == "global") => Kind::Global(bytes),
        "ld" | "st" | "atom" | "atoms" if parts.any(|part| part == "shared") => Kind::Shared(bytes),
        _ => Kind::Other,
    }
}

/// Whether a word is a memory message, such as `load.ugm.d32x4t.a32`.
fn is_lsc(word: &str) -> bool {
    starts_with_any(word, &["load.", "store.", "load_cmask.", "store_cmask."])
}

fn brw(op: &str) -> Kind {
    if op.starts_with("dpas") {
        return Kind::Matrix;
    }
    if starts_with_any(op, &["mad", "dp4a"]) {
        return Kind::MultiplyAdd;
    }
    if !is_lsc(op) {
        return Kind::Other;
    }
    // `d16u32x2` means two elements of 16 bits, each in 32 bits of a register.
    let data = op.split('.').find_map(|part| part.strip_prefix('d')).unwrap_or_default();
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..end].parse::<u32>().ok()
    };
    let count = data.split_once('x').and_then(|(_, count)| number(count)).unwrap_or(1);
    let bytes = number(data).unwrap_or(32) / 8 * count;
    match op.split('.').nth(1) {
        Some("ugm") => Kind::Global(bytes),
        Some("slm") => Kind::Shared(bytes),
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::{Compiler, Counted, Widths};

    /// Pairs of a width in bytes and a count.
    type Listed = Vec<(u32, u32)>;

    fn counted(compiler: Compiler, text: &str) -> (Counted, Listed, Listed) {
        let counted = compiler.count(text);
        let list = |widths: &Widths| widths.iter().map(|(&bytes, &count)| (bytes, count)).collect();
        let (global, shared) = (list(&counted.heaviest.global), list(&counted.heaviest.shared));
        (counted, global, shared)
    }

    #[test]
    fn amd() {
        let text = "BB0:\n\
            \ts_mov_b32 s0, s3                  ; be800003\n\
            BB1:\n\
            \tbuffer_load_b128 v[0:3], v4, s[0:3], 0 offen ; e\n\
            \tbuffer_load_d16_hi_b16 v0, v4, s[0:3], 0 offen ; e\n\
            \tds_load_2addr_stride64_b32 v[0:1], v2 ; d\n\
            \tds_load_b64 v[0:1], v2            ; d\n\
            \tds_bpermute_b32 v0, v1, v2        ; d\n\
            \tv_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7] ; c\n\
            \tv_dual_fmac_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5 ; c\n\
            (invalid instruction)               ; 00\n\
            BB2:\n\
            \ts_endpgm                          ; bf\n";
        let (counted, global, shared) = counted(Compiler::Aco, text);
        assert_eq!(counted.instructions, 10);
        assert_eq!((counted.heaviest.instructions, counted.heaviest.matrix), (8, 1));
        assert_eq!(counted.heaviest.multiply_adds, 1);
        assert_eq!((global, shared), (vec![(2, 1), (16, 1)], vec![(8, 2)]));
        assert_eq!((counted.loads, counted.stores), ([(2, 1), (16, 1)].into(), Widths::new()));
        let store = "BB0:\n\tbuffer_store_b64 v[0:1], v2, s[0:3], 0 offen ; e\n\tbuffer_atomic_or v0, v1, s[0:3], 0 ; e\n";
        let counted = Compiler::Aco.count(store);
        assert_eq!((counted.loads, counted.stores), (Widths::new(), [(4, 1), (8, 1)].into()));
    }

    #[test]
    fn nvidia() {
        let text = "block.u 0 L1 [] -> {\n\
            \x20     ur0     = s2r sr[0x25]                 // delay=1 wr:0\n\
            @!p0            exit                         // delay=1\n\
            } -> [1]\n\
            block 1 L3 [0] -> {\n\
            \x20     r0..4   = ldsm.16.m8n8.x4 [r1]         // delay=1\n\
            \x20     r0..4   = hmma.m16n8k16.f32 r0 r1 r2   // delay=1\n\
            \x20     r5      = ld.global.a64.constant.u16 [r1..3] // delay=1\n\
            @p0   r5      = ld.shared.strong.cta.b128 [r1] // delay=1\n\
            @p0             st.global.a64.strong.gpu.b32 [r1..3] r4 // delay=1\n\
            \x20     r2      = hfma2 r1 r2 r3               // delay=1\n\
            } -> [1]\n";
        let (counted, global, shared) = counted(Compiler::Nak, text);
        assert_eq!(counted.instructions, 8);
        assert_eq!((counted.heaviest.matrix, counted.heaviest.multiply_adds), (1, 1));
        assert_eq!((global, shared), (vec![(2, 1), (4, 1)], vec![(16, 2)]));
        assert_eq!((counted.loads, counted.stores), ([(2, 1)].into(), [(4, 1)].into()));
    }

    #[test]
    fn intel() {
        let text = "(W)     mov (16)    r85    r0.1<0>    {Compacted}\n\
            (f0.0)  if (16)     jip:L0 uip:L1\n\
            \n\
            L0:\n\
            \x20       mad (16)    r1:f   r2:f   r3:f   r4<0>:f {I@1}\n\
            (W)     send.ugm (1) r4 r9 null:0 0x0 0x1 {I@2,$1}  // wr:1+0, rd:1; load.ugm.d32x4t.a64\n\
            \x20       send.slm (16) r4 r9 null:0 0x0 0x1 {$1}  // wr:1+0, rd:4; load.slm.d32x4.a32\n\
            \x20       while (16)  L0\n";
        let (counted, global, shared) = counted(Compiler::Brw, text);
        assert_eq!((counted.instructions, counted.heaviest.instructions), (6, 4));
        assert_eq!((counted.heaviest.multiply_adds, global, shared), (1, vec![(16, 1)], vec![(16, 1)]));
        assert_eq!((counted.loads, counted.stores), ([(16, 1)].into(), Widths::new()));
    }

    #[test]
    fn conversions_that_truncate_are_counted() {
        let amd = "BB0:\n\tv_cvt_pk_rtz_f16_f32 v0, v1, v2 ; c\n\tv_fma_mixlo_f16 v0, v1, 1.0, 0 ; c\n";
        assert_eq!(Compiler::Aco.count(amd).truncations, 1);
        let nvidia = "block 0 [] -> {\n\
            \x20     r0      = f2fp.pack_ab.rz r1 r2          // delay=1\n\
            \x20     r0      = f2fp.pack_ab r1 r2             // delay=1\n\
            \x20     r0      = f2f.f16.f32.re r1              // delay=1\n";
        assert_eq!(Compiler::Nak.count(nvidia).truncations, 1);
    }

    #[test]
    fn the_heaviest_block_moves_most_or_is_the_longest() {
        let nothing = "BB0:\n\ts_nop 0 ; b\nBB1:\n\ts_nop 0 ; b\n\ts_nop 0 ; b\n";
        let counted = Compiler::Aco.count(nothing);
        assert_eq!((counted.instructions, counted.heaviest.instructions), (3, 2));
        let store = format!("{nothing}BB2:\n\tbuffer_store_b32 v0, v1, s[0:3], 0 ; b\n");
        assert_eq!(Compiler::Aco.count(&store).heaviest.instructions, 1);
        assert_eq!(Compiler::Aco.count(""), Counted::default());
    }
}
