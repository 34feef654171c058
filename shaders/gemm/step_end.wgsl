//! The end of a step whose sums are those of all steps: nothing is left to do.
