//! Times as schedulers write them.

/// `HH:MM:SS` for a time limit, rounded up to whole minutes, which is what Slurm counts in.
pub fn minutes(seconds: f64) -> String {
    let minutes = (seconds / 60.0).ceil().clamp(1.0, 5_000_000.0) as u64;
    format!("{:02}:{:02}:00", minutes / 60, minutes % 60)
}

/// `[days-]hours:minutes:seconds`, `minutes:seconds.fraction` or `minutes:seconds`, in seconds.
pub fn parse_clock(text: &str) -> Option<f64> {
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (days.parse::<f64>().ok()?, clock),
        None => (0.0, text),
    };
    let parts: Vec<f64> = clock.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let seconds = parts.iter().fold(0.0, |sum, part| sum * 60.0 + part);
    (!parts.is_empty() && parts.len() <= 3).then_some(days * 86400.0 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_schedulers_are_read_and_written() {
        assert_eq!(minutes(59.0), "00:01:00");
        assert_eq!(minutes(3661.0), "01:02:00");
        assert_eq!(parse_clock("1-02:00:01"), Some(93601.0));
        assert_eq!(parse_clock("00:01.111"), Some(1.111));
        assert_eq!(parse_clock("UNLIMITED"), None);
    }
}
