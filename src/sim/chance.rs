//! Where chance comes from: the same numbers for the same seed on every machine (SplitMix64).

/// A source of numbers.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of 0 to `sides` - 1.
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        usize::try_from(self.next() % sides as u64).unwrap()
    }

    /// Once in so many times.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.roll(times) == 0
    }

    pub(super) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len())]
    }

    /// From `least` to `most`.
    pub(super) fn between(&mut self, least: i64, most: i64) -> i64 {
        least + i64::try_from(self.next() % (most - least + 1).unsigned_abs()).unwrap()
    }

    /// A span in milliseconds: mostly short, sometimes long.
    pub(super) fn span(&mut self) -> i64 {
        match self.roll(8) {
            0 => 0,
            1 => self.between(1, 160),
            2 => self.between(150, 400),
            3 | 4 => self.between(400, 5_000),
            5 => self.between(5_000, 90_000),
            6 => self.between(90_000, 4_000_000),
            _ => self.between(4_000_000, 100_000_000),
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let three = |seed| [0; 3].map(|_| Dice::new(seed).next());
    assert_eq!(three(7), three(7));
    // The numbers of the published algorithm.
    let mut dice = Dice::new(1_234_567);
    assert_eq!([dice.next(), dice.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
}
