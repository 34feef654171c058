//! The sums of a step, in f16 and of their own: a few products each, so that their errors stay small. Statements
//! of `main`.

        var of_step: array<array<vec4<f16>, TN / 4u>, TM>;
        let sums = &of_step;
