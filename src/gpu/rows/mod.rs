//! The tests of rows of cooperative matrices as plain data, and their verdicts.

pub(super) mod known_caps;
pub(super) mod module_test;
pub(super) mod row_test;
#[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "a browser times no rows"))]
pub(super) mod scalar_test;
pub(super) mod self_test;
pub(super) mod test_modules;
pub(super) mod verdicts;
