//! The reading end of a journal: entries in order, troubles on the side, memory for one line.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use assay_model::{Entry, SCHEMA_VERSION};

use super::line::{LONGEST_LINE, checked, is_converted, is_marked_torn, schema_of};
use super::renamed::rename_metrics;
use crate::StoreError;

/// Why a line does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// Its checksum is wrong or missing.
    Checksum,
    /// It has no newline yet: the write was cut short or is still going on.
    Unfinished,
    /// It checks but does not parse, for this reason.
    NotAnEntry(String),
    /// It is whole, but not where it was written: lines before it were removed, repeated or moved.
    OutOfOrder,
}

/// Lines next to each other that do not count, or a place where lines are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The first of the lines, from 1.
    pub line: u64,
    /// How many lines; none where the line itself counts but is not where it was written.
    pub lines: u64,
    /// Where the first line starts, in bytes from the start of the journal.
    pub offset: u64,
    /// How many bytes they take.
    pub bytes: u64,
    /// What is wrong with the first.
    pub flaw: Flaw,
}

/// What a reader had to skip.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Troubles {
    /// Lines between good ones that do not check: something changed the file, or power failed between syncs.
    pub damage: Vec<Damage>,
    /// Writes that were cut short and marked as such when writing went on. Nothing acknowledged was in them.
    pub interrupted: Vec<Damage>,
    /// A bad end: normal after a crash, and while a writer is at work.
    pub torn_tail: Option<Damage>,
    /// Damage that the user accepted: what could be restored was restored.
    pub accepted: Vec<Damage>,
    /// Lines whose end was converted to Windows line endings. They are whole otherwise.
    pub converted_lines: u64,
    /// Run directories without a result that were reported and accepted with damage.
    pub accepted_directories: u64,
}

/// An entry and where its line is.
#[derive(Debug, Clone, PartialEq)]
pub struct Located {
    /// The entry.
    pub entry: Entry,
    /// Where its line starts, in bytes from the start of the journal.
    pub offset: u64,
    /// How many bytes the line takes, with its newline.
    pub bytes: u64,
}

/// Reads a journal from any source of bytes.
#[derive(Debug)]
pub struct JournalReader<R> {
    source: BufReader<R>,
    path: PathBuf,
    buffer: Vec<u8>,
    /// Where the next line starts.
    offset: u64,
    line: u64,
    /// Where the last line ended that is good or marked as torn.
    settled: u64,
    settled_line: u64,
    /// The checksum of the last good line; 0 before the first.
    last: u32,
    /// Bad lines of which it is not known yet whether anything good follows.
    pending: Option<Damage>,
    /// Whether a line that must be the record line is still to come.
    at_head: bool,
    troubles: Troubles,
}

impl<R: Read> JournalReader<R> {
    /// Reads from the start. The path is for messages.
    pub fn new(source: R, path: &Path) -> JournalReader<R> {
        JournalReader { at_head: true, ..JournalReader::resume(source, path, 0, 0, 0) }
    }

    /// Reads on from a place where a line starts; `lines` lines are before it, and `last` is the checksum of the last
    /// good one.
    pub(crate) fn resume(source: R, path: &Path, offset: u64, lines: u64, last: u32) -> JournalReader<R> {
        JournalReader {
            source: BufReader::with_capacity(1 << 17, source),
            path: path.to_owned(),
            buffer: Vec::new(),
            offset,
            line: lines,
            settled: offset,
            settled_line: lines,
            last,
            pending: None,
            at_head: false,
            troubles: Troubles::default(),
        }
    }

    /// The next entry that counts.
    pub fn next_entry(&mut self) -> Result<Option<Located>, StoreError> {
        loop {
            let offset = self.offset;
            let bytes = self.read_line().map_err(|source| self.read_error(source))?;
            if bytes == 0 {
                self.troubles.torn_tail = self.pending.take();
                return Ok(None);
            }
            self.offset += bytes;
            self.line += 1;
            match self.decode_line(bytes) {
                Ok((mut entry, checksum, previous)) => {
                    self.check_schema(&entry, previous)?;
                    self.check_order(offset, previous);
                    self.last = checksum;
                    self.troubles.damage.extend(self.pending.take());
                    if let Entry::AcceptedDamage { before_byte, without_result, .. } = &entry {
                        self.accept_damage(*before_byte);
                        self.troubles.accepted_directories += without_result;
                    }
                    rename_metrics(&mut entry);
                    self.settle();
                    return Ok(Some(Located { entry, offset, bytes }));
                }
                Err(flaw) => self.note_flaw(offset, bytes, flaw)?,
            }
        }
    }

