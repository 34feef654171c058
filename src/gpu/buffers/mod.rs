//! Buffers: the pool, the state of their contents, and the work that uses them.

pub(super) mod bound_window;
pub(super) mod constants;
pub(super) mod content_state;
pub(super) mod cursor;
pub(super) mod element_writer;
pub(super) mod failures;
pub(super) mod known_buffers;
pub(super) mod outcome;
pub(super) mod part;
pub(super) mod pool;
pub(super) mod pooled_buffer;
pub(super) mod positions;
pub(super) mod receipt;
pub(super) mod storage;
pub(super) mod taken_work;
pub(super) mod tensor_pool;
