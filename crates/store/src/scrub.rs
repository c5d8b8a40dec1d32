//! Takes secrets out of a record that exists: a new journal beside the old one, moved into its place as a whole.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use assay_model::{Entry, SCHEMA_VERSION};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::journal::{decode, encode, encode_after};
use crate::layout::{INDEX, INDEX_CHECK, JOBS, JOURNAL, RESULT, RUNS, SCRIPT};
use crate::lock::{self, Holder};
use crate::secrets::{Secrets, is_kept, is_secret_name, required};
use crate::{Identity, Record, RecordPermissions, StoreError};

/// The script of a job in its directory.
const JOB_SCRIPT: &str = "job.sh";

/// What a scrub did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScrubSummary {
    /// Variables that were taken out of the environments of sessions.
    pub variables: u64,
    /// Texts in which a secret was masked.
    pub texts: u64,
    /// Files of run directories that were rewritten.
    pub files: u64,
}

/// Rewrites the journal, the scripts and the results of a record without secrets, takes away what others may read, and
/// removes the index, which is made again. A damaged journal is refused: its lines could not be checked for secrets.
pub fn scrub(directory: &Path, identity: &Identity) -> Result<ScrubSummary, StoreError> {
    let record = Record::open(directory)?;
    let holder = Holder { pid: identity.pid, host: identity.host.clone(), since: identity.now };
    let _lock = lock::take(directory, &holder)?;
    let state = record.state()?;
    if !state.damage.is_harmless() {
        return Err(StoreError::Damaged { path: directory.to_owned(), report: Box::new(state.damage) });
    }
    let path = directory.join(JOURNAL);
    let failed = |source: io::Error| StoreError::Open { path: path.clone(), source };
    let secrets = secrets_of(&record)?;
    let mut summary = ScrubSummary::default();
    let permissions = match RecordPermissions::of(directory) {
        // Old records are readable by everybody; that was never asked for.
        RecordPermissions::GROUP_READABLE if is_open_to_all(directory) => RecordPermissions::PRIVATE,
        asked => asked,
    };
    rewrite_journal(&record, &path, &secrets, identity, permissions, &mut summary)?;
    for name in [INDEX, INDEX_CHECK] {
        remove(&directory.join(name)).map_err(failed)?;
    }
    scrub_run_directories(directory, &secrets, permissions, &mut summary).map_err(failed)?;
    permissions.apply(directory).map_err(failed)?;
    Ok(summary)
}

fn is_open_to_all(directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(directory).is_ok_and(|found| found.mode() & 0o007 != 0)
}

/// Values that the sessions of a record stored and that are secrets by their names.
fn secrets_of(record: &Record) -> Result<Secrets, StoreError> {
    let mut all = Secrets::default();
    for entry in record.entries()? {
        match entry? {
            Entry::Session { environment, .. } => {
                let pairs = environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                all = all.join(Secrets::among(pairs, &[]));
            }
            // A setting that names the variable of a token makes that variable a secret.
            Entry::Plan { add, .. } => {
                let named: Vec<String> = add
                    .iter()
                    .filter_map(|cell| cell.settings.get("token_env").map(ToString::to_string))
                    .collect();
                all = all.join(named_values(record, &named)?);
            }
            _ => {}
        }
    }
    Ok(all)
}

fn named_values(record: &Record, named: &[String]) -> Result<Secrets, StoreError> {
    let mut all = Secrets::default();
    if named.is_empty() {
        return Ok(all);
    }
    for entry in record.entries()? {
        if let Entry::Session { environment, .. } = entry? {
            let pairs = environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            all = all.join(Secrets::among(pairs, named));
        }
    }
    Ok(all)
}

fn rewrite_journal(
    record: &Record,
    path: &Path,
    secrets: &Secrets,
    identity: &Identity,
    permissions: RecordPermissions,
    summary: &mut ScrubSummary,
) -> Result<(), StoreError> {
    let beside = path.with_extension("jsonl.new");
    let failed = |source: io::Error| StoreError::Open { path: beside.clone(), source };
    let mut out = BufWriter::new(permissions.create_file(&beside).map_err(failed)?);
    let (mut line, mut last) = (Vec::new(), 0);
    let mut put = |out: &mut BufWriter<File>, entry: &Entry| -> Result<(), StoreError> {
        last = encode_after(entry, last, &mut line).map_err(io::Error::from).map_err(failed)?;
        out.write_all(&line).map_err(failed)
    };
    for entry in record.entries()? {
        let mut entry = scrubbed(entry?, secrets, summary).map_err(failed)?;
        if let Entry::Record { schema, .. } = &mut entry {
            *schema = SCHEMA_VERSION;
        }
        put(&mut out, &entry)?;
    }
    let removed = summary.variables + summary.texts;
    put(&mut out, &Entry::Scrubbed { at: identity.now, program: identity.program.clone(), removed })?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    fs::rename(&beside, path).map_err(failed)?;
    File::open(record.directory()).and_then(|directory| directory.sync_all()).map_err(failed)
}

