//! Change points of mean and variance by PELT.

use crate::samples::{finite, mean};

/// How to look for change points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// What one more segment costs. Larger values find fewer changes.
    pub penalty: f64,
    /// The fewest values in a segment; at least 2, since one value has no variance.
    pub minimum_length: usize,
    /// A variance that is added to every segment's own. It keeps a few equal values from looking infinitely certain,
    /// and should be what the clock or the counter cannot resolve, squared.
    pub variance_floor: f64,
}

/// The best segmentation: the ends of its segments, each the index after the segment's last value. The last end is
/// the number of values. The cost of a segment of m values is m·ln(σ̂² + floor), σ̂² with divisor m.
///
/// Candidates that cannot become best any more are pruned, which makes it fast where there are changes; without any
/// the time grows with the square of the count. Pruning never changes the result.
///
/// `None` if there are fewer values than the minimum length, if one is not finite, or if the penalty or the floor is
/// negative or not finite.
///
/// Source: Killick, Fearnhead & Eckley, "Optimal detection of changepoints with a linear computational cost", 2012.
/// Oracle: `ruptures.Pelt(model='normal')`, whose floor is 1e-6.
pub fn change_points(values: &[f64], search: &Search) -> Option<Vec<usize>> {
    let shortest = search.minimum_length.max(2);
    let usable = |number: f64| number >= 0.0 && number.is_finite();
    if values.len() < shortest || !usable(search.penalty) || !usable(search.variance_floor) {
        return None;
    }
    let sums = Sums::new(values, search.variance_floor)?;
    let mut best = vec![Best { cost: f64::INFINITY, start: 0 }; values.len() + 1];
    best.first_mut()?.cost = 0.0;
    let mut candidates: Vec<Candidate> = Vec::new();
    for end in shortest..=values.len() {
        candidates.retain(|candidate| candidate.expires > end);
        candidates.push(Candidate { start: end - shortest, cost: f64::INFINITY, expires: usize::MAX });
        let mut found = Best { cost: f64::INFINITY, start: 0 };
        for candidate in &mut candidates {
            candidate.cost = best.get(candidate.start)?.cost + sums.cost(candidate.start, end)?;
            if candidate.cost + search.penalty < found.cost {
                found = Best { cost: candidate.cost + search.penalty, start: candidate.start };
            }
        }
        *best.get_mut(end)? = found;
        for candidate in candidates.iter_mut().filter(|candidate| candidate.cost > found.cost) {
            // A split at `end` beats this candidate from now on, but a split there is allowed only once the segment
            // after it is long enough.
            candidate.expires = candidate.expires.min(end.saturating_add(shortest));
        }
    }
    walk_back(&best, values.len())
}

#[derive(Clone, Copy)]
struct Best {
    /// The cost of the best segmentation up to here; infinite where there is none.
    cost: f64,
    /// Where its last segment starts.
    start: usize,
}

struct Candidate {
    start: usize,
    /// The cost up to the end at hand, its own segment included, without the segment's penalty.
    cost: f64,
    /// The first end for which it need not be considered any more.
    expires: usize,
}

fn walk_back(best: &[Best], count: usize) -> Option<Vec<usize>> {
    let mut ends = Vec::new();
    let mut end = count;
    while end > 0 {
        ends.push(end);
        let start = best.get(end).filter(|found| found.cost < f64::INFINITY)?.start;
        // Every segment is at least two long, so this always descends.
        end = start.min(end - 1);
    }
    ends.reverse();
    Some(ends)
}

/// Running sums of values and squares, for the variance of any segment in constant time. The overall mean is taken
/// off first: differences of large sums would otherwise lose the digits that matter.
struct Sums {
    values: Vec<f64>,
    squares: Vec<f64>,
    floor: f64,
}

impl Sums {
    fn new(values: &[f64], floor: f64) -> Option<Self> {
        let center = mean(finite(values)?)?;
        let running = |term: fn(f64) -> f64| {
            let mut sum = 0.0;
            let mut sums = vec![0.0];
            sums.extend(values.iter().map(|value| {
                sum += term(value - center);
                sum
            }));
            sums
        };
        let sums = Self { values: running(|value| value), squares: running(|value| value * value), floor };
        sums.squares.last().is_some_and(|sum| sum.is_finite()).then_some(sums)
    }

    fn cost(&self, start: usize, end: usize) -> Option<f64> {
        let count = (end - start) as f64;
        let mean = (self.values.get(end)? - self.values.get(start)?) / count;
        let square = (self.squares.get(end)? - self.squares.get(start)?) / count;
        let variance = (square - mean * mean).max(0.0) + self.floor;
        Some(count * variance.max(f64::MIN_POSITIVE).ln())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The best segmentation's cost by trying every start for every end.
    fn best_cost(values: &[f64], search: &Search) -> f64 {
        let sums = Sums::new(values, search.variance_floor).unwrap();
        let mut best = vec![f64::INFINITY; values.len() + 1];
        best[0] = 0.0;
        for end in search.minimum_length..=values.len() {
            for start in 0..=end - search.minimum_length {
                best[end] = best[end].min(best[start] + sums.cost(start, end).unwrap() + search.penalty);
            }
        }
        best[values.len()]
    }

    fn cost_of(ends: &[usize], values: &[f64], search: &Search) -> f64 {
        let sums = Sums::new(values, search.variance_floor).unwrap();
        let starts = std::iter::once(&0).chain(ends);
        starts.zip(ends).map(|(start, end)| sums.cost(*start, *end).unwrap() + search.penalty).sum()
    }

    #[test]
    fn a_step_is_found() {
        let values: Vec<f64> = (0..40).map(|i| if i < 15 { 20.0 } else { 10.0 } + f64::from(i % 3)).collect();
        let search = Search { penalty: 3.0 * 40_f64.ln(), minimum_length: 5, variance_floor: 1e-6 };
        assert_eq!(change_points(&values, &search), Some(vec![15, 40]));
    }

    #[test]
    fn equal_values_are_one_segment() {
        let search = Search { penalty: 10.0, minimum_length: 2, variance_floor: 0.0 };
        assert_eq!(change_points(&[3.0; 50], &search), Some(vec![50]));
    }

    #[test]
    fn refuses_what_cannot_be_split() {
        let search = Search { penalty: 10.0, minimum_length: 5, variance_floor: 0.0 };
        assert_eq!(change_points(&[1.0; 4], &search), None);
        assert_eq!(change_points(&[f64::NAN; 9], &search), None);
        assert_eq!(change_points(&[1.0; 9], &Search { penalty: f64::NAN, ..search }), None);
        assert_eq!(change_points(&[1.0; 9], &Search { variance_floor: -1.0, ..search }), None);
        assert_eq!(change_points(&[], &Search { minimum_length: 0, ..search }), None);
    }

    proptest! {
        #[test]
        fn pruning_loses_nothing(
            values in prop::collection::vec(prop_oneof![0.0..1.0_f64, 5.0..5.5_f64], 6..60),
            penalty in 0.0..12.0_f64,
            minimum_length in 2_usize..6,
        ) {
            let search = Search { penalty, minimum_length, variance_floor: 1e-4 };
            let ends = change_points(&values, &search).unwrap();
            let difference = cost_of(&ends, &values, &search) - best_cost(&values, &search);
            prop_assert!(difference.abs() < 1e-8, "{difference}");
        }
    }
}
