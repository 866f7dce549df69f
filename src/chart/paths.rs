//! Paths in pixels: what a frame leaves of an area, and curves without points that nobody can see.
//!
//! References: I. E. Sutherland, G. W. Hodgman, "Reentrant polygon clipping", 1974.

/// The part of a polygon from 0 down to `height` (Sutherland and Hodgman): its sides keep their slope.
pub(super) fn cut(polygon: &[(f64, f64)], height: f64) -> Vec<(f64, f64)> {
    let half = |polygon: &[(f64, f64)], edge: f64, sign: f64| {
        let depth = |(_, y): (f64, f64)| sign * (y - edge);
        let mut kept = Vec::new();
        for (at, &to) in polygon.iter().enumerate() {
            let from = polygon[at.checked_sub(1).unwrap_or(polygon.len() - 1)];
            let (before, after) = (depth(from), depth(to));
            if (before < 0.0) != (after < 0.0) {
                kept.push((from.0 + (to.0 - from.0) * before / (before - after), edge));
            }
            if after >= 0.0 {
                kept.push(to);
            }
        }
        kept
    };
    half(&half(polygon, 0.0, 1.0), height, -1.0)
}

/// The path without points that change no pixel: of those in one column the first, lowest, highest and last stay.
pub(super) fn thin(path: impl Iterator<Item = (i32, i32)>) -> Vec<(i32, i32)> {
    let path: Vec<(i32, i32)> = path.collect();
    let columns = path.chunk_by(|a, b| a.0 == b.0);
    let mut thinned: Vec<(i32, i32)> = columns
        .flat_map(|column| {
            let x = column[0].0;
            let ys = || column.iter().map(|place| place.1);
            let ends = (column[0].1, column[column.len() - 1].1);
            let (least, most) = (ys().min().unwrap_or(ends.0), ys().max().unwrap_or(ends.0));
            // in the order of the way through the column, so that curves do not turn back
            let way = if ends.0 <= ends.1 {
                [least, most]
            } else {
                [most, least]
            };
            [(x, ends.0), (x, way[0]), (x, way[1]), (x, ends.1)]
        })
        .collect();
    thinned.dedup();
    thinned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_curves_keep_their_peaks() {
        let path = (0..10_000).map(|x| (x / 100, if x == 7777 { 50 } else { 1 }));
        let thinned = thin(path);
        assert_eq!(thinned.len(), 102, "{thinned:?}");
        assert_eq!(thinned[76..80], [(76, 1), (77, 1), (77, 50), (77, 1)]);
        let falling = [(0, 1), (0, 5), (0, 9), (1, 9)];
        assert_eq!(thin(falling.into_iter()), [(0, 1), (0, 9), (1, 9)]);
        assert!(thin(std::iter::empty()).is_empty());
    }

    #[test]
    fn bands_are_cut_at_the_frame() {
        // a band from 40 to 60 that widens to far beyond both edges of 100 pixels
        let band = [(0.0, 40.0), (10.0, -160.0), (10.0, 260.0), (0.0, 60.0)];
        let expected = [
            (2.0, 100.0),
            (0.0, 60.0),
            (0.0, 40.0),
            (2.0, 0.0),
            (10.0, 0.0),
            (10.0, 100.0),
        ];
        let found = cut(&band, 100.0);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for point in expected {
            let is_it = |other: &&(f64, f64)| (other.0 - point.0).hypot(other.1 - point.1) < 1e-9;
            assert!(
                found.iter().any(|other| is_it(&other)),
                "{point:?} in {found:?}"
            );
        }
        assert!(cut(&[(0.0, -5.0), (9.0, -5.0), (9.0, -1.0)], 100.0).is_empty());
    }
}
