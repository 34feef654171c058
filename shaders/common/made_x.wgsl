//! The block of operand x is loaded or made, and goes into shared memory. A statement of `main`.

            stage_x(x_first, x_extent, k0, stage, lane);
