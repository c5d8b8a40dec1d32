//! What the user wants read: files, directories, patterns, records and standard input.

mod bytes;
mod record;

use std::collections::HashSet;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_evidence::Readers;
use assay_model::Document;
use assay_store::Record;

use crate::failure::Mistake;
use crate::screen::Screen;

/// One thing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readable {
    /// A file that an argument names: it must be readable.
    File(PathBuf),
    /// A file that was found in a directory: it may be gone by the time it is read.
    Listed(PathBuf),
    /// Standard input.
    Stdin,
    /// A record of this program.
    Record(PathBuf),
}

/// Files that are never text, by extension; only files inside directories are skipped for it.
const BINARY: [&str; 21] = [
    "png",
    "jpg",
    "jpeg",
    "gif",
    "pdf",
    "zip",
    "xz",
    "zst",
    "bz2",
    "tar",
    "so",
    "o",
    "a",
    "bin",
    "pt",
    "pth",
    "mdl",
    "safetensors",
    "parquet",
    "sqlite",
    "pyc",
];

/// Everything that the arguments name, in their order; files of a directory sorted by name. A file that several
/// names, links or arguments lead to is there once.
pub fn find(arguments: &[PathBuf], screen: &mut Screen) -> anyhow::Result<Vec<Readable>> {
    let mut search = Search::default();
    for argument in arguments {
        let before = search.found.len() + search.repeated;
        search.add(argument)?;
        if search.found.len() + search.repeated == before {
            let text = format!("nothing to read in {}", argument.display());
            let hint = "assay reads logs, write-ups (.md, .tex, .html, .rst, .org, .ipynb, .txt), .csv, .json \
                        and records, also compressed with gzip";
            return Err(Mistake::new(text, hint).into());
        }
    }
    for (path, error) in &search.unreadable {
        screen.warn(&format!("skipped {}: {error}", path.display()));
    }
    Ok(search.found)
}

/// The files and records among what is to be read.
pub fn paths(sources: &[Readable]) -> Vec<&Path> {
    let named = sources.iter().filter_map(|source| match source {
        Readable::File(path) | Readable::Listed(path) | Readable::Record(path) => Some(path.as_path()),
        Readable::Stdin => None,
    });
    named.collect()
}

/// A file or directory, whatever its name: device and inode.
type FileIdentity = (u64, u64);

fn identity(metadata: &Metadata) -> FileIdentity {
    (metadata.dev(), metadata.ino())
}

/// Why an input that the user named cannot be used.
fn unusable(what: &str, path: &Path, error: io::Error) -> anyhow::Error {
    let text = format!("cannot {what} {}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            Mistake::new(text, "ask its owner for permission to read it, or choose another").into()
        }
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
            Mistake::new(text, "check whether the file is whole, for example with `gzip --test`").into()
        }
        io::ErrorKind::Unsupported => Mistake::new(text, "unpack it, or convert it to text, first").into(),
        _ => anyhow::Error::new(error).context(text),
    }
}

#[derive(Default)]
struct Search {
    found: Vec<Readable>,
    /// Every file and directory that was reached, so that links can neither multiply evidence nor lead in circles.
    seen: HashSet<FileIdentity>,
    unreadable: Vec<(PathBuf, io::Error)>,
    /// Files that were reached again.
    repeated: usize,
}

