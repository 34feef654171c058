//! What a lane loads for all its rows: nothing.
