//! The sums of a row, of what its lanes have: in shared memory, in a fixed order, eight numbers at a time. Statements of `main`.

        let buffer = (step % BUFFERS) * SUMS * LANES;
        for (var i = 0u; i < SUMS; i++) {
            parts[buffer + i * LANES + lane] = own[i];
        }
        workgroupBarrier();
        var left = PART; // of the row's lanes, whose numbers have those of others in them
        for (; left > 8u; left = (left + 7u) / 8u) {
            let next = left / 8u;
            if part < next {
                for (var i = 0u; i < SUMS; i++) {
                    let first = buffer + i * LANES + lane;
                    var sum = parts[first];
                    for (var j = 1u; j < 8u; j++) { sum += parts[first + j * next]; }
                    parts[first] = sum;
                }
            }
            workgroupBarrier();
        }
        var total: array<f32, SUMS>;
        for (var i = 0u; i < SUMS; i++) {
            let first = buffer + i * LANES + slot * PART;
            var sum = parts[first];
            for (var j = 1u; j < left; j++) { sum += parts[first + j]; }
            total[i] = sum;
        }
        if BUFFERS == 1u { workgroupBarrier(); }
