//! Masks of any width against sets of numbers.

use super::*;

#[test]
fn a_mask_is_a_set_of_numbers() {
    let numbers = [0, 1, 63, 64, 100, 255];
    let mut mask: Mask<4> = numbers.into_iter().collect();
    assert_eq!(mask.iter().collect::<Vec<_>>(), numbers);
    assert_eq!(mask.count(), 6);
    for (n, &bit) in (0..).zip(&numbers) {
        assert!(mask.contains(bit) && !mask.contains(bit ^ 2));
        assert_eq!(mask.nth(n), Some(bit));
    }
    assert_eq!(mask.nth(6), None);
    for (pointer, first) in [(0, 0), (1, 1), (2, 63), (64, 64), (65, 100), (101, 255)] {
        assert_eq!(mask.first_from(pointer), Some(first));
    }
    mask.retain(|bit| bit % 2 == 1);
    assert_eq!(mask.iter().collect::<Vec<_>>(), [1, 63, 255]);
    assert_eq!(mask.first_from(200), Some(255));
    mask.remove(255);
    assert_eq!(mask.first_from(200), Some(1));
    let mut other = Mask::EMPTY;
    other.insert_all(Span::new(60, 3));
    assert_eq!((&mask & &other).iter().collect::<Vec<_>>(), [63]);
    assert_eq!(mask.within(Span::new(60, 3)), 1 << 63);
    other |= &mask;
    other.remove_all(Span::new(0, 31));
    assert_eq!(other.iter().collect::<Vec<_>>(), [60, 61, 62, 63]);
    assert!(!other.is_empty() && Mask::<4>::EMPTY.is_empty());
    assert_eq!(Mask::<1>::EMPTY.first_from(5), None);
}

/// The first number of a set from a pointer on, around the end, by looking at one after the other.
fn by_looking<const W: usize>(numbers: &[u16], pointer: u16) -> Option<u16> {
    let all = W as u16 * 64;
    let mut round = (0..all).map(|step| (pointer + step) % all);
    round.find(|number| numbers.contains(number))
}

/// What every set has in common with one, as lists of numbers say it.
fn in_common<const W: usize>(sets: &[Vec<u16>], other: &[u16]) {
    let other_mask: Mask<W> = other.iter().copied().collect();
    for numbers in sets {
        let mask: Mask<W> = numbers.iter().copied().collect();
        let mut both = numbers.iter().filter(|number| other.contains(number));
        let first = mask.first_in_common(&other_mask);
        assert_eq!(first.as_ref(), both.clone().next(), "{numbers:?} {other:?}");
        let expected = match (both.next(), both.next()) {
            (None, _) => Common::Nothing,
            (Some(&number), None) => Common::One(number),
            (Some(_), Some(_)) => Common::Several,
        };
        assert_eq!(
            mask.in_common(&other_mask),
            expected,
            "{numbers:?} {other:?}"
        );
    }
}

fn every_pointer<const W: usize>() {
    let all = W as u16 * 64;
    // at the edges of words, alone and together; a set that ends before its word does
    let edges = [0, 1, 31, 62, 63, 64, 65, 127, 128, 190, 191, 192, 255];
    let edges: Vec<u16> = edges.into_iter().filter(|&number| number < all).collect();
    let mut sets: Vec<Vec<u16>> = edges.iter().map(|&one| vec![one]).collect();
    sets.extend(edges.windows(2).map(<[u16]>::to_vec));
    sets.push(Vec::new());
    sets.push(edges);
    sets.push((0..all).collect());
    for other in &sets {
        in_common::<W>(&sets, other);
    }
    for numbers in sets {
        let mask: Mask<W> = numbers.iter().copied().collect();
        for pointer in 0..all {
            let expected = by_looking::<W>(&numbers, pointer);
            assert_eq!(mask.first_from(pointer), expected, "{numbers:?} {pointer}");
        }
        // the pointer behind a grant, that of the last number included
        for &number in &numbers {
            let expected = by_looking::<W>(&numbers, (number + 1) % all);
            assert_eq!(mask.first_from(Mask::<W>::after(number)), expected);
        }
    }
}

#[test]
fn turns_go_around_from_every_pointer() {
    every_pointer::<1>();
    every_pointer::<2>();
    every_pointer::<4>();
}

#[test]
fn lanes_are_taken_in_turns() {
    let lanes: LaneMask = [0, 5, 31].into_iter().collect();
    assert_eq!(lanes.into_iter().collect::<Vec<_>>(), [0, 5, 31]);
    assert_eq!(
        [0, 1, 6, 31].map(|pointer| lanes.first_from(pointer)),
        [0, 5, 31, 31]
    );
    let mut lanes = lanes & !LaneMask::only(31);
    assert_eq!(lanes.first_from(6), 0);
    assert!(lanes.has_several() && lanes.contains(5));
    lanes.remove(0);
    assert!(!lanes.has_several() && !lanes.is_empty());
    lanes.remove(5);
    assert!(lanes.is_empty() && !lanes.has_several());
}

#[test]
fn a_mask_is_saved_as_its_words() {
    let mask: Mask<2> = [3, 70].into_iter().collect();
    let bytes = postcard::to_stdvec(&mask).unwrap();
    assert_eq!(bytes, postcard::to_stdvec(&vec![8u64, 64]).unwrap());
    assert_eq!(postcard::from_bytes::<Mask<2>>(&bytes).unwrap(), mask);
    assert!(postcard::from_bytes::<Mask<4>>(&bytes).is_err());
}
