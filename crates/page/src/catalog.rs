//! The list of records. What a record says of itself is read when somebody asks for it, and again only when its journal has
//! changed, so that a list of thousands costs no more than a look at their files and the journals of those on the page.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use assay_store::{Record, RecordContents, StoreError, record_paths, summarize};

/// A record in the list.
#[derive(Debug)]
pub struct ListedRecord {
    /// Its directory below the root: how pages name it.
    pub id: String,
    pub path: PathBuf,
    /// When its journal was last written to.
    written: Option<SystemTime>,
    read: OnceLock<ReadOnce>,
}

/// What is known of a record once its journal was read.
#[derive(Debug)]
struct ReadOnce {
    contents: Result<RecordContents, String>,
    /// What a filter looks at, in small letters: name, id and question.
    words: String,
}

impl ListedRecord {
    fn new(root: &Path, path: &Path, stamp: Stamp) -> ListedRecord {
        let below = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let id = if below.is_empty() { ".".to_owned() } else { below };
        ListedRecord { id, path: path.to_owned(), written: stamp.map(|(_, at)| at), read: OnceLock::new() }
    }

    fn read(&self) -> &ReadOnce {
        self.read.get_or_init(|| {
            let contents = summarize(&self.path).contents.map_err(|error| error.to_string());
            let known = contents.as_ref().ok();
            let name = known.map_or("", |contents| contents.name.as_str());
            let question = known.and_then(|contents| contents.question.as_deref()).unwrap_or_default();
            let words = format!("{name}\n{}\n{question}", self.id).to_lowercase();
            ReadOnce { contents, words }
        })
    }

    /// Whether its journal was read; reads it now unless the time for that is over.
    pub fn is_read_until(&self, deadline: Instant) -> bool {
        if self.read.get().is_none() && Instant::now() < deadline {
            self.read();
        }
        self.read.get().is_some()
    }

    /// What is known of it, or why it cannot be read.
    pub fn contents(&self) -> &Result<RecordContents, String> {
        &self.read().contents
    }

    /// What a filter looks at, in small letters: name, id and question.
    pub fn words(&self) -> &str {
        &self.read().words
    }

    /// The campaign's name, or the directory where that cannot be read.
    pub fn name(&self) -> &str {
        self.contents().as_ref().map_or(&self.id, |contents| &contents.name)
    }

    /// When it was last written to, in seconds since 1970 UTC.
    pub fn last_used(&self) -> f64 {
        self.contents().as_ref().map_or(0.0, |contents| contents.last_session.unwrap_or(contents.created))
    }
}

type Stamp = Option<(u64, SystemTime)>;

/// All records, as they were when last looked at.
#[derive(Debug, Default)]
pub struct Catalog {
    state: Mutex<CatalogState>,
}

#[derive(Debug, Default)]
struct CatalogState {
    known: BTreeMap<PathBuf, (Stamp, Arc<ListedRecord>)>,
    /// When all records were last looked at, and what was found.
    latest: Option<(Instant, Arc<Vec<Arc<ListedRecord>>>)>,
}

/// Records that a list may read to be in order.
const FEW: usize = 200;
/// For so long many readers share one look at the disk.
const SHARED: Duration = Duration::from_secs(1);

impl Catalog {
    /// The records below a directory, the last written first; what is shown may be a second old.
    pub fn list(&self, root: &Path) -> Result<Arc<Vec<Arc<ListedRecord>>>, StoreError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.latest {
            Some((at, listed)) if at.elapsed() < SHARED => Ok(Arc::clone(listed)),
            _ => state.look_again(root),
        }
    }

    /// Reads every record that nobody has asked for yet, so that a filter, which needs all, need not wait for that. It stops
    /// when asked to, and from then on the list is in the order of what the records say.
    pub fn read_all(&self, root: &Path, stop: &dyn Fn() -> bool) -> Result<(), StoreError> {
        for record in self.list(root)?.iter() {
            if stop() {
                return Ok(());
            }
            record.read();
        }
        self.state.lock().unwrap_or_else(PoisonError::into_inner).look_again(root).map(|_| ())
    }

    /// The record of an id. Only what the list has can be found, so that no request names a path of its own.
    pub fn find(&self, root: &Path, id: &str) -> Result<Option<Arc<ListedRecord>>, StoreError> {
        let named = |listed: &[Arc<ListedRecord>]| listed.iter().find(|record| record.id == id).cloned();
        if let Some(found) = named(&self.list(root)?) {
            return Ok(Some(found));
        }
        // It may be younger than the last look.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(named(&state.look_again(root)?))
    }
}

impl CatalogState {
    fn look_again(&mut self, root: &Path) -> Result<Arc<Vec<Arc<ListedRecord>>>, StoreError> {
        let paths = record_paths(root)?;
        let mut known = BTreeMap::new();
        let mut listed = Vec::with_capacity(paths.len());
        for path in paths {
            let stamp = Record::stamp(&path);
            let record = match self.known.remove(&path) {
                Some((before, record)) if before == stamp && stamp.is_some() => record,
                _ => Arc::new(ListedRecord::new(root, &path, stamp)),
            };
            listed.push(Arc::clone(&record));
            known.insert(path, (stamp, record));
        }
        self.known = known;
        sort(&mut listed);
        let listed = Arc::new(listed);
        self.latest = Some((Instant::now(), Arc::clone(&listed)));
        Ok(listed)
    }
}

/// The last used first. The files' times are only taken until enough is read: copies of records have those of the copy.
fn sort(listed: &mut [Arc<ListedRecord>]) {
    // A few that are new do not change the order of all others: they are read at once.
    let unread = listed.iter().filter(|record| record.read.get().is_none()).count();
    if unread <= FEW {
        listed.sort_by(|a, b| b.last_used().total_cmp(&a.last_used()).then_with(|| a.id.cmp(&b.id)));
    } else {
        listed.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.id.cmp(&b.id)));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use assay_store::{Identity, Store};

    use super::*;

    fn record(root: &Path, name: &str, now: f64, written: u64) {
        let directory = root.join(name);
        let identity = Identity { name: name.into(), now, program: "0".into(), host: "h".into(), pid: 1 };
        drop(Store::open_or_create(&directory, &identity).unwrap());
        let journal = std::fs::File::options().append(true).open(directory.join("journal.jsonl")).unwrap();
        journal.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(written)).unwrap();
    }

    #[test]
    fn thousands_of_records_are_listed_before_they_are_read_and_then_in_their_own_order() {
        let place = tempfile::tempdir().unwrap();
        let count = FEW + 2;
        for index in 0..count {
            record(place.path(), &format!("r{index:04}"), index as f64 + 1.0, (count - index) as u64);
        }
        let catalog = Catalog::default();
        let first = catalog.list(place.path()).unwrap();
        assert!(
            first.iter().all(|record| record.read.get().is_none()),
            "a journal was read for the list alone"
        );
        assert_eq!(first[0].id, "r0000");
        let now = Instant::now();
        assert!(!first[0].is_read_until(now), "it was read although there was no time for it");
        assert!(first[0].is_read_until(now + Duration::from_secs(60)) && first[0].is_read_until(now));
        catalog.read_all(place.path(), &|| false).unwrap();
        assert_eq!(catalog.list(place.path()).unwrap()[0].id, format!("r{:04}", count - 1));
        assert!(first[0].words().contains("r0000"));
    }
}