    /// What had to be skipped; complete once all entries are read.
    pub fn troubles(&self) -> &Troubles {
        &self.troubles
    }

    /// What had to be skipped.
    pub fn into_troubles(self) -> Troubles {
        self.troubles
    }

    /// How many bytes were read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Where reading can go on later, in bytes and lines: after the last line that is good or marked as torn.
    pub(crate) fn settled(&self) -> (u64, u64) {
        (self.settled, self.settled_line)
    }

    /// The checksum of the last good line; 0 if there was none.
    pub(crate) fn last_checksum(&self) -> u32 {
        self.last
    }

    /// Reads up to the next newline and says how many bytes that were. The buffer keeps at most one byte more than
    /// the longest line, however long the line is.
    fn read_line(&mut self) -> io::Result<u64> {
        self.buffer.clear();
        let mut total = 0_u64;
        loop {
            let available = match self.source.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = memchr::memchr(b'\n', available).map(|position| position + 1);
            let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            let room = (LONGEST_LINE + 1).saturating_sub(self.buffer.len());
            self.buffer.extend_from_slice(piece.get(..room).unwrap_or(piece));
            let taken = piece.len();
            self.source.consume(taken);
            total += taken as u64;
            if end.is_some() || taken == 0 {
                return Ok(total);
            }
        }
    }

    /// The entry of the line that was read, the line's checksum, and that of the line before it where it is named.
    fn decode_line(&mut self, bytes: u64) -> Result<(Entry, u32, Option<u32>), Flaw> {
        if bytes > LONGEST_LINE as u64 {
            return Err(Flaw::Checksum);
        }
        let line = self.buffer.strip_suffix(b"\n").ok_or(Flaw::Unfinished)?;
        self.troubles.converted_lines += u64::from(is_converted(line));
        let line = checked(line)?;
        Ok((line.entry()?, line.checksum, line.previous))
    }

    /// Notes a place where lines are missing. Next to lines that cannot be read nothing more is known.
    fn check_order(&mut self, offset: u64, previous: Option<u32>) {
        if self.pending.is_none() && previous.is_some_and(|previous| previous != self.last) {
            let (line, flaw) = (self.line, Flaw::OutOfOrder);
            self.pending = Some(Damage { line, lines: 0, offset, bytes: 0, flaw });
        }
    }

    fn note_flaw(&mut self, offset: u64, bytes: u64, flaw: Flaw) -> Result<(), StoreError> {
        let text = self.buffer.strip_suffix(b"\n");
        let marked = text.is_some_and(is_marked_torn);
        if let (Flaw::NotAnEntry(_), Some(found)) = (&flaw, text.and_then(schema_of))
            && found > SCHEMA_VERSION
        {
            return Err(StoreError::Newer { path: self.path.clone(), found });
        }
        let line = self.line;
        let damage = self.pending.get_or_insert(Damage { line, lines: 0, offset, bytes: 0, flaw });
        damage.lines += 1;
        damage.bytes += bytes;
        if marked {
            self.troubles.interrupted.extend(self.pending.take());
            self.settle();
        }
        Ok(())
    }

    fn accept_damage(&mut self, before_byte: u64) {
        let damage = std::mem::take(&mut self.troubles.damage);
        let (accepted, new) = damage.into_iter().partition(|damage| damage.offset < before_byte);
        self.troubles.damage = new;
        self.troubles.accepted.extend::<Vec<Damage>>(accepted);
    }

    fn check_schema(&mut self, entry: &Entry, previous: Option<u32>) -> Result<(), StoreError> {
        match entry {
            Entry::Record { schema, .. } if *schema > SCHEMA_VERSION => {
                Err(StoreError::Newer { path: self.path.clone(), found: *schema })
            }
            Entry::Record { .. } => {
                self.at_head = false;
                Ok(())
            }
            // A damaged head must not cost the lines after it, nor one that was cut off: a line that names the one
            // before it is of a journal.
            _ if self.at_head && self.line == 1 && previous.is_none() => Err(StoreError::NotAJournal {
                path: self.path.clone(),
                reason: "its first line does not name the schema".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    fn settle(&mut self) {
        (self.settled, self.settled_line) = (self.offset, self.line);
    }

    fn read_error(&self, source: io::Error) -> StoreError {
        StoreError::Read { path: self.path.clone(), source }
    }
}
