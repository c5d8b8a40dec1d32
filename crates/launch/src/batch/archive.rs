//! Unpacks what another host sends as a tar archive. The host is not trusted: only regular files and directories below
//! the names that were requested are made, in an empty directory; links are left out, except for the one that names the
//! job of a run.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use assay_store::RecordPermissions;

use super::node_script::CLAIM;

/// Archives consist of blocks of this size.
const BLOCK: usize = 512;
/// The longest name or extended header.
const LONGEST_NAME: u64 = 64 * 1024;

/// What the headers before a member say of it.
#[derive(Default)]
struct Announced {
    path: Option<String>,
    link: Option<String>,
    size: Option<u64>,
}

/// Unpacks an archive into a directory that nobody else writes to. A member that is not below one of the names is an
/// error.
pub fn unpack(
    archive: &mut dyn Read,
    names: &[String],
    into: &Path,
    permissions: RecordPermissions,
) -> io::Result<()> {
    let names: BTreeSet<&Path> = names.iter().map(Path::new).collect();
    let mut announced = Announced::default();
    let mut header = [0; BLOCK];
    loop {
        if !fill(archive, &mut header)? || header == [0; BLOCK] {
            // What is behind the end is read, so that the sender is not cut off.
            return io::copy(archive, &mut io::sink()).map(drop);
        }
        check(&header)?;
        let kind = header.get(156).copied().unwrap_or(0);
        let size = number(field(&header, 124, 12))?;
        match kind {
            b'L' => announced.path = Some(text(archive, size)?.trim_end_matches('\0').to_owned()),
            b'K' => announced.link = Some(text(archive, size)?.trim_end_matches('\0').to_owned()),
            b'x' => announced.read(&text(archive, size)?)?,
            b'g' => drop(text(archive, size)?),
            kind => {
                let said = std::mem::take(&mut announced);
                let path = said.path.map_or_else(|| own_name(&header), Ok)?;
                let place = Place::of(&path, &names, into)?;
                let link = said.link.map_or_else(|| ascii(field(&header, 157, 100)), Ok)?;
                let size = said.size.unwrap_or(size);
                match kind {
                    b'0' | 0 | b'7' => place.write(archive, size, permissions)?,
                    b'5' => permissions.create_directory(&place.path)?,
                    b'1' => place.repeat(&Place::of(&link, &names, into)?, permissions)?,
                    b'2' if path.ends_with(&format!("/{CLAIM}")) && !link.contains(['/', '.']) => {
                        permissions.create_directory(place.parent()?)?;
                        symlink(&link, &place.path)?;
                    }
                    b'2' | b'3' | b'4' | b'6' => {}
                    _ => return Err(odd(&format!("a member of an unknown kind, {path}"))),
                }
            }
        }
    }
}

/// Where a member is written.
struct Place {
    path: PathBuf,
}

impl Place {
    fn of(path: &str, names: &BTreeSet<&Path>, into: &Path) -> io::Result<Place> {
        let path = Path::new(path.strip_prefix("./").unwrap_or(path));
        let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        match is_plain && path.ancestors().any(|above| names.contains(above)) {
            true => Ok(Place { path: into.join(path) }),
            false => Err(odd(&format!("{}, which was not requested", path.display()))),
        }
    }

    fn parent(&self) -> io::Result<&Path> {
        self.path.parent().ok_or_else(|| odd("a member without a name"))
    }

    fn write(&self, archive: &mut dyn Read, size: u64, permissions: RecordPermissions) -> io::Result<()> {
        permissions.create_directory(self.parent()?)?;
        let mut file = permissions.create_file(&self.path)?;
        let written = io::copy(&mut archive.take(size), &mut file)?;
        file.flush()?;
        if written < size {
            return Err(cut_off());
        }
        skip(archive, padding(size))
    }

    /// A second name of a file, which here becomes a file of its own.
    fn repeat(&self, first: &Place, permissions: RecordPermissions) -> io::Result<()> {
        if self.path == first.path || !fs::symlink_metadata(&first.path)?.is_file() {
            return Err(odd("a second name of something that is no file"));
        }
        permissions.create_directory(self.parent()?)?;
        io::copy(&mut fs::File::open(&first.path)?, &mut permissions.create_file(&self.path)?).map(drop)
    }
}

