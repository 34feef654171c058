//! The sums of a step, in f32: those of all steps. Statements of `main`.

        let sums = &acc;
