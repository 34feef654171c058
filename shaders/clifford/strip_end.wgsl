//! What a lane stores of all its rows: nothing.
