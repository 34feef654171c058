//! The nonzeros of a line of a sparse operator: `Sparse::line` in `src/sketch/operator.rs` is the same.

//#import philox

// Of the line that was drawn last, in the order in which they are drawn: the place, and in the lowest bit whether it is -1.
var<private> drawn: array<u32, MOST>;

fn draw(line: u32) {
    var words = vec4<u32>();
    for (var t = 0u; t < MOST; t++) {
        if t >= dims.nonzeros {
            break;
        }
        if t % 4u == 0u {
            words = philox(vec4<u32>(line, t / 4u, 0u, dims.tag), vec2<u32>(dims.seed0, dims.seed1));
        }
        let word = words[t % 4u];
        var place: u32;
        if dims.different == 1u {
            // Floyd: of the first so many places; one that is taken already gives way to the last of them.
            let last = dims.places - dims.nonzeros + t;
            place = mul_high(word, last + 1u);
            var taken = false;
            for (var before = 0u; before < t; before++) {
                taken |= drawn[before] >> 1u == place;
            }
            place = select(place, last, taken);
        } else {
            place = mul_high(word, dims.places);
        }
        drawn[t] = (place << 1u) | (word & 1u);
    }
}
