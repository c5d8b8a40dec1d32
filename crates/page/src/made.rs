//! Reports that were made lately. A record that has not changed is judged once, however many readers ask for it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use assay_report::document::Report;

/// What a report was made from: a record, how long its journal was and when it was written, and the metrics asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeFrom {
    pub record: PathBuf,
    pub stamp: (u64, SystemTime),
    pub metrics: Vec<String>,
}

/// Reports that are kept; one of a large record takes some megabytes.
const MOST: usize = 4;

/// The latest reports.
#[derive(Default)]
pub struct Made {
    latest: Mutex<VecDeque<(MadeFrom, Arc<Report>)>>,
}

impl Made {
    /// The report, made anew unless it is known. What cannot be recognized later, because the journal has no stamp, is
    /// not kept.
    pub fn report<E>(
        &self,
        from: Option<MadeFrom>,
        make: impl FnOnce() -> Result<Report, E>,
    ) -> Result<Arc<Report>, E> {
        let Some(from) = from else { return make().map(Arc::new) };
        let known = |latest: &VecDeque<(MadeFrom, Arc<Report>)>| {
            latest.iter().find(|(known, _)| *known == from).map(|(_, report)| Arc::clone(report))
        };
        if let Some(found) = known(&self.latest.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(found);
        }
        // Others may read meanwhile; at worst two readers make the same report.
        let report = Arc::new(make()?);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.retain(|(known, _)| known.record != from.record || known.metrics != from.metrics);
        latest.truncate(MOST - 1);
        latest.push_front((from, Arc::clone(&report)));
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_report_is_made_again_when_its_record_has_changed() {
        let made = Made::default();
        let from = |length| {
            let stamp = (length, SystemTime::UNIX_EPOCH + Duration::from_secs(1));
            Some(MadeFrom { record: "a".into(), stamp, metrics: Vec::new() })
        };
        let titled = |title: &str| Report { title: title.to_owned(), ..Report::default() };
        let title = |from, title: &str| {
            made.report::<()>(from, || Ok(titled(title))).map(|report| report.title.clone())
        };
        assert_eq!(title(from(1), "first"), Ok("first".to_owned()));
        assert_eq!(title(from(1), "second"), Ok("first".to_owned()));
        assert_eq!(title(from(2), "third"), Ok("third".to_owned()));
        assert_eq!(title(None, "fourth"), Ok("fourth".to_owned()));
        assert_eq!(made.report(from(3), || Err("no")).map(|_| ()), Err("no"));
    }
}
