//! The start of a step that lies in a segment of k, in place of `step_start`. Planes are loaded ahead in every step but the
//! first, with zeros behind the end of a segment. Statements of `main`.

        let ahead = k0 > k_begin;
        if !ahead {
            enter_segment(k0);
        }
        //#inline fill_x x=a
        //#inline fill_x x=b
        // NOTE: with two stages no other barrier is needed: what is filled next was read before this one.
        workgroupBarrier();
        let next = k0 + BK;
        if next < k_end {
            enter_segment(next);
            //#inline ahead_x x=a
            //#inline ahead_x x=b
        }
