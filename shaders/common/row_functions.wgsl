//! What the statements of a function of rows call: nothing.
