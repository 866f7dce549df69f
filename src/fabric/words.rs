//! Request masks in a checkpoint: arrays whose length is a parameter, which serde does not know.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// Writes the words as a sequence.
pub(super) fn serialize<S: Serializer, const W: usize>(
    words: &[u64; W],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(words)
}

/// Reads exactly `W` words.
pub(super) fn deserialize<'de, D: Deserializer<'de>, const W: usize>(
    deserializer: D,
) -> Result<[u64; W], D::Error> {
    let words = Vec::<u64>::deserialize(deserializer)?;
    let found = words.len();
    words
        .try_into()
        .map_err(|_| Error::invalid_length(found, &"as many words as a mask has"))
}
