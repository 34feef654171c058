//! A block of C in register tiles. Each invocation holds TM x TN elements, in pieces of 4 x 4 that are LANES_M, LANES_N pieces
//! apart.

const_assert BM % TM == 0u && BN % TN == 0u;
const_assert TM % 4u == 0u && TN % 4u == 0u;
const_assert LANES_M % NEAR_M == 0u && LANES_N % NEAR_N == 0u;

const LANES_M: u32 = BM / TM;
const LANES_N: u32 = BN / TN;
const LANES: u32 = LANES_M * LANES_N;
const NEAR_M: u32 = min(4u, LANES_M); // register tiles of 32 consecutive lanes
const NEAR_N: u32 = 8u;
const A_BLOCK: u32 = BM;
const B_BLOCK: u32 = BN;

// The indices of an invocation's register tile. NOTE: 32 consecutive lanes hold 4 x 8 tiles, so they read 4 vectors of A and 8
// of B at once. No other shape needs fewer.
fn tile_m(lane: u32) -> u32 {
    return lane / NEAR_N % NEAR_M + lane / (NEAR_M * LANES_N) * NEAR_M;
}

fn tile_n(lane: u32) -> u32 {
    return lane % NEAR_N + lane / (NEAR_M * NEAR_N) % (LANES_N / NEAR_N) * NEAR_N;
}