impl Announced {
    /// Reads an extended header: lines of `LENGTH NAME=VALUE`.
    fn read(&mut self, text: &str) -> io::Result<()> {
        let mut rest = text;
        while let Some((length, _)) = rest.split_once(' ') {
            let length: usize = length.parse().map_err(|_| odd("a damaged header"))?;
            let (record, after) = rest.split_at_checked(length).ok_or_else(|| odd("a damaged header"))?;
            let (_, assigned) = record.split_once(' ').ok_or_else(|| odd("a damaged header"))?;
            match assigned.strip_suffix('\n').and_then(|assigned| assigned.split_once('=')) {
                Some(("path", value)) => self.path = Some(value.to_owned()),
                Some(("linkpath", value)) => self.link = Some(value.to_owned()),
                Some(("size", value)) => {
                    self.size = Some(value.parse().map_err(|_| odd("a damaged header"))?);
                }
                _ => {}
            }
            rest = after;
        }
        Ok(())
    }
}

/// Moves what was unpacked to its places in the record. Links in the way are replaced, never followed.
pub fn move_into_place(from: &Path, to: &Path, permissions: RecordPermissions) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let in_the_way = fs::symlink_metadata(&target).ok();
        if !entry.file_type()?.is_dir() {
            if in_the_way.is_some_and(|found| found.is_dir()) {
                fs::remove_dir_all(&target)?;
            }
            fs::rename(entry.path(), &target)?;
            continue;
        }
        if in_the_way.is_some_and(|found| !found.is_dir()) {
            fs::remove_file(&target)?;
        }
        permissions.create_directory(&target)?;
        move_into_place(&entry.path(), &target, permissions)?;
    }
    Ok(())
}

fn odd(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the other host sent {what}"))
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the archive of the other host is cut off")
}

fn field(header: &[u8; BLOCK], from: usize, length: usize) -> &[u8] {
    header.get(from..from + length).unwrap_or_default()
}

fn ascii(field: &[u8]) -> io::Result<String> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    let text = std::str::from_utf8(field.get(..end).unwrap_or_default());
    text.map(str::to_owned).map_err(|_| odd("a name that is not UTF-8"))
}

/// The name in a member's own header. Only the format of POSIX has a prefix for it.
fn own_name(header: &[u8; BLOCK]) -> io::Result<String> {
    let name = ascii(field(header, 0, 100))?;
    let prefix =
        if field(header, 257, 6) == b"ustar\0" { ascii(field(header, 345, 155))? } else { String::new() };
    Ok(if prefix.is_empty() { name } else { format!("{prefix}/{name}") })
}

/// A number in octal digits, or in binary where these do not suffice.
fn number(field: &[u8]) -> io::Result<u64> {
    let [first, rest @ ..] = field else { return Ok(0) };
    if *first == 0x80 {
        let shifted = |all: u64, byte: &u8| Some(all.checked_mul(256)? + u64::from(*byte));
        return rest.iter().try_fold(0, shifted).ok_or_else(|| odd("a damaged header"));
    }
    let text = ascii(field)?;
    let digits = text.trim();
    if digits.is_empty() {
        return Ok(0);
    }
    u64::from_str_radix(digits, 8).map_err(|_| odd("a damaged header"))
}

/// A header holds the sum of its bytes, those of the sum itself counted as blanks.
fn check(header: &[u8; BLOCK]) -> io::Result<()> {
    let stored = number(field(header, 148, 8))?;
    let all: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
    let own: u64 = field(header, 148, 8).iter().map(|byte| u64::from(*byte)).sum();
    if stored == all - own + 8 * u64::from(b' ') { Ok(()) } else { Err(odd("a damaged header")) }
}

