//! The functions of `shaders/common/trigonometry.wgsl` for generated code.

use crate::kernel::wgsl::{Callee, Expression};

// Each has its number of arithmetic operations. A test compares it with the shader's text.
pub(super) const SINE_COSINE: Callee = Callee::new("sine_cosine", 34).imported("trigonometry");
pub(super) const SINC_OF: Callee = Callee::new("sinc_of", 1).imported("trigonometry");
pub(super) const FALL_OF: Callee = Callee::new("fall_of", 15).imported("trigonometry");
pub(super) const ANGLE_OF: Callee = Callee::new("angle_of", 20).imported("trigonometry");
pub(super) const LENGTH_OF: Callee = Callee::new("length_of", 6).imported("trigonometry");
pub(super) const INVERSE_ROOT: Callee = Callee::new("inverse_root", 8).imported("trigonometry");
pub(super) const SCALE_OF: Callee = Callee::new("scale_of", 0).imported("trigonometry");
pub(super) const OUTER_OF: Callee = Callee::new("outer_of", 0).imported("trigonometry");
pub(super) const INNER_OF: Callee = Callee::new("inner_of", 0).imported("trigonometry");
pub(super) const UNSCALE_OF: Callee = Callee::new("unscale_of", 0).imported("trigonometry");
/// NaN at run time: WGSL rejects a constant NaN.
const NOT_A_NUMBER: Callee = Callee::new("not_a_number", 0).imported("trigonometry");

/// NaN at all positions.
pub(super) fn not_a_number() -> Expression {
    NOT_A_NUMBER.call::<Expression>([])
}

/// All functions.
#[cfg(test)]
pub(crate) const ALL: [Callee; 11] = [
    SINE_COSINE,
    SINC_OF,
    FALL_OF,
    ANGLE_OF,
    LENGTH_OF,
    INVERSE_ROOT,
    SCALE_OF,
    OUTER_OF,
    INNER_OF,
    UNSCALE_OF,
    NOT_A_NUMBER,
];
