//! Runs the tests of rows of cooperative matrices before a kernel relies on them.

pub(super) mod row_tests;
#[cfg(not(target_arch = "wasm32"))]
pub(super) mod speed_test;
pub(super) mod verification;
