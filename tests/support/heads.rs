//! Operands of attention that is only planned.

use tilewise::Layout;
use tilewise::planning::attention::AttentionLayouts;

/// Queries, keys and values, and nothing else.
pub fn heads<'a>([q, k, v]: [&'a Layout; 3]) -> AttentionLayouts<'a> {
    AttentionLayouts { q, k, v, bias: None, lengths: None, keep: None, slopes: None }
}
