//! The audit of a write-up or a record.

use super::{Query, ViewError, find};
use crate::site::Site;

/// The page: the same file that `assay audit -o audit.html` writes.
pub fn view(site: &Site, query: &Query) -> Result<String, ViewError> {
    let path = match (query.get("id"), query.number("file")) {
        (Some(id), _) => find(site, id)?.0.path.clone(),
        (None, Some(file)) => {
            let file = usize::try_from(file).ok().and_then(|file| site.write_ups.get(file));
            file.cloned().ok_or_else(|| ViewError::Missing("There is no such write-up.".to_owned()))?
        }
        (None, None) => return Err(ViewError::Wrong("The address names nothing to audit.".to_owned())),
    };
    let audited = (site.audit)(&path).map_err(ViewError::Unreadable)?;
    Ok(assay_report::audit::html(&audited.audit, &audited.documents))
}
