//! The record on disk: everything one campaign left behind. This room alone knows file names and schema versions.
//!
//! ```text
//! <record>/
//!   journal.jsonl   the truth: one line per entry with its checksum, appended, never truncated
//!   lock            who writes the journal now (pid, host, since), locked while that is so
//!   index.sqlite    derived from the journal; safe to delete at any time
//!   index.check     length, change times and checksums of index and journal when the index was written
//!   index.lock      serializes the makers of the index
//!   runs/<cell>/<leaf>/   run directories, made by the launcher; result.jsonl repeats the journal line of the result
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `store.rs` | [`Store`]: the one writer of a record |
//! | `record.rs` | [`Record`]: any number of readers, without a lock |
//! | `journal.rs` | the journal: its line format, writer and reader |
//! | `medium.rs` | the two system calls the journal rests on, replaceable for tests |
//! | `fault.rs` | a simulated disk that loses power, fills up and tears writes |
//! | `recovery.rs` | what a damaged journal lost, and what run directories still have of it |
//! | `regular.rs` | opening only regular files: others may never end |
//! | `permissions.rs` | who may read a record |
//! | `secrets.rs` | which variables are kept, and what is masked |
//! | `scrub.rs` | takes secrets out of a record that exists |
//! | `state.rs` | the fold of a journal: what resuming needs |
//! | `index.rs` | the SQL index: kept up to date, asked typed questions or plain SQL |
//! | `export.rs` | tables of the index as CSV, JSON lines or Parquet |
//! | `list.rs` | the records below a directory |
//! | `remove.rs` | removing a record |
//! | `layout.rs`, `lock.rs` | the names of files in a record, and the lock of its writer |
//! | `chosen.rs` | which observation stands for a metric where a run has several |
//! | `error.rs`, `time.rs` | what can go wrong, and points in time as people read them |
//!
//! # What is on disk when
//!
//! * [`Store::append`] returns after `write(2)`: the entry survives the death of this program (`kill -9`), not
//!   the loss of power. It is meant for entries whose loss costs only work, such as a run about to start.
//! * [`Store::commit`] returns after `fdatasync(2)` too: the entry is acknowledged and survives the loss of
//!   power. Because the whole file is synced, so do all entries before it.
//! * When a record is made, the journal, its directory and every directory made on the way are synced before
//!   [`Store::open_or_create`] returns. Opening an old record syncs it once, so that entries a killed
//!   coordinator had only appended are durable before anything is built on them.
//! * A failed sync is final: the kernel may have dropped the pages, so a later success proves nothing. The store
//!   then takes no further entries; a new process reads what really is on disk and goes on.
//!
//! A write that was cut short (crash, full disk) leaves a torn line. It never checks, so readers skip it; before
//! its next entry the writer ends it with a mark, so that a torn line can be distinguished from later damage.

mod chosen;
mod error;
mod export;
pub mod fault;
mod index;
pub mod journal;
mod layout;
mod list;
mod lock;
mod medium;
mod permissions;
mod record;
mod recovery;
mod regular;
mod remove;
#[cfg(test)]
mod sample;
mod scrub;
pub mod secrets;
mod state;
mod store;
mod time;

pub use error::StoreError;
pub use export::{ColumnKind, ExportFormat, ExportTable, Rows, export};
pub use index::{
    CellSummary, Datum, FailureReason, Index, IndexSummary, MetricSummary, RunDoubt, RunFilter, RunOrigin,
    RunRow, RunValue, SessionFacts, SqlRows,
};
pub use journal::{Damage, Flaw, Troubles};
pub use layout::{SCRIPT, belongs_to_record, relative_run_directory, run_directory};
pub use list::{RecordContents, RecordSummary, list_records, record_paths, summarize};
pub use lock::{HeldRecord, hold, is_held};
pub use medium::{FileMedium, Medium};
pub use permissions::RecordPermissions;
pub use record::{Entries, Record};
pub use recovery::DamageReport;
pub use regular::open_unlinked;
pub use remove::remove_record;
pub use scrub::{ScrubSummary, scrub};
pub use state::{
    CellState, JournalState, OpenRun, Process, RunState, SessionSummary, StatusCounts, Submission,
};
pub use store::{Identity, Store};
pub use time::utc;
