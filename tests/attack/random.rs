//! Seeded choices: the same for the same seed, device, thread and step.

/// `SplitMix64` (Steele, Lea and Flood, 2014).
pub(crate) struct Random(u64);

impl Random {
    /// The sequence that these numbers name.
    pub(crate) fn new(names: &[u64]) -> Self {
        let mut random = Self(0);
        for name in names {
            random.0 = random.next().wrapping_add(*name);
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() >> 33).expect("31 bits") % n
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A small integer, -3 to 3.
    pub(crate) fn digit(&mut self) -> i32 {
        i32::try_from(self.below(7)).expect("below 7") - 3
    }

    /// An extent of an axis: mostly small, now and then on an edge of a tile.
    pub(crate) fn extent(&mut self) -> usize {
        match self.below(100) {
            0..2 => [63, 64, 65, 129][self.below(4)],
            2..16 => [15, 16, 17, 31, 32, 33, 48][self.below(7)],
            _ => 1 + self.below(12),
        }
    }
}
