//! The patch that an invocation holds, from `lane`. Statements of `main`.

    // NOTE: 32 neighbours hold 4 x 8 patches: they read 4 vectors of A at once and 8 of B, no other shape needs fewer.
    let lane_m = lane / NEAR_N % NEAR_M + lane / (NEAR_M * LANES_N) * NEAR_M;
    let lane_n = lane % NEAR_N + lane / (NEAR_M * NEAR_N) % (LANES_N / NEAR_N) * NEAR_N;
