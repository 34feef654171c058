//! The block of operand x is made in shared memory, in place of `fill_x`. A statement of `main`.

        stage_x(x_first, x_extent, k0, stage, lane);
