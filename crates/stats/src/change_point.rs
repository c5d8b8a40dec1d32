//! Change points of mean and variance by PELT.

use crate::samples::{finite, mean};

/// How to look for change points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePointSearch {
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
/// Beyond [`EXACT_LIMIT`] values the search is coarse to fine: changes are looked for at the borders of blocks, with
/// exact costs, and each one found is then moved to its best place within a block to either side. A segment shorter
/// than two blocks may be missed; a block is one value in [`EXACT_LIMIT`].
///
/// `None` if there are fewer values than the minimum length, if one is not finite, or if the penalty or the floor is
/// negative or not finite.
///
/// Source: Killick, Fearnhead & Eckley, "Optimal detection of changepoints with a linear computational cost", 2012.
/// Oracle: `ruptures.Pelt(model='normal')`, whose floor is 1e-6.
pub fn change_points(values: &[f64], search: &ChangePointSearch) -> Option<Vec<usize>> {
    let shortest = search.minimum_length.max(2);
    let usable = |number: f64| number >= 0.0 && number.is_finite();
    if values.len() < shortest || !usable(search.penalty) || !usable(search.variance_floor) {
        return None;
    }
    let sums = Sums::new(values, search.variance_floor)?;
    if values.len() <= EXACT_LIMIT {
        let places: Vec<usize> = (0..=values.len()).collect();
        return best_splits(&sums, &places, shortest, search.penalty);
    }
    let block = values.len().div_ceil(COARSE_PLACES);
    let mut places: Vec<usize> = (0..values.len() / block).map(|index| index * block).collect();
    places.push(values.len());
    let coarse = best_splits(&sums, &places, shortest.div_ceil(block), search.penalty)?;
    // A block across a change looks like a short segment of its own, which is not needed once the change is in place.
    let ends = without_needless(&sums, refined(&sums, coarse, block, shortest), search.penalty);
    Some(refined(&sums, ends, block, shortest))
}

/// The most values among which changes are looked for at every place.
pub const EXACT_LIMIT: usize = 10_000;
/// How many places the coarse search looks at.
const COARSE_PLACES: usize = 8_000;

/// PELT over the given places, of which the first is 0 and the last the number of values; segments span at least
/// `shortest` places.
fn best_splits(sums: &Sums, places: &[usize], shortest: usize, penalty: f64) -> Option<Vec<usize>> {
    let last = places.len() - 1;
    let mut best = vec![Best { cost: f64::INFINITY, start: 0 }; places.len()];
    best.first_mut()?.cost = 0.0;
    let mut candidates: Vec<Candidate> = Vec::new();
    for end in shortest..=last {
        candidates.retain(|candidate| candidate.expires > end);
        candidates.push(Candidate { start: end - shortest, cost: f64::INFINITY, expires: usize::MAX });
        let mut found = Best { cost: f64::INFINITY, start: 0 };
        for candidate in &mut candidates {
            let own = sums.cost(*places.get(candidate.start)?, *places.get(end)?)?;
            candidate.cost = best.get(candidate.start)?.cost + own;
            if candidate.cost + penalty < found.cost {
                found = Best { cost: candidate.cost + penalty, start: candidate.start };
            }
        }
        *best.get_mut(end)? = found;
        for candidate in candidates.iter_mut().filter(|candidate| candidate.cost > found.cost) {
            // A split at `end` beats this candidate from now on, but a split there is allowed only once the segment
            // after it is long enough.
            candidate.expires = candidate.expires.min(end.saturating_add(shortest));
        }
    }
    let ends = walk_back(&best, last)?;
    ends.iter().map(|end| places.get(*end).copied()).collect()
}

/// Drops the ends that are not worth their penalty, from left to right.
fn without_needless(sums: &Sums, ends: Vec<usize>, penalty: f64) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::with_capacity(ends.len());
    let mut start = 0;
    for (index, end) in ends.iter().enumerate() {
        let gain = ends.get(index + 1).and_then(|next| {
            let split = sums.cost(start, *end)? + sums.cost(*end, *next)?;
            Some(sums.cost(start, *next)? - split)
        });
        if gain.is_none_or(|gain| gain > penalty) {
            kept.push(*end);
            start = *end;
        }
    }
    kept
}

