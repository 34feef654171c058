//! What the code of a function of multivectors calls: most call nothing.
