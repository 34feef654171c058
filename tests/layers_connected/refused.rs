//! What is refused, and how.
