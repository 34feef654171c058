//! The sums of a row, of what others found of its parts. Statements of `main`.

        var total: array<f32, SUMS>;
        for (var i = 0u; i < SUMS; i++) {
            let first = (i * dims.rows + at_row) * dims.parts;
            var sum = sums[first];
            for (var j = 1u; j < dims.parts; j++) { sum += sums[first + j]; }
            total[i] = sum;
        }
