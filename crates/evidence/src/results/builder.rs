//! The run that a result file states, as it is put together.

use assay_model::{ReadRun, Series, Source, Unit, Value as Setting};

use crate::collector::{LONGEST_SERIES, Place};
use crate::draft::Draft;
use crate::facts::{Base, Facts};

/// A run in the making.
pub(super) struct Builder {
    draft: Draft,
    base: Base,
    runs: Vec<ReadRun>,
    files: Vec<String>,
    names: Vec<String>,
    series: Vec<Series>,
}

impl Builder {
    pub(super) fn new(file: &str, name: &str) -> Builder {
        Builder {
            draft: Draft::default(),
            base: Base::default(),
            runs: Vec::new(),
            files: vec![file.to_owned()],
            names: vec![name.to_owned()],
            series: Vec::new(),
        }
    }

    /// States facts of a line.
    pub(super) fn facts(&mut self, line: u64) -> Facts<'_> {
        self.draft.hit(0, line);
        Facts {
            draft: &mut self.draft,
            runs: &mut self.runs,
            files: &self.files,
            names: &self.names,
            base: &self.base,
            text: "",
            place: Place { file: 0, line },
            reader: 0,
            // Result files have no clock of their own.
            stamp: Some(None),
        }
    }

    /// A setting of the file's configuration.
    pub(super) fn declare(&mut self, name: &str, value: Setting, line: u64) {
        self.facts(line).declare(name, value, "configuration");
    }

    /// The title, unless there is one.
    pub(super) fn title(&mut self, title: &str) {
        if !title.trim().is_empty() {
            self.draft.title.get_or_insert_with(|| title.trim().to_owned());
        }
    }

    /// The make of machine, unless it is known.
    pub(super) fn platform(&mut self, name: &str) {
        self.draft.platform.get_or_insert_with(|| name.to_owned());
    }

    /// Values per step or request. Long ones are thinned evenly.
    pub(super) fn series(&mut self, metric: &str, unit: Unit, values: &[f64], steps: &[f64], line: u64) {
        let known = self.series.iter().any(|series| series.metric == metric);
        if values.is_empty() || known || !values.iter().all(|value| value.is_finite()) {
            return;
        }
        self.draft.hit(0, line);
        self.draft.evidence = true;
        let stride = values.len().div_ceil(LONGEST_SERIES);
        let thinned = |values: &[f64]| values.iter().step_by(stride).copied().collect::<Vec<f64>>();
        self.series.push(Series {
            metric: metric.to_owned(),
            unit,
            values: thinned(values),
            seen: values.len() as u64,
            steps: if steps.len() == values.len() { thinned(steps) } else { Vec::new() },
            at_s: Vec::new(),
            source: Some(Source::new(self.files.first().cloned().unwrap_or_default(), line)),
        });
    }

    /// The run, if anything but settings was found.
    pub(super) fn finish(self) -> Option<ReadRun> {
        let mut run = self.draft.finish(&self.files, &self.names)?;
        run.series.extend(self.series);
        let ended = run.status != assay_model::Status::Unknown || !run.phases.is_empty();
        (ended || !run.observations.is_empty() || !run.series.is_empty()).then_some(run)
    }
}
