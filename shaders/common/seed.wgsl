//! The seed of a random operator: `seed()` returns its low and its high word.

//#variant number
// A number of the launch, in the dims.
fn seed() -> vec2<u32> {
    return vec2<u32>(dims.seed_low, dims.seed_high);
}

//#variant tensor
// Two words of a tensor, which an earlier launch may have written. The dims hold their offsets in its binding.
//#param  set by SeedSource::bind
const SEED_BINDING: u32 = 3u;
//#end
@group(0) @binding(SEED_BINDING) var<storage, read> seeds: array<u32>;

fn seed() -> vec2<u32> {
    return vec2<u32>(seeds[dims.seed_low], seeds[dims.seed_high]);
}
