//! "Did you mean": the nearest known name to a mistyped one.

/// The known name nearest to `given`, if one is near enough to be what was meant.
pub(crate) fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = given.to_lowercase();
    known
        .into_iter()
        .filter_map(|name| {
            let candidate = name.to_lowercase();
            let distance = strsim::damerau_levenshtein(&lower, &candidate);
            let allowed = 1 + given.chars().count().min(candidate.chars().count()) / 4;
            // A name that only lacks its beginning or end (`repeat` for `repeats`, `size` for `batch_size`) is meant too.
            let part = lower.len() >= 3 && (candidate.starts_with(&lower) || candidate.ends_with(&lower));
            match distance <= allowed {
                true => Some((distance, name)),
                false if part => Some((allowed + distance, name)),
                false => None,
            }
        })
        .min_by_key(|(distance, name)| (*distance, *name))
        .map(|(_, name)| name)
}

/// `did you mean …?` where something is near, else the list of what exists, shortened.
pub(crate) fn hint<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(given, known.iter().copied()) {
        Some(name) => Some(format!("did you mean `{name}`?")),
        None => list(&known).map(|names| format!("known: {names}")),
    }
}

/// Names in back quotes, at most twelve of them.
pub(crate) fn list(names: &[&str]) -> Option<String> {
    const SHOWN: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => None,
        count if count > SHOWN => Some(format!("{} and {} more", shown.join(", "), count - SHOWN)),
        _ => Some(shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let known = ["batch", "tasks", "tasks_per_node", "repeats"];
        assert_eq!(nearest("bathc", known), Some("batch"));
        assert_eq!(nearest("task", known), Some("tasks"));
        assert_eq!(nearest("repeat", known), Some("repeats"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(hint("zzz", known).unwrap(), "known: `batch`, `tasks`, `tasks_per_node`, `repeats`");
        assert_eq!(hint("zzz", []), None);
    }
}
