//! Fingerprints of content: equal content, equal digest. Not for security.
//!
//! Must not know: what the content is.

use serde::{Deserialize, Serialize};

/// A 64-bit fingerprint of some content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest(pub u64);

const START: u64 = 0xcbf2_9ce4_8422_2325;

impl Digest {
    /// FNV-1a over the bytes: the same on every machine and in every version, so that it may be stored.
    pub fn of(bytes: &[u8]) -> Self {
        Digest(START).and(bytes)
    }

    /// Continues a stored digest over further bytes.
    #[must_use]
    pub fn and(self, bytes: &[u8]) -> Self {
        Digest(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// Eight bytes at a time: for what is compared while a program runs, and never stored.
    pub fn quick(bytes: &[u8]) -> Self {
        Digest(START).with(b' ', bytes)
    }

    /// Continues a quick digest over a further part of some kind. Kind and length go in, so that no two sequences of
    /// parts look alike.
    #[must_use]
    pub fn with(self, kind: u8, part: &[u8]) -> Self {
        let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
        let mut hash = self.stirred(length << 8 | u64::from(kind));
        let (words, rest) = part.as_chunks::<8>();
        for word in words {
            hash = hash.stirred(u64::from_le_bytes(*word));
        }
        if rest.is_empty() {
            return hash;
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hash.stirred(u64::from_le_bytes(last))
    }

    /// Continues a quick digest over another one.
    #[must_use]
    pub fn with_digest(self, other: Digest) -> Self {
        self.with(b'#', &other.0.to_le_bytes())
    }

    /// For either of the two values a different one of the other gives a different outcome.
    fn stirred(self, word: u64) -> Self {
        Digest((self.0.rotate_left(25) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn stored_digests_never_change() {
        assert_eq!(Digest::of(b""), Digest(0xcbf2_9ce4_8422_2325));
        assert_eq!(Digest::of(b"a"), Digest(0xaf63_dc4c_8601_ec8c));
        assert_eq!(Digest::of(b"foobar"), Digest(0x8594_4171_f739_67e8));
        assert_eq!(Digest::of(b"foo").and(b"bar"), Digest::of(b"foobar"));
    }

    #[test]
    fn quick_ones_tell_parts_kinds_and_lengths_apart() {
        let text = b"a ticket's text, somewhat longer than a few words";
        let mut all = BTreeSet::new();
        let mut count = 0;
        let mut new = |digest: Digest| {
            count += 1;
            all.insert(digest);
            assert_eq!(all.len(), count, "two alike");
        };
        for end in 0..=text.len() {
            new(Digest::quick(&text[..end]));
            new(Digest::quick(&text[..end]).with(b's', &text[end..]));
            new(Digest::quick(&text[..end]).with(b'k', &text[end..]));
        }
        for at in 0..text.len() {
            let mut other = text.to_vec();
            other[at] ^= 1;
            new(Digest::quick(&other));
            other.insert(at, 0);
            new(Digest::quick(&other));
        }
    }
}
