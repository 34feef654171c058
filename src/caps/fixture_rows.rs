//! The rows of cooperative matrices that each vendor's driver lists, for the fixtures. Those that WGSL can express come first.

use super::coop::CoopScalar::{self, Bf16, E4m3, E5m2, F16, F32, I8, I32, U8, U32};
use super::coop::{CoopRow, CoopScope, RowSizes};

/// Generations of NVIDIA's tensor cores, each with all types of those before it.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Nvidia {
    /// f16 and integers of 8 bits.
    Turing,
    /// And bf16.
    Ampere,
    /// The same, and floats of 8 bits. Also Hopper.
    Ada,
}

/// A row of matrices held by a subgroup, not tested.
pub(super) fn row(sizes: [u32; 3], ab: CoopScalar, c: CoopScalar) -> CoopRow {
    CoopRow::untested(sizes, [ab, ab, c])
}

/// NVIDIA's driver.
///
/// Published: f16 (KhronosGroup/VK-GL-CTS#546), integers and bf16 (log of wgpu in ChillFish8/av-denoise#13, whose excerpt does not
/// name the GPU), and that floats of 8 bits have k = 32 (KhronosGroup/Vulkan-ValidationLayers#11936). llama.cpp's logs say that
/// an RTX 2070 has no bf16 and an RTX 3090 has. Assumed: which generation begins to list floats of 8 bits, that of the first
/// hardware with them; and integers on Turing.
///
/// Rows of multiples. Published: rows of workgroups of 128 invocations with floats and with bytes, without sums in u32 (a part of
/// the list of RTX 30 to 50 cards, ggml-org/llama.cpp#16086). Assumed: rows of a subgroup with the largest exact rows' sizes,
/// including bf16; the same rows on data centre cards of these generations; none on Turing.
pub(super) fn nvidia(generation: Nvidia) -> Vec<CoopRow> {
    let mut rows: Vec<CoopRow> = [[16, 16, 16], [16, 8, 16], [16, 8, 8]]
        .into_iter()
        .flat_map(|shape| [F16, F32].map(|c| row(shape, F16, c)))
        .chain([[16, 16, 32], [16, 8, 32]].into_iter().flat_map(bytes))
        .collect();
    if generation >= Nvidia::Ampere {
        rows.push(row([16, 16, 16], Bf16, F32));
        rows.extend([F16, F32].map(|c| multiples(row([32, 16, 16], F16, c), CoopScope::Workgroup, 128)));
        rows.push(multiples(row([32, 16, 32], I8, I32), CoopScope::Workgroup, 128));
        rows.extend([F16, F32].map(|c| multiples(row([16; 3], F16, c), CoopScope::Subgroup, 0)));
        rows.push(multiples(row([16, 16, 32], I8, I32), CoopScope::Subgroup, 0));
        rows.push(multiples(row([16; 3], Bf16, F32), CoopScope::Subgroup, 0));
    }
    if generation >= Nvidia::Ada {
        rows.extend([E4m3, E5m2].map(|ab| row([16, 16, 32], ab, F32)));
    }
    rows
}

/// Mesa's RADV on RDNA 3: 14 rows, all 16x16x16, 12 of them of bytes and 4 of these saturating, as Mesa 26.1.6 and 26.2.6 list them
/// (this project's driver checks). Published: pairs of signed and unsigned bytes in all four ways (pytorch/executorch#18726). Assumed:
/// that each pair has sums in u32, in i32 and saturating in i32.
pub(super) fn radv_rdna3() -> Vec<CoopRow> {
    let shape = [16; 3];
    let pairs = [[U8, U8], [U8, I8], [I8, U8], [I8, I8]];
    let of_pair = |[a, b]: [CoopScalar; 2]| {
        [(U32, false), (I32, false), (I32, true)].map(|(c, saturating)| CoopRow {
            b,
            saturating,
            ..row(shape, a, c)
        })
    };
    [F16, F32].map(|c| row(shape, F16, c)).into_iter().chain(pairs.into_iter().flat_map(of_pair)).collect()
}

/// Mesa's RADV on RDNA 4: those of RDNA 3, 2 of bf16 and 4 of floats of 8 bits (as above). Assumed: that bf16 sums in bf16 and f32,
/// and that floats of 8 bits sum in f32, in all four pairs.
pub(super) fn radv_rdna4() -> Vec<CoopRow> {
    let shape = [16; 3];
    let pairs = [[E4m3, E4m3], [E4m3, E5m2], [E5m2, E4m3], [E5m2, E5m2]];
    let mut rows = radv_rdna3();
    rows.extend([Bf16, F32].map(|c| row(shape, Bf16, c)));
    rows.extend(pairs.map(|[a, b]| CoopRow { b, ..row(shape, a, F32) }));
    rows
}

/// Mesa's ANV on Xe2. Published: f16 of 8x16x16 (kvark/blade#399, ggml-org/llama.cpp#21669). Assumed: sums in f32, bf16 of the same
/// shape, and bytes of twice the k, as on Xe1 (krrishnarraj/clpeak#205).
pub(super) fn anv_xe2() -> Vec<CoopRow> {
    let floats = [F16, Bf16].map(|ab| row([8, 16, 16], ab, F32));
    floats.into_iter().chain(bytes([8, 16, 32])).collect()
}

/// Mesa's lavapipe, read from the driver.
pub(super) fn lavapipe() -> Vec<CoopRow> {
    let rows: Vec<CoopRow> =
        [F16, F32].map(|c| row([8; 3], F16, c)).into_iter().chain(bytes([8; 3])).collect();
    let flexible = rows.clone().into_iter().map(|row| multiples(row, CoopScope::Subgroup, 0));
    rows.iter().copied().chain(flexible).collect()
}

/// The row of multiples of these sizes, held by a subgroup, or by this number of invocations of a workgroup.
fn multiples(row: CoopRow, scope: CoopScope, invocations: u32) -> CoopRow {
    CoopRow { sizes: RowSizes::Multiples { invocations }, scope, ..row }
}

/// Rows of bytes with sums of 32 bits.
fn bytes(shape: [u32; 3]) -> [CoopRow; 2] {
    [(U8, U32), (I8, I32)].map(|(ab, c)| row(shape, ab, c))
}
