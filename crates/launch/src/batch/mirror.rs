//! Copies of the files of runs on another host: what they have written since the last look, all of them in one command.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use assay_campaign::shell::quoted;

use super::BatchLauncher;
use super::host::shell;

/// What is brought over of a file at once.
const PIECE: u64 = 4 << 20;

/// Sends what is new in each file: a line with directory, file and number of bytes, then the bytes. The file that says
/// that a run has ended comes last, so that the others are complete when it is there.
const SEND: &str = r#"while read -r directory name from; do
    file="$root/$directory/$name"
    [ -e "$file" ] || continue
    size=$(($(wc -c <"$file")))
    if [ "$size" -lt "$from" ]; then echo "$directory $name restart"; continue; fi
    count=$((size - from))
    [ "$count" -gt "$most" ] && count=$most
    [ "$count" -gt 0 ] || continue
    echo "$directory $name $count"
    tail -c "+$((from + 1))" "$file" | head -c "$count"
done
"#;

/// The files that are followed.
const FILES: [&str; 5] = ["stdout.log", "stderr.log", "trace", "times", "end"];

impl BatchLauncher {
    /// Brings the files of running runs up to date, where they are on another host.
    pub(super) fn mirror(&self, just_polled: bool) -> Result<(), String> {
        let Some(root) = self.root.as_ref().filter(|_| just_polled) else { return Ok(()) };
        let mut wanted = String::new();
        for run in self.tasks.values().flat_map(|task| task.runs.front()) {
            let Some(directory) = self.relative(&run.job.directory) else { continue };
            for name in FILES {
                let size = run.job.directory.join(name).metadata().map_or(0, |file| file.len());
                wanted.push_str(&format!("{directory} {name} {size}\n"));
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let text = format!("root={}\nmost={PIECE}\n{SEND}", quoted(&root.display().to_string()));
        let answer = self.host.run(&shell(&text), wanted.as_bytes())?;
        if !answer.is_success {
            return Err(format!("cannot follow runs {}: {}", self.host.place(), answer.reason()));
        }
        unpack(&self.record, &answer.stdout)
    }
}

fn unpack(record: &Path, mut bytes: &[u8]) -> Result<(), String> {
    let odd = || "the other host sent something unexpected".to_owned();
    while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
        let (line, rest) = bytes.split_at(end);
        bytes = rest.get(1..).unwrap_or_default();
        let line = std::str::from_utf8(line).map_err(|_| odd())?;
        let words: Vec<&str> = line.split(' ').collect();
        let [directory, name, count] = words.as_slice() else { return Err(odd()) };
        // What another host sends must not be written anywhere else.
        if !FILES.contains(name) || !directory.starts_with("runs/") || directory.contains("..") {
            return Err(odd());
        }
        let path = record.join(directory).join(name);
        if *count == "restart" {
            let _ = std::fs::remove_file(&path);
            continue;
        }
        let count: usize = count.parse().map_err(|_| odd())?;
        let piece = bytes.get(..count).ok_or_else(odd)?;
        bytes = bytes.get(count..).unwrap_or_default();
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(piece));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_added_to_their_files_and_to_no_others() {
        let record = tempfile::tempdir().unwrap();
        let run = record.path().join("runs/a/1");
        std::fs::create_dir_all(&run).unwrap();
        unpack(record.path(), b"runs/a/1 stdout.log 6\none\ntwruns/a/1 end 4\n0 1\n").unwrap();
        unpack(record.path(), b"runs/a/1 stdout.log 2\no\n").unwrap();
        assert_eq!(std::fs::read_to_string(run.join("stdout.log")).unwrap(), "one\ntwo\n");
        assert_eq!(std::fs::read_to_string(run.join("end")).unwrap(), "0 1\n");
        unpack(record.path(), b"runs/a/1 stdout.log restart\n").unwrap();
        assert!(!run.join("stdout.log").exists());
        for wrong in
            ["runs/../x stdout.log 1\nx", "runs/a/1 run.sh 1\nx", "/etc stdout.log 1\nx", "runs/a/1 end 9\nx"]
        {
            assert!(unpack(record.path(), wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
