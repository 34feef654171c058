//! Seeded mutations of valid inputs.

/// Numbers at the limits of sizes, signs and types.
const EDGES: [u64; 12] = [0, 1, 2, 7, 127, 255, 65_535, 1 << 31, u32::MAX as u64, 1 << 32, 1 << 63, u64::MAX];

/// A generator of mutations. Equal seeds give equal mutations.
#[derive(Clone, Debug)]
pub struct Mutations {
    state: u64,
}

impl Mutations {
    /// A generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) }
    }

    /// `SplitMix64`.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, or 0 if `end` is 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap_or_default()
    }

    /// `len` random bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    /// One of the inputs with one to eight changes.
    ///
    /// # Panics
    /// If `seeds` is empty.
    pub fn of(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut input = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(8) {
            self.change(&mut input, seeds);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(input.len());
        let end = (at + 1 + self.below(16)).min(input.len());
        match self.below(9) {
            0 if !input.is_empty() => input[at] ^= 1 << self.below(8),
            1 if !input.is_empty() => input[at] = self.next().to_le_bytes()[0],
            2 => drop(input.drain(at..end)),
            3 => {
                let more = self.next().to_le_bytes();
                input.splice(at..at, more[..1 + self.below(8)].iter().copied());
            }
            4 => {
                let copy = input[at..end].to_vec();
                let to = self.below(input.len());
                input.splice(to..to, copy);
            }
            5 => {
                let edge = EDGES[self.below(EDGES.len())].to_le_bytes();
                let width = [1, 2, 4, 8][self.below(4)];
                let end = (at + width).min(input.len());
                input[at..end].copy_from_slice(&edge[..end - at]);
            }
            6 => self.number(input),
            7 => {
                let other = &seeds[self.below(seeds.len())];
                let from = self.below(other.len());
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            _ => input.truncate(at),
        }
    }

    /// Replaces a number in the text by one of [`EDGES`].
    fn number(&mut self, input: &mut Vec<u8>) {
        let from = self.below(input.len());
        let Some(first) = (from..input.len()).find(|&i| input[i].is_ascii_digit()) else { return };
        let end = (first..input.len()).find(|&i| !input[i].is_ascii_digit()).unwrap_or(input.len());
        let number = EDGES[self.below(EDGES.len())].to_string();
        input.splice(first..end, number.into_bytes());
    }
}
