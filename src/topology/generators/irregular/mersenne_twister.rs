//! The Mersenne twister MT19937 with the seeding and the draws of `CPython`'s module `random`.
//!
//! Only to make networks again that a script has made; everything else draws from [`crate::rng`]. Integers
//! below a bound are drawn as `CPython` 3 does: as many high bits as the bound has, again while too large.
//!
//! References: [`MATSUMOTO_NISHIMURA`](crate::references::MATSUMOTO_NISHIMURA)

/// Words of state.
const WORDS: usize = 624;
/// Distance of the word that is mixed in.
const SHIFT: usize = 397;

/// A generator.
pub(super) struct MersenneTwister {
    state: [u32; WORDS],
    next: usize,
}

impl MersenneTwister {
    /// The generator of `random.Random(seed)`.
    pub(super) fn new(seed: u64) -> Self {
        let mut words = vec![seed as u32];
        if seed >> 32 > 0 {
            words.push((seed >> 32) as u32);
        }
        Self::from_words(&words)
    }

    /// Seeding from an array of words.
    fn from_words(words: &[u32]) -> Self {
        let mut state = [0u32; WORDS];
        state[0] = 19_650_218;
        for i in 1..WORDS {
            let before = state[i - 1];
            let mixed = before ^ (before >> 30);
            state[i] = mixed.wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        let mut i = 1;
        let advance = |state: &mut [u32; WORDS], i: &mut usize| {
            *i += 1;
            if *i == WORDS {
                state[0] = state[WORDS - 1];
                *i = 1;
            }
        };
        for step in 0..WORDS.max(words.len()) {
            let place = step % words.len();
            let mixed = (state[i - 1] ^ (state[i - 1] >> 30)).wrapping_mul(1_664_525);
            let added = words[place].wrapping_add(place as u32);
            state[i] = (state[i] ^ mixed).wrapping_add(added);
            advance(&mut state, &mut i);
        }
        for _ in 1..WORDS {
            let mixed = (state[i - 1] ^ (state[i - 1] >> 30)).wrapping_mul(1_566_083_941);
            state[i] = (state[i] ^ mixed).wrapping_sub(i as u32);
            advance(&mut state, &mut i);
        }
        state[0] = 1 << 31;
        let next = WORDS;
        Self { state, next }
    }

    fn refill(&mut self) {
        for i in 0..WORDS {
            let joined =
                (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % WORDS] & 0x7fff_ffff);
            let twist = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + SHIFT) % WORDS] ^ (joined >> 1) ^ twist;
        }
        self.next = 0;
    }

    /// 32 random bits.
    pub(super) fn next_u32(&mut self) -> u32 {
        if self.next == WORDS {
            self.refill();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// An integer in `0..bound`; `bound` is at least 1.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        let bits = u32::BITS - bound.leading_zeros();
        loop {
            let drawn = self.next_u32() >> (u32::BITS - bits);
            if drawn < bound {
                return drawn;
            }
        }
    }

    /// `random.shuffle`.
    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i as u32 + 1) as usize);
        }
    }

    /// `random.sample(list, 2)` for a list of at least 2.
    pub(super) fn pair<T: Copy>(&mut self, list: &[T]) -> (T, T) {
        /// Above this length the script's sampler remembers what it took instead of moving it away.
        const SMALL: u32 = 21;
        let count = list.len() as u32;
        let first = self.below(count);
        if count <= SMALL {
            let second = self.below(count - 1);
            let second = if second == first { count - 1 } else { second };
            return (list[first as usize], list[second as usize]);
        }
        loop {
            let second = self.below(count);
            if second != first {
                return (list[first as usize], list[second as usize]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_are_the_published_ones() {
        let mut twister = MersenneTwister::from_words(&[0x123, 0x234, 0x345, 0x456]);
        let words: Vec<u32> = (0..5).map(|_| twister.next_u32()).collect();
        assert_eq!(
            words,
            [
                1_067_595_299,
                955_945_823,
                477_289_528,
                4_107_218_783,
                4_228_976_476
            ]
        );
    }
}
