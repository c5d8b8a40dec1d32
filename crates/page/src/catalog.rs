//! The list of records. What a record says of itself is looked up again only when its journal has changed, so that
//! thousands of records cost no more than a look at their files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use assay_store::{Record, RecordContents, StoreError, record_paths, summarize};

/// A record in the list.
#[derive(Debug, Clone)]
pub struct ListedRecord {
    /// Its directory below the root: how pages name it.
    pub id: String,
    pub path: PathBuf,
    /// What is known of it, or why it cannot be read.
    pub contents: Result<RecordContents, String>,
    /// What a filter looks at, in small letters: name, id and question.
    pub words: String,
}

impl ListedRecord {
    /// The campaign's name, or the directory where that cannot be read.
    pub fn name(&self) -> &str {
        self.contents.as_ref().map_or(&self.id, |contents| &contents.name)
    }

    /// When it was last written to, in seconds since 1970 UTC.
    pub fn last_used(&self) -> f64 {
        self.contents.as_ref().map_or(0.0, |contents| contents.last_session.unwrap_or(contents.created))
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
                _ => Arc::new(look(root, &path)),
            };
            listed.push(Arc::clone(&record));
            known.insert(path, (stamp, record));
        }
        self.known = known;
        listed.sort_by(|a: &Arc<ListedRecord>, b| {
            b.last_used().total_cmp(&a.last_used()).then_with(|| a.id.cmp(&b.id))
        });
        let listed = Arc::new(listed);
        self.latest = Some((Instant::now(), Arc::clone(&listed)));
        Ok(listed)
    }
}

fn look(root: &Path, path: &Path) -> ListedRecord {
    let below = path.strip_prefix(root).unwrap_or(path).display().to_string();
    let id = if below.is_empty() { ".".to_owned() } else { below };
    let contents = summarize(path).contents.map_err(|error| error.to_string());
    let known = contents.as_ref().ok();
    let name = known.map_or("", |contents| contents.name.as_str());
    let question = known.and_then(|contents| contents.question.as_deref()).unwrap_or_default();
    let words = format!("{name}\n{id}\n{question}").to_lowercase();
    ListedRecord { id, path: path.to_owned(), contents, words }
}