/// An entry without secrets.
fn scrubbed(mut entry: Entry, secrets: &Secrets, summary: &mut ScrubSummary) -> io::Result<Entry> {
    if let Entry::Session { environment, .. } = &mut entry {
        let before = environment.len();
        let all = std::mem::take(environment);
        *environment = all.into_iter().filter(|(name, _)| is_kept(name)).collect::<BTreeMap<_, _>>();
        summary.variables += (before - environment.len()) as u64;
    }
    masked(&entry, secrets, &mut summary.texts)
}

/// Masks secrets in all texts of a value, whatever its type: by way of its JSON.
fn masked<T: Serialize + DeserializeOwned>(value: &T, secrets: &Secrets, texts: &mut u64) -> io::Result<T> {
    let mut json = serde_json::to_value(value)?;
    mask_json(&mut json, secrets, texts);
    Ok(serde_json::from_value(json)?)
}

fn mask_json(value: &mut Value, secrets: &Secrets, texts: &mut u64) {
    match value {
        Value::String(text) if secrets.are_in(text) => {
            *text = secrets.mask(text);
            *texts += 1;
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask_json(item, secrets, texts)),
        Value::Object(fields) => fields.values_mut().for_each(|field| mask_json(field, secrets, texts)),
        _ => {}
    }
}

fn scrub_run_directories(
    record: &Path,
    secrets: &Secrets,
    permissions: RecordPermissions,
    summary: &mut ScrubSummary,
) -> io::Result<()> {
    let rewrite_script = |path: &Path, summary: &mut ScrubSummary| {
        rewrite(path, permissions, summary, |bytes| {
            let text = String::from_utf8(bytes.to_vec()).ok()?;
            Some(script_without_secrets(&text, secrets).into_bytes())
        })
    };
    for job in directories(&record.join(JOBS)) {
        rewrite_script(&job.join(JOB_SCRIPT), summary)?;
    }
    for cell in directories(&record.join(RUNS)) {
        rewrite_script(&cell.join(SCRIPT), summary)?;
        for run in directories(&cell) {
            rewrite_script(&run.join(SCRIPT), summary)?;
            rewrite(&run.join(RESULT), permissions, summary, |bytes| {
                let entry = decode(bytes.strip_suffix(b"\n")?).ok()?;
                let (mut line, mut texts) = (Vec::new(), 0);
                encode(&masked(&entry, secrets, &mut texts).ok()?, &mut line).ok()?;
                (texts > 0).then_some(line)
            })?;
        }
    }
    Ok(())
}

/// The directories in a directory. A link leads out of the record, where nothing is to be changed.
fn directories(path: &Path) -> Vec<PathBuf> {
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        return Vec::new();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// Rewrites a file beside its place and moves it there, if that changes anything.
fn rewrite(
    path: &Path,
    permissions: RecordPermissions,
    summary: &mut ScrubSummary,
    change: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
) -> io::Result<()> {
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    let before = fs::read(path)?;
    let Some(after) = change(&before).filter(|after| *after != before) else { return Ok(()) };
    let beside = path.with_extension("scrubbed");
    permissions.create_file(&beside)?.write_all(&after)?;
    fs::rename(&beside, path)?;
    summary.files += 1;
    Ok(())
}

/// A script whose secrets must be set by whoever runs it by hand.
fn script_without_secrets(text: &str, secrets: &Secrets) -> String {
    let mut script = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let variable = line.strip_prefix("export ").and_then(|rest| rest.split_once('='));
        match variable {
            Some((name, _)) if is_secret_name(name) => script.push_str(&required(name)),
            Some((name, value)) if secrets.are_in(value) => script.push_str(&required(name)),
            _ => script.push_str(&secrets.mask(line)),
        }
    }
    script
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
