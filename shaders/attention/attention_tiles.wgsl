//! Attention on cooperative matrices: its constants, and its shared memory of keys, weights and scores.

const LOWEST: f32 = -3.4028234663852886e38; // the lowest f32: the largest score of no key
const NO_SCORE: u32 = 0xff800000u;   // the bits of minus infinity: the score of a key that a row does not attend
// Sums are rescaled when a score exceeds the largest known one by more than this. Weights are at most e^8, which f16 can represent.
const LATE: f32 = 8.0;

//#import attention_finite

const ROWS: u32 = WM / FRAGMENT; // of matrices
const KEYS: u32 = BC / FRAGMENT;
// Matrices of a row of Q, and of sums, rounded up to whole blocks of BC columns.
const OF_Q: u32 = (D + BC - 1u) / BC * KEYS;
const OF_O: u32 = (DV + BC - 1u) / BC * KEYS;
// NOTE: an odd number of 16 bytes, so that rows start in different banks.
const K_LD: u32 = D / 4u + 2u;
const S_LD: u32 = BC / 4u + 1u;
const P_LD: u32 = BC / 4u + 2u;
const K_UNITS: u32 = BC * D / 8u;

// BC keys and, after their scores are computed, weights; or BC columns of Q.
var<workgroup> k_tile: array<vec4<f16>, max(BC * K_LD, BLOCK_ROWS * P_LD)>;
var<workgroup> s_tile: array<vec4<f32>, BLOCK_ROWS * S_LD>; // scores, or BC columns of sums
var<workgroup> mends: vec4<u32>; // whether sums of a subgroup's rows have to be changed
