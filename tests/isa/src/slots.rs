//! What a kernel's heaviest block occupies: multiply-adds, the slots of the unit that computes them, accesses, waits.
//!
//! A *slot* is a cycle in which a SIMD (AMD), a scheduler (NVIDIA) or a vector engine (Intel) issues an instruction of one
//! subgroup. AMD's scalar instructions and accesses have units of their own, which other subgroups use in the meantime, and take
//! none.

use crate::assembly::Compiler;
use crate::issue;
use serde::{Deserialize, Serialize};

/// What the heaviest block occupies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slots {
    /// Multiply-adds of an invocation. A packed instruction has two or four, and a matrix instruction its share of the matrices.
    pub products: u32,
    /// Slots of the subgroup's multiply-adds, without matrix instructions, which have their own rate.
    pub arithmetic: u32,
    /// Slots of all its other instructions. NVIDIA: without moves between registers, which are due to Mesa's allocation of
    /// registers, and NVIDIA has another.
    pub other: u32,
    /// Instructions that wait for the result of an earlier access.
    pub waits: u32,
}

/// Lanes of a slot of Intel's vector engine (Xe2).
const XE2_LANES: u32 = 16;

impl Slots {
    /// The slots of a block's lines, in subgroups of this size.
    #[must_use]
    pub fn of(compiler: Compiler, lines: &[&str], subgroup: u32) -> Self {
        let subgroup = subgroup.max(1);
        let mut slots = Self::default();
        let mut products = 0; // of the subgroup
        for line in lines {
            let Some(op) = compiler.operation(line) else { continue };
            let found = match compiler {
                Compiler::Aco => aco(op, line, subgroup),
                Compiler::Nak => nak(op, line, subgroup),
                Compiler::Brw => brw(op, line),
            };
            products += found.products;
            slots.arithmetic += found.arithmetic;
            slots.other += found.other;
            slots.waits += found.waits;
        }
        Self { products: products / subgroup, ..slots }
    }
}

/// Multiply-adds of 16x16x16 matrices.
const CUBE_OF_16: u32 = 16 * 16 * 16;

/// AMD. `products` are those of the subgroup, here and below.
fn aco(op: &str, line: &str, subgroup: u32) -> Slots {
    let cycles = issue::cycles(op)[usize::from(subgroup > 32)];
    let waits = u32::from(op.starts_with("s_wait") && !op.contains("alu") && !op.contains("depctr"));
    // Two instructions in one slot: both may be multiply-adds.
    let dual = u32::try_from(line.matches("v_dual_fma").count()).unwrap_or(0);
    let products = match op {
        op if op.starts_with("v_wmma") => return Slots { products: CUBE_OF_16, waits, ..Slots::default() },
        op if op.starts_with("v_dual") => dual,
        op if op.starts_with("v_pk_fma") || op.starts_with("v_dot2") => 2,
        op if op.starts_with("v_dot4") => 4,
        // `x * 1.0 + -0.0` converts an f16.
        op if op.starts_with("v_fma_mix") && line.contains(" 1.0,") => 0,
        op if op.starts_with("v_fma") => 1,
        _ => 0,
    };
    let of = |is: bool| if is { cycles } else { 0 };
    Slots { products: products * subgroup, arithmetic: of(products > 0), other: of(products == 0), waits }
}

/// NVIDIA.
fn nak(op: &str, line: &str, subgroup: u32) -> Slots {
    let waits = u32::from(line.contains("wt="));
    let name = op.split('.').next().unwrap_or_default();
    let (products, arithmetic, other) = match name {
        "hmma" | "imma" => (matrix_products(op), 0, 0),
        "ffma" => (subgroup, 1, 0),
        "hfma2" => (2 * subgroup, 1, 0),
        "idp4" => (4 * subgroup, 1, 0),
        "mov" => (0, 0, 0),
        _ => (0, 0, 1),
    };
    Slots { products, arithmetic, other, waits }
}

/// The product of the sizes in a word such as `hmma.m16n8k16.f32`.
fn matrix_products(op: &str) -> u32 {
    let sizes = op.split('.').find_map(|part| {
        let (m, rest) = part.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some([m, n, k].map(|size| size.parse::<u32>().unwrap_or(0)))
    });
    sizes.map_or(0, |sizes| sizes.iter().product())
}

