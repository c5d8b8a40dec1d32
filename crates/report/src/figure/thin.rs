//! Long series thinned to what a plot can show.

/// Points of a line: at most two for each column of pixels, the lowest and the highest of those that fall together,
/// in the order they were seen. A point that is not a number is left out.
pub fn thin(points: &[(f64, f64)], columns: usize) -> Vec<(f64, f64)> {
    let finite: Vec<(f64, f64)> =
        points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    if finite.len() <= 2 * columns.max(1) {
        return finite;
    }
    let size = finite.len().div_ceil(columns.max(1));
    finite
        .chunks(size)
        .flat_map(|chunk| {
            let indexed = || chunk.iter().enumerate();
            let low = indexed().min_by(|a, b| a.1.1.total_cmp(&b.1.1));
            let high = indexed().max_by(|a, b| a.1.1.total_cmp(&b.1.1));
            let mut ends: Vec<(usize, &(f64, f64))> = low.into_iter().chain(high).collect();
            ends.sort_by_key(|(index, _)| *index);
            ends.dedup_by_key(|(index, _)| *index);
            ends.into_iter().map(|(_, point)| *point).collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_survive_thinning() {
        let mut points: Vec<(f64, f64)> =
            (0..100_000).map(|index| (f64::from(index), f64::from(index % 7))).collect();
        points[54_321].1 = 1000.0;
        points[12_345].1 = f64::NAN;
        let thinned = thin(&points, 300);
        assert!(thinned.len() <= 600);
        assert!(thinned.iter().any(|(_, y)| *y == 1000.0));
        assert!(thinned.is_sorted_by(|a, b| a.0 < b.0));
    }
}
