//! What is served.

use std::path::{Path, PathBuf};

use assay_audit::Audit;
use assay_model::{Document, Settings};
use assay_report::Table;

use crate::catalog::Catalog;
use crate::guard::AccessToken;
use crate::made::Made;

/// The settings that a workload has unless a campaign says otherwise.
pub type DefaultsOf = Box<dyn Fn(&str) -> Settings + Send + Sync>;
/// Reads a write-up, a log or a record and audits it; or says why that is not possible.
pub type AuditOf = Box<dyn Fn(&Path) -> Result<Audited, String> + Send + Sync>;

/// What is known of a run that has not ended, by its directory: the percentiles of a load so far.
pub type RunningOf = Box<dyn Fn(&Path) -> Option<Table> + Send + Sync>;

/// An audit with what it was made from.
pub struct Audited {
    pub audit: Audit,
    pub documents: Vec<Document>,
}

/// Records below a directory and some write-ups, for whoever may read them.
pub struct Site {
    pub(crate) root: PathBuf,
    pub(crate) write_ups: Vec<PathBuf>,
    pub(crate) defaults: DefaultsOf,
    pub(crate) audit: AuditOf,
    pub(crate) running: RunningOf,
    pub(crate) token: Option<AccessToken>,
    pub(crate) catalog: Catalog,
    pub(crate) made: Made,
}

impl Site {
    /// The records below `root` and these write-ups. With a token, only who has it may read.
    pub fn new(
        root: PathBuf,
        write_ups: Vec<PathBuf>,
        token: Option<AccessToken>,
        defaults: DefaultsOf,
        audit: AuditOf,
        running: RunningOf,
    ) -> Site {
        Site {
            root,
            write_ups,
            defaults,
            audit,
            running,
            token,
            catalog: Catalog::default(),
            made: Made::default(),
        }
    }
}
