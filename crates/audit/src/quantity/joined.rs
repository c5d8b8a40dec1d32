//! Numbers that share the unit of the number they are joined to: `from 14.2 to 9.95 s`, `96.3 s instead of 130.2`.

use super::Quantity;

/// What stands between two numbers of one unit that is written behind the second.
const BEFORE: [&str; 11] =
    ["to", "of", "vs", "vs.", "versus", "against", "→", "->", "instead of", "rather than", "down to"];
/// What stands between two numbers of one unit that is written behind the first.
const BEHIND: [&str; 7] = ["instead of", "against", "rather than", "vs", "vs.", "versus", "not"];

/// Gives numbers without a unit the one of the number that they are joined to.
pub fn share_units(found: &mut [Quantity], text: &str) {
    for at in 1..found.len() {
        let (head, tail) = found.split_at_mut(at);
        let (Some(one), Some(other)) = (head.last_mut(), tail.first_mut()) else { return };
        let between = text.get(one.end..other.start).unwrap_or("?");
        let joined = between.trim().to_lowercase();
        let is_range =
            joined == "and" && text.get(..one.start).is_some_and(|head| head.ends_with("between "));
        if one.unit.is_none() && (is_range || BEFORE.contains(&joined.as_str())) {
            share(other, one);
        } else if other.unit.is_none() && !other.is_integer() && BEHIND.contains(&joined.as_str()) {
            share(one, other);
        }
    }
}

fn share(from: &Quantity, to: &mut Quantity) {
    let is_measured = !from.unit.is_count() && !from.unit.points && !from.unit.times;
    let ratio = from.written / to.written;
    // `4 of 31.5 GB` may count anything.
    let alike = (0.01..=100.0).contains(&ratio) && to.unit.scale == 1.0;
    if !is_measured || !alike || from.in_words || to.in_words || from.range {
        return;
    }
    let scale = from.unit.factor();
    (to.value, to.low, to.high) = (to.written * scale, to.low * scale, to.high * scale);
    to.unit = from.unit.clone();
}
