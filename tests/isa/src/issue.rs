//! An estimate of the share of a block's time that is left to matrix instructions on AMD's GPUs.
//!
//! A SIMD of RDNA has one vector unit, which matrix instructions occupy as well. A subgroup that multiplies matrices and one that
//! computes an address wait for each other. Scalar instructions and memory accesses have units of their own, and other subgroups
//! use those in the meantime. So the share is the cycles of matrix instructions over those of all vector instructions. It is an
//! upper bound: waits for memory and barriers are not in it.

use crate::assembly::Block;
use crate::checks::COOP;
use crate::row::Row;

/// Cycles of the vector unit for an instruction.
///
/// Source: Mesa's own model (`get_perf_info` and `BlockCycleEstimator` in `src/amd/compiler/aco_statistics.cpp`), in which a
/// subgroup of 64 issues an instruction twice unless the GPU has a second unit for it (`is_dual_issue_capable`).
const PLAIN: u32 = 1;
/// 32-bit products of integers.
const PRODUCT: u32 = 4;
/// A multiplication of 16x16x16 matrices of f16: as Mesa's model.
const MATRIX_RDNA3: u32 = 32;
/// Twice the rate: the product page of the RX 9070 XT says 195 Tflop/s of f16 matrices for 128 SIMDs at 2.97 GHz, which is 512
/// flop per SIMD and cycle, where the RX 7900 XTX has 256 (122.8 Tflop/s, 192 SIMDs, 2.5 GHz).
const MATRIX_RDNA4: u32 = 16;

/// Steps of `coop` whose loop does nothing but load units ahead and multiply.
const STEPS: [&str; 5] = ["f16", "f16 to f32", "f16, A transposed", "f16, B transposed", "f16, a layer"];

/// The least share in percent that these steps leave to matrix instructions.
const LEAST: u32 = 85;

/// The cycles of the vector unit for an instruction of AMD's that is not a matrix instruction: in subgroups of 32, and of 64.
#[must_use]
pub fn cycles(op: &str) -> [u32; 2] {
    /// Instructions for which a SIMD has a second unit, if a subgroup has 64 invocations.
    const TWICE: [&str; 12] = [
        "v_mov_b32",
        "v_mov_b16",
        "v_cndmask_b32",
        "v_cndmask_b16",
        "v_fma_f",
        "v_fmac_f",
        "v_mul_f",
        "v_add_f",
        "v_sub_f",
        "v_max_f",
        "v_min_f",
        "v_dot2",
    ];
    let is_of = |names: &[&str]| names.iter().any(|name| op.starts_with(name));
    if !op.starts_with("v_") || is_of(&["v_wmma", "v_swmmac"]) {
        [0, 0]
    } else if is_of(&["v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32", "v_mad_u64", "v_mad_co_u64"]) {
        [PRODUCT, 2 * PRODUCT]
    } else if is_of(&TWICE) {
        [PLAIN, PLAIN]
    } else {
        [PLAIN, 2 * PLAIN]
    }
}

/// The share in percent of a block's vector cycles that matrix instructions have; None for GPUs without a table, and for blocks
/// without matrix instructions.
#[must_use]
pub fn matrix_percent(target: &str, subgroup: u32, block: &Block) -> Option<u32> {
    let matrix = block.matrix
        * match target {
            "navi31" => MATRIX_RDNA3,
            "gfx1201" => MATRIX_RDNA4,
            _ => return None,
        };
    let other = block.vector_cycles[usize::from(subgroup > 32)];
    (matrix > 0).then(|| 100 * matrix / (matrix + other))
}

/// The rules for matrix loops that a row violates, one line each: a share that is too small, and accesses of two bytes to shared
/// memory.
#[must_use]
pub fn faults(row: &Row) -> Vec<String> {
    let Row { name, target, tile, .. } = row;
    let mut faults = Vec::new();
    if let Some(percent) =
        row.matrix_percent.filter(|&percent| percent < LEAST && STEPS.contains(&name.as_str()))
    {
        faults.push(format!(
            "{target}: {name} ({tile}): {percent}% of the vector unit's time for matrices, not {LEAST}%"
        ));
    }
    if row.kernel == COOP && row.shared_access.contains_key(&2) {
        faults.push(format!(
            "{target}: {name} ({tile}): accesses of two bytes to shared memory in a matrix loop"
        ));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::{cycles, faults, matrix_percent};
    use crate::assembly::Compiler;
    use crate::checks::COOP;
    use crate::row::Row;

    #[test]
    fn a_subgroup_of_64_takes_two_passes_unless_there_are_two_units() {
        assert_eq!(cycles("v_add_nc_u32_e32"), [1, 2]);
        assert_eq!(cycles("v_perm_b32"), [1, 2]);
        assert_eq!(cycles("v_mov_b32_e32"), [1, 1]);
        assert_eq!(cycles("v_mul_lo_u32"), [4, 8]);
        assert_eq!([cycles("s_add_i32"), cycles("ds_load_b64"), cycles("buffer_load_b128")], [[0, 0]; 3]);
    }

    #[test]
    fn the_share_is_that_of_the_vector_unit() {
        let text = "BB0:\n\
            \tv_wmma_f32_16x16x16_f16 v[0:3], v[8:15], v[16:23], v[0:3] ; c\n\
            \tv_wmma_f32_16x16x16_f16 v[0:3], v[8:15], v[16:23], v[0:3] ; c\n\
            \tds_load_b64 v[0:1], v2            ; d\n\
            \tv_perm_b32 v0, v1, v2, s0         ; d\n\
            \tv_mov_b32_e32 v0, v1              ; d\n\
            \tv_mul_lo_u32 v0, v1, v2           ; d\n\
            \ts_barrier                         ; d\n";
        let block = Compiler::Aco.count(text).heaviest;
        // 2 + 1 + 8 cycles beside two multiplications.
        assert_eq!(matrix_percent("navi31", 64, &block), Some(100 * 64 / 75));
        assert_eq!(matrix_percent("gfx1201", 64, &block), Some(100 * 32 / 43));
        assert_eq!(matrix_percent("gfx1201", 32, &block), Some(100 * 32 / 38));
        assert_eq!(matrix_percent("nv176", 32, &block), None);
    }

    #[test]
    fn a_loop_that_multiplies_too_little_or_reads_two_bytes_is_a_fault() {
        let row = |percent, bytes| Row {
            name: "f16".into(),
            kernel: COOP.into(),
            matrix_percent: Some(percent),
            shared_access: [(bytes, 1)].into(),
            ..Row::default()
        };
        assert_eq!(faults(&row(85, 8)), [""; 0]);
        assert!(faults(&row(84, 8))[0].contains("84% of"));
        assert!(faults(&row(99, 2))[0].contains("two bytes"));
        assert_eq!(faults(&Row { name: "f16, odd sizes".into(), ..row(84, 8) }), [""; 0]);
        assert_eq!(faults(&Row { kernel: "gemm/tiled".into(), ..row(99, 2) }), [""; 0]);
    }
}
