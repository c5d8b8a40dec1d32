//! Lines that say where the log really goes. A scheduler's file may hold nothing else.

/// The file that a line says output goes to: `Using PATH for output`, `Output is in PATH`, `Logging to PATH`.
pub fn target(line: &[u8]) -> Option<String> {
    let telling = [&b"for output"[..], b"utput is in", b"ogging to", b"og file:", b"edirecting"];
    if line.len() > 1000 || telling.iter().all(|key| memchr::memmem::find(line, key).is_none()) {
        return None;
    }
    let text = std::str::from_utf8(line).ok()?;
    let words =
        || text.split([' ', '\t', '"', '\'', '`']).map(|word| word.trim_end_matches(['.', ',', ':', ';']));
    words().find(|word| is_log(word)).map(str::to_owned)
}

/// A path with a folder, or a name that ends as logs do.
fn is_log(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    let ends =
        [".log", ".out", ".txt", ".err"].iter().any(|end| name.len() > end.len() && name.ends_with(end));
    ends || (word.starts_with(['/', '.', '~']) && word.len() > 2 && !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirections_name_their_file() {
        let target = |line: &str| target(line.as_bytes());
        assert_eq!(target("Using /data/run/out.log for output").as_deref(), Some("/data/run/out.log"));
        assert_eq!(target("Output is in `logs/job-7.out`.").as_deref(), Some("logs/job-7.out"));
        assert_eq!(target("Using the device for output"), None);
        assert_eq!(target("nothing here"), None);
    }
}
