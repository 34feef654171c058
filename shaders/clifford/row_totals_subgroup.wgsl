//! The sums of a row, of what its lanes have: within subgroups of SUBGROUP lanes by swapping, and in shared memory what is left,
//! in a fixed order. Statements of `main`.

        var total: array<f32, SUMS>;
        for (var i = 0u; i < SUMS; i++) {
            var sum = own[i];
            for (var by = 1u; by < min(PART, SUBGROUP); by *= 2u) { sum += subgroupShuffleXor(sum, by); }
            total[i] = sum;
        }
        if PART > SUBGROUP {
            let buffer = (step % BUFFERS) * SUMS * LANES;
            if lane % SUBGROUP == 0u {
                for (var i = 0u; i < SUMS; i++) { parts[buffer + i * LANES + lane / SUBGROUP] = total[i]; }
            }
            workgroupBarrier();
            for (var i = 0u; i < SUMS; i++) {
                let first = buffer + i * LANES + slot * (PART / SUBGROUP);
                var sum = parts[first];
                for (var j = 1u; j < PART / SUBGROUP; j++) { sum += parts[first + j]; }
                total[i] = sum;
            }
            if BUFFERS == 1u { workgroupBarrier(); }
        }
