//! A block of C in patches of single invocations: TM x TN of it, in pieces of 4 x 4 that lie LANES_M, LANES_N pieces apart.

const_assert BM % TM == 0u && BN % TN == 0u;
const_assert TM % 4u == 0u && TN % 4u == 0u;
const_assert LANES_M % NEAR_M == 0u && LANES_N % NEAR_N == 0u;

const LANES_M: u32 = BM / TM;
const LANES_N: u32 = BN / TN;
const LANES: u32 = LANES_M * LANES_N;
const NEAR_M: u32 = min(4u, LANES_M); // of neighbours
const NEAR_N: u32 = 8u;
const A_BLOCK: u32 = BM;
const B_BLOCK: u32 = BN;

// The patch that an invocation holds. NOTE: 32 neighbours hold 4 x 8 patches: they read 4 vectors of A at once and 8 of
// B, no other shape needs fewer.
fn tile_m(lane: u32) -> u32 {
    return lane / NEAR_N % NEAR_M + lane / (NEAR_M * LANES_N) * NEAR_M;
}

fn tile_n(lane: u32) -> u32 {
    return lane % NEAR_N + lane / (NEAR_M * NEAR_N) % (LANES_N / NEAR_N) * NEAR_N;
}
