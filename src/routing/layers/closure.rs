//! All dependencies that would close a cycle in an acyclic graph over channels, at once.
//!
//! Cost: time O(dependencies * channels / 64) words, memory [`WORDS`] words per channel. Where most
//! of what is tried would close a cycle, that is far less than a search for each.
//!
//! # Algorithm
//! Channels in turn, last in topological order first, reach themselves and all that their successors reach, kept as
//! bits. That is done for a block of channels to reach after the other. A dependency of a channel on another closes a
//! cycle when that one reaches it.

use super::channel_bits::{Vertices, WORD};

/// Words of a block.
const WORDS: usize = 16;

/// Sets in `refused`, the rows of a graph, every dependency that would close a cycle. `order` is a topological order of
/// the graph, `after` holds the successors of each vertex.
pub(super) fn add_refused(
    vertices: &Vertices,
    order: &[u32],
    after: &[Vec<(u32, u32)>],
    refused: &mut [u64],
) {
    let mut reached = vec![[0u64; WORDS]; order.len()];
    let words = order.len().div_ceil(WORD as usize);
    for first in (0..words).step_by(WORDS) {
        let block = first * WORD as usize..((first + WORDS) * WORD as usize).min(order.len());
        for &vertex in order.iter().rev() {
            let vertex = vertex as usize;
            let mut row = [0; WORDS];
            if block.contains(&vertex) {
                let bit = vertex - block.start;
                row[bit / WORD as usize] = 1 << (bit % WORD as usize);
            }
            for &(next, _) in &after[vertex] {
                for (word, more) in row.iter_mut().zip(&reached[next as usize]) {
                    *word |= more;
                }
            }
            reached[vertex] = row;
        }
        for vertex in block.clone() {
            let bit = vertex - block.start;
            let (word, mask) = (bit / WORD as usize, 1 << (bit % WORD as usize));
            let places = vertices.after.numbers(vertex);
            let places = places.start..places.end.min(order.len() as u32);
            for next in places.filter(|&next| reached[next as usize][word] & mask != 0) {
                let (word, mask) = vertices.bit(vertex as u32, next);
                refused[word] |= mask;
            }
        }
    }
}
