//! The start of a step: its blocks go into shared memory, and those of the next set out from device memory. The first
//! step, and one that reaches past the end of k, are not loaded ahead. Statements of `main`.

        let ahead = k0 > k_begin && k0 + BK <= k_end;
        //#inline fill_x x=a
        //#inline fill_x x=b
        // NOTE: with two stages no other barrier is needed: what is filled next was read before this one.
        workgroupBarrier();
        let next = k0 + BK;
        if next + BK <= k_end {
            //#inline ahead_x x=a
            //#inline ahead_x x=b
        }