/// Intel. An instruction on more than [`XE2_LANES`] takes several slots.
fn brw(op: &str, line: &str) -> Slots {
    let width = line.split_once('(').and_then(|_| {
        let mut widths = line.split('(').filter_map(|part| part.split(')').next()?.parse::<u32>().ok());
        widths.next()
    });
    let width = width.unwrap_or(XE2_LANES);
    let waits = u32::from(line.contains(".dst"));
    let slots = if op.contains('.') { 1 } else { width.div_ceil(XE2_LANES) };
    let products = match op {
        "mad" if line.contains(":f") || line.contains(":hf") => width,
        op if op.starts_with("dp4a") => 4 * width,
        _ => 0,
    };
    let of = |is: bool| if is { slots } else { 0 };
    Slots { products, arithmetic: of(products > 0), other: of(products == 0), waits }
}

#[cfg(test)]
mod tests {
    use super::Slots;
    use crate::assembly::Compiler;

    fn slots(compiler: Compiler, text: &str, subgroup: u32) -> [u32; 4] {
        let lines: Vec<&str> = text.lines().collect();
        let Slots { products, arithmetic, other, waits } = Slots::of(compiler, &lines, subgroup);
        [products, arithmetic, other, waits]
    }

    #[test]
    fn amd() {
        let text = "\tv_dual_fmac_f32 v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5 ; c\n\
            \tv_dual_mov_b32 v0, v1 :: v_dual_fmac_f32 v3, v4, v5 ; c\n\
            \tv_fmac_f32_e32 v0, v1, v2 ; c\n\
            \tv_pk_fma_f16 v0, v1, v2 ; c\n\
            \tv_fma_mix_f32 v0, v1, 1.0, neg(0) op_sel_hi:[1,0,0] ; c\n\
            \tv_add_nc_u32_e32 v0, v1, v2 ; c\n\
            \tds_load_b64 v[0:1], v2 ; d\n\
            \ts_waitcnt lgkmcnt(0) ; b\n\
            \ts_waitcnt_depctr 0xfff ; b\n\
            \ts_wait_dscnt 0x0 ; b\n";
        assert_eq!(slots(Compiler::Aco, text, 32), [2 + 1 + 1 + 2, 4, 2, 2]);
        // In subgroups of 64, two instructions in one slot do not exist, and all but the plain operations take two.
        let text = "\tv_fmac_f32_e32 v0, v1, v2 ; c\n\tv_add_nc_u32_e32 v0, v1, v2 ; c\n\
            \tv_dot4_i32_iu8 v0, v1, v2, v3 ; c\n\tv_wmma_f32_16x16x16_f16 v[0:3], v[8:15], v[16:23], v[0:3] ; c\n";
        assert_eq!(slots(Compiler::Aco, text, 64), [1 + 4 + 64, 1 + 2, 2, 0]);
    }

    #[test]
    fn nvidia() {
        let text = "      r0..4   = hmma.m16n8k16.f32 r0 r1 r2   // delay=1 wt=000110\n\
            \x20     r0      = ffma.ftz r112 r96 r77          // delay=1\n\
            \x20     r0      = hfma2 r1 r2 r3                 // delay=1\n\
            \x20     r0      = idp4.s8.s8 r1 r2 r3            // delay=1\n\
            \x20     r0      = mov r1                         // delay=1 wt=100000\n\
            \x20     r0..4   = ld.shared.strong.cta.b128 [r1] // delay=1\n\
            } -> [1]\n";
        assert_eq!(slots(Compiler::Nak, text, 32), [64 + 1 + 2 + 4, 3, 1, 2]);
    }

    #[test]
    fn intel() {
        let text = "        mad (16)    r108:f   r49:f    r1:f    r5<1>:f {$9.dst}\n\
            (W)     mad (1)     r1:d     r2:d     r3:d    r4:d\n\
            \x20       dp4a (16)   r1:d     r2:d     r3:d    r4:d\n\
            \x20       add (32)    r1:d     r2:d     r3:d\n\
            \x20       send.slm (16) r9  r14  null:0  0x00F70000  0x02403500   {F@1,$0}  // wr:1+0, rd:4; load.slm.d32x4.a32\n";
        assert_eq!(slots(Compiler::Brw, text, 16), [1 + 4, 2, 1 + 2 + 1, 1]);
    }
}
