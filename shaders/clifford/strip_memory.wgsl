//! What a lane keeps from row to row: nothing.