impl Search {
    fn add(&mut self, argument: &Path) -> anyhow::Result<()> {
        if argument.as_os_str() == "-" {
            self.found.push(Readable::Stdin);
            return Ok(());
        }
        match std::fs::metadata(argument) {
            Ok(metadata) if metadata.is_dir() => {
                self.directory(argument, &metadata).map_err(|error| unusable("list", argument, error))
            }
            Ok(metadata) if is_device(&metadata) => {
                let text = format!("{} is a device, which may never end", argument.display());
                Err(Mistake::new(text, "give files or directories, or - for standard input").into())
            }
            Ok(metadata) => {
                if self.is_new(&metadata) {
                    self.found.push(Readable::File(argument.to_owned()));
                }
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.pattern(argument),
            Err(error) => Err(unusable("read", argument, error)),
        }
    }

    /// Whether a file or directory was not reached before. Pipes and devices are new each time.
    fn is_new(&mut self, metadata: &Metadata) -> bool {
        let is_new = !(metadata.is_file() || metadata.is_dir()) || self.seen.insert(identity(metadata));
        self.repeated += usize::from(!is_new);
        is_new
    }

    fn directory(&mut self, path: &Path, metadata: &Metadata) -> io::Result<()> {
        if !self.is_new(metadata) {
            return Ok(());
        }
        if Record::open(path).is_ok() {
            self.found.push(Readable::Record(path.to_owned()));
            return Ok(());
        }
        let listed = std::fs::read_dir(path)?;
        let mut entries: Vec<PathBuf> = listed.filter_map(|entry| Some(entry.ok()?.path())).collect();
        entries.sort();
        for entry in entries {
            if is_passed_over(&entry) {
                continue;
            }
            if let Err(error) = self.entry(&entry) {
                self.unreadable.push((entry, error));
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &Path) -> io::Result<()> {
        let metadata = std::fs::metadata(path)?;
        if metadata.is_dir() {
            self.directory(path, &metadata)
        } else {
            if metadata.is_file() && bytes::is_text(path)? && self.is_new(&metadata) {
                self.found.push(Readable::Listed(path.to_owned()));
            }
            Ok(())
        }
    }

    fn pattern(&mut self, argument: &Path) -> anyhow::Result<()> {
        let text = argument.display().to_string();
        if !text.contains(['*', '?', '[']) {
            let folder = argument.parent().filter(|folder| !folder.as_os_str().is_empty());
            let hint = match folder {
                Some(folder) if !folder.is_dir() => {
                    format!("there is no directory {} either", folder.display())
                }
                _ => "give files, directories, patterns in quotes, or - for standard input".to_owned(),
            };
            return Err(Mistake::new(format!("no file {text}"), hint).into());
        }
        let paths = glob::glob(&text).map_err(|error| {
            Mistake::new(format!("`{text}` is not a pattern: {error}"), "quote it, or name files")
        })?;
        for path in paths.filter_map(Result::ok) {
            self.add(&path)?;
        }
        Ok(())
    }
}

/// Whether this is a device. Reading the empty one is harmless, and common in scripts.
fn is_device(metadata: &Metadata) -> bool {
    let kind = metadata.file_type();
    let is_null = std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == metadata.rdev());
    kind.is_block_device() || (kind.is_char_device() && !is_null)
}

/// Whether a file inside a directory is hidden or, by its extension, not text.
fn is_passed_over(path: &Path) -> bool {
    let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    hidden || BINARY.contains(&extension)
}

/// Reads files or records with the dialects of the current directory and audits them together.
pub fn audited(files: &[PathBuf], screen: &mut Screen) -> anyhow::Result<assay_page::Audited> {
    let readers = Readers::all(&crate::dialects::find(Path::new("."), &[])?).keeping_source();
    let mut documents: Vec<Document> = Vec::new();
    for source in &find(files, screen)? {
        documents.extend(read(source, &readers, screen)?);
    }
    Ok(assay_page::Audited { audit: assay_audit::audit(&documents), documents })
}

/// Reads one thing, and warns of what a limit left out of it. None for a file of a directory that cannot be read any
/// more: the others still can.
pub fn read(readable: &Readable, readers: &Readers, screen: &mut Screen) -> anyhow::Result<Option<Document>> {
    let mut warnings = Vec::new();
    let document = read_with_warnings(readable, readers, &mut warnings);
    warnings.iter().for_each(|warning| screen.warn(warning));
    document
}

fn read_with_warnings(
    readable: &Readable,
    readers: &Readers,
    warnings: &mut Vec<String>,
) -> anyhow::Result<Option<Document>> {
    let document = match readable {
        Readable::Stdin => {
            bytes::document(io::stdin().lock(), "-", readers).context("cannot read standard input")?
        }
        Readable::File(path) => file(path, readers).map_err(|error| unusable("read", path, error))?,
        Readable::Listed(path) => match file(path, readers) {
            Ok(document) => document,
            Err(error) => {
                warnings.push(format!("skipped {}: {error}", path.display()));
                return Ok(None);
            }
        },
        Readable::Record(path) => record::document(path)?,
    };
    for omission in &document.omissions {
        let place = document.source(omission.line);
        warnings.push(format!("{place}: left out {} {}", omission.count, omission.what));
    }
    Ok(Some(document))
}

fn file(path: &Path, readers: &Readers) -> io::Result<Document> {
    bytes::document(std::fs::File::open(path)?, &path.display().to_string(), readers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn found(arguments: &[PathBuf]) -> Vec<PathBuf> {
        let mut search = Search::default();
        arguments.iter().for_each(|argument| search.add(argument).unwrap());
        let paths = search.found.into_iter().map(|readable| match readable {
            Readable::File(path) | Readable::Listed(path) => path,
            other => panic!("{other:?}"),
        });
        paths.collect()
    }

    #[test]
    fn links_neither_multiply_files_nor_lead_in_circles() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::write(root.join("a.log"), "loss 1\n").unwrap();
        std::fs::create_dir(root.join("deeper")).unwrap();
        symlink("..", root.join("deeper/up")).unwrap();
        symlink(".", root.join("here")).unwrap();
        symlink(".", root.join("there")).unwrap();
        symlink("a.log", root.join("b.log")).unwrap();
        std::fs::hard_link(root.join("a.log"), root.join("c.log")).unwrap();
        symlink("gone.log", root.join("broken.log")).unwrap();
        assert_eq!(found(&[root.to_owned()]), [root.join("a.log")]);
        assert_eq!(found(&[root.join("b.log"), root.join("a.log")]), [root.join("b.log")]);
    }

    #[test]
    fn devices_are_refused_unless_they_are_empty() {
        let mut search = Search::default();
        assert!(search.add(Path::new("/dev/zero")).is_err_and(|error| error.to_string().contains("device")));
        search.add(Path::new("/dev/null")).unwrap();
    }

    #[test]
    fn a_file_that_vanishes_is_skipped_and_a_named_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gone.log");
        let readers = Readers::all(&[]);
        let mut warnings = Vec::new();
        let listed = Readable::Listed(path.clone());
        assert_eq!(read_with_warnings(&listed, &readers, &mut warnings).unwrap(), None);
        assert!(warnings[0].contains("gone.log"), "{warnings:?}");
        assert!(read_with_warnings(&Readable::File(path), &readers, &mut warnings).is_err());
    }
}