/// Reads a block; none at the end.
fn fill(archive: &mut dyn Read, block: &mut [u8; BLOCK]) -> io::Result<bool> {
    let mut count = 0;
    while let Some(rest) = block.get_mut(count..).filter(|rest| !rest.is_empty()) {
        match archive.read(rest) {
            Ok(0) if count == 0 => return Ok(false),
            Ok(0) => return Err(cut_off()),
            Ok(read) => count += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

fn padding(size: u64) -> u64 {
    size.next_multiple_of(BLOCK as u64) - size
}

fn skip(archive: &mut dyn Read, count: u64) -> io::Result<()> {
    let skipped = io::copy(&mut archive.take(count), &mut io::sink())?;
    if skipped == count { Ok(()) } else { Err(cut_off()) }
}

fn text(archive: &mut dyn Read, size: u64) -> io::Result<String> {
    if size > LONGEST_NAME {
        return Err(odd("a header that is too long"));
    }
    let mut bytes = Vec::new();
    archive.take(size).read_to_end(&mut bytes)?;
    skip(archive, padding(size))?;
    String::from_utf8(bytes).map_err(|_| odd("a name that is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The archive that `tar` makes of these names.
    fn packed(directory: &Path, words: &[&str]) -> Vec<u8> {
        let made =
            Command::new("tar").arg("-C").arg(directory).args(["-cf", "-"]).args(words).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        made.stdout
    }

    fn unpacked(archive: &[u8], names: &[&str], into: &Path) -> io::Result<()> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        unpack(&mut &*archive, &names, into, RecordPermissions::PRIVATE)
    }

    #[test]
    fn run_directories_come_back_without_their_links() {
        let (there, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let long = format!("{}/{}", "d".repeat(85), "f".repeat(95));
        let run = there.path().join("runs/a/1");
        fs::create_dir_all(run.join(&long).parent().unwrap()).unwrap();
        fs::write(run.join(&long), "deep").unwrap();
        fs::write(run.join("stdout.log"), "x".repeat(1500)).unwrap();
        fs::hard_link(run.join("stdout.log"), run.join("twice.log")).unwrap();
        symlink("/etc", run.join("outside")).unwrap();
        symlink("41_7", run.join(CLAIM)).unwrap();
        for format in ["--format=gnu", "--format=posix", "--format=ustar"] {
            let into = here.path().join(format);
            fs::create_dir(&into).unwrap();
            unpacked(&packed(there.path(), &[format, "runs/a/1"]), &["runs/a/1"], &into).unwrap();
            let run = into.join("runs/a/1");
            assert_eq!(fs::read_to_string(run.join(&long)).unwrap(), "deep", "{format}");
            for name in ["stdout.log", "twice.log"] {
                assert_eq!(fs::metadata(run.join(name)).unwrap().len(), 1500, "{format} {name}");
            }
            assert_eq!(fs::read_link(run.join(CLAIM)).unwrap(), Path::new("41_7"));
            assert!(fs::symlink_metadata(run.join("outside")).is_err(), "{format}");
        }
    }

    #[test]
    fn nothing_else_is_written() {
        let (there, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(there.path().join("runs/a/1")).unwrap();
        fs::write(there.path().join("journal.jsonl"), "forged").unwrap();
        fs::write(there.path().join("runs/a/1/x"), "x").unwrap();
        let whole = packed(there.path(), &["runs/a/1", "journal.jsonl"]);
        let beside = packed(
            there.path(),
            &["--transform=s,^journal,runs/a/1/../../../journal,", "-P", "journal.jsonl"],
        );
        let absolute = packed(there.path(), &["--transform=s,^journal,/tmp/journal,", "-P", "journal.jsonl"]);
        for archive in [&whole, &beside, &absolute] {
            let error = unpacked(archive, &["runs/a/1"], here.path()).unwrap_err();
            assert!(error.to_string().contains("not requested"), "{error}");
        }
        assert!(!here.path().join("journal.jsonl").exists());
        let good = packed(there.path(), &["runs/a/1"]);
        for damaged in [&good[..1000], &good[..700]] {
            assert!(unpacked(damaged, &["runs/a/1"], here.path()).is_err());
        }
        let mut flipped = good.clone();
        flipped[3] ^= 1;
        assert!(unpacked(&flipped, &["runs/a/1"], here.path()).is_err());
    }

    #[test]
    fn links_in_the_record_are_replaced_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let [from, to, outside] = ["from", "to", "outside"].map(|name| place.path().join(name));
        for directory in [&from.join("runs/a"), &to.join("runs"), &outside] {
            fs::create_dir_all(directory).unwrap();
        }
        fs::write(from.join("runs/a/key"), "key").unwrap();
        fs::write(from.join("runs/a/log"), "new").unwrap();
        symlink(&outside, to.join("runs/a")).unwrap();
        move_into_place(&from, &to, RecordPermissions::PRIVATE).unwrap();
        assert!(fs::read_dir(&outside).unwrap().next().is_none());
        assert_eq!(fs::read_to_string(to.join("runs/a/log")).unwrap(), "new");
    }
}
