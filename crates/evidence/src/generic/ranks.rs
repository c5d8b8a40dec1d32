//! What launchers and loggers write before the lines of a rank.

/// Splits off `(Worker pid=123) ` and the task number that `srun --label` puts before a line.
pub(super) fn worker(text: &str) -> (Option<u32>, &str) {
    if let Some((inside, rest)) = text.strip_prefix('(').and_then(|rest| rest.split_once(") "))
        && let Some((_, pid)) = inside.split_once(" pid=")
    {
        let digits: String = pid.chars().take_while(char::is_ascii_digit).collect();
        return (digits.parse().ok(), rest);
    }
    if let Some(found) = bracketed_rank(text) {
        return found;
    }
    if let Some(rest) = after_glog(text) {
        return (None, rest);
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=4).contains(&digits)
        && let Some(rest) = text.get(digits..).and_then(|rest| rest.strip_prefix(": "))
        && rest.starts_with(|first: char| first.is_alphabetic() || first == '[')
    {
        return (text.get(..digits).and_then(|rank| rank.parse().ok()), rest);
    }
    (None, text)
}

/// `[Rank 0] `, `[GPU1] `, `[rank 2]: `.
fn bracketed_rank(text: &str) -> Option<(Option<u32>, &str)> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    let digits = ["rank", "gpu", "worker", "device"].iter().find_map(|word| {
        let named = inside.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        inside.get(word.len()..).filter(|_| named)
    })?;
    let rank = digits.trim_start_matches([' ', ':', '=', '_', '-']).parse().ok()?;
    Some((Some(rank), rest.trim_start_matches([':', ' '])))
}

/// What stands behind the prefix of glog and absl: `I0512 10:00:00.123456 140 train.py:120] `.
fn after_glog(text: &str) -> Option<&str> {
    let head = text.get(..5)?.as_bytes();
    let dated = head
        .split_first()
        .is_some_and(|(level, day)| b"IWEF".contains(level) && day.iter().all(u8::is_ascii_digit));
    text.split_once("] ").filter(|_| dated).map(|(_, rest)| rest)
}