/// Moves each end to its best place within a block to either side, from left to right.
fn refined(sums: &Sums, mut ends: Vec<usize>, block: usize, shortest: usize) -> Vec<usize> {
    let mut start = 0;
    for index in 0..ends.len().saturating_sub(1) {
        let (end, next) = (ends[index], ends[index + 1]);
        let low = end.saturating_sub(block).max(start + shortest);
        let high = (end + block).min(next.saturating_sub(shortest));
        let cost = |place: usize| Some(sums.cost(start, place)? + sums.cost(place, next)?);
        let moved = (low..=high).filter_map(|place| Some((place, cost(place)?)));
        if let Some((place, _)) = moved.min_by(|a, b| a.1.total_cmp(&b.1)) {
            ends[index] = place;
        }
        start = ends[index];
    }
    ends
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
        // No segment is empty, so this always descends.
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
    fn best_cost(values: &[f64], search: &ChangePointSearch) -> f64 {
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

    fn cost_of(ends: &[usize], values: &[f64], search: &ChangePointSearch) -> f64 {
        let sums = Sums::new(values, search.variance_floor).unwrap();
        let starts = std::iter::once(&0).chain(ends);
        starts.zip(ends).map(|(start, end)| sums.cost(*start, *end).unwrap() + search.penalty).sum()
    }

    #[test]
    fn a_step_is_found() {
        let values: Vec<f64> = (0..40).map(|i| if i < 15 { 20.0 } else { 10.0 } + f64::from(i % 3)).collect();
        let search =
            ChangePointSearch { penalty: 3.0 * 40_f64.ln(), minimum_length: 5, variance_floor: 1e-6 };
        assert_eq!(change_points(&values, &search), Some(vec![15, 40]));
    }

    #[test]
    fn long_series_are_searched_coarse_to_fine() {
        // A ripple of its own for every value, so that no two segments look alike by chance.
        let ripple = |index: usize| ((index as f64 * 0.618_034).fract() - 0.5) * 0.2;
        let level = |index: usize| if (30_017..70_401).contains(&index) { 11.0 } else { 10.0 };
        let values: Vec<f64> = (0..100_000).map(|index| level(index) + ripple(index)).collect();
        let search =
            ChangePointSearch { penalty: 15.0 * 1e5_f64.ln(), minimum_length: 20, variance_floor: 1e-6 };
        assert_eq!(change_points(&values, &search), Some(vec![30_017, 70_401, 100_000]));
    }

    #[test]
    fn equal_values_are_one_segment() {
        let search = ChangePointSearch { penalty: 10.0, minimum_length: 2, variance_floor: 0.0 };
        assert_eq!(change_points(&[3.0; 50], &search), Some(vec![50]));
    }

    #[test]
    fn refuses_what_cannot_be_split() {
        let search = ChangePointSearch { penalty: 10.0, minimum_length: 5, variance_floor: 0.0 };
        assert_eq!(change_points(&[1.0; 4], &search), None);
        assert_eq!(change_points(&[f64::NAN; 9], &search), None);
        assert_eq!(change_points(&[1.0; 9], &ChangePointSearch { penalty: f64::NAN, ..search }), None);
        assert_eq!(change_points(&[1.0; 9], &ChangePointSearch { variance_floor: -1.0, ..search }), None);
        assert_eq!(change_points(&[], &ChangePointSearch { minimum_length: 0, ..search }), None);
    }

    proptest! {
        #[test]
        fn pruning_loses_nothing(
            values in prop::collection::vec(prop_oneof![0.0..1.0_f64, 5.0..5.5_f64], 6..60),
            penalty in 0.0..12.0_f64,
            minimum_length in 2_usize..6,
        ) {
            let search = ChangePointSearch { penalty, minimum_length, variance_floor: 1e-4 };
            let ends = change_points(&values, &search).unwrap();
            let difference = cost_of(&ends, &values, &search) - best_cost(&values, &search);
            prop_assert!(difference.abs() < 1e-8, "{difference}");
        }
    }
}
