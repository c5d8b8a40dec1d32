//! A whole record judged: by which metric, which cells are compared, and against which gates. The terminal, the files
//! and the page all take their answers from here, so that they cannot differ.

use std::path::Path;

use assay_model::{Bound, CurrentPlan, Settings, metric};
use assay_store::{Index, IndexSummary, Record};

use crate::answer::UNEQUAL_WORK;
use crate::gather::gather;
use crate::{Answer, Evidence, GateResult, JudgeError, answer, gate};

/// A record that is judged.
pub struct JudgedRecord<'a> {
    index: &'a Index,
    /// Name, plan and counts of the record.
    pub summary: IndexSummary,
}

impl<'a> JudgedRecord<'a> {
    pub fn new(index: &'a Index) -> Result<JudgedRecord<'a>, JudgeError> {
        Ok(JudgedRecord { index, summary: index.summary()? })
    }

    pub(crate) fn index(&self) -> &'a Index {
        self.index
    }

    fn plan(&self) -> Option<&CurrentPlan> {
        self.summary.plan.as_ref()
    }

    /// The metric that the record is about: the headline of its campaign, else wall time.
    pub fn headline(&self) -> &str {
        self.plan().map_or(metric::WALL, |plan| &plan.headline)
    }

    /// The evidence for one metric.
    pub fn evidence(&self, metric: &str) -> Result<Evidence, JudgeError> {
        gather(self.index, &self.summary.name, self.plan(), metric)
    }

    /// The answer for one metric, with every cell compared with the best, up to this many.
    pub fn answer(&self, evidence: &Evidence, most_compared: usize) -> Answer {
        let order = self.plan().map(|plan| plan.varied.as_slice()).unwrap_or_default();
        answer(evidence, order, most_compared)
    }

    /// The answer for people: without a best cell where the campaign names the baseline of each comparison, and without
    /// the settings that have the workload's default in all cells.
    pub fn answer_for_people(
        &self,
        evidence: &Evidence,
        most_compared: usize,
        defaults: &dyn Fn(&str) -> Settings,
    ) -> Result<Answer, JudgeError> {
        let is_ranked = self.plan().is_none_or(|plan| plan.layout.against.is_none());
        let mut answer = self.answer(evidence, if is_ranked { most_compared } else { 0 });
        if !is_ranked {
            (answer.best, answer.may_be_best) = (None, Vec::new());
        }
        let defaults = self.defaults(defaults)?;
        answer.common.retain(|name, value| defaults.get(name) != Some(value));
        Ok(answer)
    }

    /// The defaults of the one workload of the record; none where there are several.
    fn defaults(&self, defaults: &dyn Fn(&str) -> Settings) -> Result<Settings, JudgeError> {
        let cells = self.index.cells()?;
        let first = cells.first().map_or("", |cell| cell.workload.as_str());
        let same = cells.iter().all(|cell| cell.workload == first);
        Ok(if same { defaults(first) } else { Settings::new() })
    }

    /// Checks the record against the gates of its campaign.
    pub fn gates(&self, record: &Record) -> Result<Vec<GateResult>, JudgeError> {
        let Some(plan) = self.plan() else { return Ok(Vec::new()) };
        let mut results = Vec::new();
        for gate in &plan.gates {
            let evidence = self.evidence(&gate.metric)?;
            let reference = match &gate.bound {
                Bound::NearRecord { record: path, .. } => reference(record, path, plan, &gate.metric)?,
                _ => None,
            };
            results.extend(gate::check(gate, &evidence, reference.as_ref()));
        }
        Ok(results)
    }
}

/// The rate that ranks the cells instead of a time, where they do different amounts of work.
pub fn rate_instead(evidence: &Evidence, answer: &Answer) -> Option<String> {
    let differs = answer.caveats.iter().any(|caveat| caveat.code == UNEQUAL_WORK);
    evidence.rate.clone().filter(|_| differs)
}

/// The evidence of a reference record; none if it does not exist, which leaves its gates undecided.
fn reference(
    record: &Record,
    path: &str,
    plan: &CurrentPlan,
    metric: &str,
) -> Result<Option<Evidence>, JudgeError> {
    let path = Path::new(path);
    if !path.is_dir() || path.canonicalize().ok() == record.directory().canonicalize().ok() {
        return Ok(None);
    }
    let index = Record::open(path)?.index()?;
    Ok(gather(&index, &path.display().to_string(), Some(plan), metric).ok())
}
