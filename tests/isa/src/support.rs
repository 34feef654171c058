//! Files of the library's tests: problems whose plans need every variant of every kernel.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    missing_docs,
    clippy::missing_errors_doc,
    reason = "each program uses some of them"
)]

#[path = "../../support/limits.rs"]
pub mod limits;
#[path = "../../support/operand.rs"]
pub mod operand;
#[path = "../../support/plans.rs"]
pub mod plans;
#[path = "../../support/strided.rs"]
pub mod strided;
#[path = "../../support/wgsl.rs"]
pub mod wgsl;
#[path = "../../support/wgsl_attention.rs"]
pub mod wgsl_attention;
#[path = "../../support/wgsl_clifford.rs"]
pub mod wgsl_clifford;
#[path = "../../support/wgsl_losses.rs"]
pub mod wgsl_losses;
#[path = "../../support/wgsl_norms.rs"]
pub mod wgsl_norms;
#[path = "../../support/wgsl_rows.rs"]
pub mod wgsl_rows;
#[path = "../../support/wgsl_shapes.rs"]
pub mod wgsl_shapes;
